"""Naive Bayes from noisy counts of cells: this project's own method for mixed tables.

Statistics: `cell_counts`, exact. Release: `dpml.counts.release_row_bounded`, because a record adds a bounded total to
the cells of one class. Model: `models_from_cells`.
"""

import math
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_integer, check_relation
from dpml.classifiers.naive_bayes.bernoulli import default_row_bound, default_shrinkage
from dpml.classifiers.naive_bayes.bernoulli_models import attribute_weight, log_probabilities_row_bounded
from dpml.classifiers.naive_bayes.columns import Design
from dpml.classifiers.naive_bayes.mixed_models import MixedModels, log_cells
from dpml.classifiers.naive_bayes.posterior import ReleasedRates, log_probabilities_posterior
from dpml.counts import FACTOR, Contingency, NoisyCounts, contingency, row_bounded_scales
from dpml.encoding import SHARE_GRID, share_rows
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import statistic
from dpml.schema import Schema

FEWEST_BINS, MOST_BINS = 4, 64


def default_n_bins(schema: Schema, epsilon: float, relation: str = "add-remove") -> int:
    """Return the project's public rule for the number of bins of a numeric feature.

    A record lies in one cell of each of A attributes, so the noise on a cell has scale b = A/ε (2A/ε under
    replace-one). The rule is 2·√(n_lower/(C·b)), between 4 and 64. A histogram's bias falls like 1/bins, and its noise,
    as a density, grows like bins·b/n, so the best number grows like √(n/b). docs/decisions/0006 has the search.
    """
    attributes = sum(f.kind != "binary" for f in schema.features)
    scale = max(attributes, 1) * FACTOR[check_relation(relation)] / epsilon
    return int(np.clip(np.rint(2 * math.sqrt(schema.n_lower / (schema.n_classes * scale))), FEWEST_BINS, MOST_BINS))


def entry_bounds(schema: Schema, epsilon: float, row_bound: int | None = None) -> tuple[int, int]:
    """Return the most that a record adds to the cells of attributes, and to the ones of binary features.

    Without `row_bound` a record adds 1 to each attribute: a smaller share would reduce the signal as much as the noise.
    To the ones it adds at most `dpml.classifiers.naive_bayes.default_row_bound`, the rule for binary tables. With a
    bound r the attributes come first, but binary features, if there are any, get at least 1 of it.
    """
    binary = [i for i, f in enumerate(schema.features) if f.kind == "binary"]
    attributes = schema.n_features - len(binary)
    if row_bound is None:
        return attributes, default_row_bound(schema.subset(binary), epsilon) if binary else 0
    least = bool(binary) + bool(attributes)
    r = check_integer(row_bound, "row_bound", least)
    ones = min(max(r - attributes, 1), len(binary)) if binary else 0
    return min(r - ones, attributes), ones


def _attribute_share(design: Design, bounds: tuple[int, int]) -> float:
    """Return what a record adds to each attribute, a multiple of 1/`SHARE_GRID`."""
    return math.floor(SHARE_GRID * min(1.0, bounds[0] / max(len(design.attributes), 1))) / SHARE_GRID


def cell_counts(design: Design, X: Any, codes: Any, bounds: tuple[int, int]) -> Contingency:
    """Count the records of each class in each cell, and those with each binary feature on. Exact: not private.

    `bounds` (`entry_bounds`) are the most that a record adds to the cells and to the ones. A record shares it equally
    (`dpml.encoding.share_rows`), which is the mean of sampling some of its attributes and ones.

    The result has `on` of shape (C, cells + ones), multiples of 1/`dpml.encoding.SHARE_GRID`. A record adds at most
    sum(bounds) to it, all in one class. Private where the records are.
    """
    return Contingency(*_cell_counts(design, X, codes, bounds))


