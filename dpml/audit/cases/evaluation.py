"""Claims of the private evaluations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import cauchy

from dpml.audit.cases.base import Case, CaseMaker, drawn, recorded
from dpml.evaluation import (
    compare_classifiers,
    private_confusion_matrix,
    private_roc_auc,
    private_roc_curve,
    release_evaluation,
    release_histogram,
    release_multiclass_evaluation,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.as_published import noisy_n, published_roc_curve, quantile_thresholds, recursive_medians
from dpml.mechanisms.ranges import Privelet
from dpml.mechanisms.smooth import smooth_sensitivity

# Few bins make audits from draws quick. The cost of a record does not depend on their number.
BINS = roc_thresholds(2)
COMES = "a scored record is added, or changes label and bin"


def _of(function: Any, **fixed: Any):
    """Return ``release(data, epsilon, relation, draws, rng)`` of a function of `dpml.evaluation`."""

    def release(data, epsilon, relation, draws, rng):
        options = {"relation": relation, "draws": draws, "rng": None if fixed.get("release") else rng, **fixed}
        return function(*data, epsilon=epsilon, **options)

    return release


def _case(release: Any, shown: Any, neighbours: Any, words: str):
    """Return a case of ``release(data, epsilon, relation, draws, rng)``. `shown` turns its result into an array."""

    def case(epsilon: float, relation: str) -> Case:
        def released(data, draws, rng):
            result = release(data, epsilon, relation, draws, rng)
            return result if draws is None else shown(result)

        data, neighbour = neighbours(relation)
        others = (_labelled(relation),) if neighbours is _clipped else ()
        return Case.of_release(data, neighbour, released, pasts=1, words=words, others=others)

    return case


def _secure(case: Any):
    """Return the same case with fewer draws, as secure draws take long."""
    return lambda epsilon, relation: replace(case(epsilon, relation), draws=2_000)


def _rows(counts: Any) -> Any:
    return counts.reshape(len(counts), -1)


def _counts(release: Any) -> Any:
    return _rows(release.counts)


# ---- records of two classes ----


def _labelled(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with labels and scores: a record is added, or changes its cell."""
    return tuple(side[:2] for side in _scored(relation))  # type: ignore[return-value]


def _scored(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with labels, scores and weights: a record of the largest weight is added, or changes cell."""
    labels, scores, weights = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.6, 0.4]), np.array([1.0, 0.5, 0.25, 2.0])
    if relation == "add-remove":
        return (labels, scores, weights), (np.append(labels, 1), np.append(scores, 0.05), np.append(weights, 2.0))
    other = np.array([0, 1, 1, 1]), np.array([0.2, 0.9, 0.6, 0.95]), weights
    return (labels, scores, weights), other


def _clipped(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with a score that is too large and, under replace-one, with a label that is no class."""
    labels, scores = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.6, 7.0])
    if relation == "add-remove":
        return (labels[:3], scores[:3]), (labels, scores)
    return (np.array([0, 1, 1, 5]), scores), (labels, scores)


def _histogram(data, epsilon, relation, draws, rng):
    return release_histogram(roc_histogram(*data), epsilon, relation=relation, draws=draws, rng=rng)


def _weighted(data, epsilon, relation, draws, rng):
    labels, scores, weights = data
    evaluation = _of(release_evaluation, sample_weight=weights, weight_bound=2.0, thresholds=BINS)
    return evaluation((labels, scores), epsilon, relation, draws, rng)


# ---- several classes ----


def _several_scores(relation: str) -> tuple[tuple, tuple]:
    labels = np.array([0, 1, 2])
    scores = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    if relation == "add-remove":
        return (labels, scores), (np.append(labels, 0), np.vstack([scores, [0.01, 0.98, 0.01]]))
    return (labels, scores), (np.array([0, 1, 1]), np.vstack([scores[:2], [0.98, 0.005, 0.015]]))


def _each_count(several: Any) -> Any:
    return np.concatenate([_rows(one.counts) for one in several.evaluations], axis=1)


def _predicted(relation: str) -> tuple[tuple, tuple]:
    true, predicted = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0])
    if relation == "add-remove":
        return (true, predicted), (np.append(true, 0), np.append(predicted, 2))
    # a wrong prediction becomes a right one, so that both numbers change, too
    return (true, predicted), (np.array([0, 1, 2, 1]), np.array([0, 1, 2, 1]))


# ---- two classifiers ----


def _two_scores(worst: float, best: float):
    """Return neighbours with two scores for each record: a record is added, or both of its scores change."""

    def neighbours(relation: str) -> tuple[tuple, tuple]:
        labels, a, b = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4]), np.array([0.6, 0.8, 0.7])
        if relation == "add-remove":
            return (labels, a, b), (np.append(labels, 1), np.append(a, 0.9), np.append(b, 0.1))
        return (labels, a, b), (labels, np.array([0.2, 0.9, best]), np.array([0.6, 0.8, worst]))

    return neighbours


