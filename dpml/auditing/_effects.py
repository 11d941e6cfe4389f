"""The traces that a call leaves beside its result: warnings, output, log records, and files.

Seen are warnings, what is written to ``sys.stdout`` and ``sys.stderr``, and log records of this thread, every file that
Python code of this thread opens for writing or renames, connections and new processes, and everything below the
working directory, which is a new, empty one during the call. Not seen are output that C code writes past Python, files
that C code opens elsewhere, and other threads and processes.
"""

import contextlib
import logging
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from dpml.exceptions import FactWarning

# what reaches beyond the process; its arguments count as they are
OUTWARD = ("socket.connect", "socket.sendto", "subprocess.Popen", "os.system", "os.posix_spawn", "os.exec")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC


class Effects:
    """Traces of one call. `seen` is complete when the call has ended."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.notes: list[tuple[str, ...]] = []
        self.warned: list[tuple[Any, ...]] = []
        self.paths: set[str] = set()
        self.files: dict[str, bytes | None] = {}

    @property
    def seen(self) -> list[Any]:
        """Everything, in a form to be compared."""
        return [self.notes, sorted(self.files.items())]

    def note(self, *words: str) -> None:
        """Add a note, if this thread makes it."""
        if threading.get_ident() == self.thread:
            self.notes.append(words)

    def observed(self, event: str, arguments: tuple) -> None:
        """Note an event of the interpreter that writes, or reaches beyond the process."""
        if event == "open":
            path, mode, flags = arguments
            writes = any(c in mode for c in "wax+") if isinstance(mode, str) else bool((flags or 0) & WRITING)
            if writes:
                self._write(path)
        elif event in ("os.rename", "os.link", "os.symlink"):
            self._write(arguments[1])
        elif event in ("os.remove", "os.mkdir", "os.rmdir", "os.truncate"):
            self._write(arguments[0])
        elif event in OUTWARD:
            self.note(event, repr(arguments))

    def _write(self, path: Any) -> None:
        if isinstance(path, (str, bytes, os.PathLike)):
            self.paths.add(os.path.abspath(os.fsdecode(path)))

    def read(self, folder: str | None) -> None:
        """Read every file that was written, and all that stands below the call's own folder."""
        paths = {path: path for path in self.paths if not _is_below(path, folder)}
        if folder is not None:
            paths |= {str(path): str(path.relative_to(folder)) for path in Path(folder).rglob("*")}
        for path, name in paths.items():
            # caches of the interpreter and devices say nothing; what is gone was for the moment
            if "__pycache__" in path or path.startswith("/dev/"):
                continue
            if os.path.isfile(path):
                self.files[name] = Path(path).read_bytes()
            elif os.path.isdir(path):
                self.files[name] = None


def _is_below(path: str, folder: str | None) -> bool:
    return folder is not None and Path(path).is_relative_to(folder)


_observing: ContextVar[Effects | None] = ContextVar("observing", default=None)
_hooks: list[Any] = []
# streams, warnings and log records belong to the process: one thread at a time
_one_at_a_time = threading.RLock()


def _hook(event: str, arguments: tuple) -> None:
    effects = _observing.get()
    if effects is not None:
        effects.observed(event, arguments)


class _Tee:
    """A stream that passes everything on, and notes it."""

    def __init__(self, stream: Any, name: str, effects: Effects):
        self._stream, self._name, self._effects = stream, name, effects

    def write(self, text: str) -> Any:
        """Write and note a text."""
        self._effects.note(self._name, str(text))
        return self._stream.write(text) if self._stream is not None else len(text)

    def writelines(self, lines: Any) -> None:
        """Write and note each line."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes would pass by
            raise AttributeError(name)
        return getattr(self._stream, name)


@contextlib.contextmanager
def effects() -> Iterator[Effects]:
    """Observe this thread, and repeat the warnings of the call when it has ended."""
    if not _hooks:  # a hook stays for ever, so there is one
        _hooks.append(_hook)
        sys.addaudithook(_hook)
    trace = Effects()
    try:
        with _one_at_a_time, contextlib.ExitStack() as stack:
            folder = _own_folder(stack)
            _note_warnings(stack, trace)
            _note_logs(stack, trace)
            for redirect, name in ((contextlib.redirect_stdout, "stdout"), (contextlib.redirect_stderr, "stderr")):
                stack.enter_context(redirect(_Tee(getattr(sys, name), name, trace)))
            token = _observing.set(trace)
            try:
                yield trace
            finally:
                _observing.reset(token)
                trace.read(folder)
    finally:
        for message, category, filename, line in trace.warned:
            warnings.warn_explicit(message, category, filename, line)


def _own_folder(stack: contextlib.ExitStack) -> str | None:
    """Go to an empty folder. Threads share the working directory, so only the main thread does."""
    if threading.current_thread() is not threading.main_thread():
        return None
    folder = os.path.realpath(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
    stack.enter_context(contextlib.chdir(folder))
    return folder


def _note_warnings(stack: contextlib.ExitStack, trace: Effects) -> None:
    stack.enter_context(warnings.catch_warnings())
    # each one, however often it is given and whatever the filters outside say
    warnings.simplefilter("always")
    shown = warnings.showwarning

    def note(message: Any, category: Any, filename: str, line: int, *more: Any) -> None:
        if threading.get_ident() != trace.thread:
            shown(message, category, filename, line, *more)
            return
        trace.warned.append((message, category, filename, line))
        # what a demonstration tells the person who holds the records; a release says none of it
        if not issubclass(category, FactWarning):
            trace.note("warning", category.__qualname__, str(message))

    warnings.showwarning = note  # type: ignore[assignment]


def _note_logs(stack: contextlib.ExitStack, trace: Effects) -> None:
    make = logging.getLogRecordFactory()

    def noted(*arguments: Any, **options: Any) -> logging.LogRecord:
        record = make(*arguments, **options)
        trace.note("log", record.name, record.levelname, record.getMessage())
        return record

    stack.callback(logging.setLogRecordFactory, make)
    logging.setLogRecordFactory(noted)
