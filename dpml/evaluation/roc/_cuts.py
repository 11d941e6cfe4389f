"""Recursive cuts of [0, 1] that depend on sorted scores: the nodes, and one cut of each node.

These are the statistics and the noise of `dpml.evaluation.roc.thresholds`, which states their cost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.mechanisms.smooth.formulas import LEAST, Median, Ordered

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]

# Most numbers in memory at a time; the largest node for which all pairs of ranks are tried at once.
BLOCK_CELLS = 1 << 21
SMALL_NODE = 64

# A cut's arguments describe nodes: left and right ends, first and last + 1 of their sorted scores (private), and the
# share of their scores that should lie below the cut.
Cut = Callable[[Floats, Floats, Any, Any, Floats], Floats]


def cut_levels(x: Any, cuts: Floats, cut: Cut) -> None:
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
def _first_ranks(x: Floats, draws: int, n_cuts: int) -> tuple[Ranks, Ranks]:
    """Return the numbers of scores below each cut, and up to it. Scores at 0 and 1 belong to the outermost nodes."""
    below, upto = np.zeros((draws, n_cuts), dtype=np.int64), np.zeros((draws, n_cuts), dtype=np.int64)
    below[:, -1] = len(x)
    return below, upto


@statistic
def _inside(below: Ranks, upto: Ranks, a: Ranks, b: Ranks) -> tuple[Ranks, Ranks]:
    """Return first and last + 1 of the scores between two cuts. Between two equal cuts there is none."""
    return upto[:, a], np.maximum(below[:, b], upto[:, a])


@statistic
def _with_ranks(below: Ranks, upto: Ranks, x: Floats, at: Ranks, new: Floats) -> tuple[Ranks, Ranks]:
    """Return both numbers with those of new cuts."""
    below, upto = below.copy(), upto.copy()
    below[:, at], upto[:, at] = np.searchsorted(x, new, side="left"), np.searchsorted(x, new, side="right")
    return below, upto


def exponential_cut(
    x: Any, left: Floats, right: Floats, first: Any, end: Any, share: Floats, weight: Floats, rng: np.random.Generator
) -> Floats:
    """Return one point for each node: a gap between scores, drawn by its mass (Gumbel), then a uniform point in it."""
    public = left.ravel(), right.ravel()
    nodes = x, *public, _flat(first), _flat(end), share.ravel(), weight.ravel()
    return boundary.release(_ExponentialCut(), nodes, rng).reshape(left.shape)


@statistic
def _flat(values: Ranks) -> Ranks:
    return values.ravel()


@dataclass(frozen=True)
class _ExponentialCut:
    """Points with density proportional to exp(-weight·|scores below - share·scores|) between the ends of a node."""

    def _sample(self, statistic: tuple, rng: np.random.Generator) -> Floats:
        return _cut_nodes(*statistic, rng=rng)

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


def _nodes(x: Floats, left: Floats, right: Floats, first: Any, end: Any, share: Floats, weight: Floats) -> list[tuple]:
    facts = zip(left, right, first, end, share, weight, strict=True)
    return [(np.clip(x[a:b], low, high), low, high, q, w) for low, high, a, b, q, w in facts]


def _log_density(at: Floats, scores: Floats, left: float, right: float, share: float, weight: float) -> Floats:
    edges = np.concatenate([[left], scores, [right]])
    with np.errstate(divide="ignore"):
        mass = np.log(np.diff(edges)) - weight * np.abs(np.arange(len(scores) + 1) - share * len(scores))
    below = np.searchsorted(scores, at)
    return -weight * np.abs(below - share * len(scores)) - float(np.logaddexp.reduce(mass))


def _cut_nodes(
    x: Floats,
    left: Floats,
    right: Floats,
    first: NDArray[np.int64],
    end: NDArray[np.int64],
    share: Floats,
    weight: Floats,
    *,
    rng: np.random.Generator,
) -> Floats:
    # nodes whose gaps fit into memory together
    group = np.cumsum(end - first + 1) // BLOCK_CELLS
    chosen = np.empty(len(group))
    for some in np.unique(group):
        at = group == some
        chosen[at] = _cut_some(x, left[at], right[at], first[at], end[at], share[at], weight[at], rng=rng)
    return chosen


def _cut_some(
    x: Floats, left: Floats, right: Floats, first: Ranks, end: Ranks, share: Floats, weight: Floats, *, rng: Any
) -> Floats:
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
    x: Floats, left: Floats, right: Floats, first: NDArray[np.int64], end: NDArray[np.int64], beta: float
) -> Floats:
    """Return the smooth sensitivity of every node's median (see `dpml.mechanisms.smooth.formulas.Median`).

    It is the largest exp(-β(i + j - 1))·(x_(r+j) - x_(r-i)) over i + j >= 1, with r = ⌈s/2⌉, between the node's ends.
    Small nodes try all pairs, in groups of about equal size. Each larger node uses a search.
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
