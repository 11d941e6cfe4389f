"""Checks of public parameters. Every message has the name, the value and what is allowed."""

import math
import numbers
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpml.exceptions import InvalidParameter

RELATIONS = ("add-remove", "replace-one")
ON_INVALID = ("raise", "clip")
# 1024 divided by a width must be a float, for numbers are counted in 1/1024 of it
LEAST_WIDTH = 1024 / sys.float_info.max


def check_number(
    value: Any, name: str, lower: float = -math.inf, upper: float = math.inf, *, open_lower=False, open_upper=False
) -> float:
    """Return a finite float inside the stated interval, or raise `InvalidParameter`."""
    left, right = "([)"[not open_lower], "])"[open_upper]
    allowed = f"a finite number in {left if lower > -math.inf else '('}{lower:g}, {upper:g}"
    allowed += right if upper < math.inf else ")"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(name, value, allowed)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    too_low = number < lower or (open_lower and number == lower)
    too_high = number > upper or (open_upper and number == upper)
    if not math.isfinite(number) or too_low or too_high:
        raise InvalidParameter(name, value, allowed)
    return number


def scalable(lower: float, upper: float) -> bool:
    """Return whether numbers between two bounds can be scaled: no ratio made of the width overflows or loses digits.

    The width is a float; so are, without loss, its quarter and 1024 divided by it.
    """
    return LEAST_WIDTH <= upper - lower < math.inf


def check_upper(value: Any, lower: float) -> float:
    """Return an upper bound above a lower one, at a distance that can be scaled."""
    upper = check_number(value, "upper", lower, open_lower=True)
    if not scalable(lower, upper):
        allowed = f"{LEAST_WIDTH:.2g} or more above lower = {lower:g}, at a distance that is a float"
        raise InvalidParameter("upper", upper, allowed)
    return upper


def check_epsilon(value: Any, name: str = "epsilon") -> float:
    """Return a finite ε > 0."""
    return check_number(value, name, 0.0, open_lower=True)


def check_integer(value: Any, name: str, lower: int = 0, upper: int | None = None) -> int:
    """Return an int in [lower, upper]."""
    allowed = f"an integer >= {lower}" if upper is None else f"an integer from {lower} to {upper}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(name, value, allowed)
    number = int(value)
    if number < lower or (upper is not None and number > upper):
        raise InvalidParameter(name, value, allowed)
    return number


def check_draws(draws: int | None) -> int | None:
    """Return a number of draws, at least 1, or None for one draw without an axis of its own."""
    return None if draws is None else check_integer(draws, "draws", 1)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return the value if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidParameter(name, value, "one of " + ", ".join(map(repr, choices)))
    return value


def check_relation(value: Any, name: str = "relation") -> str:
    """Return one of the two neighbouring relations."""
    return check_choice(value, name, RELATIONS)


def check_rng(value: Any, name: str = "rng") -> np.random.Generator:
    """Return a numpy Generator. A seed is refused: only an estimator turns ``random_state`` into a Generator."""
    if not isinstance(value, np.random.Generator):
        raise InvalidParameter(name, value, "a numpy.random.Generator, for example numpy.random.default_rng(0)")
    return value


def as_generator(random_state: Any, name: str = "random_state") -> np.random.Generator:
    """Turn an estimator's ``random_state`` (None, a seed, a Generator or a RandomState) into a Generator.

    A RandomState gives the seed, and this advances it as in scikit-learn: a second call with it gives other numbers.
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(check_integer(random_state, name, 0))


def check_flag(value: Any, name: str) -> bool:
    """Return a bool. Other types are refused, since text such as "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameter(name, value, "True or False")
    return bool(value)
