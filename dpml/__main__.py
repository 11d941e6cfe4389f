"""The command line: ``python -m dpml`` and the name of a command, which ``python -m dpml --help`` lists.

Exit codes: 0 success; 1 an unexpected audit result, a data file that is missing or damaged, or a released folder that
was changed (the only reasons for 1); 2 a wrong call; 3 the output could not be written; 4 an unexpected error, printed
with its traceback; 5 a release that the owner stopped because of warnings, before anything was charged; 130
interrupted; 143 a sweep or a release that was told to end (SIGTERM).
"""

import argparse
import codecs
import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

# Slow imports, and imports that may fail, are made where they are used: `main` then turns an error into an exit code.
from dpml import __version__
from dpml._commands import audit, data, frontier, papers, reading, release, sweep
from dpml._commands.messages import complain, near, notes, printable, spell
from dpml.exceptions import DpmlError

AS_EXPECTED, SURPRISE, WRONG_CALL, NOT_WRITTEN, UNEXPECTED, INTERRUPTED = 0, 1, 2, 3, 4, 130


class _CannotWriteError(Exception):
    """Standard output is closed or full."""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests similar names for a misspelt one."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'", message) or re.search(r"unrecognized arguments: (\S+)", message)
        if wrong:
            options = [option for parser in _parsers(self) for option in parser._option_string_actions]
            known = options if wrong[1].startswith("-") else re.findall(r"[\w-]+", message.partition("choose from")[2])
            message += near(wrong[1].partition("=")[0], known)
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores an OSError, for instance of a full disk
        if file is sys.stdout:
            _say(message.rstrip("\n"))
        else:
            complain(message.rstrip("\n"))


def _parsers(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _prepare(stream: Any) -> None:
    """Let a stream spell out what it cannot show, unless the caller has chosen another error handler."""
    codecs.register_error("dpml.spell", spell)
    if getattr(stream, "errors", None) in ("strict", "surrogateescape", "backslashreplace"):
        stream.reconfigure(errors="dpml.spell")


def _say(text: str = "", *, flush: bool = False) -> None:
    """Print a line on standard output, if there is one."""
    if sys.stdout is None:
        return
    try:
        if text:
            print(printable(text))
        if flush:
            sys.stdout.flush()
    except OSError as error:
        raise _CannotWriteError from error


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="dpml",
        description="Release, audit and study differentially private classifiers.",
        epilog="Exit codes: 0 success, 1 unexpected audit result, missing or damaged data file, or changed release "
        "folder, 2 wrong call, 3 output not written, 4 unexpected error, 5 release refused because of warnings, "
        "130 interrupted, 143 ended by SIGTERM.",
    )
    parser.add_argument("--version", action="version", version=f"dpml {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (audit, sweep, frontier, papers, data, reading, release):
        command.add_command(commands, _say)
    return parser


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as end:
        # argparse has printed its message, help or version
        code = end.code if isinstance(end.code, int) else AS_EXPECTED
    else:
        code = arguments.run(arguments)
    _say(flush=True)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (listed in the module's docstring)."""
    for stream in (sys.stdout, sys.stderr):
        _prepare(stream)
    try:
        return _run(argv)
    except DpmlError as error:
        complain("\n".join([f"error: {error}", *notes(error)]))
        return WRONG_CALL
    except _CannotWriteError as error:
        if not isinstance(error.__cause__, BrokenPipeError):  # the reader has closed the pipe
            complain(f"error: the output could not be written: {error.__cause__}")
        complain("\n".join(notes(error)))
        return NOT_WRITTEN
    except KeyboardInterrupt as error:
        complain(". ".join(["interrupted", *notes(error)]))
        return INTERRUPTED
    except SystemExit as end:  # it says no more, unless it has charged something
        complain(". ".join(["ended by SIGTERM", *notes(end)]) if notes(end) else "")
        raise
    except Exception:
        complain(traceback.format_exc())
        return UNEXPECTED


def run() -> NoReturn:
    """Run the command line and end the process: the console script ``dpml``."""
    _leave(main())


def _leave(code: int) -> NoReturn:
    """End the process without another attempt to write what could not be written."""
    if code == NOT_WRITTEN and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


if __name__ == "__main__":
    run()
