"""The recorder: the releases of a whole call about two neighbours, and their true privacy cost, whatever it claims.

Every noise sample and every private selection of the library goes through one boundary (`dpml.mechanisms.boundary`).
While the call runs on the data, the recorder stores each mechanism, its exact statistic and its output. While the call
runs on the neighbour, the recorder answers each release with the stored output, so that later steps, which may depend
on it, see the same past. The two statistics of each release then give the cost of that release, given the past.

Whatever else the two calls leave must be equal, or the cost is infinite: results with everything that they hold
(`dpml.audit.recorder`), refusals, warnings, output and files (`dpml.audit.recorder`), and public randomness, of
which a record may ask for its own entries and no more.
"""

from __future__ import annotations

import contextlib
import copy
import copyreg
import functools
import hashlib
import logging
import math
import os
import struct
import sys
import tempfile
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml._validate import check_integer, check_number
from dpml.audit.exact import epsilon_without_pure
from dpml.budget import Budget
from dpml.exceptions import CrowdedBins, DpmlError, FactWarning, InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.boundary import EVERYTHING, NOTHING, Loss
from dpml.mechanisms.private import Private, opened
from dpml.schema.cells import cell_key

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
        # what a demonstration tells the person who holds the records; a release says none of it but what it released
        if not issubclass(category, FactWarning) or issubclass(category, CrowdedBins):
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


SIMPLE = (type(None), bool, int, str, bytes, complex, type(...), type(NotImplemented), range)
UNDER_A_NAME = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)
RANDOM = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, np.random.SeedSequence)
# no state: SciPy's caches of what it found out about its indices
SPARSE_CACHES = {"_has_sorted_indices", "_has_canonical_format", "maxprint"}
# of a class inside a function: what Python adds to each
CLASS_CACHES = {"__dict__", "__weakref__", "__doc__", "__firstlineno__", "__static_attributes__", "__slotnames__"}
# CPython's flag of classes that a program makes while it runs
HEAP_TYPE = 1 << 9
# of classes that have been met
_names: weakref.WeakKeyDictionary[type, bytes] = weakref.WeakKeyDictionary()


def same(first: Any, second: Any) -> bool:
    """Return whether two results are equal to the bit, with everything that they hold."""
    return fingerprint(first) == fingerprint(second)


