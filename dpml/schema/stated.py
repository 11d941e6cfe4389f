"""Values that a schema states: labels, categories and bounds, of kinds that each container keeps as they are.

Values are looked up by equality. NaN is not equal to itself. None becomes NaN in a column of floats, and an integer
above 2^53 is rounded there. A date is another object in each dtype. A column's dtype depends on all of its cells, so
with such a category one odd record would change the reading of all others.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import LEAST_WIDTH, scalable
from dpml.exceptions import InvalidSchema
from dpml.schema.untrusted import is_null

# whole numbers up to it are floats, each another one
MOST_WHOLE = 2**53


def plain_value(value: Any) -> Any:
    """Return a NumPy scalar as a Python value, and anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def stated_values(values: Any, name: str, least: int = 1) -> tuple:
    """Return public labels or categories as Python values, or raise `InvalidSchema`.

    They are texts, truth values and numbers between -2^53 and 2^53, all different, and at least `least` of them.

    >>> stated_values(np.array([0, 1]), "classes")
    (0, 1)
    """
    allowed = "at least one, all different" if least == 1 else "at least two different labels"
    try:
        plain = tuple(plain_value(value) for value in values)
    except TypeError:  # no sequence
        raise InvalidSchema(name, values, allowed) from None
    for value in plain:
        if is_null(value):
            raise InvalidSchema(name, plain, "without None and NaN: `missing` of a feature says what stands for a gap")
        if type(value) is str:
            check_text(value, name)
        elif type(value) not in (bool, int, float) or not -MOST_WHOLE < value < MOST_WHOLE:
            raise InvalidSchema(name, plain, "texts, truth values and numbers between -2^53 and 2^53")
    if len(plain) < least or len(set(plain)) < len(plain):
        raise InvalidSchema(name, plain, allowed)
    return plain


def check_text(value: Any, name: str) -> str:
    """Return a text that every table can hold: one without half of a surrogate pair."""
    try:
        if isinstance(value, str):
            value.encode()
            return value
    except UnicodeEncodeError:
        pass
    raise InvalidSchema(name, value, "text")


def stated_bounds(lower: float, upper: float, name: str) -> None:
    """Raise `InvalidSchema` unless a number with these bounds can be mapped to [0, 1] (`dpml.schema.units`)."""
    if not lower < upper:
        raise InvalidSchema(f"(lower, upper) of {name!r}", (lower, upper), "two numbers, lower < upper")
    if not scalable(lower, upper):
        allowed = f"at a distance from {LEAST_WIDTH:.2g} to {math.nextafter(math.inf, 0):.2g}"
        raise InvalidSchema(f"(lower, upper) of {name!r}", (lower, upper), allowed)


def label_array(classes: tuple) -> NDArray:
    """Return stated labels as an array that has them unchanged: NumPy makes text of all where one is text.

    >>> label_array((0, 1)), label_array((0, "yes"))
    (array([0, 1]), array([0, 'yes'], dtype=object))
    """
    array = np.asarray(classes)
    if array.tolist() == list(classes):
        return array
    labels = np.empty(len(classes), dtype=object)
    labels[:] = classes
    return labels
