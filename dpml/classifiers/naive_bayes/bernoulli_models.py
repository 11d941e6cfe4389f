"""Batches of naive Bayes models for binary features, from noisy counts. Post-processing: no private data is here."""

from collections.abc import Iterable

import numpy as np

from dpml._arrays import FloatArray
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.posterior import log_probabilities_posterior, row_bounded_rates
from dpml.counts import NoisyCounts
from dpml.schema import Schema


def attribute_weight(n_attributes: int) -> float:
    """Return the power to which the probabilities of each of A attributes are raised: min(1, 8/A).

    Naive Bayes assumes independent attributes. Real attributes are correlated, and the more there are, the more
    evidence is counted twice. By this public rule they count together for at most eight (docs/decisions/0004).
    """
    return min(1.0, 8.0 / max(n_attributes, 1))


def _log_odds_models(log_on: FloatArray, log_off: FloatArray, log_prior: FloatArray) -> LinearModels:
    """Turn class-conditional log probabilities (draws, C, D) into linear scores of the features."""
    coef = log_on - log_off
    intercept = log_prior + log_off.sum(axis=2)
    if coef.shape[1] == 2:
        coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
    return LinearModels(coef, intercept)


def log_probabilities_published(
    counts: NoisyCounts, threshold: float, pseudocount: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log probabilities of on and off, and of the classes, from noisy counts."""
    assert counts.off is not None
    on, off = np.maximum(counts.on, threshold), np.maximum(counts.off, threshold)
    log_total = np.log(on + off + 2 * pseudocount)
    # A class count is the mean over features of on + off before the threshold, so that noise of both signs cancels.
    n = np.maximum((counts.on + counts.off).mean(axis=2), 0.0) + pseudocount
    log_prior = np.log(n / n.sum(axis=1, keepdims=True))
    return np.log(on + pseudocount) - log_total, np.log(off + pseudocount) - log_total, log_prior


def log_probabilities_row_bounded(
    counts: NoisyCounts, pseudocount: float, pooled: float, attributes: Iterable[list[int]] = ()
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log probabilities of on and off (draws, C, D) and of the classes (see `models_from_row_bounded`).

    The columns of an attribute are its categories: their probabilities add up to 1. A column that is off adds nothing,
    because the column that is on already says which category it is.
    """
    assert counts.n is not None
    n = np.maximum(counts.n, 0.0)
    on = np.clip(counts.on, 0.0, n[:, :, None])
    # `pooled` ones, shared by class size, and the number of zeros that matches them at the pooled rate of all classes
    share = n[:, :, None] / np.maximum(n.sum(axis=1), 1.0)[:, None, None]
    total = np.maximum(n.sum(axis=1), 2.0)[:, None, None]
    rate = np.clip(counts.on.sum(axis=1, keepdims=True), 1.0, total - 1) / total
    more_on = pseudocount + pooled * share * n.shape[1]
    more_off = pseudocount + pooled * share * n.shape[1] * (1 - rate) / rate
    log_total = np.log(n[:, :, None] + more_on + more_off)
    log_on = np.log(on + more_on) - log_total
    log_off = np.log(n[:, :, None] - on + more_off) - log_total
    for columns in attributes:
        cells = np.maximum(counts.on[:, :, columns], 0.0) + pseudocount + pooled * share * n.shape[1]
        log_on[:, :, columns] = np.log(cells / cells.sum(axis=2, keepdims=True))
        log_off[:, :, columns] = 0.0
    prior = n + pseudocount
    return log_on, log_off, np.log(prior / prior.sum(axis=1, keepdims=True))


def models_from_published(counts: NoisyCounts, threshold: float, pseudocount: float = 1.0) -> LinearModels:
    """Return the models of released on- and off-counts (Antonova 2016, Algorithm 1, lines 7 to 10). Post-processing.

    Noisy counts below `threshold` are raised to it, so that a count dominated by noise is the same for all classes.
    """
    return _log_odds_models(*log_probabilities_published(counts, threshold, pseudocount))


def attribute_weights(schema: Schema) -> FloatArray:
    """Return the weight of each column: `attribute_weight` in the columns of one-hot attributes, 1 elsewhere."""
    weights = np.ones(schema.n_features)
    for columns in schema.attributes.values():
        weights[columns] = attribute_weight(len(schema.attributes))
    return weights


def models_from_row_bounded(
    counts: NoisyCounts, pseudocount: float = 1.0, pooled: float = 0.0, schema: Schema | None = None
) -> LinearModels:
    """Return the models of released on-counts and class counts. Post-processing.

    Class counts below 0 are set to 0. On-counts are clipped to between 0 and their class count. With a `schema` the
    columns of each one-hot attribute become one categorical feature with the weight `attribute_weight`.

    `pooled` is the number of ones that a class of average size gets at the pooled rate of all classes. They shrink a
    count dominated by noise towards the pooled rate. `BernoulliNB` sets it to `shrinkage` noise scales.
    """
    attributes = schema.attributes.values() if schema else ()
    log_on, log_off, prior = log_probabilities_row_bounded(counts, pseudocount, pooled, attributes)
    return _log_odds_models(log_on * attribute_weights(schema) if schema else log_on, log_off, prior)


def models_from_posterior(
    counts: NoisyCounts, schema: Schema, row_bound: int, scales: tuple[float, float], pseudocount: float = 1.0
) -> LinearModels:
    """Return the models of posterior mean rates, given released on-counts and class counts. Post-processing.

    `scales` (`dpml.counts.row_bounded_scales`) are those of the noise on both counts.
    """
    rates = row_bounded_rates(counts, schema, row_bound, scales, pseudocount)
    log_on, log_off, prior = log_probabilities_posterior(rates, schema.attributes.values())
    return _log_odds_models(log_on * attribute_weights(schema), log_off, prior)
