"""One column of a table and its public domain.

Stated labels, categories and bounds are of kinds that each container keeps as they are. They are looked up by equality,
and NaN is not equal to itself. None becomes NaN in a column of floats, and an integer above 2^53 is rounded there. A
date is another object in each dtype. A column's dtype depends on all of its cells, so with such a category one odd
record would change the reading of all others.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import LEAST_WIDTH, check_choice, check_flag, check_number, scalable
from dpml.exceptions import InvalidData, InvalidSchema, shown
from dpml.schema.cells import is_null, plain_cells, plain_numbers, plain_positions
from dpml.schema.domain import HALVINGS, Taxonomy, grouped, halved, log_edges, nested

# whole numbers up to it are floats, each another one
MOST_WHOLE = 2**53


def plain_value(value: Any) -> Any:
    """Return a NumPy scalar as a Python value, and anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def stated_values(values: Any, name: str, least: int = 1) -> tuple:
    """Return public labels or categories as Python values, all different and at least `least`, or raise."""
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


# what can be read off the data: of a column, by its kind, and of the whole table
OF_KIND = {"binary": ("kind",), "categorical": ("categories",), "numeric": ("lower", "upper")}
OF_TABLE = ("classes", "row_bound", "n_rows", "n_lower", "ignored")


def check_marks(marks: Mapping[str, Any], facts: tuple[str, ...], of: str = "") -> dict[str, tuple[str, ...]]:
    """Return the facts of each mark in their order. True marks all of them, and none has two marks."""
    every: dict[str, tuple[str, ...]] = {}
    for name, given in marks.items():
        marked = facts if given is True else (given,) if isinstance(given, str) else tuple(given or ())
        for fact in marked:
            check_choice(fact, f"fact in {name}{of}", facts)
        for other, known in every.items():
            if twice := next((fact for fact in known if fact in marked), ""):
                raise InvalidSchema(f"fact in {name}{of}", twice, f"not in {other}, too")
        every[name] = tuple(fact for fact in facts if fact in marked)
    return every


KINDS = ("binary", "categorical", "numeric")


