"""Studies of methods on binary columns: exact statistics are computed once, then drawn any number of times at any ε.

Each study is a callable for `dpml.sweep.sweep`. Accuracies are computed on held-out test records with known labels.
They are not private.
"""

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack
from scipy.special import expit
from sklearn.base import clone

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear import linear_models, minimiser, release_output, release_weights
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.bernoulli import (
    BernoulliNB,
    contingency_of_partition,
    default_class_share,
    default_row_bound,
    default_shrinkage,
    models_from_posterior,
    models_from_published,
    models_from_row_bounded,
    published_threshold,
    release_partitioned,
)
from dpml.classifiers.naive_bayes.posterior import POSTERIOR
from dpml.counts import (
    Contingency,
    NoisyCounts,
    contingency,
    contingency_of_subsamples,
    release_published,
    release_row_bounded,
    row_bounded_scales,
)
from dpml.datasets import Dataset
from dpml.encoding import cut_rows, share_rows, unit_scale
from dpml.exceptions import InvalidParameter
from dpml.selection import MaskSelector, sample_masks, scores_from_counts
from dpml.tuning.best_selector import keep_columns

# norm of the gradient at which a fit on selected features ends: it adds 0.2% to the noise, and moves the weights by far
# less than the noise does
TOLERANCE = 1e-3
NEWTON_STEPS = 20
# above so many numbers, groups of equal records are numbered anew, without the empty ones
SPARE = 1 << 12