def fingerprint(result: Any) -> bytes:
    """Return a digest of everything that a result holds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Visit().digest(result, held=False)


def _hashed(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(struct.pack("q", len(part)))
        digest.update(part)
    return digest.digest()


def _name(kind: Any) -> bytes:
    return f"{kind.__module__}.{kind.__qualname__}".encode()


class _Visit:
    """One walk over a result; each object is visited once."""

    def __init__(self) -> None:
        # by identity: the depth of an object that is being visited, or the digest of one that was
        self.known: dict[tuple[int, bool], int | bytes] = {}
        # so that no later object gets the id of one that is gone
        self.alive: list[Any] = []
        self.depth = 0
        # of simple values, which many objects share
        self.simple: dict[tuple[type, str], bytes] = {}

    def digest(self, value: Any, held: bool) -> bytes:
        kind = type(value)
        if kind is float:
            return _hashed(b"float", struct.pack("d", value))
        if kind in SIMPLE:
            # by its text: 0j and -0j are equal
            text = repr(value)
            if (kind, text) not in self.simple:
                self.simple[kind, text] = _hashed(kind.__name__.encode(), text.encode("utf-8", "surrogatepass"))
            return self.simple[kind, text]
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return _hashed(b"scalar", str(value.dtype).encode(), value.tobytes())
        key = id(value), held
        known = self.known.get(key)
        if isinstance(known, int):  # a cycle
            return _hashed(b"up", struct.pack("q", self.depth - known))
        if known is None:
            self.known[key] = self.depth
            self.alive.append(value)
            self.depth += 1
            try:
                known = self.known[key] = _hashed(self._kind(kind), *self._parts(value, kind, held))
            finally:
                self.depth -= 1
        return known

    def _kind(self, kind: type) -> bytes:
        name = _names.get(kind)
        if name is None:
            # a class inside a function counts with what it holds; one that is written in C holds nothing of a call
            if kind.__flags__ & HEAP_TYPE and not _importable(kind):
                return self.digest(kind, True)
            name = _names[kind] = _name(kind)
        return name

    def each(self, values: Iterable[Any], held: bool) -> Iterator[bytes]:
        for value in values:
            yield self.digest(value, held)

    def _parts(self, value: Any, kind: type, held: bool) -> Iterator[bytes]:
        """Return what makes up an object, in bytes."""
        if kind is Private:
            return iter(()) if held else self.each([opened(value)], held)
        if kind is np.ndarray:
            return self._array(value, held)
        if kind is dict:
            return self._pairs(value, held)
        if kind in (list, tuple):
            return self.each(value, held)
        if kind in (set, frozenset):
            return iter(sorted(self.each(value, held)))
        if isinstance(value, UNDER_A_NAME) and _importable(value):
            return iter((_reference(value).encode(),))
        if isinstance(value, Budget):
            return self.each(_charges(value), held)  # its address is new each time
        if isinstance(value, (pd.DataFrame, pd.Series, pd.Index)):
            return self.each(_of_pandas(value), held)
        if isinstance(value, RANDOM):
            return self.each(_of_random(value), held)
        if (inside := _of_function(value)) is not None:
            return self.each(inside, True)
        return self._object(value, held)

    def _array(self, value: Any, held: bool) -> Iterator[bytes]:
        yield str(value.dtype).encode()
        yield repr(value.shape).encode()
        if value.dtype.hasobject:
            yield from self.each(value.ravel().tolist(), held)
        else:
            yield value.tobytes()

    def _pairs(self, pairs: Any, held: bool) -> Iterator[bytes]:
        # in insertion order, which an iteration over the dictionary shows
        for key, value in pairs.items():
            yield self.digest(key, held)
            yield self.digest(value, held)

    def _attributes(self, attributes: dict, held: bool) -> Iterator[bytes]:
        for name in sorted(attributes, key=str):
            yield str(name).encode()
            yield self.digest(attributes[name], held or str(name).startswith("_"))

    def _object(self, value: Any, held: bool) -> Iterator[bytes]:
        attributes = dict(getattr(value, "__dict__", {}))
        for name in copyreg._slotnames(type(value)) or ():  # type: ignore[attr-defined]
            if hasattr(value, name):
                attributes[name] = getattr(value, name)
        if sparse.issparse(value):
            attributes = {name: part for name, part in attributes.items() if name not in SPARSE_CACHES}
            yield from self._attributes(attributes, held)
            return
        yield from self._attributes(attributes, held)
        written = _written(value)
        if isinstance(written, str):
            yield written.encode()
        elif written is not None:
            made_by, arguments, *rest = written
            state, items, pairs = (*rest, None, None, None)[:3]
            yield from self.each([made_by, arguments], held or isinstance(value, functools.partial))
            for part in state if isinstance(state, tuple) and len(state) == 2 else (state,):
                attributed = isinstance(part, dict) and all(isinstance(name, str) for name in part)
                yield from self._attributes(part, held) if attributed else self.each([part], held)
            yield from self.each(items or (), held)
            yield from self._pairs(dict(pairs or ()), held)


def _importable(value: Any) -> bool:
    """Return whether a function or class is the one that its name in its module stands for."""
    if isinstance(value, (types.ModuleType, np.ufunc)):
        return True
    if isinstance(value, types.BuiltinFunctionType) and not isinstance(value.__self__, (types.ModuleType, type(None))):
        return False
    place: Any = sys.modules.get(value.__module__ or "builtins")
    for name in value.__qualname__.split("."):
        place = getattr(place, name, None)
    return place is value


def _reference(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"


def _of_function(value: Any) -> list[Any] | None:
    """Return what a function, or a piece of one, holds; None for anything else."""
    if isinstance(value, types.FunctionType):
        cells = [_content(cell) for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, cells, vars(value)]
    if isinstance(value, types.CodeType):
        return [value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, types.BuiltinFunctionType):
        return [value.__name__, value.__self__]
    if isinstance(value, types.CellType):
        return [_content(value)]
    if isinstance(value, types.GeneratorType):
        return [value.gi_code, value.gi_frame and value.gi_frame.f_locals]
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, type):
        own = {name: part for name, part in vars(value).items() if name not in CLASS_CACHES}
        return [value.__qualname__, value.__bases__, own]
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, types.MappingProxyType):
        return [dict(value)]
    if isinstance(value, memoryview):
        return [value.tobytes()]
    if isinstance(value, (type({}.keys()), type({}.values()), type({}.items()))):
        return list(value)
    return None


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return ...


def _written(value: Any) -> Any:
    """Return what pickling would write of an object beside its attributes, or None."""
    kind = type(value)
    own = (
        kind.__reduce_ex__ is not object.__reduce_ex__
        or kind.__reduce__ is not object.__reduce__
        or kind.__getstate__ is not object.__getstate__
        or isinstance(value, (list, dict, tuple, set, frozenset, str, bytes, int, float))
    )
    if not own:
        return None
    try:
        return value.__reduce_ex__(4)
    except Exception:  # it refuses pickling: its attributes are all there is
        return None


def _of_pandas(value: Any) -> list[Any]:
    """Return labels and values, without pandas' own blocks and caches."""
    if isinstance(value, pd.DataFrame):
        columns = [value.iloc[:, j] for j in range(value.shape[1])]
        return [value.index, value.columns, [_values(column) for column in columns], value.attrs]
    if isinstance(value, pd.Series):
        return [value.name, value.index, _values(value), value.attrs]
    if isinstance(value, pd.MultiIndex):
        return [list(value.names), [_values(value.get_level_values(k)) for k in range(value.nlevels)]]
    if isinstance(value, pd.RangeIndex):
        return [value.name, value.start, value.stop, value.step]
    return [value.name, _values(value)]


