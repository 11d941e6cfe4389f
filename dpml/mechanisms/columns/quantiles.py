"""Private quantiles of numbers within public bounds, each by a private selection among the points of a public grid.

Statistic: `quantile_scores`. Release: `private_quantiles`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.columns.reading import read_numbers
from dpml.mechanisms.private import statistic
from dpml.mechanisms.smooth._order import check_bounds
from dpml.mechanisms.source import Source, check_start

# more points are told apart by no more records
N_CELLS, MOST_CELLS = 1024, 1 << 20


@claim(
    "private-quantiles",
    "Quantiles of a column of numbers",
    "[smith2011], by the exponential mechanism on a public grid",
    "ε for all quantiles together",
)
@claim(
    "private-quantiles-release",
    "Quantiles of a column of numbers, release",
    "[smith2011], by permute-and-flip on a public grid",
    "ε for all quantiles together",
)
def private_quantiles(
    values: Any,
    quantiles: Sequence[float],
    epsilon: float,
    *,
    lower: float,
    upper: float,
    n_cells: int = N_CELLS,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
    label: str = "quantiles",
) -> FloatArray:
    """Release quantiles of a column of numbers.

    Each quantile is one of the `n_cells` + 1 points that divide [`lower`, `upper`] evenly. The exponential mechanism
    selects it, or with ``release=True`` permute-and-flip. The released quantiles are in order.

    Parameters
    ----------
    values : array-like of shape (n,)
        One number of each record. One beyond a bound is moved to it.
    quantiles : sequence of float
        Shares of the records in [0, 1], in increasing order.
    epsilon : float
        Privacy parameter ε of all quantiles together, finite and > 0.
    lower, upper : float
        Public bounds, or private ones (`private_bounds`).
    n_cells : int, default=1024
        Number of cells between the bounds, from 1 to 2^20. The points' distance is (`upper` - `lower`)/`n_cells`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, and ``release=True`` forbids it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a cell that is no finite number. "raise" raises an error. "clip" leaves it out, except that
        infinity is moved to a bound.
    release : bool, default=False
        Whether to draw secure noise without a seed. Invalid cells then never raise an error.
    budget : Budget, optional
        Privacy budget that is charged before noise is drawn.
    label : str, default="quantiles"
        Label of the charge in the ledger.

    Returns
    -------
    ndarray of shape (len(quantiles),)
        The quantiles in increasing order, in the units of `values`.

    See Also
    --------
    private_bounds : Releases bounds of a column.
    ExponentialMechanism : Selects a candidate privately.

    Notes
    -----
    Privacy: ε = epsilon per call. δ = 0. Relation: `relation`. Sensitivity: range of the score changes 2·max(q, 1-q)
    (add/remove-one) or 2 (replace-one).

    Derivation. Each quantile has the same share of ε. A point's score is -|(1-q)·B - q·A|, with B values below it and A
    others. An added value changes (1-q)·B - q·A by 1-q at the points above the value and by -q at the others, so scores
    by at most max(q, 1-q) in either direction. A replaced one changes it by 1 between two values. The range of the
    changes is 2·max(q, 1-q), or 2 under replace-one.

    References
    ----------
    - Smith (2011), here on points of a grid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> private_quantiles(rng.random(2_000), (0.25, 0.5, 0.75), 1.0, lower=0, upper=1, rng=rng).round(1)
    array([0.2, 0.5, 0.7])
    """
    on_invalid = check_start(on_invalid, rng, release, relation)
    shares = [check_number(q, "quantiles", 0.0, 1.0) for q in quantiles]
    if not shares or sorted(shares) != shares:
        raise InvalidParameter("quantiles", quantiles, "one or more numbers in [0, 1], in increasing order")
    lower, upper = check_bounds(lower, upper)
    points = np.linspace(lower, upper, check_integer(n_cells, "n_cells", 1, MOST_CELLS) + 1)
    numbers = read_numbers(values, on_invalid)
    charge(budget, relation, check_epsilon(epsilon), label=label)
    source, share = Source(rng, release), equal_share(epsilon, len(shares))
    chosen = [source.choice(quantile_scores(numbers, points, q), share, quantile_range(q, relation)) for q in shares]
    return points[np.sort(chosen)]


@statistic
def quantile_scores(numbers: Any, points: FloatArray, q: float) -> FloatArray:
    """Return the score of each point as the q-quantile: 0 where it is one. NaN is left out. Exact: private."""
    numbers = np.asarray(numbers, dtype=float)
    numbers = np.sort(np.clip(numbers[~np.isnan(numbers)], points[0], points[-1]))
    below = np.searchsorted(numbers, points)
    return 0.0 - np.abs((1 - q) * below - q * (len(numbers) - below))


def quantile_range(q: float, relation: str) -> float:
    """Return the range of the changes of all scores between neighbours: see `private_quantiles`."""
    return 2 * max(q, 1 - q) if relation == "add-remove" else 2.0