class AccuracyStudy(ABC):
    """Simulate a method on one data set at any ε.

    ``study(epsilon, draws=..., rng=..., auc=False, **setting)`` returns the test accuracies of shape (draws,), with
    ``auc=True`` the AUCs as well.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    RowBoundedNBStudy : Study of naive Bayes with a contribution bound.
    LogisticStudy : Study of logistic regression.
    """

    def __init__(self, dataset: Dataset, *, relation: str = "add-remove"):
        self.relation = check_relation(relation)
        self.schema = dataset.schema
        self.X_test, self.y_test = dataset.X_test, dataset.y_test
        self.counts = contingency(dataset.X_train, dataset.y_train, self.schema.n_classes)

    def models(self, epsilon: float, *, draws: int, rng: np.random.Generator, **setting: Any) -> LinearModels:
        """Return private models, one for each draw.

        Parameters
        ----------
        epsilon : float
            Privacy budget of one model, finite and greater than 0.
        draws : int
            Number of models, at least 1.
        rng : numpy.random.Generator
            Source of the noise.
        **setting : Any
            Settings of the study, as its class lists them.

        Returns
        -------
        LinearModels
            The private models.
        """
        return self._models(epsilon, draws=draws, rng=rng, **setting)

    @abstractmethod
    def _models(self, *args: Any, **kwargs: Any) -> LinearModels:
        """Return private models: ``_models(epsilon, draws=..., rng=..., **setting)``."""

    def __call__(
        self, epsilon: float, *, draws: int, rng: np.random.Generator, auc: bool = False, **setting: Any
    ) -> dict[str, NDArray[np.float64]]:
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs as well."""
        models = self.models(epsilon, draws=draws, rng=rng, **setting)
        result = {"accuracy": models.accuracy(self.X_test, self.y_test)}
        if auc:
            result["auc"] = models.auc(self.X_test, self.y_test)
        return result


class PublishedNBStudy(AccuracyStudy):
    """Simulate Algorithm 1 of Antonova (2016) on all features.

    Settings: `threshold_percentile` (65), the percentile of the noise below which counts are cut, in [50, 100), and
    `pseudocount` (1), greater than 0.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    SelectedNBStudy : Study of the same algorithm on selected features.
    PartitionedNBStudy : Study of the partitioned algorithm.
    """

    def _models(self, epsilon, *, draws, rng, threshold_percentile=65.0, pseudocount=1.0):
        noisy = release_published(self.counts, epsilon, relation=self.relation, draws=draws, rng=rng)
        threshold = published_threshold(epsilon, self.schema.n_features, threshold_percentile, self.relation)
        return models_from_published(noisy, threshold, pseudocount)


class PartitionedNBStudy(AccuracyStudy):
    """Simulate the partitioned naive Bayes of Antonova (2016, section 3.4).

    Each record trains one feature. The draws use the partitions in turn. Settings: those of `PublishedNBStudy`.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    deals : int, default=10
        Number of random partitions, computed once.
    seed : int, default=0
        Seed of the partitions.

    See Also
    --------
    PublishedNBStudy : Study of the algorithm without partitions.
    RowBoundedNBStudy : Study of naive Bayes with a contribution bound.
    """

    def __init__(self, dataset, *, relation="add-remove", deals=10, seed=0):
        super().__init__(dataset, relation=relation)
        train, deals = (dataset.X_train, dataset.y_train, self.schema.n_classes), check_integer(deals, "deals", 1)
        self.parts = contingency_of_partition(*train, subsamples=deals, rng=np.random.default_rng(seed))

    def _models(self, epsilon, *, draws, rng, threshold_percentile=65.0, pseudocount=1.0):
        noisy = release_partitioned(self.parts, epsilon, relation=self.relation, draws=draws, rng=rng)
        threshold = published_threshold(epsilon, 1, threshold_percentile, self.relation)
        return models_from_published(noisy, threshold, pseudocount)


class RowBoundedNBStudy(AccuracyStudy):
    """Simulate naive Bayes with a contribution bound.

    Each record shares the bound among its ones. Settings: `class_share`, the share of ε for the class counts, in (0, 1)
    (by default the public rule), `pseudocount` (1), and `shrinkage` of the noisy counts (by default the public rule).

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    row_bound : int, optional
        Most that a record adds to the counts of ones. The default is the public rule at each ε.

    See Also
    --------
    PublishedNBStudy : Study without a contribution bound.
    BinnedNBStudy : Study of mixed tables.
    """

    def __init__(self, dataset, *, relation="add-remove", row_bound=None):
        super().__init__(dataset, relation=relation)
        self.row_bound = row_bound if row_bound is None else check_integer(row_bound, "row_bound", 1)
        self._train = dataset.X_train, dataset.y_train, self.schema.n_classes
        self._tables: dict[int, Contingency] = {}

    def tables(self, row_bound: int) -> Contingency:
        """Return the exact counts of the bounded records, computed once for each bound.

        Parameters
        ----------
        row_bound : int
            Most that a record adds to the counts of ones.

        Returns
        -------
        Contingency
            Exact counts, not private.
        """
        if row_bound not in self._tables:
            X, codes, n_classes = self._train
            self._tables[row_bound] = contingency(share_rows(X, row_bound), codes, n_classes)
        return self._tables[row_bound]

    def _models(self, epsilon, *, draws, rng, class_share=None, pseudocount=1.0, shrinkage=None):
        r = self.row_bound if self.row_bound is not None else default_row_bound(self.schema, epsilon)
        r = min(r, self.schema.row_bound)
        share = default_class_share(self.schema.n_features) if class_share is None else class_share
        shared: Any = {"relation": self.relation, "class_share": share}
        noisy = release_row_bounded(self.tables(r), epsilon, r, draws=draws, rng=rng, **shared)
        shrinkage = default_shrinkage(self.schema) if shrinkage is None else shrinkage
        scales = row_bounded_scales(epsilon, r, **shared)
        if shrinkage == POSTERIOR:
            return models_from_posterior(noisy, self.schema, r, scales, pseudocount)
        return models_from_row_bounded(noisy, pseudocount, shrinkage * scales[0], self.schema)


class LogisticStudy(AccuracyStudy):
    """Simulate private logistic regression (Antonova 2016, Alg. 6 and 7).

    Setting: `reg_lambda` (1), the strength λ of the regulariser, greater than 0.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    method : {"output", "objective"}, default="output"
        Output perturbation minimises once for each λ, objective perturbation once for each draw.
    row_bound : int, optional
        Number of ones that a record keeps. The default is the bound of the schema, so that no record is cut.
    seed : int, default=0
        Seed of the cut. All draws use one cut.

    See Also
    --------
    SelectedLogisticStudy : Study on selected features.
    non_private_logistic : Logistic regression without noise.
    """

    def __init__(self, dataset, *, relation="add-remove", method="output", row_bound=None, seed=0):
        super().__init__(dataset, relation=relation)
        self.method = check_choice(method, "method", ("output", "objective"))
        most = self.schema.row_bound
        self.row_bound = most if row_bound is None else min(check_integer(row_bound, "row_bound", 1), most)
        self.dataset, self.seed = dataset, seed
        self._codes = dataset.y_train
        self._minimisers: dict[float, FloatArray] = {}

    @cached_property
    def _records(self) -> Any:
        """The records of all draws, cut and scaled into the unit ball."""
        cut = cut_rows(self.dataset.X_train, self.row_bound, rng=np.random.default_rng([self.seed, self.row_bound]))
        return unit_scale(cut, self.row_bound)

    def minimiser(self, reg_lambda: float) -> FloatArray:
        """Return the weights without noise for two classes, computed once for each λ.

        Parameters
        ----------
        reg_lambda : float
            Strength λ of the regulariser, greater than 0.

        Returns
        -------
        ndarray
            Weights, not private.
        """
        if reg_lambda not in self._minimisers:
            self._minimisers[reg_lambda] = minimiser(self._records, 2.0 * self._codes - 1.0, reg_lambda)
        return self._minimisers[reg_lambda]

    def _models(self, epsilon, *, draws, rng, reg_lambda=1.0):
        options = {"relation": self.relation, "draws": draws, "rng": rng}
        C = self.schema.n_classes
        if self.method == "output" and C == 2:
            theta = release_output(self.minimiser(reg_lambda), epsilon, reg_lambda, **options)
        else:
            theta = release_weights(self._records, self._codes, C, epsilon, reg_lambda, method=self.method, **options)
        return linear_models(theta, self.row_bound)


# ---- selected features ----------------------------------------------------------------------------------------------


class _SelectedStudy(AccuracyStudy):
    """Select T features by the exponential mechanism over masks, then train on them (Antonova 2016, Alg. 5)."""

    def __init__(self, dataset, score="count", *, relation="add-remove"):
        super().__init__(dataset, relation=relation)
        self.score = score
        self.scores = scores_from_counts(self.counts, score)

    def _choose(
        self, epsilon: float, n_features: int, selection_share: float, *, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, float]:
        """Return the selected features (draws, T) and the ε left for training; all features cost nothing."""
        epsilon = check_epsilon(epsilon)
        T = check_integer(n_features, "n_features", 1, self.schema.n_features)
        share = check_number(selection_share, "selection_share", 0.0, 1.0, open_lower=True, open_upper=True)
        weight, rest = 0.0, epsilon
        if self.schema.n_features > T:
            choice, rest = split_epsilon(epsilon, share)
            weight = MaskSelector(choice, T, self.score, relation=self.relation).weight(self.schema)
        masks = sample_masks(weight * self.scores, T, draws, rng=rng)
        return np.nonzero(masks)[1].reshape(draws, T), rest


class SelectedNBStudy(_SelectedStudy):
    """Select T features privately, then train Algorithm 1 on them (Antonova 2016, Alg. 5).

    Settings: `n_features`, the number T, which has no default, `selection_share` (0.5), the share of ε for the
    selection, in (0, 1), and those of `PublishedNBStudy`.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    score : str, default="count"
        Kind of score, as in `dpml.selection.scores`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    PublishedNBStudy : Study of Algorithm 1 on all features.
    SelectionStudy : Study of any selector and classifier.
    """

    def _models(
        self, epsilon, *, draws, rng, n_features, selection_share=0.5, threshold_percentile=65.0, pseudocount=1.0
    ):
        features, rest = self._choose(epsilon, n_features, selection_share, draws=draws, rng=rng)
        noisy = release_published(self.counts, rest, relation=self.relation, features=features, draws=draws, rng=rng)
        threshold = published_threshold(rest, features.shape[1], threshold_percentile, self.relation)
        return models_from_published(noisy, threshold, pseudocount).spread(features, self.schema.n_features)


class SelectedLogisticStudy(_SelectedStudy):
    """Select T features privately, then train logistic regression on them.

    The exponential mechanism selects a mask, and output perturbation makes the weights private. Selected columns are
    binary, so equal records are counted together, and a fit takes Newton steps on the groups. Each selection is fitted
    once, for any number of draws.

    Settings: `n_features`, the number T, which has no default, `selection_share` (0.5), `reg_lambda` (1), and `masks`,
    the number of selections that the draws use in turn (by default one for each draw).

    Parameters
    ----------
    dataset : Dataset
        Data set of two classes.
    score : str, default="count"
        Kind of score, as in `dpml.selection.scores`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    SelectedNBStudy : Study of naive Bayes on selected features.
    LogisticStudy : Study on all features.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> study = SelectedLogisticStudy(load("toy"))
    >>> study(3.0, draws=8, masks=4, n_features=5, reg_lambda=5.0, rng=np.random.default_rng(0))["accuracy"].shape
    (8,)
    """

    def __init__(self, dataset: Dataset, score: str = "count", *, relation: str = "add-remove"):
        super().__init__(dataset, score, relation=relation)
        if self.schema.n_classes > 2:
            raise InvalidParameter("dataset", dataset.name, "one of two classes")
        self._train, self._codes = dataset.X_train, dataset.y_train

    @cached_property
    def _columns(self) -> Any:
        X = self._train
        return X.tocsc() if sparse.issparse(X) else np.ascontiguousarray(np.asarray(X).T.astype(bool))

    def _models(self, epsilon, *, draws, rng, n_features, selection_share=0.5, reg_lambda=1.0, masks=None):
        n_masks = draws if masks is None else min(check_integer(masks, "masks", 1), draws)
        chosen, rest = self._choose(epsilon, n_features, selection_share, draws=n_masks, rng=rng)
        theta = np.empty((draws, chosen.shape[1] + 1))
        weights: dict[bytes, FloatArray] = {}
        options: dict[str, Any] = {"relation": self.relation, "tolerance": TOLERANCE, "rng": rng}
        for mask, features in enumerate(chosen):
            key = features.tobytes()
            if key not in weights:
                weights[key] = self._minimiser(features, reg_lambda)
            mine = slice(mask, None, n_masks)
            theta[mine] = release_output(weights[key], rest, reg_lambda, draws=len(theta[mine]), **options)
        features = chosen[np.arange(draws) % n_masks]
        return linear_models(theta, self._bound(features.shape[1])).spread(features, self.schema.n_features)

    def _minimiser(self, features: IntArray, reg_lambda: float) -> FloatArray:
        """Return the weights without noise on some features, the intercept last."""
        rows, total, positive = self._groups(features)
        X = np.hstack([rows, np.ones((len(rows), 1))]) / math.sqrt(self._bound(len(features)) + 1)
        theta = np.zeros(X.shape[1])
        for _ in range(NEWTON_STEPS):
            p = expit(X @ theta)
            gradient = (total * p - positive) @ X + reg_lambda * theta
            if np.linalg.norm(gradient) <= TOLERANCE:
                return theta
            hessian = (X * (total * p * (1 - p))[:, None]).T @ X
            hessian.flat[:: len(hessian) + 1] += reg_lambda
            # λ makes it positive definite
            theta -= lapack.dposv(hessian, gradient)[1]
        # plain Newton steps may not converge on separable classes; the general minimiser does
        counts = np.concatenate([positive, total - positive]).astype(int)
        records = np.repeat(np.vstack([rows, rows]), counts, axis=0)
        signs = np.repeat(np.repeat([1.0, -1.0], len(rows)), counts)
        return minimiser(unit_scale(records, self._bound(len(features))), signs, reg_lambda, tolerance=TOLERANCE)

    def _bound(self, n_features: int) -> int:
        return min(n_features, self.schema.row_bound)

    def _groups(self, features: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the different records on some features, the number of each, and its number in the positive class."""
        columns = self._columns
        columns = columns[:, features].toarray().T != 0 if sparse.issparse(columns) else columns[features]
        group, n_groups, n_different = np.zeros(columns.shape[1], dtype=np.int32), 1, 0
        for column in columns:
            if n_groups > max(SPARE, n_different):
                there = np.bincount(group, minlength=n_groups) > 0
                group = (np.cumsum(there, dtype=np.int32) - 1)[group]
                n_groups = n_different = int(there.sum())
            group <<= 1
            group |= column
            n_groups *= 2
        record = np.zeros(n_groups, dtype=np.intp)
        record[group] = np.arange(len(group))  # any record of each group
        group <<= 1
        group |= self._codes
        first, second = np.bincount(group, minlength=2 * n_groups).reshape(-1, 2).T
        kept = np.flatnonzero(first + second)
        total, positive = (number[kept].astype(float) for number in (first + second, second))
        return columns[:, record[kept]].T.astype(float), total, positive