def _charges(budget: Budget) -> list[Any]:
    """Return the rows of a budget's ledger, without the table that a user gets."""
    with budget._ledger.read() as book:
        return [
            [charge[key] for key in ("label", "name", "epsilon", "delta", "rho")] for charge in book.below(budget._id)
        ]


def _values(column: Any) -> list[Any]:
    if isinstance(column.dtype, np.dtype):
        return [column.to_numpy()]
    facts = [column.dtype.categories, column.dtype.ordered] if isinstance(column.dtype, pd.CategoricalDtype) else []
    return [str(column.dtype), facts, np.asarray(column, dtype=object)]


def _of_random(value: Any) -> list[Any]:
    """Return the state of a generator, or nothing where the system has seeded it, as it then differs in each run."""
    bits = value._bit_generator if isinstance(value, np.random.RandomState) else value
    bits = bits.bit_generator if isinstance(bits, np.random.Generator) else bits
    seed: Any = bits if isinstance(bits, np.random.SeedSequence) else bits.seed_seq
    entropy = getattr(seed, "entropy", None)
    # 128 bits from the system; a seed that a program gives has 64 or fewer
    if isinstance(entropy, int) and entropy >= 2**64:
        return []
    return [seed.state if seed is bits else bits.state]


def difference_last(data: Any, neighbour: Any) -> tuple[Any, Any]:
    """Return two data sets with the differing record at the end and the other records in their order.

    A table is a set of records, so its order carries no information. With the differing record last, the records that
    both tables hold receive the same per-record randomness. Only a tuple of a table and columns of the same length is
    reordered. In anything else the order may have a meaning, so it is returned unchanged. Where the types of the two
    tables differ, because pandas or NumPy took them from all cells, records are compared by value.

    >>> first, second = difference_last((np.eye(3), [0, 1, 2]), (np.eye(3)[[0, 2]], [0, 2]))
    >>> first[1], second[1]
    ([0, 2, 1], [0, 2])
    """
    n, m = _size(data), _size(neighbour)
    if n is None or m is None or len(data) != len(neighbour) or abs(n - m) > 1:
        return data, neighbour
    shorter = min(n, m)
    # with equal numbers of records the one at `first` differs; otherwise the longer side has an extra record there
    skip, other_skip = int(n >= m), int(m >= n)
    for entries in (_entries, _cell_values):
        one, other = (_records(data, n, entries), _records(neighbour, m, entries))
        first = next((i for i in range(shorter) if one[i] != other[i]), shorter)
        if first == shorter:
            break
        if one[first + skip :] == other[first + other_skip :]:
            return (_moved(data, first) if skip else data), (_moved(neighbour, first) if other_skip else neighbour)
    return data, neighbour


