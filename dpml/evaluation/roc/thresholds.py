"""Thresholds for a private ROC curve: public ones, and ones that are drawn from the scores for an ε.

| function | cost |
|---|---|
| `fixed_space` | nothing: the number is public |
| `alpha_fixed_space` | reveals the number of records n (Stoddard et al.'s α-FixedSpace). `noisy_n` releases n |
| `recursive_medians` | ε (Stoddard et al.'s Algorithm 4, as published or with the exact noise) |
| `quantile_thresholds` | ε (the exponential mechanism at every node) |

The last two cut [0, 1] recursively. A node's cut is drawn from the scores strictly between its two ends, which were
released before. A record is in at most one node of each level. Under add/remove a level therefore costs as much as one
node. Under replace-one it costs twice as much, because a record may leave one node and enter another. The costs of the
levels add up.

Statistics: the sorted scores. Release: a cut at every node, level by level, for all draws at once.
"""

import math
from typing import Any

import numpy as np

from dpml._validate import (
    ON_INVALID,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
    check_rng,
)
from dpml.budget import Budget, charge
from dpml.evaluation._records import read_scores, to_read
from dpml.evaluation.histogram import SCORE_SCALES, lowest_score
from dpml.evaluation.roc._cuts import BLOCK_CELLS, Cut, Floats, Ranks, cut_levels, exponential_cut, smooth_medians
from dpml.mechanisms import boundary
from dpml.mechanisms.noise import Geometric
from dpml.mechanisms.private import Private, statistic
from dpml.mechanisms.smooth.admissible import ScaledCauchy, cauchy_scale

CALIBRATIONS = ("exact", "published")
# Log-odds beyond this are treated as equal.
LOG_ODDS_END = 30.0
MOST_THRESHOLDS = 1 << 16


def fixed_space(n_thresholds: int, score_scale: str = "probability") -> Floats:
    """Return evenly spaced public thresholds.

    Parameters
    ----------
    n_thresholds : int
        Number of bins m between them, from 1 to 65,536.
    score_scale : {"probability", "log-odds"}, default="probability"
        Even steps of the probability, or of arsinh(log-odds) between log-odds of -30 and 30.

    Returns
    -------
    ndarray of shape (n_thresholds + 1,)
        Thresholds that decrease from inf to the lowest score (0, or -inf for log-odds). Point k of a curve counts the
        scores >= thresholds[k].

    See Also
    --------
    alpha_fixed_space : Return a number of thresholds that is a share of the records.
    roc_thresholds : Return the default public thresholds.

    Notes
    -----
    Privacy: no data is read. The number of thresholds is public, unlike in the published method.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Section 4.2.2.

    Examples
    --------
    >>> fixed_space(4)
    array([ inf, 0.75, 0.5 , 0.25, 0.  ])
    """
    m = check_integer(n_thresholds, "n_thresholds", 1, MOST_THRESHOLDS)
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    return _thresholds(np.arange(m + 1) / m, score_scale)


def alpha_fixed_space(n: int, alpha: float = 1.0, score_scale: str = "probability") -> Floats:
    """Return ⌊α·n⌋ evenly spaced thresholds.

    Parameters
    ----------
    n : int
        Number of records, public or from `noisy_n`. A number below 1 counts as 1.
    alpha : float, default=1.0
        Share α in (0, 1].
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the thresholds.

    Returns
    -------
    ndarray of shape (max(⌊α·n⌋, 1) + 1,)
        Thresholds that decrease from inf to the lowest score (0, or -inf for log-odds).

    See Also
    --------
    fixed_space : Return a public number of evenly spaced thresholds.
    noisy_n : Release the number of records.

    Notes
    -----
    Privacy: no data is read. The number ⌊α·n⌋ of thresholds reveals n. With the exact number of records n, it is not
    differentially private under add/remove, where n is private. Under replace-one, n is public, and the thresholds cost
    nothing. `noisy_n` releases a private n. The thresholds are α-FixedSpace.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Section 4.2.2.

    Examples
    --------
    >>> len(alpha_fixed_space(558, 0.5))
    280
    """
    alpha = check_number(alpha, "alpha", 0.0, 1.0, open_lower=True)
    return fixed_space(min(max(math.floor(alpha * max(int(n), 0)), 1), MOST_THRESHOLDS), score_scale)