class SelectionStudy:
    """Select features with a selector, then train a classifier on them.

    The selector and the classifier each spend a share of ε. One call makes the selections of all draws from the same
    exact statistics. The classifier is fitted once for each draw. Settings: `selection_share` (0.5), the share of ε for
    the selection, and parameters of the selector.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    selector : PrivateSelector
        Selector whose `epsilon`, `relation` and `schema` the study sets.
    classifier : estimator, optional
        Private classifier. The default is `BernoulliNB` on all columns that it receives.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    subsamples : int, default=10
        Number of independent cuts. The draws use them in turn if the selector cuts records.
    seed : int, default=0
        Seed of the cuts.

    See Also
    --------
    SelectedNBStudy : Study of the exponential mechanism over masks.
    accuracy_of_selected : Accuracy of a classifier on selected columns.
    """

    def __init__(self, dataset, selector, classifier=None, *, relation="add-remove", subsamples=10, seed=0):
        self.dataset, self.selector = dataset, selector
        self.classifier = keep_columns(BernoulliNB(1.0) if classifier is None else classifier)
        self.relation = check_relation(relation)
        train, bound = (dataset.X_train, dataset.y_train, dataset.schema.n_classes), selector.row_bound
        if bound is None or bound >= dataset.schema.row_bound:
            self.counts = contingency(*train)
        else:
            self.counts = contingency_of_subsamples(*train, bound, subsamples, rng=np.random.default_rng([seed, bound]))

    def masks(self, epsilon: float, *, draws: int, rng: np.random.Generator, **setting: Any) -> NDArray[np.bool_]:
        """Return the selected features of each draw.

        Parameters
        ----------
        epsilon : float
            Privacy budget of one selection, finite and greater than 0.
        draws : int
            Number of selections, at least 1.
        rng : numpy.random.Generator
            Source of the noise.
        **setting : Any
            Parameters of the selector.

        Returns
        -------
        ndarray of bool of shape (draws, D)
            Mask of the selected features.
        """
        selector = clone(self.selector).set_params(epsilon=epsilon, relation=self.relation, **setting)
        return selector.masks(self.counts, self.dataset.schema, draws=draws, rng=rng)

    def __call__(self, epsilon, *, draws, rng, selection_share=0.5, **setting):
        """Return test accuracies and sizes of the selections, shape (draws,)."""
        epsilon = check_epsilon(epsilon)
        share = check_number(selection_share, "selection_share", 0.0, 1.0, open_lower=True, open_upper=True)
        choice, rest = split_epsilon(epsilon, share)
        masks = self.masks(choice, draws=draws, rng=rng, **setting)
        model = clone(self.classifier).set_params(epsilon=rest, relation=self.relation)
        accuracy = [accuracy_of_selected(self.dataset, mask, model, rng) for mask in masks]
        return {"accuracy": np.array(accuracy), "selected": masks.sum(axis=1).astype(float)}


