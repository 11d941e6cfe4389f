"""The type of exact values: what cannot be done with one, and the few ways to use it."""

import copy
import math
import operator
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpml.exceptions import InvalidParameter, NoExactScore
from dpml.mechanisms import ExponentialMechanism, Laplace, boundary
from dpml.mechanisms.private import (
    Private,
    for_study,
    is_private,
    n_columns,
    number_of,
    opened,
    public_number,
    statistic,
    to_integers,
)

SECRET = 8684.8
N = Private(SECRET)
COUNTS = Private(np.array([3.0, 5.0, 8684.8]))


def test_an_exact_value_where_a_noisy_one_was_meant_is_an_error():
    n = number_of(Private(np.zeros((20, 3))))
    rule = lambda n: "many" if n > 10 else "few"  # noqa: E731
    assert rule(20) == "many"
    with pytest.raises(TypeError, match="private value"):
        rule(n)


UNARY = [
    bool, float, int, complex, len, iter, list, tuple, set, hash, abs, round, sum, min, max, sorted, any, all,
    math.sqrt, math.floor, operator.index, operator.neg, operator.invert, reversed, next, enumerate, "{}".format,
    "{:.3f}".format, lambda p: f"{p:>10}", lambda p: f"{p}", str.__mod__.__get__("%d"), lambda p: p[0],
    lambda p: p.shape, lambda p: 1 in p, lambda p: {p: 1}, lambda p: range(p), lambda p: "x" * p,
]  # fmt: skip
BINARY = [
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.add, operator.sub,
    operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.matmul, operator.and_,
    operator.or_, operator.xor, divmod, np.add, np.maximum, np.equal, np.dot, np.isclose, np.array_equal,
    np.concatenate,
]  # fmt: skip
NUMPY = [
    np.asarray, np.array, np.sum, np.mean, np.max, np.shape, np.ndim, np.size, np.sqrt, np.isnan, np.sort, np.unique,
    np.atleast_1d, np.ravel, np.copy, np.float64, np.bincount, np.count_nonzero, np.where, np.stack, np.zeros,
    lambda p: np.array([p]), lambda p: np.array([1.0, p]), lambda p: np.zeros(3)[p],
    lambda p: np.zeros(3).__setitem__(0, p),
    lambda p: np.full(3, p), lambda p: np.stack([p, p]), lambda p: np.einsum("i->", p), lambda p: sparse.csr_array(p),
    lambda p: np.eye(3) @ p, lambda p: sparse.eye_array(3) @ p, lambda p: np.add.reduce(p), lambda p: np.r_[p],
]  # fmt: skip
WRITTEN = [pickle.dumps, copy.copy, lambda p: pickle.dumps({"n": p}), joblib.hash]


@pytest.mark.parametrize("use", UNARY)
@pytest.mark.parametrize("value", [N, COUNTS], ids=["number", "array"])
def test_it_has_no_truth_number_length_order_or_text(use, value):
    with pytest.raises((TypeError, AttributeError)) as caught:
        use(value)
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("use", BINARY)
@pytest.mark.parametrize("other", [1.0, np.ones(3), np.float64(2), N, None, pd.Series([1.0, 2.0, 3.0])])
def test_it_cannot_be_compared_or_computed_with(use, other):
    for pair in ((COUNTS, other), (other, COUNTS)):
        with pytest.raises((TypeError, ValueError, AssertionError)) as caught:  # pandas asserts scalars
            use(*pair)
        assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("use", NUMPY)
def test_numpy_and_scipy_make_no_array_of_it(use):
    with pytest.raises((TypeError, ValueError, AttributeError, IndexError)) as caught:
        use(COUNTS)
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("write", WRITTEN)
def test_it_is_not_written(write):
    with pytest.raises(Exception, match=r"private value|unhashable") as caught:
        write(COUNTS)
    assert str(SECRET) not in str(caught.value)


def test_its_text_holds_nothing():
    assert repr(COUNTS) == repr(N) == str(N) == "Private(...)"
    assert not hasattr(COUNTS, "__dict__")
    assert not hasattr(COUNTS, "value")


def test_a_statistic_takes_and_returns_private_values():
    @statistic
    def largest(values, more=0.0):
        return max(float(np.max(values)), more)

    assert largest([1.0, 2.0]) == 2.0
    assert largest([1.0, 2.0], more=9.0) == 9.0
    for private in (largest(COUNTS), largest([1.0], more=N), largest([1.0, N]), largest((N, 1.0))):
        assert type(private) is Private
        assert opened(private) == SECRET


def test_parts_of_a_tuple_are_private_one_by_one():
    parts = statistic(lambda table: (table["a"], [table["b"]], None))({"a": Private(1), "b": 2})
    assert type(parts) is tuple
    assert [opened(part) for part in parts] == [1, [2], None]
    assert all(type(part) is Private for part in parts)


def test_a_private_value_of_a_private_value_is_one():
    assert opened(Private(Private(3))) == 3


def test_it_is_found_inside_containers_and_opened_there():
    nested = [1, (2, {"n": N})]
    assert is_private(nested)
    assert opened(nested) == [1, (2, {"n": SECRET})]
    assert not is_private([1, (2, {"n": 3})])
    plain = [1, 2]
    assert opened(plain) is plain


def test_a_deep_copy_is_another_value():
    twin = copy.deepcopy(COUNTS)
    opened(twin)[0] = -1
    assert opened(COUNTS)[0] == 3.0


def test_a_release_of_private_counts_is_the_release_of_the_counts():
    for mechanism in (Laplace(0.5), ExponentialMechanism(1.0, 2.0)):
        private, plain = (mechanism.release(v, rng=np.random.default_rng(0), draws=4) for v in (COUNTS, opened(COUNTS)))
        assert np.array_equal(private, plain)
        assert not is_private(private)


def test_the_number_of_records_is_public_under_replace_one():
    table = Private(np.zeros((20, 3)))
    assert n_columns(table) == 3
    assert public_number(table, "replace-one") == 20
    with pytest.raises(NoExactScore):
        public_number(table, "add-remove")
    assert opened(number_of(Private(sparse.csr_array((7, 2))))) == opened(number_of(Private([0] * 7))) == 7


def test_study_opens_and_release_does_not():
    assert for_study(N, release=False) == SECRET
    with pytest.raises(NoExactScore, match="the true curve") as caught:
        for_study(N, release=True, name="the true curve")
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "grid", "integers"),
    [
        ([0.25, -0.75], 4, [1, -3]),
        ([np.nan, np.inf, -np.inf, 1e300], 1, [0, 2**53, -(2**53), 2**53]),
        ([1e308], 1024, [2**53]),
        ([2.5, 3.5], 1, [2, 4]),
    ],
)
def test_floats_become_integers_without_overflow(values, grid, integers):
    assert to_integers(values, grid).tolist() == integers
    assert opened(to_integers(Private(values), grid)).tolist() == integers
    with np.errstate(over="raise"):
        np.subtract(to_integers(values, grid), -(2**53))


def test_public_randomness_takes_numbers_and_no_function():
    rng = np.random.default_rng(0)
    assert boundary.public_randomness(rng, "integers", 10, size=5).shape == (5,)
    per_record = boundary.public_randomness(rng, "random", size=Private(7))
    assert type(per_record) is Private
    assert opened(per_record).shape == (7,)
    draws = ("choice", (3,)), ("shuffle", ()), (lambda rng: 1, ()), ("integers", (N,)), ("integers", ([1],))
    for draw, arguments in draws:
        with pytest.raises(InvalidParameter):
            boundary.public_randomness(rng, draw, *arguments, size=2)