def entries_of_a_record(data: Any, neighbour: Any) -> int:
    """Return the number of entries per record, which is 1 if neither side is a table.

    >>> entries_of_a_record((np.eye(3), [0, 1, 2]), np.eye(4)), entries_of_a_record([1.0], [2.0])
    (4, 1)
    """
    tables = [side[0] if isinstance(side, tuple) and side else side for side in (data, neighbour)]
    return max([1, *(table.shape[1] for table in tables if getattr(table, "ndim", 0) == 2)])


def _size(data: Any) -> int | None:
    """Return the number of records of a table and its columns; None for anything else."""
    if not isinstance(data, tuple) or len(data) < 2 or getattr(data[0], "ndim", 0) != 2:
        return None
    sizes = {part.shape[0] if hasattr(part, "shape") and part.shape else _length(part) for part in data}
    return sizes.pop() if len(sizes) == 1 else None


def _length(part: Any) -> int | None:
    return len(part) if isinstance(part, (list, tuple)) else None


def _records(data: tuple, size: int, entries: Callable[[Any, int], list]) -> list[tuple]:
    """Return each record, in a form that can be compared."""
    return list(zip(*(entries(part, size) for part in data), strict=True))


def _entries(part: Any, size: int) -> list[bytes]:
    if isinstance(part, np.ndarray) and not part.dtype.hasobject:
        kind = str(part.dtype).encode()
        return [kind + row.tobytes() for row in part]
    if isinstance(part, pd.DataFrame) and part.columns.is_unique:
        columns = [_entries(column.to_numpy(), size) for _, column in part.items()]
        return [b"\0".join(row) for row in zip(*columns, strict=True)] if columns else [b""] * size
    return [fingerprint(_taken(part, [i])) for i in range(size)]


def _cell_values(part: Any, size: int) -> list[list]:
    """Return the values of each record's cells."""
    if isinstance(part, pd.DataFrame):
        columns = [map(cell_key, column) for _, column in part.items()]
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[]] * size
    if sparse.issparse(part):
        part = part.toarray()
    return [list(map(cell_key, row)) if np.ndim(row) == 1 else [cell_key(row)] for row in part]


def _moved(data: tuple, i: int) -> tuple:
    size = _size(data)
    assert size is not None
    order = [*range(i), *range(i + 1, size), i]
    return tuple(_taken(part, order) for part in data)


def _taken(part: Any, rows: list[int]) -> Any:
    if isinstance(part, (list, tuple)):
        return type(part)([part[i] for i in rows])
    if hasattr(part, "iloc"):
        return part.iloc[rows].reset_index(drop=True)
    table = part.tocsr() if sparse.issparse(part) else part
    return table[np.asarray(rows, dtype=np.intp)]


@dataclass(frozen=True)
class Release:
    """One release of a recorded call: its mechanism, the exact statistics of both data sets, and its privacy loss.

    The statistics are private: use them in an audit, and do not publish them.
    """

    mechanism: Any
    statistic: Any
    neighbour_statistic: Any
    loss: Loss


@dataclass
class _Noted:
    mechanism: Any
    statistic: Any
    output: Any
    run: tuple[tuple[int, int, float], ...]


@dataclass
class _Asked:
    """A request for public randomness, after a number of releases, and its answer."""

    draw: str
    arguments: tuple
    size: Any
    after: int
    drawn: Any

    def same_request(self, other: _Asked, entries: int) -> bool:
        """Return whether two requests are equal, but for the entries of one record."""
        if (self.draw, self.arguments, self.after) != (other.draw, other.arguments, other.after):
            return False
        if (self.size is None) != (other.size is None):
            return False
        one, two = (np.atleast_1d(asked.size if asked.size is not None else 0) for asked in (self, other))
        return one.shape == two.shape and bool(abs(one[0] - two[0]) <= entries and (one[1:] == two[1:]).all())