def accuracy_of_selected(dataset: Dataset, mask: NDArray[np.bool_], classifier: Any, rng: np.random.Generator) -> float:
    """Return the test accuracy of a classifier on selected columns.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    mask : ndarray of bool of shape (D,)
        Columns to use. Without any, the majority-class baseline is measured.
    classifier : estimator
        Private classifier to fit.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    float
        Share of test records that are classified correctly.

    See Also
    --------
    SelectionStudy : Study of a selector and a classifier.
    majority_accuracy : Accuracy of the majority-class baseline.
    """
    columns = np.flatnonzero(mask)
    if not columns.size:
        return majority_accuracy(dataset)
    model = clone(classifier).set_params(schema=dataset.schema.subset(columns), random_state=rng)
    model.fit(dataset.X_train[:, columns], dataset.y_train)
    return float(model.score(dataset.X_test[:, columns], dataset.y_test))


# ---- non-private baselines ------------------------------------------------------------------------------------------


def majority_accuracy(dataset: Dataset) -> float:
    """Return the test accuracy of the majority-class baseline.

    Parameters
    ----------
    dataset : Dataset
        Training records give the majority class, test records give the accuracy.

    Returns
    -------
    float
        Share of test records in the largest class of the training records.

    See Also
    --------
    accuracy_of_selected : Accuracy of a classifier on selected columns.
    non_private_nb : Naive Bayes without noise.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.
    """
    largest = np.bincount(dataset.y_train, minlength=dataset.schema.n_classes).argmax()
    return float((dataset.y_test == largest).mean())


