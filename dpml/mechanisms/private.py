"""The type of exact values of private records, and the few functions that open it.

A `Private` value has no length, truth, number, order, iteration or array. ``if n > 100`` on an exact number of records
is a TypeError, and so is every use of an exact count in place of a noisy one. It is used in two ways:

- a *statistic* (`statistic`), an exact function that takes private values and returns private ones;
- a release: the privacy boundary (`dpml.mechanisms.boundary`) opens a statistic for a mechanism's draw and comparison.

Four more functions open one: `n_columns` (the schema has stated that number), `public_number` (under replace-one it is
public), `for_study` (refuses in release mode), and the fit of an estimator that a wrapper holds
(`dpml.estimators.inner_budget`), which takes the records themselves. test_private_values.py walks the syntax
tree and confirms that nothing else does.

The type prevents mistakes, not malice: Python hides nothing from code that looks on purpose
(docs/explanation/privacy.md).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpml.exceptions import NoExactScore
from dpml.mechanisms.interruption import checkpoint

T = TypeVar("T")
REFUSED = "a private value cannot be used here: release it through a mechanism, or compute a statistic of it"


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise TypeError(REFUSED)


class Private(Generic[T]):
    """An exact value of private records, which only a statistic or a release can use.

    >>> n = Private(20)
    >>> n > 10
    Traceback (most recent call last):
    TypeError: a private value cannot be used here: release it through a mechanism, or compute a statistic of it
    >>> double = statistic(lambda value: 2 * value)
    >>> double(n)
    Private(...)
    >>> double(20)
    40
    """

    __slots__ = ("__value",)

    def __init__(self, value: T):
        self.__value: T = opened(value)

    def __repr__(self) -> str:
        return "Private(...)"

    def __deepcopy__(self, memo: dict[int, Any]) -> Private[T]:
        return Private(copy.deepcopy(self.__value, memo))

    # without these Python answers by identity, and NumPy makes an array of one object
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refused
    __array__ = __array_function__ = __reduce_ex__ = __format__ = _refused
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None


def opened(value: Any) -> Any:
    """Return the content of private values, also inside a list, tuple or dictionary, and anything else unchanged."""
    kind = type(value)
    if kind is Private:
        return value._Private__value
    if kind in (list, tuple) and is_private(value):
        return kind(opened(part) for part in value)
    if kind is dict and is_private(value):
        return {key: opened(part) for key, part in value.items()}
    return value


def is_private(value: Any) -> bool:
    """Return whether a value is private, or a list, tuple or dictionary with a private value in it."""
    kind = type(value)
    if kind is dict:
        value, kind = tuple(value.values()), tuple
    if kind not in (list, tuple):
        return kind is Private
    kinds = set(map(type, value))  # a list of a million labels is looked through at once
    return Private in kinds or (not kinds.isdisjoint((dict, list, tuple)) and any(map(is_private, value)))


def statistic(function: Callable) -> Callable[..., Any]:
    """Let an exact function take private values too. Its result is then private; each part of a tuple by itself.

    The function must be pure: it changes nothing outside it, draws nothing, and raises, warns and prints nothing.

    >>> @statistic
    ... def ends(values):
    ...     return min(values), max(values)
    >>> ends(Private([3, 1, 2]))
    (Private(...), Private(...))
    """

    @wraps(function)
    def lifted(*arguments: Any, **options: Any) -> Any:
        checkpoint()
        if not (is_private(arguments) or (options and is_private(options))):
            return function(*arguments, **options)
        result = function(*map(opened, arguments), **{name: opened(value) for name, value in options.items()})
        return tuple(map(Private, result)) if type(result) is tuple else Private(result)

    lifted.statistic = function  # type: ignore[attr-defined]  # what the test of the syntax tree looks for
    return lifted


def n_columns(X: Any) -> int:
    """Return the number of columns of a table, which is public: the schema states it."""
    return opened(X).shape[1]


def public_number(records: Any, relation: str) -> int:
    """Return the number of records where it is public: under replace-one neighbours have as many.

    Raises `NoExactScore` under another relation.
    """
    if relation != "replace-one":
        raise NoExactScore("the number of records is private under add-remove")
    return opened(number_of(records))


def for_study(value: Any, release: bool, name: str = "an exact value") -> Any:
    """Return an exact value for a simulation. With ``release=True`` there is none.

    Raises `NoExactScore` if `release`.
    """
    if release:
        raise NoExactScore(f"{name} is not available where release=True: it is a function of private records")
    return opened(value)


# ---- statistics that every package needs ------------------------------------------------------------------------


@statistic
def number_of(records: Any) -> int:
    """Return the exact number of records: of rows of a table, or of entries of a column."""
    return records.shape[0] if hasattr(records, "shape") else len(records)


@statistic
def repeated(values: Any, draws: int | None = None, dtype: Any = float) -> Any:
    """Return an array of shape (draws, *values.shape) that repeats the values, or `values` if `draws` is None."""
    values = np.asarray(values, dtype=dtype)
    return values if draws is None else np.broadcast_to(values, (draws, *values.shape))


# floats beyond it are not all integers
MOST_STEPS = 2.0**53


@statistic
def to_integers(values: Any, grid: float = 1.0) -> NDArray[np.int64]:
    """Return values in units of 1/`grid` as integers, the statistic of integer noise, whatever the values are.

    Rounding and clipping to ±2^53 move no two values further apart than a unit, and NaN is 0 (a cast makes -2^63 of
    it), so no record makes the conversion fail or overflow. Multiples of 1/`grid` are converted exactly.
    """
    with np.errstate(all="ignore"):
        steps = np.rint(np.asarray(values, dtype=float) * grid)
    return np.nan_to_num(np.clip(steps, -MOST_STEPS, MOST_STEPS), nan=0.0).astype(np.int64)
