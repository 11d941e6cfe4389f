"""The contingency counts that feature scores, naive Bayes and released histograms share, and their release.

Statistics: `contingency`, exact counts of the private records. Release: `release_row_bounded` and `release_published`,
the only functions here that see both counts and an ε. They return a whole batch of draws.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_integer, check_number, check_relation, check_rng
from dpml.budget.shares import split_epsilon
from dpml.encoding import cut_rows
from dpml.mechanisms import Laplace
from dpml.mechanisms.private import n_columns, repeated, statistic
from dpml.mechanisms.source import FACTOR, Source

__all__ = [
    "Contingency",
    "NoisyCounts",
    "contingency",
    "contingency_of_subsamples",
    "published_scale",
    "release_published",
    "release_row_bounded",
    "row_bounded_scales",
]


@dataclass(frozen=True)
class Contingency:
    """Hold the exact counts of records. They are private and never released without noise.

    Parameters
    ----------
    on : ndarray of shape (C, D) or (S, C, D), or Private
        Number of records of each class whose feature is 1. The axis S is for subsamples.
    n : ndarray of shape (C,), or Private
        Number of records of each class.

    See Also
    --------
    contingency : Counts the records of a table.
    release_row_bounded : Releases counts of records with few ones.
    release_published : Releases on- and off-counts.
    """

    on: Any
    n: Any

    @property
    def off(self) -> Any:
        """Records of each class whose feature is 0."""
        return _off(self.on, self.n)


@statistic
def _off(on: FloatArray, n: FloatArray) -> FloatArray:
    return n[..., :, None] - on


@dataclass(frozen=True)
class NoisyCounts:
    """Hold the released counts of a batch of draws.

    Secure noise gives multiples of 1/`grid` (whole numbers for a grid of 1), stored as floats like the exact counts.

    Attributes
    ----------
    on : ndarray of shape (draws, C, D)
        Noisy number of records of each class whose feature is 1.
    off : ndarray of shape (draws, C, D) or None
        Noisy number of records of each class whose feature is 0, if it was released.
    n : ndarray of shape (draws, C) or None
        Noisy number of records of each class, if it was released.

    See Also
    --------
    release_row_bounded : Releases `on` and `n`.
    release_published : Releases `on` and `off`.
    """

    on: FloatArray
    off: FloatArray | None = None
    n: FloatArray | None = None


def contingency(X: Any, codes: Any, n_classes: int) -> Contingency:
    """Count the records of each class, and those of them with each feature on.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, D)
        Binary features of the private records.
    codes : array-like of shape (n,)
        Class of each record as 0, ..., C-1.
    n_classes : int
        Number of classes C.

    Returns
    -------
    Contingency
        Exact counts, which are private.

    See Also
    --------
    contingency_of_subsamples : Cuts the records before it counts them.
    release_row_bounded : Releases counts of records with few ones.
    """
    return Contingency(*_contingency(X, codes, n_classes))


@statistic
def _contingency(X: Any, codes: Any, n_classes: int) -> tuple[FloatArray, FloatArray]:
    n = np.bincount(codes, minlength=n_classes).astype(float)
    if sparse.issparse(X):
        members = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), (n_classes, len(codes)))
        return (members @ X).toarray(), n
    members = np.zeros((n_classes, len(codes)))
    members[codes, np.arange(len(codes))] = 1.0
    return members @ np.asarray(X, dtype=float), n


def contingency_of_subsamples(
    X: Any, codes: Any, n_classes: int, row_bound: int, subsamples: int, *, rng: np.random.Generator
) -> Contingency:
    """Cut every record down to `row_bound` ones and count, once for each of `subsamples` independent cuts.

    A fit uses one subsample. A simulation spreads its draws over several, so that its band includes the spread of the
    cutting.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, D)
        Binary features of the private records.
    codes : array-like of shape (n,)
        Class of each record as 0, ..., C-1.
    n_classes : int
        Number of classes C.
    row_bound : int
        Contribution bound, the most ones that a record keeps.
    subsamples : int
        Number of independent cuts.
    rng : numpy.random.Generator
        Source of the cuts.

    Returns
    -------
    Contingency
        Exact counts with `on` of shape (S, C, D). S is 1 if no record has to be cut.

    See Also
    --------
    contingency : Counts the records without a cut.
    dpml.encoding.cut_rows : Cuts the records.
    """
    check_integer(subsamples, "subsamples", 1)
    tables = []
    for _ in range(subsamples):
        cut = cut_rows(X, row_bound, rng=check_rng(rng))
        counts = contingency(cut, codes, n_classes)
        tables.append(counts.on)
        if cut is X:
            break
    return Contingency(stack_subsamples(tables), counts.n)


@statistic
def stack_subsamples(tables: list[FloatArray]) -> FloatArray:
    """Return tables of S subsamples, each of shape (C, D), as one of shape (S, C, D)."""
    return np.stack(tables)


@statistic
def subsample_of_draws(on: FloatArray, draws: int) -> FloatArray:
    """Return a table of shape (C, D) for each draw, with the tables of subsamples in turn."""
    return repeated(on, draws) if on.ndim == 2 else on[np.arange(draws) % len(on)]


@statistic
def _of_features(table: FloatArray, features: IntArray) -> FloatArray:
    """Return the counts of each draw's features, shape (draws, C, T)."""
    return table[:, features].swapaxes(0, 1)