@dataclass
class _Recording:
    """Observer that records the first call."""

    rng: np.random.Generator
    releases: list[_Noted] = field(default_factory=list)
    public_draws: list[_Asked] = field(default_factory=list)
    _run: tuple[tuple[int, int, float], ...] = ()
    _groups: int = 0

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        noted = copy.deepcopy(statistic)
        # the recorder's own generator, so that several pasts are tried whatever seed the call uses
        output = mechanism._sample(statistic, None if rng is None else self.rng)
        self.releases.append(_Noted(mechanism, noted, copy.deepcopy(output), self._run))
        return output

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        drawn = boundary.drawn_by(self.rng, draw, arguments, size)
        self.public_draws.append(_Asked(draw, arguments, size, len(self.releases), copy.deepcopy(drawn)))
        return drawn

    @contextmanager
    def best_of_runs(self, factor: float) -> Iterator[Any]:
        before, group, runs = self._run, self._groups, 0
        self._groups += 1

        @contextmanager
        def one_run() -> Iterator[None]:
            nonlocal runs
            self._run, runs = (*before, (group, runs, factor)), runs + 1
            try:
                yield
            finally:
                self._run = before

        yield one_run


class _Diverged(BaseException):
    """The neighbour's call took a different path. Not an Exception, so that no handler inside the call catches it."""


@dataclass
class _Replay(_Recording):
    """Observer that answers a second call with the outputs of the first, and compares the statistics."""

    first: _Recording = None  # type: ignore[assignment]
    entries: int = 1
    compared: list[Release] = field(default_factory=list)

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        position = len(self.compared)
        if position == len(self.first.releases):
            self._diverge(mechanism, None, statistic)
        noted = self.first.releases[position]
        if noted.mechanism != mechanism or noted.run != self._run or _shape(noted.statistic) != _shape(statistic):
            self._diverge(mechanism, noted.statistic, statistic)
        loss = mechanism._compare(noted.statistic, mechanism, statistic)
        self.compared.append(Release(mechanism, noted.statistic, copy.deepcopy(statistic), loss))
        return copy.deepcopy(noted.output)

    def _diverge(self, mechanism: Any, statistic: Any, neighbour: Any) -> None:
        """Stop: a different mechanism, scale, shape or number of releases alone distinguishes the data sets."""
        self.compared.append(Release(mechanism, statistic, neighbour, EVERYTHING))
        raise _Diverged

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        position = len(self.public_draws)
        asked = _Asked(draw, arguments, size, len(self.compared), None)
        self.public_draws.append(asked)
        before = self.first.public_draws[position] if position < len(self.first.public_draws) else None
        if before is None or not before.same_request(asked, self.entries):
            self._diverge(None, before, asked)
        assert before is not None
        asked.drawn = copy.deepcopy(before.drawn)
        if np.shape(size) == () and size != before.size:
            # the last record was added or removed: the other records keep their draws
            asked.drawn = boundary.drawn_by(self.rng, draw, arguments, size)
            common = min(size, before.size)
            asked.drawn[:common] = before.drawn[:common]
        return asked.drawn


def _shape(statistic: Any) -> Any:
    if isinstance(statistic, tuple):
        # tables of records differ in length between neighbours, so their shapes are not compared
        return len(statistic)
    return np.shape(statistic)


