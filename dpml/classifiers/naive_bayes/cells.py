"""Naive Bayes of mixed tables from noisy counts of cells, this project's own method, and its columns and models.

Statistics: `cell_counts`, exact. Release: `dpml.counts.release_row_bounded`, because a record adds a bounded total to
the cells of one class. Model: `models_from_cells`. `Design` transforms each record by itself, by public metadata only.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_ndtr

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_integer, check_relation
from dpml.classifiers.crowded_bins import HeaviestBin, heaviest_bin
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.bernoulli import (
    attribute_weight,
    default_row_bound,
    default_shrinkage,
    log_probabilities_row_bounded,
)
from dpml.classifiers.naive_bayes.posterior import ReleasedRates, log_probabilities_posterior
from dpml.counts import FACTOR, Contingency, NoisyCounts, contingency, row_bounded_scales
from dpml.encoding import SHARE_GRID, share_rows
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import statistic
from dpml.schema import Feature, Schema
from dpml.schema.cells import plain_positions
from dpml.schema.domain import to_centred


@dataclass(frozen=True)
class Design:
    """Columns of a record: one for each cell of each attribute, one for each binary feature, two for each number.

    An *attribute* is a categorical feature, or a numeric one cut into `n_bins` bins of equal width over its public
    domain. A record lies in exactly one cell of each attribute. A *number* z is a numeric feature whose public bounds
    are mapped to -1 and 1, where `n_bins` is None. Its columns are z and z², because a Gaussian log density is linear
    in them. With `binary_cells` a binary feature is an attribute with the two cells 0 and 1.
    """

    schema: Schema
    n_bins: int | None = None
    binary_cells: bool = False

    @cached_property
    def attributes(self) -> tuple[int, ...]:
        """Positions of the features that are attributes, in the schema's order."""
        kinds = {"categorical"} | ({"binary"} if self.binary_cells else set()) | ({"numeric"} if self.n_bins else set())
        return tuple(i for i, f in enumerate(self.schema.features) if f.kind in kinds)

    @cached_property
    def ones(self) -> tuple[int, ...]:
        """Positions of the binary features that are columns of their own."""
        return tuple(i for i, f in enumerate(self.schema.features) if f.kind == "binary" and not self.binary_cells)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the numeric features that are kept as numbers."""
        return tuple(i for i, f in enumerate(self.schema.features) if f.kind == "numeric" and not self.n_bins)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each attribute."""
        return tuple(self._size(self.schema.features[i]) for i in self.attributes)

    def _size(self, feature: Feature) -> int:
        if feature.kind == "numeric":
            return int(self.n_bins or 0)
        return len(feature.categories or (0, 1))

    @property
    def n_cells(self) -> int:
        """Number of cells of all attributes."""
        return sum(self.sizes)

    @cached_property
    def edges(self) -> IntArray:
        """First column of each attribute except the first: the points at which to split the cells."""
        return np.cumsum(self.sizes)[:-1] if self.sizes else np.zeros(0, dtype=np.intp)

    def cell_names(self) -> list[tuple[str, object]]:
        """Return the feature and the value of each cell: a category, or the interval of a bin."""
        names: list[tuple[str, object]] = []
        for i, size in zip(self.attributes, self.sizes, strict=True):
            f = self.schema.features[i]
            if f.kind == "numeric":
                ends = np.linspace(float(f.lower or 0), float(f.upper or 0), size + 1)
                names += [(f.name, pd.Interval(*pair, closed="left")) for pair in pairwise(ends)]
            else:
                names += [(f.name, value) for value in f.categories or (0, 1)]
        return names

    def one_names(self) -> list[tuple[str, object]]:
        """Return the binary features that are columns of their own, each with its value 1."""
        return [(self.schema.feature_names[i], 1) for i in self.ones]

    # ---- parts of a table that fits the schema ------------------------------------------------------------------

    def _column(self, X: Any, i: int) -> NDArray:
        if isinstance(X, pd.DataFrame):
            return X.iloc[:, i].to_numpy()
        return X[:, [i]].toarray().ravel() if sparse.issparse(X) else X[:, i]

    def cells(self, X: Any) -> IntArray:
        """Return the cell of each record and attribute, as a column number, shape (n, A)."""
        out = np.empty((X.shape[0], len(self.attributes)), dtype=np.intp)
        start = 0
        for a, (i, size) in enumerate(zip(self.attributes, self.sizes, strict=True)):
            f = self.schema.features[i]
            if f.kind == "categorical":
                cell = plain_positions(X.iloc[:, i] if isinstance(X, pd.DataFrame) else X[:, i], f.categories or ())
            elif f.kind == "binary":
                cell = (np.asarray(self._column(X, i), dtype=float) > 0.5).astype(np.intp)
            else:
                z = _centred(f, self._column(X, i))
                cell = np.minimum(((z + 1) / 2 * size).astype(np.intp), size - 1)
            out[:, a] = start + cell
            start += size
        return out

    def ones_of(self, X: Any) -> Any:
        """Return the binary columns, shape (n, number of ones)."""
        if not isinstance(X, pd.DataFrame):
            return X[:, list(self.ones)] if len(self.ones) < X.shape[1] else X
        return X.iloc[:, list(self.ones)].to_numpy(dtype=float)

    def numbers_of(self, X: Any) -> FloatArray:
        """Return the numbers z in [-1, 1], shape (n, number of numbers)."""
        z = [_centred(self.schema.features[i], self._column(X, i)) for i in self.numbers]
        return np.column_stack(z) if z else np.empty((X.shape[0], 0))

    def matrix(self, X: Any) -> sparse.csr_array:
        """Return all columns of a checked table: cells, ones, z, z²."""
        parts: list[Any] = []
        n, A = X.shape[0], len(self.attributes)
        if A:
            cells = self.cells(X)
            parts.append(sparse.csr_array((np.ones(n * A), cells.ravel(), np.arange(n + 1) * A), (n, self.n_cells)))
        if self.ones:
            parts.append(sparse.csr_array(self.ones_of(X)))
        if self.numbers:
            z = self.numbers_of(X)
            parts += [sparse.csr_array(z), sparse.csr_array(z**2)]
        return sparse.csr_array(sparse.hstack(parts, format="csr")) if len(parts) > 1 else parts[0]

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Split the last axis, which has one entry per cell, into one array for each attribute."""
        return np.split(values, self.edges, axis=-1) if self.sizes else []


def _centred(f: Feature, values: NDArray) -> FloatArray:
    return to_centred(values, float(f.lower or 0), float(f.upper or 0))


LIKELIHOODS = ("gaussian", "truncated-normal")


def log_prior(n: FloatArray, pseudocount: float) -> FloatArray:
    """Return log probabilities of the classes from noisy class counts (draws, C). Negative ones become 0."""
    counts = np.maximum(n, 0.0) + pseudocount
    return np.log(counts / counts.sum(axis=1, keepdims=True))


def log_cells(counts: FloatArray, design: Design) -> FloatArray:
    """Return log probabilities of the cells within each attribute from positive counts (draws, C, cells)."""
    parts = [np.log(part / part.sum(axis=2, keepdims=True)) for part in design.split(counts)]
    return np.concatenate([counts[..., :0], *parts], axis=2)


@dataclass(frozen=True)
class MixedModels:
    """`draws` naive Bayes models, in the column order of a `Design`.

    `log_prior` of shape (draws, C). `log_cells` (draws, C, cells): log probability of each cell of each attribute. The
    probability is raised to `attribute_weight`. `log_on`, `log_off` (draws, C, ones): that a feature is 1, and 0.
    `mean`, `variance` (draws, C, numbers): of the Gaussian of each number z in [-1, 1]. With the `likelihood`
    "truncated-normal" divides its density by its mass in [-1, 1] (Zafarani and Clifton 2021, section 2.1).
    """

    log_prior: FloatArray
    log_cells: FloatArray
    log_on: FloatArray
    log_off: FloatArray
    mean: FloatArray
    variance: FloatArray
    likelihood: str = "gaussian"
    attribute_weight: float = 1.0

    def linear(self) -> LinearModels:
        """Return the scores of the classes as linear models over the design's columns.

        log N(z; μ, σ²) = -z²/(2σ²) + zμ/σ² - μ²/(2σ²) - log σ + constant.
        """
        precision = 1 / self.variance
        constants = -0.5 * self.mean**2 * precision - 0.5 * np.log(self.variance)
        if check_choice(self.likelihood, "likelihood", LIKELIHOODS) == "truncated-normal":
            constants -= _log_mass(self.mean, np.sqrt(self.variance))
        cells = self.attribute_weight * self.log_cells
        coef = np.concatenate([cells, self.log_on - self.log_off, self.mean * precision, -0.5 * precision], axis=2)
        intercept = self.log_prior + self.log_off.sum(axis=2) + constants.sum(axis=2)
        if coef.shape[1] == 2:
            coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
        return LinearModels(coef, intercept)


def _log_mass(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return log(Φ((1 - μ)/σ) - Φ((-1 - μ)/σ)), computed in the tail in which both terms are small."""
    shifted = np.abs(mean)
    # with m = |μ|, u = (m - 1)/σ and v = (m + 1)/σ it is Φ(-u) - Φ(-v), whose log is accurate even for m far above 1
    near, far = log_ndtr((1 - shifted) / deviation), log_ndtr((-1 - shifted) / deviation)
    return near + np.log1p(-np.exp(np.minimum(far - near, -1e-300)))


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
    To the ones it adds at most `default_row_bound`, the rule for binary tables. With a bound r the attributes come
    first, but binary features, if there are any, get at least 1 of it.
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
    """Count the records of each class in each cell, and those with each binary feature on. Exact: private.

    `bounds` (`entry_bounds`) are the most that a record adds to the cells and to the ones of one class. A record shares
    it equally (`dpml.encoding.share_rows`), which is the mean of sampling some of its attributes and ones. So counts
    are multiples of 1/`dpml.encoding.SHARE_GRID`.
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


def heaviest_bins(
    noisy: NoisyCounts,
    design: Design,
    epsilon: float,
    bounds: tuple[int, int],
    *,
    relation: str = "add-remove",
    class_share: float = 0.05,
) -> list[HeaviestBin | None]:
    """Return the heaviest bin of each number, from the released counts of one fit."""
    scale, _ = row_bounded_scales(epsilon, max(sum(bounds), 1), relation=relation, class_share=class_share)
    found = []
    for i, counts in zip(design.attributes, design.split(noisy.on[0][:, : design.n_cells]), strict=True):
        f = design.schema.features[i]
        if f.kind == "numeric":
            edges = np.linspace(float(f.lower or 0), float(f.upper or 0), counts.shape[1] + 1)
            found.append(heaviest_bin(f.name, edges.tolist(), counts.sum(axis=0), len(counts), scale))
    return found


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
    """Return the models of `release_row_bounded` counts with the same ε, r = sum(bounds), relation and share.

    - *Cells.* Negative counts become 0, and `pseudocount` + `shrinkage`·b is added to every cell, where b is the noise
      scale. Counts dominated by noise then become nearly the same for all classes.
    - *Attributes* together count for at most eight (`attribute_weight`).
    - *Classes.* The cells of a class add up to r times its size, where r is the total that a record adds. So the size
      has two unbiased estimates, of variance 2s² (s the noise scale of class counts) and 2b²·cells/r². Their
      precision-weighted mean is used.
    - *Ones* as in `models_from_row_bounded`, with its default for binary tables.

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