def _row_bounded_noise(epsilon: float, row_bound: int, relation: str, class_share: float) -> tuple[Laplace, Laplace]:
    share = check_number(class_share, "class_share", 0.0, 1.0, open_lower=True, open_upper=True)
    factor = FACTOR[check_relation(relation)]
    class_epsilon, on_epsilon = split_epsilon(epsilon, share)
    on_noise = Laplace(on_epsilon, factor * check_integer(row_bound, "row_bound", 1))
    return on_noise, Laplace(class_epsilon, factor)


def row_bounded_scales(
    epsilon: float, row_bound: int, *, relation: str = "add-remove", class_share: float = 0.1
) -> tuple[float, float]:
    """Return the two Laplace scales of `release_row_bounded`, for on-counts and for class counts.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    row_bound : int
        Contribution bound r, the most that a record adds to the on-counts.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    class_share : float, default=0.1
        Share of ε for the class counts, in (0, 1).

    Returns
    -------
    tuple of float
        Scale of the noise on each on-count, and on each class count.

    See Also
    --------
    release_row_bounded : Releases counts with this noise.
    published_scale : Computes the scale of `release_published`.

    Notes
    -----
    Privacy: no data is read.
    """
    on_noise, class_noise = _row_bounded_noise(epsilon, row_bound, relation, class_share)
    return on_noise.scale, class_noise.scale


def published_scale(epsilon: float, n_features: int, *, relation: str = "add-remove") -> float:
    """Return the Laplace scale of `release_published`.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    n_features : int
        Number of features D.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.

    Returns
    -------
    float
        Scale of the noise on each count, D/ε (add-remove) or 2D/ε (replace-one).

    See Also
    --------
    release_published : Releases counts with this noise.
    row_bounded_scales : Computes the scales of `release_row_bounded`.

    Notes
    -----
    Privacy: no data is read.
    """
    return Laplace(epsilon, FACTOR[check_relation(relation)] * n_features).scale