def noisy_n(
    n: int, epsilon: float, *, rng: np.random.Generator, draws: int | None = None, budget: Budget | None = None
) -> Any:
    """Release the number of records, for choosing a number of thresholds.

    The release is n plus two-sided geometric noise.

    Parameters
    ----------
    n : int
        Exact number of records. Private.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of the noise.
    draws : int, optional
        Number of independent releases of a simulation.
    budget : Budget, optional
        Charged `draws` times ε before any noise is drawn.

    Returns
    -------
    int or ndarray of int of shape (draws,)
        Noisy number of records, which may be below 1.

    See Also
    --------
    alpha_fixed_space : Return thresholds for this number.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: add/remove-one. Sensitivity: 1, because one record changes n by 1.
    Under replace-one, n is public and needs no noise.

    Examples
    --------
    >>> noisy_n(558, 1.0, rng=np.random.default_rng(0), draws=3).shape
    (3,)
    """
    exact, mechanism = Private(check_integer(n, "n")), Geometric(epsilon)
    check_rng(rng)
    rows = 1 if draws is None else check_integer(draws, "draws", 1)
    charge(budget, "add-remove", rows * mechanism.epsilon, label="number of records")
    noisy = mechanism.release(exact, rng=rng, draws=rows)
    return int(noisy[0]) if draws is None else noisy