def recorded_cost(
    call: Callable[[Any], Any],
    data: Any,
    neighbour: Any,
    *,
    delta: float = 0.0,
    pasts: int = 3,
    seed: int = 0,
) -> float:
    """Return the privacy loss of everything that a call releases about two neighbouring data sets.

    The recorder knows the exact statistics, so this is not an audit from draws. It does not use the call's claim: it
    adds up the losses from the noise that was really drawn.

    Parameters
    ----------
    call : callable
        ``call(data)`` may fit, predict, transform or draw a curve, with this library's estimators and functions,
        alone, nested or in a scikit-learn Pipeline. Its results are compared too: with equal releases they must be
        equal for both data sets, to the bit and with everything that they hold, and so must its warnings (but for
        `FactWarning`, of simulations, apart from `CrowdedBins`), its output, its log records, and the files that it
        writes. Create the estimators inside the call, with any `random_state`. In the main thread the working directory
        is an empty folder during the call.
    data, neighbour : object
        Two data sets that differ by one record. In tables with labels, tuples (X, y), it may be any record. A call that
        asks for public randomness for each record sees it moved to the end, so that the records that both hold receive
        the same randomness. Any other call sees the tables as they are. In other data sets it should be the last
        record if the call asks for such randomness. Otherwise the bound may be too large.
    delta : float
        The δ for which the loss is returned, in [0, 1). Use 0 for pure differential privacy.
    pasts : int
        Number of outcomes of the releases that are tried. The largest loss counts.
    seed : int
        Seed of the noise, which the recorder draws instead of the call's own generators. In release mode the noise
        comes from the operating system, and the seed does not affect it.

    Returns
    -------
    float
        For δ = 0, the sum of each release's largest log ratio, given the earlier releases. For δ > 0, an ε for which
        all releases together are (ε, δ)-indistinguishable on this pair: exact for Gaussian noise, and otherwise from a
        division of δ among the releases. Infinity if the two data sets can be told apart with certainty: the releases
        differ in number, kind, scale or shape, only one side raises an exception, or a result depends on more than
        the releases. Equal refusals (errors of `dpml.exceptions`) on both sides are equal results.

    Raises
    ------
    InvalidParameter
        If δ or the number of pasts is not allowed.
    Exception
        Any other exception that the call raises on both sides: a call that cannot run has no cost.

    See Also
    --------
    recorded_releases : Returns each release with its loss.
    audit : Audits one mechanism on two neighbours.

    Notes
    -----
    The loss of an adaptive composition is at most the sum of the worst losses of its steps (Dwork and Roth 2014,
    Theorem 3.16). One pair of neighbours can refute a claim, but cannot prove one. The recorder does not see releases
    in other processes or threads (`n_jobs`), nor output and files that C code writes past Python.

    Examples
    --------
    >>> from dpml.classifiers import BernoulliNB
    >>> X = np.array([[1, 0], [0, 1], [1, 1]])
    >>> data, neighbour = (X[:2], [0, 1]), (X, [0, 1, 1])
    >>> def call(data):
    ...     return BernoulliNB(0.5, random_state=0).fit(*data)
    >>> round(recorded_cost(call, data, neighbour), 9)
    0.5
    """
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    return max(total_epsilon(loss, delta) for loss in recorded_losses(call, data, neighbour, pasts=pasts, seed=seed))


def recorded_losses(
    call: Callable[[Any], Any], data: Any, neighbour: Any, *, pasts: int = 3, seed: int = 0
) -> list[Loss]:
    """Return the loss of everything that a call releases, for each of several pasts."""
    return [_by_run(*_compared(call, data, neighbour, seed, past)) for past in range(check_integer(pasts, "pasts", 1))]


def recorded_releases(
    call: Callable[[Any], Any], data: Any, neighbour: Any, *, seed: int = 0, past: int = 0
) -> list[Release]:
    """Return every release of one run of a call with its loss, in order.

    If the two runs differ outside the releases, for example in their results, the last entry has no mechanism.

    Parameters
    ----------
    call : callable
        ``call(data)`` runs the code under audit, as in `recorded_cost`.
    data, neighbour : object
        Two data sets that differ by one record.
    seed : int, default=0
        Seed of the noise.
    past : int, default=0
        Index of the outcome of the releases. Each index gives other noise.

    Returns
    -------
    list of Release
        The releases in the order of the call.

    Raises
    ------
    InvalidParameter
        If `call` is not callable.

    See Also
    --------
    recorded_cost : Adds up the losses.
    Release : Stores one release.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> rng = np.random.default_rng(0)
    >>> [found] = recorded_releases(lambda data: Laplace(0.5).release(data, rng=rng), [3.0], [4.0])
    >>> found.mechanism.scale, found.loss.pure
    (2.0, 0.5)
    """
    return _compared(call, data, neighbour, seed, past)[0]