def release_row_bounded(
    counts: Contingency,
    epsilon: float,
    row_bound: int,
    *,
    relation: str = "add-remove",
    class_share: float = 0.1,
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
    grid: int = 1,
) -> NoisyCounts:
    """Release on-counts and class counts of records whose ones add up to at most `row_bound`.

    Parameters
    ----------
    counts : Contingency
        Counts of records already cut to `row_bound` ones. `on` may hold S subsamples, which the draws take in turn.
    epsilon : float
        Privacy parameter ε of each draw, finite and > 0.
    row_bound : int
        Contribution bound r, the most that a record adds to the on-counts. Cutting or sharing enforces it
        (`dpml.encoding`).
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    class_share : float, default=0.1
        Share w of ε for the class counts, in (0, 1).
    draws : int, default=1
        Number of independent releases. Each one costs ε.
    rng : numpy.random.Generator, optional
        Source of the noise, for simulations.
    secure : bool, default=False
        Whether to add integer noise from `dpml.mechanisms.secure` instead, which has no `rng`.
    grid : int, default=1
        Secure noise treats the on-counts as multiples of 1/`grid`. Set `dpml.encoding.SHARE_GRID` after `share_rows`.

    Returns
    -------
    NoisyCounts
        Noisy counts with `on` of shape (draws, C, D) and `n` of shape (draws, C).

    See Also
    --------
    release_published : Releases on- and off-counts of every feature.
    row_bounded_scales : Computes the scales of the noise.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: on-counts r and class counts 1
    (add/remove-one) or 2r and 2 (replace-one), in L1 norm.

    Derivation. A record adds at most r to the on-counts of one class together, and 1 to one class count. The noise has
    scale r/((1-w)ε) on the former and 1/(wε) on the latter, w = `class_share`. Adding or removing a record costs
    r·(1-w)ε/r + wε = ε. Replacing it is one removal and one addition, so both scales double
    (docs/explanation/errata.md).
    """
    on_noise, class_noise = _row_bounded_noise(epsilon, row_bound, relation, class_share)
    draws = check_integer(draws, "draws", 1)
    source = Source(rng, secure)
    n = source.counts(repeated(counts.n, draws), class_noise.epsilon, class_noise.sensitivity)
    on = source.counts(subsample_of_draws(counts.on, draws), on_noise.epsilon, on_noise.sensitivity, grid=grid)
    return NoisyCounts(on, n=n)


def release_published(
    counts: Contingency,
    epsilon: float,
    *,
    relation: str = "add-remove",
    features: IntArray | None = None,
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> NoisyCounts:
    """Release on- and off-counts of every feature.

    Parameters
    ----------
    counts : Contingency
        Exact counts with `on` of shape (C, D).
    epsilon : float
        Privacy parameter ε of each draw, finite and > 0.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    features : ndarray of int of shape (draws, T), optional
        Features of each draw. It then releases the counts of these features only, and D is T. The choice must be
        public, or a release that is already charged to the budget.
    draws : int, default=1
        Number of independent releases. Each one costs ε.
    rng : numpy.random.Generator, optional
        Source of the noise, for simulations.
    secure : bool, default=False
        Whether to add integer noise from `dpml.mechanisms.secure` instead, which has no `rng`.

    Returns
    -------
    NoisyCounts
        Noisy counts with `on` and `off` of shape (draws, C, D), or (draws, C, T).

    See Also
    --------
    release_row_bounded : Releases counts of records with few ones.
    published_scale : Computes the scale of the noise.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: D (add/remove-one) or 2D (replace-one), in
    L1 norm.

    Derivation. A record adds 1 to either the on- or the off-count of each of D features, in one class. The L1
    sensitivity is D under add/remove, and 2D under replace-one.

    References
    ----------
    - Antonova (2016), Algorithm 1, lines 6 to 9 before the threshold, and eq. 3.16.
    """
    draws = check_integer(draws, "draws", 1)
    on, off = counts.on, counts.off
    width = n_columns(on) if features is None else features.shape[-1]
    if features is None:
        on, off = repeated(on, draws), repeated(off, draws)
    else:
        on, off = _of_features(on, features), _of_features(off, features)
    source, sensitivity = Source(rng, secure), FACTOR[check_relation(relation)] * width
    noisy_on = source.counts(on, epsilon, sensitivity)
    return NoisyCounts(noisy_on, off=source.counts(off, epsilon, sensitivity))
