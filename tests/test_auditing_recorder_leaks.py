"""The recorder sees an exact number wherever a call may leave it: in functions, objects, warnings, output and files."""

import functools
import logging
import math
import os
import subprocess
import sys
import threading
import warnings
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpml.auditing import recorded_cost, recorded_releases
from dpml.auditing.sameness import fingerprint, same
from dpml.exceptions import FactWarning, InvalidData
from dpml.mechanisms import Laplace, boundary
from dpml.mechanisms.private import Private
from dpml.schema import Feature, Schema

RNG = np.random.default_rng(0)
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


# ---- beside the result -----------------------------------------------------------------------------------------------


def warned(n):
    warnings.warn(f"{n} records", UserWarning, stacklevel=1)


def written(n):
    with open("count.txt", "w") as file:
        file.write(str(n))


def named(n):
    with open(f"{n}.txt", "w"):
        pass


def renamed(n):
    written(0)
    os.replace("count.txt", f"{n}.txt")


def logged(n):
    logging.getLogger("dpml.test").warning("%d records", n)


def category(n):
    warnings.warn("records", UserWarning if n == 1 else RuntimeWarning, stacklevel=1)


def started(n):
    subprocess.run([sys.executable, "-c", "", str(n)], check=True)


EFFECTS = {
    "warning": warned,
    "category of a warning": category,
    "second of two warnings": lambda n: [warned(0) for _ in range(n)],
    "output": lambda n: print(n),
    "errors": lambda n: print(n, file=sys.stderr),
    "lines": lambda n: sys.stdout.writelines([str(n)]),
    "log": logged,
    "file": written,
    "name of a file": named,
    "folder": lambda n: os.mkdir(str(n)),
    "new name of a file": renamed,
    "file of NumPy's": lambda n: np.save("count.npy", n),
    "process": started,
}


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_a_number_that_is_told_beside_the_result_is_found(kind):
    def call(data):
        EFFECTS[kind](len(data))
        return Laplace(1.0).release(0.0, rng=RNG)

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == math.inf
    assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    assert recorded_releases(call, [1.0], [1.0, 2.0])[-1].mechanism is None


def test_a_file_elsewhere_is_found_and_the_working_folder_is_restored(tmp_path):
    before = os.getcwd()

    def call(data):
        with open(tmp_path / "count", "w") as file:
            file.write(str(len(data)))

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == math.inf
    assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    recorded_cost(written, 1, 1)
    assert os.getcwd() == before
    assert not os.path.exists("count.txt")


def test_a_thread_beside_the_main_one_keeps_the_working_folder():
    costs, folders = [], []

    def audit():
        costs.append(recorded_cost(lambda data: folders.append(os.getcwd()) or print(len(data)), [1], [1, 2], pasts=1))

    thread = threading.Thread(target=audit)
    thread.start()
    thread.join()
    assert costs == [math.inf]
    assert set(folders) == {os.getcwd()}


def test_what_a_call_tells_is_passed_on(capsys):
    def call(data):
        print("out")
        warnings.warn("once", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="once"):
        assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    assert capsys.readouterr().out == "out\n" * 2
    with pytest.raises(UserWarning):
        recorded_cost(call, [1.0], [2.0], pasts=1)  # the tests turn warnings into errors


@pytest.mark.filterwarnings("ignore")
def test_a_warning_for_study_has_no_part_in_the_cost():
    def call(data):
        warnings.warn(f"{len(data)} records", FactWarning, stacklevel=1)

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == 0.0


# ---- public randomness -----------------------------------------------------------------------------------------------

ASKED = {
    "argument": lambda n: boundary.public_randomness(RNG, "integers", n),
    "draw": lambda n: boundary.public_randomness(RNG, "integers" if n == 1 else "permutation", 5),
    "number of draws": lambda n: [boundary.public_randomness(RNG, "random") for _ in range(n)],
    "size": lambda n: boundary.public_randomness(RNG, "random", size=3 * n),
    "second axis": lambda n: boundary.public_randomness(RNG, "random", size=(2, n)),
    "size or none": lambda n: boundary.public_randomness(RNG, "random", size=None if n == 1 else 1),
}


@pytest.mark.parametrize("what", ASKED)
def test_public_randomness_is_asked_for_alike(what):
    """What is drawn is no part of the result here: the request alone is the leak."""

    def call(data):
        ASKED[what](len(data))

    assert recorded_cost(call, [1.0], [1.0, 2.0]) == recorded_cost(call, [1.0, 2.0], [1.0]) == math.inf
    assert recorded_cost(call, [1.0], [2.0]) == 0.0


def test_public_randomness_is_asked_for_in_the_same_place():
    def call(data):
        for k in range(2):
            if len(data) == k + 1:
                boundary.public_randomness(RNG, "random")
            Laplace(1.0).release(0.0, rng=RNG)

    assert recorded_cost(call, [1.0], [1.0, 2.0]) == math.inf


@pytest.mark.parametrize("of_a_record", [1, 4, 5])
def test_a_record_asks_for_its_own_entries(of_a_record):
    def call(table):
        boundary.public_randomness(RNG, "random", size=of_a_record * len(table))

    assert recorded_cost(call, np.ones((3, 4)), np.ones((4, 4))) == (0.0 if of_a_record <= 4 else math.inf)


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_equal_refusals_are_equal_results_and_others_are_not():
    def refuses(words):
        def call(data):
            Laplace(0.5).release(sum(data), rng=RNG)
            raise InvalidData(words(data))

        return call

    assert recorded_cost(refuses(lambda data: "no"), [1.0], [2.0]) == 0.5
    assert recorded_cost(refuses(str), [1.0], [2.0]) == math.inf
    assert recorded_releases(refuses(str), [1.0], [2.0])[-1].statistic == ("InvalidData", "[1.0]")


def test_a_private_value_that_is_used_ends_an_audit_by_its_name():
    def call(data):
        return Private(len(data)) > 1

    with pytest.raises(TypeError, match="a private value cannot be used here"):
        recorded_cost(call, [1.0], [2.0])


def test_a_call_whose_first_run_imports_is_compared_once_more(monkeypatch):
    runs = []

    def call(data):
        runs.append(len(data))
        if len(runs) == 1:
            monkeypatch.setitem(sys.modules, "imported_by_the_test", math)
            print("imported")

    assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    assert len(runs) == 4
