"""Batches of naive Bayes models over mixed features. Post-processing: no private data is here."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from dpml._arrays import FloatArray
from dpml._validate import check_choice
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.columns import Design

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
    """`draws` naive Bayes models, in the column order of a `dpml.classifiers.naive_bayes.columns.Design`.

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