@statistic
def _cell_counts(design: Design, X: Any, codes: Any, bounds: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    C, K = design.schema.n_classes, design.n_cells
    flat = (codes[:, None] * K + design.cells(X)).ravel()
    parts = [np.bincount(flat, minlength=C * K)[: C * K].reshape(C, K) * _attribute_share(design, bounds)]
    if design.ones:
        parts.append(contingency(share_rows(design.ones_of(X), bounds[1]), codes, C).on)
    return np.concatenate(parts, axis=1), np.bincount(codes, minlength=C).astype(float)


def _class_sizes(
    noisy: NoisyCounts, design: Design, bounds: tuple[int, int], scales: tuple[float, float]
) -> tuple[FloatArray, float]:
    """Return class sizes (draws, C) from class counts and cells, and the scale of Laplace noise of their variance."""
    if noisy.n is None:
        raise InvalidParameter("noisy", "counts without class counts", "from release_row_bounded")
    b, s = scales
    K, n = design.n_cells, noisy.n
    if not K:
        return n, s
    r = len(design.attributes) * _attribute_share(design, bounds)
    spread = K * (b / s / r) ** 2  # variance of the cells' estimate in units of the other's
    return (n * spread + noisy.on[..., :K].sum(axis=2) / r) / (1 + spread), s * math.sqrt(spread / (1 + spread))


def cell_rates(
    noisy: NoisyCounts,
    design: Design,
    epsilon: float,
    bounds: tuple[int, int],
    *,
    relation: str = "add-remove",
    class_share: float = 0.05,
    pseudocount: float = 1.0,
) -> list[tuple[ReleasedRates, ReleasedRates]]:
    """Return the released rates of the cells, in records, and of the ones, for each draw of counts."""
    scales = row_bounded_scales(epsilon, max(sum(bounds), 1), relation=relation, class_share=class_share)
    sizes, class_scale = _class_sizes(noisy, design, bounds, scales)
    share, K = _attribute_share(design, bounds) or 1.0, design.n_cells  # 0 without attributes
    n_values = np.repeat(np.array(design.sizes, dtype=np.intp), design.sizes)
    both = np.full(len(design.ones), 2)
    return [
        (
            ReleasedRates(on[:, :K] / share, n, scales[0] / share, class_scale, n_values, pseudocount),
            ReleasedRates(on[:, K:], n, scales[0], class_scale, both, pseudocount),
        )
        for on, n in zip(noisy.on, sizes, strict=True)
    ]


def models_from_cells(
    noisy: NoisyCounts,
    design: Design,
    epsilon: float,
    bounds: tuple[int, int],
    *,
    relation: str = "add-remove",
    class_share: float = 0.05,
    pseudocount: float = 1.0,
    shrinkage: float | str = 0.1,
) -> MixedModels:
    """Return the models of released counts. Post-processing: it uses released counts and the public noise scales.

    The counts are those of `dpml.counts.release_row_bounded` with the same ε, r = sum(bounds), relation and share.

    - *Cells.* Negative counts become 0, and `pseudocount` + `shrinkage`·b is added to every cell, where b is the noise
      scale. Counts dominated by noise then become nearly the same for all classes.
    - *Attributes* together count for at most eight: `dpml.classifiers.naive_bayes.bernoulli_models.attribute_weight`.
    - *Classes.* The cells of a class add up to r times its size, where r is the total that a record adds. So the size
      has two unbiased estimates, of variance 2s² (s the noise scale of class counts) and 2b²·cells/r². Their
      precision-weighted mean is used.
    - *Ones* as in `dpml.classifiers.naive_bayes.models_from_row_bounded`, with its default for binary tables.

    With ``shrinkage="posterior"`` rates of cells and ones are posterior means instead (`posterior`), each cell given
    its own count and the class sizes above.
    """
    weight, K = attribute_weight(len(design.attributes)), design.n_cells
    options: dict[str, Any] = {"relation": relation, "class_share": class_share}
    if isinstance(shrinkage, str):
        rates = cell_rates(noisy, design, epsilon, bounds, pseudocount=pseudocount, **options)
        columns = np.split(np.arange(K), design.edges) if K else []
        logs_of_cells, _, prior = log_probabilities_posterior([cells for cells, _ in rates], columns)
        log_on, log_off, _ = log_probabilities_posterior([ones for _, ones in rates])
    else:
        scales = row_bounded_scales(epsilon, max(sum(bounds), 1), **options)
        n, b = _class_sizes(noisy, design, bounds, scales)[0], scales[0]
        binary = design.schema.subset(design.ones) if design.ones else None
        pooled = default_shrinkage(binary) * b if binary else 0.0
        counts = NoisyCounts(noisy.on[..., K:], n=n)
        log_on, log_off, prior = log_probabilities_row_bounded(counts, pseudocount, pooled)
        logs_of_cells = log_cells(np.maximum(noisy.on[..., :K], 0.0) + pseudocount + shrinkage * b, design)
    nothing = np.empty((*prior.shape, 0))
    return MixedModels(prior, logs_of_cells, log_on, log_off, nothing, nothing, attribute_weight=weight)
