"""Private categories of a column under (ε, δ), and the facts of several columns together.

A category is released if its noisy number of records is above a threshold (`ThresholdedCounts`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.columns.numbers import SECOND_LOOK, PrivateBounds, one_dimension, private_bounds, refuse_invalid
from dpml.mechanisms.noise import Geometric
from dpml.mechanisms.private import Private, statistic
from dpml.mechanisms.secure import integer_laplace_sample, integer_scale
from dpml.mechanisms.source import FACTOR, check_start
from dpml.schema.cells import cell_key, distinct_cells
from dpml.schema.feature import MOST_WHOLE


def read_texts(values: Any, on_invalid: str) -> Any:
    """Return the value of each cell of a column as text, None for one without a value (`cell_key`): private.

    With ``on_invalid="raise"``, for a simulation, such a cell or one with characters that cannot be printed is an
    error.
    """
    texts = _texts(Private(values))
    refuse_invalid(on_invalid, _stated(texts), "printable text")
    return texts


@statistic
def _stated(texts: Any) -> bool:
    return None not in texts.tolist()


@statistic
def _texts(values: Any) -> NDArray[np.object_]:
    where, cells = distinct_cells(one_dimension(values))
    texts = [_text(cell_key(cell)) for cell in cells]
    return np.array([*(text if text.isprintable() else None for text in texts), None], dtype=object)[where]


def _text(key: float | complex | str | None) -> str:
    """Return the value of a cell as text, a line break for none.

    A whole number has one spelling, as one gap in its column makes floats of all others.

    >>> [_text(cell_key(cell)) for cell in (1, "01", -0.0, 0.5, True, "True")]
    ['1', '1', '0', '0.5', '1', '1']
    """
    if isinstance(key, float) and abs(key) < MOST_WHOLE and key.is_integer():
        return str(int(key))
    return "\n" if key is None else str(key)


@dataclass(frozen=True, eq=False)
class PrivateCategories:
    """Categories that `private_categories` released.

    Attributes
    ----------
    counts : dict of str to int
        Noisy number of records of each category, in alphabetical order.
    threshold : int
        Smallest noisy number that was released.

    See Also
    --------
    private_categories : Releases these categories.
    """

    counts: dict[str, int]
    threshold: int

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories."""
        return tuple(self.counts)


@dataclass(frozen=True)
class ThresholdedCounts:
    """Integer noise on the count of each text that occurs, and only those that reach a threshold.

    Privacy: (ε, δ) for `relation`. The noise has scale b = Δ/ε, with Δ = 1 under add/remove and 2 under replace-one.
    The texts that occur in both data sets cost the change of their counts over b, at most ε. A text that occurs in one
    only occurs once there, and is released with probability P(1 + noise >= T) <= δ. Under replace-one there may be such
    a text on each side. All the rest is then equal, and with probability 1 - δ neither data set releases its own, so
    the distance of the two releases is δ again. T is 2 more than the size that the noise exceeds with probability 2δ,
    about 1 + b·log(1/(2δ)) (Korolova et al. 2009).
    """

    epsilon: float
    delta: float
    relation: str = "add-remove"
    secure: bool = False

    @cached_property
    def scale(self) -> float:
        """Scale of the noise, rounded up."""
        return integer_scale(self.epsilon, FACTOR[self.relation])

    @cached_property
    def noise(self) -> Geometric:
        """The noise on one count."""
        return Geometric(1 / self.scale)

    @cached_property
    def threshold(self) -> int:
        """T: one record more reaches it with probability at most δ, less a hair for rounding."""
        return 2 + int(self.noise.tail_size(2 * self.delta * (1 - 1e-9)))

    def reached(self, count: int) -> float:
        """Return the probability that a text with so many records, below the threshold, is released."""
        return float(self.noise.tail(self.threshold - count - 1)) / 2

    def _sample(self, statistic: dict[str, int], rng: np.random.Generator | None) -> dict[str, int]:
        counts = np.array(list(statistic.values()), dtype=np.int64)
        if not self.secure:
            noisy = self.noise._sample(counts, rng)  # type: ignore[arg-type]  # checked before
        else:
            noisy = integer_laplace_sample(counts, self.scale) if len(counts) else counts
        return {text: int(count) for text, count in zip(statistic, noisy, strict=True) if count >= self.threshold}

    def _compare(self, statistic: dict[str, int], other: Any, other_statistic: dict[str, int]) -> boundary.Loss:
        one, two = statistic, other_statistic
        moved = sum(abs(count - two[text]) for text, count in one.items() if text in two)
        alone = [[self.reached(c) for text, c in a.items() if text not in b] for a, b in ((one, two), (two, one))]
        distance = max(1.0 - float(np.prod(1.0 - np.array(side))) for side in alone)
        profiles = ((lambda _epsilon: distance),) if distance else ()
        return boundary.Loss(pure=moved / self.scale, profiles=profiles)


