"""Private Bernoulli naive Bayes: 000's Algorithm 1 as published, and the row-bounded release that pays far less.

Statistics: contingency counts (`dpml.counts`). Release: noisy counts. Model: everything below `NoisyCounts`, which is
post-processing and sees no private value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpml._validate import (
    ON_INVALID,
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Budget, charge
from dpml.classifiers.models import LinearModels
from dpml.counts import (
    FACTOR,
    NoisyCounts,
    contingency,
    contingency_of_subsamples,
    release_published,
    release_row_bounded,
    row_bounded_scales,
)
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Laplace
from dpml.mechanisms.secure import check_release
from dpml.schema import Schema, resolve_schema

__all__ = ["BernoulliNB", "default_row_bound", "default_shrinkage", "models_from_published", "models_from_row_bounded"]

METHODS = ("row-bounded", "published")
FloatArray = NDArray[np.float64]


def default_row_bound(schema: Schema, epsilon: float) -> int:
    """Return the project's public rule for the number of ones a record keeps.

    The noise on a count grows with r and what cutting loses falls with it; the rule lets r grow with ε times the
    records there are for each one a record may have. Where a record has few ones by its schema (one-hot attributes),
    it keeps at most a seventh of them: naive Bayes counts attributes that say the same twice, and cutting dampens that.
    All of it is public (docs/decisions.md has the search).
    """
    most = schema.row_bound
    assert most is not None
    cap = most if most == schema.n_features else -(-most // 7)
    return int(np.clip(np.rint(epsilon * schema.n_lower / (25 * most)), 1, cap))


def default_shrinkage(schema: Schema) -> float:
    """Return the project's public rule for `shrinkage`: 0.5, and 0.1 where a record has few ones by its schema."""
    return 0.5 if schema.row_bound == schema.n_features else 0.1


def _log_odds_models(log_on: FloatArray, log_off: FloatArray, log_prior: FloatArray) -> LinearModels:
    """Turn class-conditional log probabilities (draws, C, D) into linear scores of the features."""
    coef = log_on - log_off
    intercept = log_prior + log_off.sum(axis=2)
    if coef.shape[1] == 2:
        coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
    return LinearModels(coef, intercept)