def recursive_medians(
    scores: Any,
    epsilon: float,
    k: int,
    *,
    rng: np.random.Generator,
    calibration: str = "exact",
    relation: str = "add-remove",
    score_scale: str = "probability",
    draws: int | None = None,
    on_invalid: str = "raise",
    budget: Budget | None = None,
) -> Floats:
    """Draw thresholds that halve the scores k times.

    At every node, it releases the median of the node's scores plus Cauchy noise scaled by the smooth sensitivity of the
    median. If the noisy median falls outside the node, it releases the middle of the node.

    Parameters
    ----------
    scores : array-like of shape (n,), or Private
        Private scores. Each may depend on its own record only.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    k : int
        Public number of levels, from 1 to 16.
    rng : numpy.random.Generator
        Source of the noise.
    calibration : {"exact", "published"}, default="exact"
        Scale of the noise. See Notes.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores. The paper cuts probabilities. Log-odds are cut on the scale that `fixed_space` uses.
    draws : int, optional
        Number of independent releases, for a study.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for a score outside its scale. "clip" clips it, and drops a NaN.
    budget : Budget, optional
        Charged `draws` times ε before any noise is drawn.

    Returns
    -------
    ndarray of shape (2^k + 1,) or (draws, 2^k + 1)
        Thresholds that decrease from inf to the lowest score. Some may be equal.

    See Also
    --------
    quantile_thresholds : Draw thresholds by the exponential mechanism.
    published_roc_curve : Return a curve with these thresholds.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: the smooth sensitivity of the median in
    each node.

    The depth k is public. Stoddard et al. take ⌈log2 n⌉, which reveals n. A level has ε' = ε/k under add/remove,
    or ε/2k under replace-one. The derivation is in the module. The smooth sensitivity of the median between the node's
    ends also holds under add/remove, where the number of scores is private.

    "exact" adds the least noise for ε' at β = ε'/2 (`dpml.mechanisms.cauchy_scale`). "published" uses the scale 8·S/ε'
    at the same β, which costs at most 0.515·ε'. It is private, but wasteful.

    References
    ----------
    - Stoddard, B., Chen, Y. and Machanavajjhala, A. (2014). Differentially private algorithms for empirical
      machine learning. Algorithm 4 (k-RecursiveMedians).

    Examples
    --------
    >>> scores = np.linspace(0, 1, 2001) ** 2
    >>> recursive_medians(scores, 2.0, 2, rng=np.random.default_rng(0)).round(2)
    array([ inf, 0.56, 0.25, 0.06, 0.  ])
    """
    k = check_integer(k, "k", 1, MOST_THRESHOLDS.bit_length() - 1)
    check_choice(calibration, "calibration", CALIBRATIONS)
    level = check_epsilon(epsilon) / (k if check_relation(relation) == "add-remove" else 2 * k)
    beta = level / 2
    noise = cauchy_scale(level, beta) if calibration == "exact" else 8 / level
    x = Private(_coordinates(to_read(scores, on_invalid), score_scale, on_invalid))

    def cut(left: Floats, right: Floats, first: Any, end: Any, share: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            noisy = boundary.release(ScaledCauchy(), _medians(x, left, right, first, end, beta, noise), rng)
        return np.where((noisy > left) & (noisy < right), noisy, (left + right) / 2)

    return _release(x, 1 << k, cut, epsilon, relation, rng, draws, budget, score_scale, "recursive medians")


def quantile_thresholds(
    scores: Any,
    epsilon: float,
    n_thresholds: int,
    *,
    rng: np.random.Generator,
    relation: str = "add-remove",
    score_scale: str = "probability",
    draws: int | None = None,
    on_invalid: str = "raise",
    budget: Budget | None = None,
) -> Floats:
    """Draw thresholds near the quantiles of the scores by the exponential mechanism.

    At every node of a balanced tree of the thresholds, it releases a point between the node's ends. The density of the
    point is proportional to exp(-w·abs(#{scores below} - q·#{scores})), counted in the node. The point is
    sampled exactly: first an interval between two scores by its mass, then a uniform point in it.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Private scores. Each may depend on its own record only.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    n_thresholds : int
        Public number of bins m, from 2 to 65,536. Powers of two need the fewest levels and have q = 1/2 everywhere.
    rng : numpy.random.Generator
        Source of the noise.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    draws : int, optional
        Number of independent releases of a simulation.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for invalid labels, scores and weights. "clip" drops records with invalid labels, and
        clips scores and weights.
    budget : Budget, optional
        Privacy budget that is charged `draws` times ε before any noise is drawn.

    Returns
    -------
    ndarray of shape (n_thresholds + 1,) or (draws, n_thresholds + 1)
        Thresholds that decrease from inf to the lowest score.

    See Also
    --------
    recursive_medians : Draw thresholds by noisy medians.
    fixed_space : Return public thresholds.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: the score of a point has range 2·max(q, 1 -
    q) in a node.

    A level has ε' = ε/levels under add/remove, or half of it under replace-one, with levels = ⌈log2(n_thresholds)⌉.
    The derivation is in the module.

    Derivation of w: adding a score moves #{below} - q·#{all} by 1 - q at points above it and by -q at points below it.
    Its absolute value moves by at most as much, up on one side of the quantile and down on the other. A score below the
    quantile moves the utility by amounts from -max(q, 1-q) to 1-q. A score above it moves the utility by amounts from
    -max(q, 1-q) to q. The bounded range is therefore at most 2·max(q, 1-q), and w is ε' divided by it
    (`ExponentialMechanism`). At q = 1/2 the range is 1, half the textbook's 2Δ with Δ = 1.

    References
    ----------
    - Smith, A. (2011). Privacy-preserving statistical estimation with optimal convergence rates.
    - Kaplan, H., Schnapp, S. and Stemmer, U. (2022). Differentially private approximate quantiles.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 2001) ** 2
    >>> quantile_thresholds(scores, 2.0, 4, rng=np.random.default_rng(0)).round(2)
    array([ inf, 0.56, 0.25, 0.06, 0.  ])
    """
    m = check_integer(n_thresholds, "n_thresholds", 2, MOST_THRESHOLDS)
    levels = (m - 1).bit_length()
    level = check_epsilon(epsilon) / (levels if check_relation(relation) == "add-remove" else 2 * levels)
    x = Private(_coordinates(to_read(scores, on_invalid), score_scale, on_invalid))

    def cut(left: Floats, right: Floats, first: Any, end: Any, share: Floats) -> Floats:
        return exponential_cut(x, left, right, first, end, share, level / (2 * np.maximum(share, 1 - share)), rng)

    return _release(x, m, cut, epsilon, relation, rng, draws, budget, score_scale, "quantiles")


def check_scores(y_score: Any, score_scale: str = "probability", on_invalid: str = "raise") -> Floats:
    """Return scores as floats inside their scale. With ``on_invalid="clip"`` a NaN stays."""
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    check_choice(on_invalid, "on_invalid", ON_INVALID)
    scores = read_scores(y_score, "y_score", score_scale, on_invalid)
    return np.clip(scores, lowest_score(score_scale), 1.0 if score_scale == "probability" else np.inf)


@statistic
def _coordinates(scores: Any, score_scale: str, on_invalid: str) -> Floats:
    """Return the sorted scores on [0, 1], without NaN."""
    checked = check_scores(scores, score_scale, on_invalid)
    x = np.sort(checked[~np.isnan(checked)])
    if score_scale == "probability":
        return x
    return np.clip((1 + np.arcsinh(x) / math.asinh(LOG_ODDS_END)) / 2, 0.0, 1.0)


@statistic
def _medians(
    x: Floats, left: Floats, right: Floats, first: Ranks, end: Ranks, beta: float, noise: float
) -> tuple[Floats, Floats]:
    """Return the median of each node, of a node without scores its left end, and the scale of its noise."""
    at = np.clip(first + (end - first + 1) // 2 - 1, 0, max(len(x) - 1, 0))
    median = np.where(end > first, x[at] if len(x) else 0.0, left)
    # at the root every draw has the same node, whose sensitivity is computed once
    one = slice(0, 1) if left.shape[1] == 1 else slice(None)
    smooth = smooth_medians(x, left[one], right[one], first[one], end[one], beta)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.broadcast_to(median, left.shape), np.broadcast_to(noise * smooth, left.shape)


def _thresholds(cuts: Floats, score_scale: str) -> Floats:
    """Return thresholds from cuts (..., m + 1) that increase from 0 to 1."""
    inner = cuts[..., -2:0:-1]
    if score_scale == "log-odds":
        inner = np.sinh(math.asinh(LOG_ODDS_END) * (2 * inner - 1))
    ends = (*cuts.shape[:-1], 1)
    return np.concatenate([np.full(ends, np.inf), inner, np.full(ends, lowest_score(score_scale))], axis=-1)


def _release(
    x: Any,
    m: int,
    cut: Cut,
    epsilon: float,
    relation: str,
    rng: np.random.Generator,
    draws: int | None,
    budget: Budget | None,
    score_scale: str,
    label: str,
) -> Floats:
    """Charge, draw m - 1 cuts of [0, 1] level by level, and return thresholds (m + 1,) or (draws, m + 1)."""
    check_rng(rng)
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    charge(budget, relation, n_draws * epsilon, label=label)
    cuts = np.zeros((n_draws, m + 1))
    cuts[:, m] = 1.0
    # of public numbers alone: with the number of scores the draws of neighbours would come in another order
    rows = max(BLOCK_CELLS // m, 1)
    for start in range(0, n_draws, rows):
        cut_levels(x, cuts[start : start + rows], cut)
    thresholds = _thresholds(cuts, score_scale)
    return thresholds[0] if draws is None else thresholds