def non_private_logistic(dataset: Dataset, reg_lambda: float = 1.0) -> LinearModels:
    """Return logistic regression without noise.

    Parameters
    ----------
    dataset : Dataset
        Data set of two classes.
    reg_lambda : float, default=1.0
        Strength λ of the regulariser, greater than 0.

    Returns
    -------
    LinearModels
        One model without noise.

    See Also
    --------
    LogisticStudy : Study of private logistic regression.
    non_private_nb : Naive Bayes without noise.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.
    """
    study = LogisticStudy(dataset)
    if study.schema.n_classes > 2:
        raise InvalidParameter("dataset", dataset.name, "one of two classes")
    return linear_models(study.minimiser(reg_lambda)[None], study.row_bound)


def non_private_nb(dataset: Dataset, pseudocount: float = 1.0) -> LinearModels:
    """Return naive Bayes on the exact counts.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact counts.
    pseudocount : float, default=1.0
        Number added to each count, greater than 0.

    Returns
    -------
    LinearModels
        One model without noise.

    See Also
    --------
    PublishedNBStudy : Study of private naive Bayes.
    non_private_logistic : Logistic regression without noise.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.
    """
    exact = contingency(dataset.X_train, dataset.y_train, dataset.schema.n_classes)
    return models_from_row_bounded(NoisyCounts(exact.on[None], n=exact.n[None]), pseudocount)
