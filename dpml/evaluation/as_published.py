"""Private ROC curves as published by Stoddard et al. 2014 (section 4, Algorithm 3), where every part can be replaced.

First come the thresholds: for a share of ε, public, or taken from the data as in the paper's baseline. Then come, for
each label, noisy numbers of records above every threshold, as one-sided range queries. The last step is monotone
regression. The project's own curve, `private_roc_curve`, has public bins and one table for both labels. It is compared
with this one.

| thresholds | cost |
|---|---|
| `fixed_space` | nothing if their number is public. ⌊α·n⌋ of them (α-FixedSpace) reveal the number of records n |
| `recursive_medians` | ε (Stoddard et al.'s Algorithm 4, as published or with the exact noise) |
| `quantile_thresholds` | ε (the exponential mechanism at every node) |

The last two cut [0, 1] recursively. A node's cut is drawn from the scores strictly between its two ends, which were
released before. A record is in at most one node of each level. Under add/remove a level therefore costs as much as one
node. Under replace-one it costs twice as much, because a record may leave one node and enter another. The costs of the
levels add up.

Statistics: the sorted scores. Releases: a cut at every node, level by level, for all draws at once, then the sums
(`dpml.mechanisms.ranges`). Model: `roc_from_sums`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray
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
from dpml.budget.shares import rest_of
from dpml.claims import claim
from dpml.evaluation.histogram import (
    LOG_ODDS_END,
    MAX_NOISE,
    SCORE_SCALES,
    check_two_classes,
    lowest_score,
    read_records,
    read_scores,
    to_read,
)
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms import boundary
from dpml.mechanisms.noise import Geometric, Laplace
from dpml.mechanisms.private import Private, for_study, number_of, public_number, statistic
from dpml.mechanisms.ranges import Hierarchy, IdentityRanges, Privelet, isotonic
from dpml.mechanisms.smooth.admissible import ScaledCauchy, cauchy_scale
from dpml.mechanisms.smooth.formulas import LEAST, Median, Ordered

Ranks = NDArray[np.int64]

# Most numbers in memory at a time; the largest node for which all pairs of ranks are tried at once.
BLOCK_CELLS = 1 << 21
SMALL_NODE = 64

# A cut's arguments describe nodes: left and right ends, first and last + 1 of their sorted scores (private), and the
# share of their scores that should lie below the cut.
Cut = Callable[[FloatArray, FloatArray, Any, Any, FloatArray], FloatArray]

METHODS = ("recursive-medians", "quantiles", "fixed-space", "laplace", "laplace-fixed")
CALIBRATIONS = ("published", "exact")
RANGES = {"privelet": Privelet, "hierarchy": Hierarchy, "identity": IdentityRanges}
# Stoddard et al.'s t
BASELINE_THRESHOLDS = 10
MAX_THRESHOLDS = 1 << 16


# ---- thresholds --------------------------------------------------------------------------------------------------


def fixed_space(n_thresholds: int, score_scale: str = "probability") -> FloatArray:
    """Return thresholds that decrease from inf to the lowest score, between `n_thresholds` evenly spaced bins.

    The steps are even in the probability, or in arsinh(log-odds) between log-odds of -30 and 30.
    """
    m = check_integer(n_thresholds, "n_thresholds", 1, MAX_THRESHOLDS)
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    return _thresholds(np.arange(m + 1) / m, score_scale)


@claim(
    "noisy-n",
    "Number of records",
    "the two-sided geometric mechanism, [ghosh2012]",
    "ε under add/remove",
    relations=("add-remove",),
)
def noisy_n(
    n: int, epsilon: float, *, rng: np.random.Generator, draws: int | None = None, budget: Budget | None = None
) -> Any:
    """Release the number of records plus two-sided geometric noise, for a public number of thresholds.

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
    published_roc_curve : Return a curve with this number of thresholds.

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


