"""Claims of thresholds drawn from scores, and of ROC curves as Stoddard et al. publish them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import cauchy

from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import drawn, recorded
from dpml.evaluation.as_published import noisy_n, published_roc_curve, quantile_thresholds, recursive_medians
from dpml.mechanisms.ranges import Privelet
from dpml.mechanisms.smooth import smooth_sensitivity

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


def _method(name: str, title: str, covers: tuple[str, ...], source: str, claim: str, case: Any, **more: Any) -> Method:
    family = "mechanism" if covers[0].startswith("dpml.mechanisms") else "evaluation"
    return Method(name, title, family, covers, source, claim, case, **more)


ROC = "dpml.evaluation.published_roc_curve"
LESS = "less than ε: {} of the share for the thresholds, half of the share for the sums"

METHODS = (
    *(
        _method(
            f"recursive-medians-{calibration}",
            f"Recursive medians of scores, {title}",
            ("dpml.evaluation.recursive_medians", f"dpml.evaluation.recursive_medians[{calibration}]"),
            source,
            "ε",
            _thresholds(
                lambda data, epsilon, calibration=calibration, **more: recursive_medians(
                    data, epsilon, 2, calibration=calibration, **more
                ),
                _median_node,
                _for_medians,
            ),
            cost=cost,
        )
        for calibration, title, source, cost in (
            ("published", "noise 8·S/ε'", "[stoddard2014], Algorithm 4 and Theorem 3", "at most 0.515·ε"),
            (
                "exact",
                "least Cauchy noise",
                "[stoddard2014], Algorithm 4, with the scale derived here (docs/explanation/errata.md)",
                "as claimed",
            ),
        )
    ),
    _method(
        "quantile-thresholds",
        "Quantiles of scores by the exponential mechanism, node by node",
        ("dpml.evaluation.quantile_thresholds",),
        "[smith2011] and [kaplan2022], with the range derived here (docs/explanation/errata.md)",
        "ε",
        _thresholds(
            lambda data, epsilon, **more: quantile_thresholds(data, epsilon, 4, **more),
            _quantile_node,
            _for_quantiles,
        ),
    ),
    _method(
        "noisy-n",
        "Number of records",
        ("dpml.evaluation.noisy_n",),
        "the two-sided geometric mechanism, [ghosh2012]",
        "ε under add/remove",
        _number,
        relations=("add-remove",),
    ),
    *(
        _method(
            f"published-roc-medians-{calibration}",
            f"ROC curve at recursive medians, {title}",
            (ROC, f"{ROC}[recursive-medians]", f"{ROC}[{calibration}]"),
            "[stoddard2014], Algorithm 3",
            "ε, for scores of a model that was not trained on these records",
            _curve("recursive-medians", k=1, calibration=calibration),
            cost=LESS.format(part),
        )
        for calibration, title, part in (
            ("published", "as published", "half"),
            ("exact", "with the least Cauchy noise", "all"),
        )
    ),
    _method(
        "published-roc-quantiles",
        "ROC curve at quantiles by the exponential mechanism",
        (ROC, f"{ROC}[quantiles]"),
        "[stoddard2014], Algorithm 3 with all of ε2 for each label (docs/explanation/errata.md)",
        "ε, for scores of a model that was not trained on these records",
        _curve("quantiles", k=1, halves=False),
    ),
    _method(
        "published-roc-fixed-space",
        "ROC curve at a public number of even thresholds",
        (ROC, f"{ROC}[fixed-space]"),
        "[stoddard2014], sec. 4.2.2, α-FixedSpace, all of ε for each label (docs/explanation/errata.md)",
        "ε, for scores of a model that was not trained on these records",
        _curve("fixed-space", n_thresholds=4, halves=False),
    ),
    _method(
        "published-roc-fixed-space-alpha",
        "ROC curve at α·n even thresholds, as published",
        (ROC, f"{ROC}[fixed-space]"),
        "[stoddard2014], sec. 4.2.2, α-FixedSpace",
        "ε",
        _alpha_n,
        private=False,
        cost="unbounded under add/remove: the number of thresholds reveals n. As claimed for public n (replace-one)",
        true_epsilon=lambda epsilon: float("inf"),
        relations=("add-remove",),
    ),
    _method(
        "published-roc-laplace",
        "ROC curve by Laplace noise at quantiles of the data, as published",
        (ROC, f"{ROC}[laplace]"),
        "[stoddard2014], sec. 5.2, the Laplace baseline",
        "ε",
        _laplace_published,
        private=False,
        cost="unbounded: the thresholds are scores of records",
        true_epsilon=lambda epsilon: float("inf"),
    ),
    _method(
        "published-roc-laplace-fixed",
        "ROC curve by Laplace noise at public thresholds",
        (ROC, f"{ROC}[laplace-fixed]"),
        "[stoddard2014], sec. 4.2, with |Θ| + 1 instead of 2|Θ| + 1 (docs/explanation/errata.md)",
        "ε, for scores of a model that was not trained on these records",
        _curve("laplace-fixed", n_thresholds=3, halves=False),
    ),
)