def _log_probabilities_published(
    counts: NoisyCounts, threshold: float, pseudocount: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    assert counts.off is not None
    on, off = np.maximum(counts.on, threshold), np.maximum(counts.off, threshold)
    log_total = np.log(on + off + 2 * pseudocount)
    # One class count a class: the mean over features, where noise of both signs cancels; before the threshold.
    n = np.maximum((counts.on + counts.off).mean(axis=2), 0.0) + pseudocount
    log_prior = np.log(n / n.sum(axis=1, keepdims=True))
    return np.log(on + pseudocount) - log_total, np.log(off + pseudocount) - log_total, log_prior


def _log_probabilities_row_bounded(
    counts: NoisyCounts, pseudocount: float, pooled: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    assert counts.n is not None
    n = np.maximum(counts.n, 0.0)
    on = np.clip(counts.on, 0.0, n[:, :, None])
    # `pooled` ones, shared out by class size, and as many zeros as go with them at the rate of all classes together
    share = n[:, :, None] / np.maximum(n.sum(axis=1), 1.0)[:, None, None]
    total = np.maximum(n.sum(axis=1), 2.0)[:, None, None]
    rate = np.clip(counts.on.sum(axis=1, keepdims=True), 1.0, total - 1) / total
    more_on = pseudocount + pooled * share * n.shape[1]
    more_off = pseudocount + pooled * share * n.shape[1] * (1 - rate) / rate
    log_total = np.log(n[:, :, None] + more_on + more_off)
    log_on = np.log(on + more_on) - log_total
    log_off = np.log(n[:, :, None] - on + more_off) - log_total
    prior = n + pseudocount
    return log_on, log_off, np.log(prior / prior.sum(axis=1, keepdims=True))


def models_from_published(counts: NoisyCounts, threshold: float, pseudocount: float = 1.0) -> LinearModels:
    """Return the models of released on- and off-counts (000, Algorithm 1, lines 7 to 10). Post-processing.

    Parameters
    ----------
    counts : NoisyCounts
        With `on` and `off`.
    threshold : float
        Noisy counts below it are raised to it, so that a count drowned in noise is the same for all classes.
    pseudocount : float
        Added to each count, > 0.
    """
    return _log_odds_models(*_log_probabilities_published(counts, threshold, pseudocount))


def models_from_row_bounded(counts: NoisyCounts, pseudocount: float = 1.0, pooled: float = 0.0) -> LinearModels:
    """Return the models of released on-counts and class counts. Post-processing.

    Class counts below 0 are set to 0, on-counts are kept between 0 and their class count.

    Parameters
    ----------
    counts : NoisyCounts
        With `on` and `n`.
    pseudocount : float
        Added to each count, > 0.
    pooled : float
        Ones, in records of an average class, that each class gets at the rate of all classes together: what pulls a
        count that is drowned in noise towards saying nothing. `shrinkage` noise scales by default in `BernoulliNB`.
    """
    return _log_odds_models(*_log_probabilities_row_bounded(counts, pseudocount, pooled))


def published_threshold(epsilon: float, n_features: int, percentile: float, relation: str = "add-remove") -> float:
    """Return the threshold of 000 eq. 3.15: a percentile of the Laplace noise that Algorithm 1 adds."""
    return float(Laplace(epsilon, FACTOR[relation] * n_features).quantile(percentile / 100))


class BernoulliNB(ClassifierMixin, BaseEstimator):
    """Naive Bayes for binary features with differential privacy.

    Released: noisy counts of each class and of each feature being on in it; the model is made of them alone.

    Privacy: ε per fit, for `relation`. ``method="row-bounded"``: on-counts have L1 sensitivity r = `row_bound`, class
    counts 1 (twice that under replace-one); ε is split (1-w) : w between them. Records with more than r ones are cut
    down to r of them, chosen at random for each record on its own. ``method="published"``: on- and off-counts have
    L1 sensitivity D (2D). Parameters such as `row_bound` and `pseudocount` must be chosen without looking at the data.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of one fit, finite and > 0.
    method : {"row-bounded", "published"}
        "published" is 000's Algorithm 1.
    row_bound : int, optional
        Most ones a record keeps (row-bounded). None: the project's public rule, `default_row_bound`.
    pseudocount : float
        Added to each count, > 0.
    threshold_percentile : float
        Percentile of the noise, in (50, 100) or 50, below which a noisy count is raised to it (published).
    schema : Schema, optional
        Public facts. None: the canonical binary schema, classes (0, 1), row bound D.
    budget : Budget, optional
        Charged ε before the noise is drawn.
    on_invalid : {"raise", "clip"}
        What to do with a value outside its domain or a label that is no class. A release clips whatever this says,
        and drops records whose label is no class: no data set of the right shape makes it raise.
    release : bool
        Add secure integer noise to the counts (`dpml.mechanisms.secure`, the extra ``release``); forbids
        `random_state`. What is learned is then a function of whole noisy counts and public facts only.
    random_state : int, Generator or None
        Seed of the noise, for study.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation for which ε holds; it must be the budget's.
    class_share : float
        Share w of ε for the class counts (row-bounded), in (0, 1).
    shrinkage : float, optional
        How many noise scales of ones each class gets at the rate of all classes together (row-bounded), >= 0:
        post-processing that pulls counts drowned in noise towards saying nothing. None: the project's public rule,
        `default_shrinkage`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The schema's classes, present in the data or not.
    feature_log_prob_ : ndarray of shape (C, D)
        Log probability of each feature being on, from noisy counts.
    class_log_prior_ : ndarray of shape (C,)
        Log probability of each class, from noisy counts.
    row_bound_ : int
        The row bound that was used (row-bounded).

    Raises
    ------
    InvalidParameter, InvalidData, BudgetExceeded, RelationMismatch, MissingExtra

    Notes
    -----
    Sources: 000 Algorithm 1 and section 3.3; the row-bounded release is this project's (docs/errata.md), with 002's
    row sampling (section 3.2).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> X = (rng.random((1000, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int)
    >>> model = BernoulliNB(epsilon=1.0, random_state=0).fit(X, y)
    >>> model.predict([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        epsilon: float,
        *,
        method: str = "row-bounded",
        row_bound: int | None = None,
        pseudocount: float = 1.0,
        threshold_percentile: float = 65,
        schema: Schema | None = None,
        budget: Budget | None = None,
        on_invalid: str = "raise",
        release: bool = False,
        random_state: Any = None,
        relation: str = "add-remove",
        class_share: float = 0.1,
        shrinkage: float | None = None,
    ):
        self.epsilon = epsilon
        self.method = method
        self.row_bound = row_bound
        self.pseudocount = pseudocount
        self.threshold_percentile = threshold_percentile
        self.schema = schema
        self.budget = budget
        self.on_invalid = on_invalid
        self.release = release
        self.random_state = random_state
        self.relation = relation
        self.class_share = class_share
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any) -> BernoulliNB:
        """Fit to private records.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Binary features; a DataFrame's columns are looked up in the schema by name.
        y : array of shape (n,)
            Labels among the schema's classes.
        """
        epsilon = check_epsilon(self.epsilon)
        check_choice(self.method, "method", METHODS)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        relation = check_relation(self.relation)
        pseudocount = check_number(self.pseudocount, "pseudocount", 0.0, open_lower=True)
        if self.shrinkage is not None:
            check_number(self.shrinkage, "shrinkage", 0.0)
        percentile = check_number(self.threshold_percentile, "threshold_percentile", 50.0, 100.0, open_upper=True)
        if self.release:
            check_release(self.random_state)
        schema = resolve_schema(self.schema, X)
        if not schema.is_binary:
            kinds = [f.name for f in schema.features if f.kind != "binary"]
            raise InvalidParameter("schema", f"feature {kinds[0]!r} that is not binary", "binary in every feature")
        # A release has no seed. It still cuts records with this generator, which the system's entropy starts: cutting
        # treats each record by itself and hides nothing, so it would be as private with numbers that all can see.
        rng = as_generator(self.random_state)
        noise: Any = {"secure": True} if self.release else {"rng": rng}
        named = isinstance(X, pd.DataFrame)
        X, codes, schema = schema.check_table(X, y, "clip" if self.release else self.on_invalid)
        D, C = schema.n_features, schema.n_classes
        if self.method == "published":
            exact = contingency(X, codes, C)
            charge(self.budget, relation, epsilon, label="BernoulliNB, published")
            noisy = release_published(exact, epsilon, relation=relation, **noise)
            threshold = published_threshold(epsilon, D, percentile, relation)
            log_on, log_off, log_prior = _log_probabilities_published(noisy, threshold, pseudocount)
        else:
            if self.row_bound is None:
                r = default_row_bound(schema, epsilon)
            else:
                r = min(check_integer(self.row_bound, "row_bound", 1), D)
            exact = contingency_of_subsamples(X, codes, C, r, 1, rng=rng)
            charge(self.budget, relation, epsilon, label="BernoulliNB, row-bounded")
            shared: Any = {"relation": relation, "class_share": self.class_share}
            noisy = release_row_bounded(exact, epsilon, r, **shared, **noise)
            shrinkage = default_shrinkage(schema) if self.shrinkage is None else self.shrinkage
            pooled = shrinkage * row_bounded_scales(epsilon, r, **shared)[0]
            log_on, log_off, log_prior = _log_probabilities_row_bounded(noisy, pseudocount, pooled)
            self.row_bound_ = r
        self._schema = schema
        self.classes_ = np.asarray(schema.classes)
        self.n_features_in_ = D
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)
        self.feature_log_prob_ = log_on[0]
        self.class_log_prior_ = log_prior[0]
        self._feature_log_off = log_off[0]
        return self

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X, _ = self._schema.check_features(X, "clip" if self.release else self.on_invalid)
        coef = self.feature_log_prob_ - self._feature_log_off
        return X @ coef.T + (self.class_log_prior_ + self._feature_log_off.sum(axis=1))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities of the classes, shape (n, C)."""
        from scipy.special import log_softmax

        return log_softmax(self._joint_log_likelihood(X), axis=1)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes, shape (n, C); rows add up to 1."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record."""
        return self.classes_[self._joint_log_likelihood(X).argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