@claim(
    "private-categories",
    "Categories of a column above a noisy threshold",
    "[korolova2009]",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
)
def private_categories(
    values: Any,
    epsilon: float,
    delta: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
    label: str = "categories",
) -> PrivateCategories:
    """Release the categories of a column that enough records have.

    The release has each text whose number of records plus integer noise reaches a public threshold, and that noisy
    number.

    Parameters
    ----------
    values : array-like of shape (n,)
        One category of each record: a text, a number or a truth value, released as text. All spellings of a value are
        one category: 1.0, "01" and True are "1".
    epsilon : float
        Privacy parameter ε, finite and > 0.
    delta : float
        Privacy parameter δ in (0, ½). It bounds the probability that a category of only one record
        is released.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, and ``release=True`` forbids it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a cell that is missing, or no text of printable characters. "raise" raises an error. "clip" leaves
        it out.
    release : bool, default=False
        Whether to draw secure noise without a seed. Invalid cells then never raise an error.
    budget : Budget, optional
        Privacy budget that is charged before noise is drawn.
    label : str, default="categories"
        Label of the charge in the ledger.

    Returns
    -------
    PrivateCategories
        The categories with their noisy numbers, and the threshold.

    See Also
    --------
    private_bounds : Releases bounds of a column of numbers.
    private_facts : Releases bounds and categories of several columns.

    Notes
    -----
    Privacy: ε = epsilon per call. δ = delta per call. Relation: `relation`. Sensitivity: 1 (add/remove-one) or 2
    (replace-one) in L1 norm.

    A record has one category, or none where its cell is missing. No ε alone allows this release: a category that is not
    public may be that of one record. `dpml.mechanisms.columns.categories.ThresholdedCounts` has the derivation.

    References
    ----------
    - Korolova et al. (2009).

    Examples
    --------
    >>> pets = ["cat"] * 60 + ["dog"] * 40 + ["okapi"]
    >>> private_categories(pets, 1.0, 1e-6, rng=np.random.default_rng(0)).categories
    ('cat', 'dog')
    """
    on_invalid = check_start(on_invalid, rng, release, relation)
    delta = check_number(delta, "delta", 0.0, 0.5, open_lower=True, open_upper=True)
    mechanism = ThresholdedCounts(check_epsilon(epsilon), delta, relation, release)
    texts = read_texts(values, on_invalid)
    charge(budget, relation, epsilon, delta, label=label)
    return PrivateCategories(boundary.release(mechanism, count_texts(texts), rng), mechanism.threshold)


@statistic
def count_texts(texts: Any) -> dict[str, int]:
    """Return the exact number of records of each text, in order, without None. Private."""
    counts = Counter(text for text in texts if text is not None)
    return {text: counts[text] for text in sorted(counts)}


@claim(
    "private-facts",
    "Bounds and categories of several columns",
    "composition of the two",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
)
@claim(
    "private-facts-release",
    "Bounds and categories of several columns, release",
    "composition of the two",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
)
def private_facts(
    numbers: Mapping[str, Any],
    texts: Mapping[str, Any],
    epsilon: float,
    delta: float = 0.0,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    release: bool = False,
    budget: Budget | None = None,
) -> dict[str, PrivateBounds | PrivateCategories]:
    """Release bounds of columns of numbers and categories of columns of texts, for one charge.

    The release is that of `private_bounds` and `private_categories` for each column. An eighth of a column's ε is for
    the second look of `private_bounds`. Cells without a value are left out.

    Parameters
    ----------
    numbers : mapping of str to array-like
        Columns of numbers by name.
    texts : mapping of str to array-like
        Columns of texts by name, of the same records.
    epsilon : float
        Privacy parameter ε of all columns together, finite and > 0.
    delta : float, default=0.0
        Privacy parameter δ of all columns of texts together, in (0, ½), or 0 without texts.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, and ``release=True`` forbids it.
    release : bool, default=False
        Whether to draw secure noise without a seed. Invalid cells then never raise an error.
    budget : Budget, optional
        Privacy budget that is charged before noise is drawn.

    Returns
    -------
    dict of str to PrivateBounds or PrivateCategories
        The release of each column by its name.

    See Also
    --------
    private_bounds : Releases bounds of one column.
    private_categories : Releases categories of one column.

    Notes
    -----
    Privacy: ε = epsilon per call. δ = delta per call. Relation: `relation`. Sensitivity: 1 (add/remove-one) or 2
    (replace-one) in L1 norm, for each column.

    By composition each column has the same share of ε, and each column of texts the same share of δ. The budget is
    charged at once, under the columns' names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> facts = private_facts({"age": rng.integers(18, 90, 900)}, {"pet": ["cat"] * 900}, 1.0, 1e-6, rng=rng)
    >>> facts["age"].found, facts["pet"].categories
    (True, ('cat',))
    """
    check_start("clip", rng, release, relation)
    if not numbers and not texts:
        raise InvalidParameter("numbers", dict(numbers), "one column or more, or texts")
    if twice := [name for name in texts if name in numbers]:
        raise InvalidParameter("texts", twice, "columns that are not among the numbers")
    delta = check_number(delta, "delta", 0.0, 0.5, open_lower=bool(texts), open_upper=True)
    label = "facts of " + ", ".join(map(repr, (*numbers, *texts)))
    charge(budget, relation, check_epsilon(epsilon), delta if texts else 0.0, label=label)
    share = equal_share(epsilon, len(numbers) + len(texts))
    options: dict[str, Any] = {"relation": relation, "rng": rng, "release": release, "on_invalid": "clip"}
    bounds = {
        name: private_bounds(values, share, second_look=SECOND_LOOK, **options) for name, values in numbers.items()
    }
    of_texts = equal_share(delta, max(len(texts), 1))
    return bounds | {name: private_categories(values, share, of_texts, **options) for name, values in texts.items()}
