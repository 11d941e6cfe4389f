"""What a private model says of one feature, beside what is true of the private records: for study."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from dpml.classifiers.naive_bayes.bernoulli import (
    default_class_share,
    default_row_bound,
    default_shrinkage,
    log_probabilities_row_bounded,
    published_threshold,
    release_partitioned,
)
from dpml.classifiers.naive_bayes.cells import Design, MixedModels, default_n_bins
from dpml.classifiers.naive_bayes.posterior import row_bounded_rates
from dpml.counts import NoisyCounts, release_published, release_row_bounded, row_bounded_scales
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy
from dpml_app.data.measures import dataset
from dpml_app.pages.train.compute import EXACT, nb_study, study_settings
from dpml_app.pages.train.methods import METHODS
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
# bars in all for a normal distribution, which is shown by cutting the domain of its number
BARS = 48
# of a posterior's interval
LEVEL = 0.95


class _Binned(BinnedNBStudy):
    """The library's study, which returns its models instead of how right they are."""

    def _measure(self, models: MixedModels, design: Design, auc: bool) -> Any:
        return models, design


class _Moments(MomentsNBStudy):
    """The same of the methods with means and variances."""

    def _measure(self, models: MixedModels, design: Design, auc: bool) -> Any:
        return models, design


@kept(8)
def _study(name: str, method: str, relation: str) -> Any:
    data = dataset(name)
    return _Binned(data, relation=relation) if method == "binned" else _Moments(data, method, relation=relation)


def nb_parameters(
    name: str, method: str, relation: str, epsilon: float, options: tuple, feature: int, draws: int, seed: int
) -> dict[str, Any]:
    """Return the probabilities of a feature's cells within each class; `feature` counts from 1.

    Result: ``exact`` (C, K); ``draws`` (draws, C, K), of the models whose accuracy `measure` returns; ``labels``, the
    names of the cells; ``edges`` (K + 1,) of a number's, else empty. A binary feature has the one cell "on".
    """
    if METHODS[method].entry.table:
        return _of_table(name, method, relation, epsilon, options, feature - 1, draws, seed)
    noisy = _rates(name, method, relation, epsilon, options, draws, seed)[:, :, feature - 1]
    counts = nb_study(name, method, relation).counts
    exact = counts.on[:, feature - 1] / np.maximum(counts.n, 1)
    return {"exact": exact[:, None], "draws": noisy[:, :, None], "labels": ("on",), "edges": np.empty(0)}


def _row_bounded(
    name: str, relation: str, epsilon: float, draws: int, seed: int
) -> tuple[NoisyCounts, int, tuple[float, float]]:
    """Return noisy counts of the row-bounded method, their row bound and the scales of their noise."""
    study = nb_study(name, "row-bounded", relation)
    r = min(default_row_bound(study.schema, epsilon), study.schema.row_bound)
    shared: dict[str, Any] = {"relation": relation, "class_share": default_class_share(study.schema.n_features)}
    noisy = release_row_bounded(study.tables(r), epsilon, r, draws=draws, rng=np.random.default_rng(seed), **shared)
    return noisy, r, row_bounded_scales(epsilon, r, **shared)


def rates_posterior(name: str, relation: str, epsilon: float, draws: int, seed: int) -> FloatArray:
    """Return means and ends of 95 % intervals of all rates given the first draw's release, shape (3, C, D).

    They are of the row-bounded method, and of the draws of `nb_parameters`.
    """
    noisy, r, scales = _row_bounded(name, relation, epsilon, draws, seed)
    schema = nb_study(name, "row-bounded", relation).schema
    posterior = row_bounded_rates(noisy, schema, r, scales, 1.0)[0].posterior()
    return np.stack([posterior.mean(), *posterior.interval(LEVEL)])


def _rates(name: str, method: str, relation: str, epsilon: float, options: tuple, draws: int, seed: int) -> FloatArray:
    """Return noisy on-rates, shape (draws, C, D)."""
    study, rng = nb_study(name, method, relation), np.random.default_rng(seed)
    schema = study.schema
    common: dict[str, Any] = {"relation": relation, "draws": draws, "rng": rng}
    if method == "row-bounded":
        noisy, _r, scales = _row_bounded(name, relation, epsilon, draws, seed)
        pooled = default_shrinkage(schema) * scales[0]
        return np.exp(log_probabilities_row_bounded(noisy, 1.0, pooled, schema.attributes.values())[0])
    if method == "algorithm-1":
        noisy, features = release_published(study.counts, epsilon, **common), schema.n_features
    else:
        noisy, features = release_partitioned(study.parts, epsilon, **common), 1
    threshold = published_threshold(epsilon, features, dict(options)["threshold_percentile"], relation)
    assert noisy.off is not None
    on, off = np.maximum(noisy.on, threshold) + 1, np.maximum(noisy.off, threshold) + 1
    return on / (on + off)


def _of_table(
    name: str, method: str, relation: str, epsilon: float, options: tuple, place: int, draws: int, seed: int
) -> dict[str, Any]:
    study = _study(name, method, relation)
    settings = study_settings(options, study.schema)
    exact_study, exact_settings = study, dict(settings)
    if method == "binned":
        bins = settings.setdefault("n_bins", default_n_bins(study.schema, epsilon, relation))
        exact_settings["n_bins"] = bins
    else:
        # without noise all of these methods have the same means and variances, but for what they trim
        exact_study = _study(name, "global", relation)
        exact_settings = {"likelihood": settings["likelihood"]}
    rng = np.random.default_rng(seed)
    models, design = study(epsilon, draws=draws, rng=rng, **settings)
    exact, _design = exact_study(EXACT, draws=1, rng=np.random.default_rng(0), **exact_settings)
    f = study.schema.features[place]
    edges = np.empty(0)
    if f.kind == "categorical":
        labels = tuple(str(c) for c in f.categories)
    elif f.kind == "binary":
        labels = ("on",)
    else:
        n = bins if method == "binned" else BARS // study.schema.n_classes
        edges = np.linspace(f.lower, f.upper, n + 1)
        labels = tuple(f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges))
    return {
        "exact": _cells(exact, design, place)[0],
        "draws": _cells(models, design, place),
        "labels": labels,
        "edges": edges,
    }


def _cells(models: MixedModels, design: Design, place: int) -> FloatArray:
    """Return the probabilities of a feature's cells, shape (draws, C, K)."""
    if place in design.attributes:
        probabilities = np.exp(design.split(models.log_cells)[design.attributes.index(place)])
        return probabilities[..., 1:] if design.schema.features[place].kind == "binary" else probabilities
    if place in design.ones:
        return np.exp(models.log_on[:, :, [design.ones.index(place)]])
    j = design.numbers.index(place)
    mean, deviation = models.mean[:, :, j, None], np.sqrt(models.variance[:, :, j, None])
    cells = BARS // models.mean.shape[1]
    mass = np.diff(norm.cdf(np.linspace(-1, 1, cells + 1), mean, deviation), axis=-1)
    return mass / np.maximum(mass.sum(axis=-1, keepdims=True), 1e-12)
