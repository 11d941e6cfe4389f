"""Bitwise comparison of two results with everything that they hold, by fingerprints.

A fingerprint covers what pickling would write, and what it leaves out: attributes that are no field of a dataclass, and
the code, defaults, closure and attributes of a function. It does not depend on what pickling adds, such as identity
(one list twice, or two equal lists). Taken at once, it does not change with an object that a later call changes.

A `dpml.mechanisms.private.Private` value under a name with an underscore, or inside a function, is held and not
released: it has no part in the fingerprint. In any other place it is handed out, so its content counts.
"""

import copyreg
import functools
import hashlib
import struct
import sys
import types
import warnings
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.budget import Budget
from dpml.mechanisms.private import Private, opened

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
        # where an object stands on the way down, or its digest
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
        # in their order, which whoever goes through a dictionary sees
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
    with budget._ledger.look() as book:
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