TOO_LARGE = "a record whose score is too large is added, or replaces an invalid one"
EVALUATIONS: dict[str, CaseMaker] = {
    "roc-histogram": _case(_histogram, _rows, _labelled, "a scored record is added, or moves"),
    "private-roc-curve": _case(
        _of(private_roc_curve, thresholds=BINS), lambda curve: np.concatenate(curve[:2], axis=1), _labelled, COMES
    ),
    "private-roc-auc": _case(_of(private_roc_auc, thresholds=BINS), lambda area: area[:, None], _labelled, COMES),
    "evaluation-clip": _case(_of(release_evaluation, thresholds=BINS, on_invalid="clip"), _counts, _clipped, TOO_LARGE),
    "evaluation-release": _secure(
        _case(_of(release_evaluation, thresholds=BINS, release=True), _counts, _clipped, TOO_LARGE)
    ),
    "evaluation": _case(_of(release_evaluation, thresholds=BINS), _counts, _labelled, COMES),
    "evaluation-weighted": _case(
        _weighted, _counts, _scored, "a record of the largest weight is added, or changes label and bin"
    ),
    "evaluation-multiclass": _case(
        _of(release_multiclass_evaluation, classes=(0, 1, 2), thresholds=BINS),
        _each_count,
        _several_scores,
        "a record is added to all three histograms, or changes its cell in all",
    ),
    "confusion-matrix": _case(
        _of(private_confusion_matrix, classes=(0, 1, 2), accuracy_share=0.25),
        lambda table: np.concatenate([_counts(table), table.totals], axis=1),
        _predicted,
        "a record is added, or replaced",
    ),
    "comparison": _case(
        _of(compare_classifiers),
        lambda comparison: comparison.counts,
        _two_scores(0.1, 0.9),
        "a record is added to A's cell",
    ),
    "comparison-auc": _case(
        _of(compare_classifiers, metric="roc_auc", thresholds=BINS),
        _each_count,
        _two_scores(0.01, 0.99),
        "a record is added to both histograms, or changes its cell in both",
    ),
}


SPLIT = 0.2


# ---- thresholds ----

# the places of the first cut, and the points at which densities of the last cut are compared
CUTS = np.linspace(0.0, 1.0, 42)[1:-1]
GRID = np.linspace(0.0, 1.0, 2_003)[1:-1]
Node = Callable[[np.ndarray, float, float], Callable[[np.ndarray], np.ndarray]]


def _inside(x: np.ndarray, left: float, right: float) -> np.ndarray:
    """Return the scores of a node. Scores at 0 and 1 belong to the outermost nodes."""
    return x[((x > left) | (left == 0.0)) & ((x < right) | (right == 1.0))]