@dataclass(frozen=True)
class Feature:
    """State the public domain of one column.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"binary", "categorical", "numeric"}, default="binary"
        Kind of its values. Binary values are 0 and 1.
    categories : tuple, optional
        All values that a categorical column can have, in the data or not: texts, truth values and numbers between -2^53
        and 2^53. A cell is compared with them by value: 1, 1.0, "1" and " 01" are the same, and so are two Unicode
        forms of a text. A release refuses two categories that are the same. A null is none of them (see `missing`).
    lower, upper : float, optional
        Bounds of a numeric column, in the column's own units, at a distance from 5.7e-306 to the largest float.
    block : str, optional
        The attribute that this one-hot column belongs to. A record has at most one 1 in a block.
    missing : object, optional
        The value of the domain that replaces a missing value (None, NaN, NA or NaT). With None a missing value is
        invalid.
    exhaustive : bool, default=False
        Whether the columns of the block cover every value of the attribute, so that exactly one of them is 1.
    levels : tuple, optional
        The levels of the feature's taxonomy below "all values together", coarsest first. A numeric column has the cut
        points of each level. Another column has the groups of each level, or "each" for every category alone. By
        default there are 2, 4, 8 and 16 bins of equal width, or every category alone.
    data_derived : tuple of {"lower", "upper", "categories", "kind"}, or True
        Data-derived facts of the domain that no person has confirmed yet: bounds, categories, or the kind of a binary
        column. A release refuses them. True marks all facts of this kind.
    confirmed : tuple of {"lower", "upper", "categories", "kind"}, or True
        Data-derived facts that a person has confirmed (`Schema.confirm`).
    whole : bool, default=False
        Whether a number is a whole one, as counts are. A synthetic table then has whole numbers. Nothing else changes.
    paid : tuple of {"lower", "upper", "categories", "kind"}, or True
        Facts that were released with secure noise (`Schema.describe` with an `epsilon` and ``release=True``), and so
        are public.
    cuts : sequence of float, optional
        Short form of the `levels` of a number: its finest cut points. Each level above has every second one.
    scale : {"log"}, optional
        Short form of the `levels` of a number: 16 bins of equal width on a logarithmic scale, or that grow from 0 where
        the domain contains it.

    See Also
    --------
    Schema : States public metadata of a whole table.
    Taxonomy : Describes the levels of a feature.

    Notes
    -----
    The constructor reads no data: the user states the domain.

    Examples
    --------
    >>> Feature("age", "numeric", lower=17, upper=90).domain
    'a number from 17 to 90'
    >>> Feature("age", "numeric", lower=17, upper=90, cuts=[30, 50, 65]).levels
    ((50,), (30, 50, 65))
    """

    name: str
    kind: str = "binary"
    categories: tuple | None = None
    lower: float | None = None
    upper: float | None = None
    block: str | None = None
    missing: Any = None
    exhaustive: bool = False
    levels: tuple | None = None
    data_derived: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    whole: bool = False
    paid: tuple[str, ...] = ()
    cuts: InitVar[Sequence | None] = None
    scale: InitVar[str | None] = None

    def __post_init__(self, cuts: Sequence | None, scale: str | None):
        set_ = partial(object.__setattr__, self)  # frozen dataclass
        check_text(self.name, "feature name")
        check_choice(self.kind, "kind", KINDS)
        if self.kind == "categorical":
            set_("categories", stated_values(self.categories, f"categories of {self.name!r}"))
        if self.kind == "numeric":
            lower = check_number(plain_value(self.lower), f"lower of {self.name!r}")
            upper = check_number(plain_value(self.upper), f"upper of {self.name!r}")
            if not lower < upper:
                raise InvalidSchema(f"(lower, upper) of {self.name!r}", (lower, upper), "two numbers, lower < upper")
            if not scalable(lower, upper):
                allowed = f"at a distance from {LEAST_WIDTH:.2g} to {math.nextafter(math.inf, 0):.2g}"
                raise InvalidSchema(f"(lower, upper) of {self.name!r}", (lower, upper), allowed)
            set_("lower", lower)
            set_("upper", upper)
        if check_flag(self.whole, f"whole of {self.name!r}"):
            if self.kind != "numeric":
                raise InvalidSchema(f"whole of {self.name!r}", True, "false where the column is no number")
            if not math.ceil(self.lower) <= math.floor(self.upper):  # type: ignore[arg-type]
                raise InvalidSchema(f"whole of {self.name!r}", True, f"false where no whole number is {self.domain}")
        if self.missing is not None:
            value = plain_value(self.missing)
            if self.kind == "categorical":
                known = type(value) in (str, bool, int, float) and value in (self.categories or ())  # as it is stated
            else:
                known = isinstance(value, (int, float)) and self._knows(_cells([value]))[0]
            if not known:
                raise InvalidSchema(f"missing of {self.name!r}", self.missing, self.domain)
            set_("missing", value)
        marks = {name: getattr(self, name) for name in ("data_derived", "confirmed", "paid")}
        for name, marked in check_marks(marks, OF_KIND[self.kind], f" of {self.name!r}").items():
            set_(name, marked)
        if cuts is not None or scale is not None:
            set_("levels", self._levels_of(cuts, scale))
        if self.levels is not None:
            self.taxonomy  # noqa: B018  # raises where the levels are wrong
            set_("levels", _frozen(self.levels))

    def _levels_of(self, cuts: Sequence | None, scale: str | None) -> tuple:
        """Return the levels that `cuts` or `scale` is short for."""
        if scale is not None:
            check_choice(scale, f"scale of {self.name!r}", ("log",))
        given = {"cuts": cuts, "scale": scale, "levels": self.levels}
        given = {name: value for name, value in given.items() if value is not None}
        if self.kind != "numeric" or len(given) > 1:
            raise InvalidSchema(f"{' and '.join(given)} of {self.name!r}", given, "one of them, and of a number")
        points = log_edges(self.lower, self.upper, 2**HALVINGS) if cuts is None else cuts  # type: ignore[arg-type]
        return nested(self.name, points)

    @cached_property  # a fit of a thousand words asks for it often
    def taxonomy(self) -> Taxonomy:
        """The levels at which values are told apart: the stated ones, or else the default."""
        if self.kind == "numeric":
            return halved(self.name, self.lower, self.upper, self.levels)  # type: ignore[arg-type]
        return grouped(self.name, (0, 1) if self.kind == "binary" else self.categories or (), self.levels)

    def _knows(self, column: np.ndarray) -> np.ndarray:
        """Return a mask of the cells, of any type, that lie in the domain."""
        if self.kind == "categorical":
            return plain_positions(column, self.categories or ()) >= 0
        values = plain_numbers(column)
        if self.kind == "binary":
            return (values == 0) | (values == 1)
        return (values >= self.lower) & (values <= self.upper)  # type: ignore[operator]

    def count_outside(self, values: Any) -> int:
        """Return the number of cells of a column that lie outside the domain.

        Parameters
        ----------
        values : array-like of shape (n,)
            Cells of the column.

        Returns
        -------
        int
            Number of cells outside, which is private. Missing ones count if there is no `missing`.
        """
        column = _cells(values)
        return int(self._invalid(column[~self._knows(column)]).sum())

    @property
    def domain(self) -> str:
        """The allowed values in words."""
        if self.kind == "binary":
            return "0 or 1"
        if self.kind == "numeric":
            return f"a {'whole ' if self.whole else ''}number from {self.lower:g} to {self.upper:g}"
        values = ", ".join(map(shown, (self.categories or ())[:8]))
        return f"one of {values}" + (", ..." if len(self.categories or ()) > 8 else "")

    def facts(self, names: Collection[str]) -> str:
        """Return facts of the domain in words, in full.

        Parameters
        ----------
        names : collection of {"lower", "upper", "categories", "kind"}
            The facts.

        Returns
        -------
        str
            A phrase without a full stop.

        Examples
        --------
        >>> Feature("age", "numeric", lower=0, upper=120, whole=True).facts(("lower", "upper"))
        'a whole number of at most 120 and at least 0'
        """
        known = {"categories": "one of " + ", ".join(map(str, self.categories or ())), "kind": "0 or 1"}
        if self.kind == "numeric":
            # a person who confirms the upper bound of whole numbers confirms that they are whole, so it comes first
            known["upper"] = f"{'a whole number of ' if self.whole else ''}at most {self.upper:.12g}"
            known["lower"] = f"at least {self.lower:.12g}"
        words = [known[name] for name in names]
        return " and ".join(reversed(words) if self.whole else words)

    def clean(self, values: Any, on_invalid: str) -> np.ndarray:
        """Return the column with every value inside the domain.

        Parameters
        ----------
        values : array-like of shape (n,)
            Cells of the column.
        on_invalid : {"raise", "clip"}
            Treatment of a value outside the domain. "raise" raises `InvalidData`. "clip" replaces it.

        Returns
        -------
        ndarray of shape (n,)
            Values of the domain.

        Notes
        -----
        Clipping sends a number to the nearest bound, NaN to `missing` or else the middle of the domain (0 in a binary
        column), and an unknown category to `missing` or else the first category.
        """
        if self.kind == "categorical":
            cells = np.empty(len(self.categories or ()), dtype=object)
            cells[:] = self.categories
            return cells[self.positions(values, on_invalid)]
        column = _cells(values)
        # halved first, because the sum of two bounds may exceed the largest float
        middle = 0.0 if self.kind == "binary" else self.lower / 2 + self.upper / 2  # type: ignore[operator]
        numbers = plain_numbers(column)
        if on_invalid == "raise":
            self._refuse(column[~self._knows(column)])
        numbers = np.where(np.isnan(numbers), self.missing if self.missing is not None else middle, numbers)
        return (numbers > 0.5).astype(float) if self.kind == "binary" else np.clip(numbers, self.lower, self.upper)

    def positions(self, values: Any, on_invalid: str) -> NDArray[np.intp]:
        """Return the position of each cell's category in a categorical column.

        Parameters
        ----------
        values : array-like of shape (n,)
            Cells of the column.
        on_invalid : {"raise", "clip"}
            Treatment of a value outside the domain, with the rules of `clean`.

        Returns
        -------
        ndarray of int of shape (n,)
            Positions among the categories.
        """
        categories = self.categories or ()
        positions = plain_positions(values, categories)
        unknown = positions < 0
        if unknown.any():
            if on_invalid == "raise":
                self._refuse(_cells(values)[unknown])
            positions[unknown] = 0 if self.missing is None else categories.index(self.missing)
        return positions

    def _invalid(self, unknown: NDArray) -> NDArray[np.bool_]:
        """Return which cells outside the domain are invalid: nulls are not if the feature defines `missing`."""
        if self.missing is None:
            return np.ones(len(unknown), dtype=bool)
        return np.array([not is_null(cell) for cell in unknown], dtype=bool)

    def _refuse(self, unknown: NDArray) -> None:
        """Raise for the first invalid cell of those outside the domain."""
        bad = self._invalid(unknown)
        if bad.any():
            value = show_value(unknown[bad][0])
            hint = ". Feature(missing=...) states the value of missing cells" if is_null(unknown[bad][0]) else ""
            raise InvalidData(f"column {shown(self.name)} has the value {value}: it must be {self.domain}{hint}")


def _cells(values: Any) -> np.ndarray:
    """Return a column as a one-dimensional array. A cell that is a sequence stays one cell."""
    column = plain_cells(values)
    return column if column.ndim == 1 else plain_cells(list(column))


def show_value(value: Any) -> str:
    """Return a cell as text for a message, a NumPy scalar as a Python value."""
    return shown(value.item() if isinstance(value, np.generic) else value)


def _frozen(levels: Any) -> Any:
    """Return nested lists as tuples, which have a hash."""
    return tuple(map(_frozen, levels)) if isinstance(levels, (list, tuple)) else plain_value(levels)
