"""Private facts of several columns at once: bounds of numbers and categories of texts, for one charge."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpml._validate import check_epsilon, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.columns.bounds import SECOND_LOOK, PrivateBounds, private_bounds
from dpml.mechanisms.columns.categories import PrivateCategories, private_categories
from dpml.mechanisms.source import check_start


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