def _median_node(level: float, call: Any, data: Any) -> Node:
    """Return the densities of noisy medians, with the noise that the call handed to the boundary.

    The noise of the first node, divided by its smooth sensitivity, gives the noise for a smooth sensitivity of 1.
    """
    beta = level / 2
    x = np.asarray(data[0] if isinstance(data, tuple) else data, dtype=float)
    noise = float(np.ravel(drawn(call, data)[0][1][1])[0]) / smooth_sensitivity(
        "median", x, 0.0, 1.0, beta, "add-remove"
    )

    def node(x: np.ndarray, left: float, right: float):
        centre = float(np.sort(x)[(len(x) + 1) // 2 - 1]) if len(x) else left
        scale = noise * smooth_sensitivity("median", x, left, right, beta, "add-remove")
        outside = np.log(cauchy.cdf(left, centre, scale) + cauchy.sf(right, centre, scale))
        # a median that falls outside is replaced by the middle, so the last entry is the probability of outside
        return lambda at: np.append(cauchy.logpdf(at, centre, scale), outside)

    return node


def _quantile_node(level: float, call: Any, data: Any) -> Node:
    """Return the densities of cuts by the exponential mechanism, with the weight that the call handed over."""
    level = float(np.max(drawn(call, data)[0][1][-1]))

    def node(x: np.ndarray, left: float, right: float):
        x = np.sort(x)
        edges = np.concatenate([[left], x, [right]])
        with np.errstate(divide="ignore"):
            log = np.log(np.diff(edges))
        total = logsumexp(log - level * np.abs(np.arange(len(x) + 1) - len(x) / 2))
        return lambda at: -level * np.abs(np.searchsorted(x, at) - len(x) / 2) - total

    return node


class _Cuts:
    """The largest log ratio of all cuts together, over a grid of cuts. The log ratios of the nodes add up.

    The recorder only sees the cuts that it draws, and the worst ones are rare.
    """

    def __init__(self, node: Callable[[], Node], levels: int, after: Callable[[Any, Any, float], float] | None = None):
        self.make_node, self.levels, self.after = node, levels, after

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        self.node = self.make_node()
        return max(self._largest(a, b, 0.0, 1.0, self.levels) for a, b in ((data, neighbour), (neighbour, data)))

    def _largest(self, data: Any, neighbour: Any, left: float, right: float, levels: int) -> float:
        x, y = (np.asarray(side[0] if self.after else side, dtype=float) for side in (data, neighbour))
        x, y = _inside(x, left, right), _inside(y, left, right)
        if not self.after and np.array_equal(np.sort(x), np.sort(y)):
            return 0.0
        last = levels == 1 and self.after is None
        at = left + (right - left) * (GRID if last else CUTS)
        ratio = self.node(x, left, right)(at) - self.node(y, left, right)(at)
        if last:
            return float(ratio.max())
        if len(ratio) > len(at):  # the last entry is the middle, for a median that fell outside
            at = np.append(at, (left + right) / 2)
        if self.after is not None:
            return max(r + self.after(data, neighbour, cut) for r, cut in zip(ratio, at, strict=True))
        below = [self._largest(data, neighbour, left, cut, levels - 1) for cut in at]
        above = [self._largest(data, neighbour, cut, right, levels - 1) for cut in at]
        return float((ratio + below + above).max())


def _for_medians(level: float, relation: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two clusters; the median jumps over the gap between them. They are so large that no wider gap matters."""
    gap = 0.2 * level
    many = int(np.ceil(np.log(1 / gap) * 2 / level)) + 2
    low, high = np.full(many, 0.5 - gap / 2), np.full(many, 0.5 + gap / 2)
    if relation == "add-remove":
        return np.append(low, high), np.append(low, [*high, 0.5 + gap / 2])
    return np.append(low, high), np.concatenate([low[1:], high, high[:1]])


def _for_quantiles(level: float, relation: str) -> tuple[np.ndarray, np.ndarray]:
    """Return clusters that contain the cuts with high probability, and a record outside them.

    The record lowers the utility between the clusters, and raises it outside, where a cut is very unlikely. The same
    holds for the second cut, above the second cluster.
    """
    few = int(np.ceil(12 / level))
    low, high = np.full(4 * few, 0.3), np.full(2 * few, 0.7)
    base = np.concatenate([low, high, np.full(few, 0.94), np.full(few, 0.96)])
    if relation == "add-remove":
        return base, np.append(base, 0.99)
    return np.append(base[1:], 0.01), np.append(base[1:], 0.99)


def _thresholds(release: Any, node: Callable[..., Node], scores: Any):
    def case(epsilon: float, relation: str) -> Case:
        level = epsilon / (2 if relation == "add-remove" else 4)

        def sample(data, draws, rng):
            return release(data, epsilon, rng=rng, relation=relation, draws=draws)[:, 1:-1]

        def call(data):
            return release(data, epsilon, rng=np.random.default_rng(0), relation=relation)

        data, neighbour = scores(level, relation)
        words = "a score beyond a gap is added, or a score moves there"
        exact = _Cuts(lambda: node(level, call, data), 2)
        return Case(data, neighbour, call, sample, exact, draws=4_000, words=words)

    return case


# ---- curves ----


def _table(relation: str) -> tuple[Any, Any]:
    scores, labels = np.array([0.95, 0.7, 0.2, 0.4]), np.array([0, 1, 0, 0])
    if relation == "add-remove":
        return (scores, labels), (np.append(scores, 0.95), np.append(labels, 1))
    return (scores, labels), (scores, np.array([1, 1, 0, 0]))


def _above(data: Any, thresholds: np.ndarray) -> np.ndarray:
    scores, labels = data
    return np.array([[np.sum(scores[labels == c] >= t) for t in thresholds[1:]] for c in (0, 1)])


def _cells(data: Any, thresholds: np.ndarray) -> np.ndarray:
    return np.diff(_above(data, thresholds), axis=1, prepend=0)


class _Sums:
    """The cost of the sums after a cut, with the noise that the call handed to the boundary."""

    def __init__(self, call: Any, ranges: Privelet):
        self.call, self.ranges = call, ranges
        self._scale: float | None = None

    def __call__(self, data: Any, neighbour: Any, cut: float) -> float:
        if self._scale is None:
            self._scale = drawn(self.call, data)[1][0].scale
        edges = np.array([np.inf, cut, 0.0])
        first, second = (self.ranges.measure(_cells(side, edges)) for side in (data, neighbour))
        return float(np.abs(first - second).sum() / self._scale)


def _curve(method: str, **options: Any):
    """Return a case of one curve. Its exact cost is that of the sums, together with that of the cut if one is drawn."""
    cut = method in ("recursive-medians", "quantiles")
    words = "a positive is added, or a negative becomes positive"

    def case(epsilon: float, relation: str) -> Case:
        def sample(data, draws, rng):
            scores, labels = data
            fpr, tpr, thresholds = published_roc_curve(
                labels, scores, epsilon, rng=rng, method=method, relation=relation, draws=draws, **options
            )
            return np.concatenate([fpr, tpr, thresholds[:, 1:-1]], axis=1)

        def call(data):
            scores, labels = data
            rng = np.random.default_rng(0)
            return published_roc_curve(labels, scores, epsilon, rng=rng, method=method, relation=relation, **options)

        data, neighbour = _table(relation)
        if not cut:
            return Case(data, neighbour, call, sample, recorded(call, pasts=1), draws=2_000, words=words)
        first = SPLIT * epsilon
        level = first / (1 if relation == "add-remove" else 2)
        medians = method == "recursive-medians"
        sums = _Sums(call, Privelet(1.0, 2, relation, 2))
        node = _median_node if medians else _quantile_node
        sides = (_for_medians if medians else _for_quantiles)(level, relation)
        # an added record is a positive; one that moves also changes its label
        labels = np.zeros(len(sides[0]), dtype=int)
        data = sides[0], labels
        neighbour = sides[1], np.append(labels if relation == "add-remove" else labels[1:], 1)
        exact = _Cuts(lambda: node(level, call, data), 1, sums)
        return Case(data, neighbour, call, sample, exact, draws=2_000, words=words)

    return case


class _Tells:
    """An output that is the same in every draw, but differs between neighbours."""

    def __init__(self, tell: Callable[[Any], tuple[float, ...]]):
        self.tell = tell

    def log_probabilities(self, data: Any) -> dict[tuple[float, ...], float]:
        return {self.tell(data): 0.0}


def _data_thresholds(data: Any) -> tuple[float, ...]:
    scores, labels = data
    curve = published_roc_curve(labels, scores, 1.0, rng=np.random.default_rng(0), method="laplace", n_thresholds=3)
    return tuple(curve[2])


def _laplace_published(epsilon: float, relation: str) -> Case:
    whole = _curve("laplace", n_thresholds=3)(epsilon, relation)
    neighbour = whole.neighbour
    if relation == "replace-one":
        neighbour = np.array([0.05, 0.7, 0.2, 0.4]), np.array([0, 1, 0, 0])
    words = "a record is added, or replaced, and the thresholds are then other scores"
    return Case(
        whole.data, neighbour, whole.call, whole.sample, _Tells(_data_thresholds), draws=whole.draws, words=words
    )


def _alpha_n(epsilon: float, relation: str) -> Case:
    data, neighbour = _table(relation)

    def sample(data, draws, rng):
        scores, labels = data
        curve = published_roc_curve(labels, scores, epsilon, rng=rng, method="fixed-space", draws=draws)
        return np.full((draws, 1), curve[2].shape[1])

    def call(data):
        scores, labels = data
        return published_roc_curve(labels, scores, epsilon, rng=np.random.default_rng(0), method="fixed-space")

    return Case(data, neighbour, call, sample, recorded(call), draws=2_000, words="the number of thresholds is α·n")


def _number(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        return noisy_n(data, epsilon, draws=draws, rng=rng)

    return Case.of_release(558, 559, release, pasts=1, words="one record more")


def _medians(calibration: str) -> CaseMaker:
    def release(data: Any, epsilon: float, **more: Any) -> Any:
        return recursive_medians(data, epsilon, 2, calibration=calibration, **more)

    return _thresholds(release, _median_node, _for_medians)


def _quantile_cuts(data: Any, epsilon: float, **more: Any) -> Any:
    return quantile_thresholds(data, epsilon, 4, **more)


CASES: dict[str, CaseMaker] = {
    **EVALUATIONS,
    "recursive-medians-published": _medians("published"),
    "recursive-medians-exact": _medians("exact"),
    "quantile-thresholds": _thresholds(_quantile_cuts, _quantile_node, _for_quantiles),
    "noisy-n": _number,
    "published-roc-medians-published": _curve("recursive-medians", k=1, calibration="published"),
    "published-roc-medians-exact": _curve("recursive-medians", k=1, calibration="exact"),
    "published-roc-quantiles": _curve("quantiles", k=1, halves=False),
    "published-roc-fixed-space": _curve("fixed-space", n_thresholds=4, halves=False),
    "published-roc-fixed-space-alpha": _alpha_n,
    "published-roc-laplace": _laplace_published,
    "published-roc-laplace-fixed": _curve("laplace-fixed", n_thresholds=3, halves=False),
}