@claim(
    "recursive-medians-published",
    "Recursive medians of scores, noise 8·S/ε'",
    "[stoddard2014], Algorithm 4 and Theorem 3",
    cost="at most 0.515·ε",
    options={"calibration": "published"},
)
@claim(
    "recursive-medians-exact",
    "Recursive medians of scores, least Cauchy noise",
    "[stoddard2014], Algorithm 4, with the scale derived here (docs/explanation/errata.md)",
    options={"calibration": "exact"},
)
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
) -> FloatArray:
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
        Scale of the scores. The paper cuts probabilities.
    draws : int, optional
        Number of independent releases of a simulation.
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

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: the smooth sensitivity of the median in
    each node.

    The depth k is public. Stoddard et al. take ⌈log2 n⌉, which reveals n. A level has ε' = ε/k under add/remove,
    or ε/2k under replace-one, as derived in the module. The smooth sensitivity of the median between the node's ends
    also holds under add/remove, where the number of scores is private.

    "exact" adds the least noise for ε' at β = ε'/2 (`dpml.mechanisms.cauchy_scale`). "published" uses the scale 8·S/ε'
    at the same β, which costs at most 0.515·ε'. It is private, but wasteful.

    References
    ----------
    Stoddard et al. (2014), Algorithm 4 (k-RecursiveMedians).

    Examples
    --------
    >>> scores = np.linspace(0, 1, 2001) ** 2
    >>> recursive_medians(scores, 2.0, 2, rng=np.random.default_rng(0)).round(2)
    array([ inf, 0.56, 0.25, 0.06, 0.  ])
    """
    k = check_integer(k, "k", 1, MAX_THRESHOLDS.bit_length() - 1)
    check_choice(calibration, "calibration", CALIBRATIONS)
    level = check_epsilon(epsilon) / (k if check_relation(relation) == "add-remove" else 2 * k)
    beta = level / 2
    noise = cauchy_scale(level, beta) if calibration == "exact" else 8 / level
    x = Private(_coordinates(to_read(scores, on_invalid), score_scale, on_invalid))

    def cut(left: FloatArray, right: FloatArray, first: Any, end: Any, share: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            noisy = boundary.release(ScaledCauchy(), _medians(x, left, right, first, end, beta, noise), rng)
        return np.where((noisy > left) & (noisy < right), noisy, (left + right) / 2)

    return _release(x, 1 << k, cut, epsilon, relation, rng, draws, budget, score_scale, "recursive medians")


@claim(
    "quantile-thresholds",
    "Quantiles of scores by the exponential mechanism, node by node",
    "[smith2011] and [kaplan2022], with the range derived here (docs/explanation/errata.md)",
)
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
) -> FloatArray:
    """Draw thresholds near the quantiles of the scores by the exponential mechanism.

    At every node of a balanced tree of the thresholds, it releases a point between the node's ends. The density of the
    point is proportional to exp(-w·abs(#{scores below} - q·#{scores})), counted in the node.

    Parameters
    ----------
    scores : array-like of shape (n,), or Private
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
        "raise" raises an error for a score outside its scale. "clip" clips it, and drops a NaN.
    budget : Budget, optional
        Charged `draws` times ε before any noise is drawn.

    Returns
    -------
    ndarray of shape (n_thresholds + 1,) or (draws, n_thresholds + 1)
        Thresholds that decrease from inf to the lowest score.

    See Also
    --------
    recursive_medians : Draw thresholds by noisy medians.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: the score of a point has range 2·max(q, 1 -
    q) in a node.

    A level has ε' = ε/levels under add/remove, or half of it under replace-one, with levels = ⌈log2(n_thresholds)⌉.

    Derivation of w: adding a score moves #{below} - q·#{all} by 1 - q at points above it and by -q at points below it.
    Its absolute value moves by at most as much, up on one side of the quantile and down on the other. A score below the
    quantile moves the utility by amounts from -max(q, 1-q) to 1-q. A score above it moves the utility by amounts from
    -max(q, 1-q) to q. The bounded range is therefore at most 2·max(q, 1-q), and w is ε' divided by it
    (`ExponentialMechanism`). At q = 1/2 the range is 1, half the textbook's 2Δ with Δ = 1.

    References
    ----------
    Smith (2011), Privacy-preserving statistical estimation. Kaplan, Schnapp and Stemmer (2022), Differentially private
    approximate quantiles.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 2001) ** 2
    >>> quantile_thresholds(scores, 2.0, 4, rng=np.random.default_rng(0)).round(2)
    array([ inf, 0.56, 0.25, 0.06, 0.  ])
    """
    m = check_integer(n_thresholds, "n_thresholds", 2, MAX_THRESHOLDS)
    levels = (m - 1).bit_length()
    level = check_epsilon(epsilon) / (levels if check_relation(relation) == "add-remove" else 2 * levels)
    x = Private(_coordinates(to_read(scores, on_invalid), score_scale, on_invalid))

    def cut(left: FloatArray, right: FloatArray, first: Any, end: Any, share: FloatArray) -> FloatArray:
        return exponential_cut(x, left, right, first, end, share, level / (2 * np.maximum(share, 1 - share)), rng)

    return _release(x, m, cut, epsilon, relation, rng, draws, budget, score_scale, "quantiles")


def check_scores(y_score: Any, score_scale: str = "probability", on_invalid: str = "raise") -> FloatArray:
    """Return scores as floats inside their scale. With ``on_invalid="clip"`` a NaN stays."""
    check_choice(score_scale, "score_scale", SCORE_SCALES)
    check_choice(on_invalid, "on_invalid", ON_INVALID)
    scores = read_scores(y_score, "y_score", score_scale, on_invalid)
    return np.clip(scores, lowest_score(score_scale), 1.0 if score_scale == "probability" else np.inf)


@statistic
def _coordinates(scores: Any, score_scale: str, on_invalid: str) -> FloatArray:
    """Return the sorted scores on [0, 1], without NaN."""
    checked = check_scores(scores, score_scale, on_invalid)
    x = np.sort(checked[~np.isnan(checked)])
    if score_scale == "probability":
        return x
    return np.clip((1 + np.arcsinh(x) / math.asinh(LOG_ODDS_END)) / 2, 0.0, 1.0)


@statistic
def _medians(
    x: FloatArray, left: FloatArray, right: FloatArray, first: Ranks, end: Ranks, beta: float, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Return the median of each node, of a node without scores its left end, and the scale of its noise."""
    at = np.clip(first + (end - first + 1) // 2 - 1, 0, max(len(x) - 1, 0))
    median = np.where(end > first, x[at] if len(x) else 0.0, left)
    # at the root every draw has the same node, whose sensitivity is computed once
    one = slice(0, 1) if left.shape[1] == 1 else slice(None)
    smooth = smooth_medians(x, left[one], right[one], first[one], end[one], beta)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.broadcast_to(median, left.shape), np.broadcast_to(noise * smooth, left.shape)


def _thresholds(cuts: FloatArray, score_scale: str) -> FloatArray:
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
) -> FloatArray:
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


# ---- the cuts of nodes -------------------------------------------------------------------------------------------


def cut_levels(x: Any, cuts: FloatArray, cut: Cut) -> None:
    """Fill in the cuts (draws, m + 1) between 0 and 1, level by level, from private sorted scores on [0, 1]."""
    m = cuts.shape[1] - 1
    below, upto = _first_ranks(x, len(cuts), m + 1)
    nodes = 1
    while nodes < m:
        edges = m * np.arange(2 * nodes + 1) // (2 * nodes)
        a, at, b = edges[:-1:2], edges[1::2], edges[2::2]
        split = b - a > 1
        a, at, b = a[split], at[split], b[split]
        share = np.broadcast_to((at - a) / (b - a), (len(cuts), len(at)))
        first, end = _inside(below, upto, a, b)
        new = cut(cuts[:, a], cuts[:, b], first, end, share)
        # rounding must not move a cut beyond the ends
        cuts[:, at] = new = np.clip(new, cuts[:, a], cuts[:, b])
        below, upto = _with_ranks(below, upto, x, at, new)
        nodes *= 2


@statistic
def _first_ranks(x: FloatArray, draws: int, n_cuts: int) -> tuple[Ranks, Ranks]:
    """Return the numbers of scores below each cut, and up to it. Scores at 0 and 1 belong to the outermost nodes."""
    below, upto = np.zeros((draws, n_cuts), dtype=np.int64), np.zeros((draws, n_cuts), dtype=np.int64)
    below[:, -1] = len(x)
    return below, upto


@statistic
def _inside(below: Ranks, upto: Ranks, a: Ranks, b: Ranks) -> tuple[Ranks, Ranks]:
    """Return first and last + 1 of the scores between two cuts. Between two equal cuts there is none."""
    return upto[:, a], np.maximum(below[:, b], upto[:, a])


@statistic
def _with_ranks(below: Ranks, upto: Ranks, x: FloatArray, at: Ranks, new: FloatArray) -> tuple[Ranks, Ranks]:
    """Return both numbers with those of new cuts."""
    below, upto = below.copy(), upto.copy()
    below[:, at], upto[:, at] = np.searchsorted(x, new, side="left"), np.searchsorted(x, new, side="right")
    return below, upto


def exponential_cut(
    x: Any,
    left: FloatArray,
    right: FloatArray,
    first: Any,
    end: Any,
    share: FloatArray,
    weight: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return one point for each node: a gap between scores, drawn by its mass (Gumbel), then a uniform point in it."""
    public = left.ravel(), right.ravel()
    nodes = x, *public, *_flat(first, end), share.ravel(), weight.ravel()
    return boundary.release(_ExponentialCut(), nodes, rng).reshape(left.shape)


@statistic
def _flat(first: Ranks, end: Ranks) -> tuple[Ranks, Ranks]:
    return first.ravel(), end.ravel()


@dataclass(frozen=True)
class _ExponentialCut:
    """Points with density proportional to exp(-weight·|scores below - share·scores|) between the ends of a node."""

    def _sample(self, statistic: tuple, rng: np.random.Generator) -> FloatArray:
        x, *nodes = statistic
        # nodes whose gaps fit into memory together
        group = np.cumsum(nodes[3] - nodes[2] + 1) // BLOCK_CELLS
        chosen = np.empty(len(group))
        for some in np.unique(group):
            chosen[group == some] = _cut_some(rng, x, *(fact[group == some] for fact in nodes))
        return chosen

    def _compare(self, statistic: tuple, other: Any, other_statistic: tuple) -> boundary.Loss:
        total = 0.0
        for one, two in zip(_nodes(*statistic), _nodes(*other_statistic), strict=True):
            scores, left, right, *_ = one
            if (left, right) != two[1:3]:
                return boundary.EVERYTHING
            ends = np.unique(np.concatenate([[left, right], scores, two[0]]))
            if right > left:
                # both densities are constant between these ends
                at = (ends[1:] + ends[:-1]) / 2
                total += float(np.abs(_log_density(at, *one) - _log_density(at, *two)).max())
            elif len(ends) > 1:
                return boundary.EVERYTHING
        return boundary.Loss(pure=total)


def _nodes(
    x: FloatArray, left: FloatArray, right: FloatArray, first: Any, end: Any, share: FloatArray, weight: FloatArray
) -> list[tuple]:
    facts = zip(left, right, first, end, share, weight, strict=True)
    return [(np.clip(x[a:b], low, high), low, high, q, w) for low, high, a, b, q, w in facts]


def _log_density(
    at: FloatArray, scores: FloatArray, left: float, right: float, share: float, weight: float
) -> FloatArray:
    edges = np.concatenate([[left], scores, [right]])
    with np.errstate(divide="ignore"):
        mass = np.log(np.diff(edges)) - weight * np.abs(np.arange(len(scores) + 1) - share * len(scores))
    below = np.searchsorted(scores, at)
    return -weight * np.abs(below - share * len(scores)) - float(np.logaddexp.reduce(mass))


def _cut_some(
    rng: np.random.Generator,
    x: FloatArray,
    left: FloatArray,
    right: FloatArray,
    first: Ranks,
    end: Ranks,
    share: FloatArray,
    weight: FloatArray,
) -> FloatArray:
    """Return one point for each node: the gap whose log mass plus Gumbel noise is largest, then a uniform point."""
    gaps = end - first + 1
    begin = np.cumsum(gaps) - gaps
    node = np.repeat(np.arange(len(gaps)), gaps)
    position = np.arange(len(node)) - begin[node]
    padded = np.concatenate([x, [0.0]])
    low = np.where(position == 0, left[node], padded[first[node] + position - 1])
    high = np.where(position == gaps[node] - 1, right[node], padded[first[node] + position])
    with np.errstate(divide="ignore"):
        mass = np.log(np.maximum(high - low, 0.0))
    mass -= weight[node] * np.abs(position - share[node] * (gaps[node] - 1))
    mass += rng.gumbel(size=len(mass))
    # the first gap that reaches its node's largest
    largest = np.flatnonzero(mass == np.maximum.reduceat(mass, begin)[node])
    chosen = largest[np.searchsorted(largest, begin)]
    return low[chosen] + (high[chosen] - low[chosen]) * rng.random(len(chosen))


def smooth_medians(
    x: FloatArray, left: FloatArray, right: FloatArray, first: Ranks, end: Ranks, beta: float
) -> FloatArray:
    """Return the smooth sensitivity of every node's median (see `dpml.mechanisms.smooth.formulas.Median`).

    It is the largest exp(-β(i + j - 1))·(x_(r+j) - x_(r-i)) over i + j >= 1, with r = ⌈s/2⌉, between the node's ends.
    """
    shape = left.shape
    left, right, first, end = left.ravel(), right.ravel(), first.ravel(), end.ravel()
    size, width = end - first, right - left
    smooth = width.copy()  # for a node without scores: its width
    padded = np.concatenate([x, [0.0]])
    largest = 1
    while largest <= SMALL_NODE:
        members = np.flatnonzero((size <= largest) & (size > largest // 2))
        steps = np.arange(largest // 2 + 2)
        decay = np.exp(-beta * np.maximum(steps[:, None] + steps - 1, 0))
        for start in range(0, len(members), BLOCK_CELLS // decay.size):
            at = members[start : start + BLOCK_CELLS // decay.size]
            rank = (size[at] + 1) // 2
            up, down = rank[:, None] + steps, rank[:, None] - steps
            high = np.where(up > size[at, None], right[at, None], padded[np.minimum(first[at, None] + up - 1, len(x))])
            low = np.where(down < 1, left[at, None], padded[np.maximum(first[at, None] + down - 1, 0)])
            smooth[at] = ((high[:, :, None] - low[:, None, :]) * decay).max(axis=(1, 2))
        largest *= 2
    for i in np.flatnonzero(size > SMALL_NODE):
        values = np.clip(x[first[i] : end[i]] - left[i], 0.0, width[i])
        smooth[i] = Median(Ordered(values, float(left[i]), float(width[i])), "add-remove").smooth(beta)
    return np.maximum(smooth, LEAST * width).reshape(shape)


# ---- the curve ---------------------------------------------------------------------------------------------------


def published_roc_is_private(method: str, n_thresholds: int | None = None, relation: str = "add-remove") -> bool:
    """Return True if the options of `published_roc_curve` are ε-differentially private.

    "laplace" takes its thresholds from the data. "fixed-space" without `n_thresholds` reveals the number of records,
    which is private under add/remove.

    Parameters
    ----------
    method : str
        Method of `published_roc_curve`.
    n_thresholds : int, optional
        Public number of thresholds.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.

    Returns
    -------
    bool
        True if the curve is private.

    See Also
    --------
    published_roc_curve : Return a curve by the published algorithm.

    Examples
    --------
    >>> published_roc_is_private("fixed-space"), published_roc_is_private("fixed-space", 100)
    (False, True)
    """
    check_choice(method, "method", METHODS)
    if method == "fixed-space" and n_thresholds is None:
        return check_relation(relation) == "replace-one"
    return method != "laplace"


@claim(
    "published-roc-medians-published",
    "ROC curve at recursive medians, as published",
    "[stoddard2014], Algorithm 3",
    "ε, for scores of a model that was not trained on these records",
    cost="less than ε: half of the share for the thresholds, half of the share for the sums",
    options={"method": "recursive-medians", "calibration": "published"},
)
@claim(
    "published-roc-medians-exact",
    "ROC curve at recursive medians, with the least Cauchy noise",
    "[stoddard2014], Algorithm 3",
    "ε, for scores of a model that was not trained on these records",
    cost="less than ε: all of the share for the thresholds, half of the share for the sums",
    options={"method": "recursive-medians", "calibration": "exact"},
)
@claim(
    "published-roc-quantiles",
    "ROC curve at quantiles by the exponential mechanism",
    "[stoddard2014], Algorithm 3 with all of ε2 for each label (docs/explanation/errata.md)",
    "ε, for scores of a model that was not trained on these records",
    options={"method": "quantiles"},
)
@claim(
    "published-roc-fixed-space",
    "ROC curve at a public number of even thresholds",
    "[stoddard2014], sec. 4.2.2, α-FixedSpace, all of ε for each label (docs/explanation/errata.md)",
    "ε, for scores of a model that was not trained on these records",
    options={"method": "fixed-space"},
)
@claim(
    "published-roc-fixed-space-alpha",
    "ROC curve at α·n even thresholds, as published",
    "[stoddard2014], sec. 4.2.2, α-FixedSpace",
    private=False,
    cost="unbounded under add/remove: the number of thresholds reveals n. As claimed for public n (replace-one)",
    relations=("add-remove",),
    options={"method": "fixed-space"},
)
@claim(
    "published-roc-laplace",
    "ROC curve by Laplace noise at quantiles of the data, as published",
    "[stoddard2014], sec. 5.2, the Laplace baseline",
    private=False,
    cost="unbounded: the thresholds are scores of records",
    options={"method": "laplace"},
)
@claim(
    "published-roc-laplace-fixed",
    "ROC curve by Laplace noise at public thresholds",
    "[stoddard2014], sec. 4.2, with |Θ| + 1 instead of 2|Θ| + 1 (docs/explanation/errata.md)",
    "ε, for scores of a model that was not trained on these records",
    options={"method": "laplace-fixed"},
)
def published_roc_curve(
    y_true: Any,
    y_score: Any,
    epsilon: float,
    *,
    rng: np.random.Generator,
    method: str = "recursive-medians",
    split: float = 0.2,
    k: int = 10,
    n_thresholds: int | None = None,
    alpha: float = 1.0,
    calibration: str = "published",
    ranges: str = "privelet",
    halves: bool = True,
    relation: str = "add-remove",
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    draws: int | None = None,
    on_invalid: str = "raise",
    budget: Budget | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a ROC curve by Algorithm 3 (PriROC) of Stoddard et al. (2014).

    It releases the thresholds and, for each label, noisy numbers of records with scores at or above each of them. The
    default options are as published, for simulation and comparison.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, each one of `classes`. The model must not have been trained on these records.
    y_score : array-like of shape (n,)
        Scores. A higher score means a more likely `pos_label`.
    epsilon : float
        Privacy parameter of one draw, finite and > 0.
    rng : numpy.random.Generator
        Source of all noise.
    method : {"recursive-medians", "quantiles", "fixed-space", "laplace", "laplace-fixed"}, default="recursive-medians"
        Choice of thresholds: Algorithm 4, the exponential mechanism (not in the paper), even steps, the paper's
        baseline of t quantiles of the data, which is NOT private, or that baseline with even public thresholds.
    split : float, default=0.2
        Share of ε for the thresholds, in (0, 1). The paper uses 0.2.
    k : int, default=10
        Public number of levels of the recursion, for 2^k thresholds. The paper uses ⌈log2 n⌉.
    n_thresholds : int, optional
        Public number of thresholds. The default is 2^k, 10 for the baselines, and ⌊`alpha`·n⌋ for "fixed-space".
    alpha : float, default=1.0
        Share α of α-FixedSpace. It is unused if `n_thresholds` is given.
    calibration : {"published", "exact"}, default="published"
        Noise of recursive medians, as in `recursive_medians`.
    ranges : {"privelet", "hierarchy", "identity"}, default="privelet"
        Strategy for the sums. The baselines do not use it.
    halves : bool, default=True
        Whether each label gets half of ε2, as published, or all of it.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    draws : int, optional
        Number of independent releases, for a study.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score or weight.
    budget : Budget, optional
        Charged `draws` times ε before anything is drawn.

    Returns
    -------
    fpr, tpr : ndarray of shape (m + 1,) or (draws, m + 1)
        False and true positive rates, which increase from 0 to 1.
    thresholds : ndarray of the same shape
        Thresholds that decrease from inf to the lowest score.

    Raises
    ------
    NotPrivate
        If a budget is given to a method that is not private.

    See Also
    --------
    private_roc_curve : Return the recommended private curve.

    Notes
    -----
    Privacy: ε = at most epsilon per draw, if `published_roc_is_private` returns True. δ = 0. Relation: `relation`.
    Sensitivity: 1 in the count of one bin of one label under add/remove, and 2 in L1 norm under replace-one.

    A method that is not private is kept for comparison and takes no budget. ε1 = `split`·ε is spent on drawn thresholds
    (0 for other thresholds), and ε2 = ε - ε1 on the sums. A record adds to the sums of one label only, so both labels
    may have all of ε2 under add/remove. With `halves`, each label has ε2/2 as published, and the actual ε is at most ε1
    + ε2/2. Under replace-one a record may change its label, so all noise is doubled.

    For "laplace" with t thresholds and the number of records of a label, a record changes at most t + 1 sums by 1.
    Noise of scale (t + 1)/ε is therefore enough. The paper uses (2t + 1)/ε, and so does `halves`.

    References
    ----------
    Stoddard et al. (2014), Algorithms 3 and 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500)
    >>> scores = rng.beta(1 + 2 * y, 3 - 2 * y)
    >>> fpr, tpr, thresholds = published_roc_curve(y, scores, 1.0, rng=rng, k=2)
    >>> thresholds.shape, round(float(np.trapezoid(tpr, fpr)), 1)
    ((5,), 0.9)
    """
    check_choice(method, "method", METHODS)
    check_choice(calibration, "calibration", CALIBRATIONS)
    check_choice(ranges, "ranges", tuple(RANGES))
    if not isinstance(halves, (bool, np.bool_)):
        raise InvalidParameter("halves", halves, "True or False")
    epsilon, relation = check_epsilon(epsilon), check_relation(relation)
    split = check_number(split, "split", 0.0, 1.0, open_lower=True, open_upper=True)
    rows = 1 if draws is None else check_integer(draws, "draws", 1)
    classes = check_two_classes(classes, pos_label)
    checked = check_scores(y_score, score_scale, on_invalid)
    codes, [scores], _ = read_records(y_true, {"y_score": checked}, score_scale, classes, on_invalid)
    codes = codes if classes[1] == pos_label else _swapped(codes)
    options: dict[str, Any] = {"relation": relation, "score_scale": score_scale, "draws": rows, "rng": check_rng(rng)}
    options["on_invalid"] = "clip"  # the scores have been checked
    if budget is not None and not published_roc_is_private(method, n_thresholds, relation):
        raise NotPrivate(f"published_roc_curve(method={method!r}) is not private: it takes no budget")

    count, second = _plan(method, y_true, epsilon, split, k, n_thresholds, alpha, relation)
    first = rest_of(epsilon, second)
    _check_noise(first, second, count, relation)
    charge(budget, relation, rows * epsilon, label=f"published ROC curve, {method}")
    if method == "recursive-medians":
        thresholds = recursive_medians(scores, first, k, calibration=calibration, **options)
    elif method == "quantiles":
        thresholds = quantile_thresholds(scores, first, count, **options)
    elif method == "laplace":
        thresholds = for_study(_data_thresholds(scores, count, score_scale), False, "quantiles of the scores")
    else:
        thresholds = fixed_space(count, score_scale)

    exact = _records_above(scores, codes, thresholds)
    if method.startswith("laplace"):
        per_label = (2 * count - 1 if halves else count) * (1 if relation == "add-remove" else 2)
        mechanism = Laplace(epsilon, per_label)
        sums = mechanism.release(exact, rng=rng, draws=rows)
    else:
        part = RANGES[ranges](second / 2 if halves else second, count, relation, 2)
        sums = part.release(_cells(exact), rng=rng, draws=rows if thresholds.ndim == 1 else None)
    fpr, tpr = roc_from_sums(sums)
    thresholds = np.broadcast_to(thresholds, fpr.shape).copy()
    return (fpr[0], tpr[0], thresholds[0]) if draws is None else (fpr, tpr, thresholds)


def roc_from_sums(sums: Any) -> tuple[FloatArray, FloatArray]:
    """Return fpr and tpr (..., m + 1) from numbers (..., 2, m) of records of each label above falling thresholds.

    The sums of each label are replaced by the nearest increasing ones, cut at 0, and divided by the last one (Stoddard
    et al. 2014, section 4.2.3). If nothing is left of a label, its rates rise evenly.
    """
    values = np.asarray(sums, dtype=float)
    if values.ndim < 2 or values.shape[-2] != 2 or values.shape[-1] < 1 or not np.isfinite(values).all():
        raise InvalidParameter("sums", f"an array of shape {values.shape}", "finite, of shape (..., 2, m)")
    # regression adds up many values: dividing by the largest first keeps the sums finite, whatever the noise
    largest = np.abs(values).max(axis=-1, keepdims=True)
    rising = isotonic(values / np.where(largest > 0, largest, 1.0), lower=0.0)
    last = rising[..., -1:]
    even = np.arange(1, values.shape[-1] + 1) / values.shape[-1]
    rates = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    rates[..., 1:] = np.where(last > 0, rising / np.where(last > 0, last, 1.0), even)
    return rates[..., 0, :], rates[..., 1, :]


def _plan(
    method: str,
    y_true: Any,
    epsilon: float,
    split: float,
    k: int,
    n_thresholds: int | None,
    alpha: float,
    relation: str,
) -> tuple[int, float]:
    """Return the number of bins and ε2."""
    given = None if n_thresholds is None else check_integer(n_thresholds, "n_thresholds", 2, 1 << 16)
    k = check_integer(k, "k", 1, 16)
    alpha = check_number(alpha, "alpha", 0.0, 1.0, open_lower=True)
    if method == "recursive-medians":
        if given is not None:
            raise InvalidParameter("n_thresholds", n_thresholds, "None for recursive medians, which have 2^k")
        return 1 << k, (1 - split) * epsilon
    if method == "quantiles":
        return given or 1 << k, (1 - split) * epsilon
    if method == "fixed-space":
        return given or min(max(math.floor(alpha * _published_n(y_true, relation)), 1), MAX_THRESHOLDS), epsilon
    # t thresholds, and the number of all records of a label
    return (given or BASELINE_THRESHOLDS) + 1, epsilon


def _published_n(y_true: Any, relation: str) -> int:
    """Return the number of records: under replace-one that of the given ones, since a dropped one is a null record."""
    if relation == "replace-one":
        return public_number(y_true, relation)
    return for_study(number_of(y_true), False, "a number of records")


def _check_noise(first: float, second: float, count: int, relation: str) -> None:
    # a bound on every scale: all levels of all strategies together, both halves, both relations
    largest = 8 * (count + 2)
    for share in (first, second):
        if 0 < share < largest / MAX_NOISE:
            raise InvalidParameter(
                "epsilon", share, f"at least {largest / MAX_NOISE:g} for each part, for finite noise"
            )


@statistic
def _swapped(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    return 1 - codes


@statistic
def _cells(above: FloatArray) -> FloatArray:
    return np.diff(above, axis=-1, prepend=0)


@statistic
def _records_above(scores: FloatArray, codes: NDArray[np.intp], thresholds: FloatArray) -> FloatArray:
    """Return for each label the number of scores >= each threshold but the first, (..., 2, m). Exact, so private."""
    labels = []
    for code in (0, 1):
        own = np.sort(scores[codes == code])
        labels.append(len(own) - np.searchsorted(own, thresholds[..., 1:], side="left"))
    return np.stack(labels, axis=-2).astype(float)


@statistic
def _data_thresholds(scores: FloatArray, count: int, score_scale: str) -> FloatArray:
    """Return `count` - 1 quantiles of the scores themselves between inf and the lowest score. NOT private."""
    if not len(scores):
        return fixed_space(count, score_scale)
    inner = np.quantile(scores, np.arange(count - 1, 0, -1) / count, method="lower")
    return np.concatenate([[np.inf], inner, [lowest_score(score_scale)]])