def _compared(
    call: Callable, data: Any, neighbour: Any, seed: int, past: int
) -> tuple[list[Release], list[tuple[tuple[int, int, float], ...]]]:
    if not callable(call):
        raise InvalidParameter("call", call, "a callable that takes one data set")
    modules = len(sys.modules)
    first, one = _recorded(call, data, seed, past)
    if any(asked.size is not None for asked in first.public_draws):
        # a draw for each record belongs to its place: the records that both hold must keep theirs
        given, (data, neighbour) = data, difference_last(data, neighbour)
        if data is not given:
            first, one = _recorded(call, data, seed, past)
    replay = _Replay(np.random.default_rng([seed, past, 1]), first=first, entries=entries_of_a_record(data, neighbour))
    runs = [noted.run for noted in first.releases]
    try:
        other = _run(call, neighbour, replay)
    except _Diverged:
        return replay.compared, [*runs, ()][: len(replay.compared)]
    for error in (one.error, other.error):
        # on both sides, for else the difference is the cost
        if error is not None and one.prints[0] == other.prints[0] and not isinstance(error, DpmlError):
            raise error
    numbers = (
        (len(first.releases), len(first.public_draws)),
        (len(replay.compared), len(replay.public_draws)),
    )
    if one.prints[1] != other.prints[1] and len(sys.modules) > modules:
        return _compared(call, data, neighbour, seed, past)  # a first import may warn, print and start processes
    if one.prints == other.prints and numbers[0] == numbers[1]:
        return replay.compared, runs
    # what differs: the results or errors, what is left beside them, or the number of releases and draws
    different = [k for k in (0, 1) if one.prints[k] != other.prints[k]]
    outcome, other_outcome = (one.shown[different[0]], other.shown[different[0]]) if different else numbers
    return [*replay.compared, Release(None, outcome, other_outcome, EVERYTHING)], [*runs, ()]


@dataclass
class _Ended:
    """How a call ended: its result or exception, and what it left, to be shown and as fingerprints."""

    shown: tuple[Any, ...]
    prints: tuple[bytes, ...]
    error: Exception | None


def _recorded(call: Callable, data: Any, seed: int, past: int) -> tuple[_Recording, _Ended]:
    """Run a call under an observer of its own; return the two."""
    first = _Recording(np.random.default_rng([seed, past]))
    return first, _run(call, data, first)


def _run(call: Callable, data: Any, observer: _Recording) -> _Ended:
    result = error = None
    with effects() as left, boundary.observe(observer):
        try:
            result = call(data)
        except Exception as raised:
            error = raised
    ending = result if error is None else (type(error).__qualname__, str(error))
    prints = fingerprint([error is None, ending]), fingerprint(left.seen)
    return _Ended((ending, left.seen), prints, error)


def _by_run(releases: list[Release], runs: list[tuple[tuple[int, int, float], ...]]) -> Loss:
    """Add up losses. Of the alternative runs of a group, the most expensive counts, times the group's factor."""
    total = NOTHING
    groups: dict[Any, dict[int, list]] = {}
    for release, run in zip(releases, runs, strict=False):
        if run:
            groups.setdefault((run[0][0], run[0][2]), {}).setdefault(run[0][1], []).append((release, run[1:]))
        else:
            total += release.loss
    for (_, factor), alternatives in groups.items():
        losses = [_by_run([r for r, _ in mine], [rest for _, rest in mine]) for mine in alternatives.values()]
        if any(loss.has_no_ratio for loss in losses):
            raise DpmlError("random stopping is accounted for pure ε only: a run made a release without a pure ε")
        total += Loss(pure=factor * max(loss.pure for loss in losses))
    return total


def total_epsilon(loss: Loss, delta: float) -> float:
    """Return an ε for which a loss is (ε, δ)-private."""
    if math.isnan(loss.pure + loss.gaussian):
        return math.inf  # a NaN statistic has no bound
    if not loss.has_no_ratio:
        return loss.pure
    if delta == 0.0 or math.isinf(loss.pure):
        return math.inf
    return loss.pure + epsilon_without_pure(loss, delta)
