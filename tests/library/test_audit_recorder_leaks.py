"""The recorder sees an exact number wherever a result may hold it: in functions, objects, tables and generators."""

import functools
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpml.audit import recorded_cost
from dpml.audit.recorder import fingerprint, same
from dpml.mechanisms.private import Private
from dpml.schema import Feature, Schema

Pair = namedtuple("Pair", "first second")


@dataclass
class Plain:
    """A plain dataclass."""

    value: float = 0.0


@dataclass(frozen=True)
class Cached:
    """Keeps a property once it is computed."""

    value: float = 0.0

    @functools.cached_property
    def double(self):
        return 2 * self.value


class Slotted:
    """Attributes in slots, one of them hidden by its name."""

    __slots__ = ("__hidden", "__weakref__", "seen")

    def __init__(self, hidden):
        self.__hidden = hidden


class Unwilling:
    """Refuses pickling."""

    def __init__(self, value):
        self._value = value

    def __reduce_ex__(self, protocol):
        raise TypeError("no")


class Forgetful(Unwilling):
    """Pickles nothing of what it holds."""

    def __reduce_ex__(self, protocol):
        return Forgetful, (0,)

    def double(self):
        return 2 * self._value


class Bag(list):
    """A list with an attribute."""


def with_attribute(value, **attributes):
    vars(value).update(attributes) if hasattr(value, "__dict__") else None
    return value


def function_with(n):
    def function(default=0):
        return default

    function.records = n
    return function


def class_with(n):
    class Local:
        records = n

    return Local


def generator_with(n):
    yield n


def circular(n):
    first, second = [n], []
    first.append(second)
    second.append(first)
    return first


def cached(n):
    value = Cached(1.0)
    vars(value)["double"] = n
    return value


# ways to keep a number n in a result
KEPT = {
    "closure": lambda n: lambda: n,
    "closure of a closure": lambda n: (lambda inner: lambda: inner())(lambda: n),
    "default": lambda n: lambda k=n: k,
    "keyword default": lambda n: lambda *, k=n: k,
    "code": lambda n: eval(f"lambda: {n}"),
    "attribute of a function": function_with,
    "partial": lambda n: functools.partial(max, n),
    "keywords of a partial": lambda n: functools.partial(max, default=n),
    "bound method": lambda n: Forgetful(n).double,
    "bound builtin": lambda n: [n].append,
    "local class": class_with,
    "object of a local class": lambda n: class_with(n)(),
    "generator": generator_with,
    "iterator": lambda n: iter([n]),
    "no field of a dataclass": lambda n: with_attribute(Plain(), _records=n),
    "cached property": cached,
    "hidden slot": Slotted,
    "object that refuses pickling": Unwilling,
    "object that pickles nothing": Forgetful,
    "attribute of a list": lambda n: with_attribute(Bag(), records=n),
    "item of a list's subclass": lambda n: Bag([n]),
    "named tuple": lambda n: Pair(0, n),
    "dictionaries": lambda n: [OrderedDict(a=n), defaultdict(int, a=n), Counter(a=n), MappingProxyType({"a": n})],
    "order of a dictionary": lambda n: dict.fromkeys(["a", "b"] if n == 1 else ["b", "a"]),
    "queue": lambda n: deque([n]),
    "set": lambda n: {("a", n), ("b", 0)},
    "values of a dictionary": lambda n: {"a": n}.values(),
    "namespace": lambda n: SimpleNamespace(a=n),
    "array of objects": lambda n: np.array([n, "a"], dtype=object),
    "structured array": lambda n: np.array([(n, 0.5)], dtype=[("a", int), ("b", float)]),
    "mask of an array": lambda n: np.ma.masked_equal([1, 2], n),
    "sign of zero": lambda n: -0.0 if n == 1 else 0.0,
    "type of a number": lambda n: np.float32(0) if n == 1 else np.float64(0),
    "stored zero": lambda n: sparse.csr_array((np.zeros(n), (np.arange(n), np.arange(n))), (3, 3)),
    "attributes of a table": lambda n: with_attrs(pd.DataFrame({"a": [1]}), n),
    "unused category": lambda n: pd.Series(pd.Categorical(["a"], categories=list("abc")[:n])),
    "seed of a generator": lambda n: np.random.default_rng(n),
    "seed of an older generator": lambda n: np.random.RandomState(n),
    "memory": lambda n: memoryview(bytes([n])),
    "bytes": lambda n: bytearray([n]),
    "circle": circular,
    "schema": lambda n: Schema((Feature("x", "numeric", lower=0.0, upper=float(n)),)),
    "exception": lambda n: ValueError(n),
    "public attribute": lambda n: SimpleNamespace(counts_=Private(n)),
    "private result": Private,
    "private in a list": lambda n: [Private(n)],
    "public in a held object": lambda n: SimpleNamespace(_held=SimpleNamespace(n=n)),
}


def with_attrs(frame, n):
    frame.attrs["records"] = n
    return frame


@pytest.mark.parametrize("place", KEPT)
def test_a_number_that_a_result_holds_is_found(place):
    keep = KEPT[place]
    assert same(keep(1), keep(1))
    assert not same(keep(1), keep(2))
    assert recorded_cost(lambda data: keep(len(data)), [1.0], [1.0, 2.0], pasts=1) == math.inf
    assert recorded_cost(lambda data: keep(len(data)), [1.0], [2.0], pasts=1) == 0.0


# the same value, written in another way
SPELLED = {
    "shared or equal": lambda k: [[1.0]] * 2 if k else [[1.0], [1.0]],
    "order of a set": lambda k: {8, 0, 16} if k else {16, 8, 0},
    "order of attributes": lambda k: SimpleNamespace(**dict([("a", 1), ("b", 2)][:: 2 * k - 1])),
    "blocks of a table": lambda k: table_in_blocks(k),
    "a generator of the system's": lambda k: [np.random.default_rng(), np.random.RandomState()],
    "held": lambda k: SimpleNamespace(_records=Private(k), _deeper=[{"a": Private(k)}]),
    "held by a function": lambda k: SimpleNamespace(count=(lambda n: lambda: n)(Private(k))),
    "hash of an index": lambda k: looked_up(pd.Index(["a", "b"]), k),
    "order of an array": lambda k: np.asfortranarray(np.eye(3)) if k else np.eye(3),
}


def table_in_blocks(k):
    if k:
        return pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    frame = pd.DataFrame({"a": [1, 2]})
    frame["b"] = [3, 4]
    return frame


def looked_up(index, k):
    if k:
        index.get_loc("b")
    return index


@pytest.mark.system_noise  # one of them holds a generator that the system seeds
@pytest.mark.parametrize("what", SPELLED)
def test_results_that_differ_only_in_how_they_are_made_are_equal(what):
    assert same(SPELLED[what](0), SPELLED[what](1))


def test_a_result_is_taken_as_it_was_when_its_call_ended():
    shared = []

    def call(data):
        shared.append(len(data))
        return shared

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == math.inf


def test_a_fingerprint_is_one_of_values():
    assert len({fingerprint(value) for value in (1, 1.0, True, "1", b"1", None, (1,), [1], {1}, np.int64(1))}) == 10
