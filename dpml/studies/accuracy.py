"""Studies of accuracy: a method's exact statistics are computed once, then drawn any number of times at any setting.

Each study is a callable for `dpml.sweep.sweep`. Accuracies are computed on held-out test records with known labels.
They show how good a method is, and are not private.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear import linear_models, minimiser, release_output, release_weights
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.bernoulli import (
    BernoulliNB,
    default_class_share,
    default_row_bound,
    default_shrinkage,
    published_threshold,
)
from dpml.classifiers.naive_bayes.bernoulli_models import (
    models_from_posterior,
    models_from_published,
    models_from_row_bounded,
)
from dpml.classifiers.naive_bayes.partition import contingency_of_partition, release_partitioned
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


def majority_accuracy(dataset: Dataset) -> float:
    """Return the test accuracy of always predicting the largest class of the training records: the baseline."""
    largest = np.bincount(dataset.y_train, minlength=dataset.schema.n_classes).argmax()
    return float((dataset.y_test == largest).mean())


class AccuracyStudy(ABC):
    """A method on one data set, ready to be drawn at any ε.

    Parameters
    ----------
    dataset : Dataset
        Its training records give the exact statistics, its test records the accuracy.
    relation : {"add-remove", "replace-one"}
        The relation under which each ε holds.
    """

    def __init__(self, dataset: Dataset, *, relation: str = "add-remove"):
        self.relation = check_relation(relation)
        self.schema = dataset.schema
        self.X_test, self.y_test = dataset.X_test, dataset.y_test
        self.counts = contingency(dataset.X_train, dataset.y_train, self.schema.n_classes)

    @abstractmethod
    def models(self, *args: Any, **kwargs: Any) -> LinearModels:
        """Return `draws` private models: ``models(epsilon, draws=..., rng=..., **setting)``."""

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
    """Antonova's Algorithm 1 with all features."""

    def models(self, epsilon, *, draws, rng, threshold_percentile=65.0, pseudocount=1.0):
        """Return the models; settings: `threshold_percentile`, `pseudocount`."""
        noisy = release_published(self.counts, epsilon, relation=self.relation, draws=draws, rng=rng)
        threshold = published_threshold(epsilon, self.schema.n_features, threshold_percentile, self.relation)
        return models_from_published(noisy, threshold, pseudocount)


class PartitionedNBStudy(AccuracyStudy):
    """Antonova's partitioning (section 3.4): each record trains one feature. The draws use the partitions in turn.

    Parameters
    ----------
    dataset, relation
        As for `AccuracyStudy`.
    deals : int
        Number of random partitions, which are made beforehand.
    seed : int
        Seed of the partitions.
    """

    def __init__(self, dataset, *, relation="add-remove", deals=10, seed=0):
        super().__init__(dataset, relation=relation)
        train, deals = (dataset.X_train, dataset.y_train, self.schema.n_classes), check_integer(deals, "deals", 1)
        self.parts = contingency_of_partition(*train, subsamples=deals, rng=np.random.default_rng(seed))

    def models(self, epsilon, *, draws, rng, threshold_percentile=65.0, pseudocount=1.0):
        """Return the models; settings: `threshold_percentile`, `pseudocount`."""
        noisy = release_partitioned(self.parts, epsilon, relation=self.relation, draws=draws, rng=rng)
        threshold = published_threshold(epsilon, 1, threshold_percentile, self.relation)
        return models_from_published(noisy, threshold, pseudocount)


class RowBoundedNBStudy(AccuracyStudy):
    """The row-bounded release, where records share the bound among their ones.

    Parameters
    ----------
    dataset, relation
        As for `AccuracyStudy`.
    row_bound : int, optional
        The most that a record adds to the counts of ones; None: the public rule at each ε.
    """

    def __init__(self, dataset, *, relation="add-remove", row_bound=None):
        super().__init__(dataset, relation=relation)
        self.row_bound = row_bound if row_bound is None else check_integer(row_bound, "row_bound", 1)
        self._train = dataset.X_train, dataset.y_train, self.schema.n_classes
        self._tables: dict[int, Contingency] = {}

    def tables(self, row_bound: int) -> Contingency:
        """Return the exact counts of the shared records. They are computed once."""
        if row_bound not in self._tables:
            X, codes, n_classes = self._train
            self._tables[row_bound] = contingency(share_rows(X, row_bound), codes, n_classes)
        return self._tables[row_bound]

    def models(self, epsilon, *, draws, rng, class_share=None, pseudocount=1.0, shrinkage=None):
        """Return the models; settings: `class_share`, `pseudocount`, `shrinkage`."""
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


class SelectedStudy(AccuracyStudy):
    """Select T features by the exponential mechanism over masks (Antonova 2016, Alg. 5), then train on those.

    Parameters
    ----------
    dataset, relation
        As for `AccuracyStudy`.
    score : str
        A kind of `dpml.selection.scores`.
    """

    def __init__(self, dataset, score="count", *, relation="add-remove"):
        super().__init__(dataset, relation=relation)
        self.score = score
        self.scores = scores_from_counts(self.counts, score)

    def weight(self, epsilon: float, n_features: int) -> float:
        """Return the log weight of one unit of score when selection alone may cost `epsilon`."""
        return MaskSelector(epsilon, n_features, self.score, relation=self.relation).weight(self.schema)

    def choose(
        self, epsilon: float, n_features: int, selection_share: float, *, draws: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], float]:
        """Return the T features of each draw, shape (draws, T), and the ε that is left for training.

        With T = D nothing is chosen, and all of ε is left.
        """
        epsilon = check_epsilon(epsilon)
        T = check_integer(n_features, "n_features", 1, self.schema.n_features)
        share = check_number(selection_share, "selection_share", 0.0, 1.0, open_lower=True, open_upper=True)
        share = share if self.schema.n_features > T else 0.0
        choice, rest = split_epsilon(epsilon, share) if share else (0.0, epsilon)
        weight = self.weight(choice, T) if share else 0.0
        masks = sample_masks(weight * self.scores, T, draws, rng=rng)
        return np.nonzero(masks)[1].reshape(draws, T), rest


class SelectedNBStudy(SelectedStudy):
    """Select T features by the exponential mechanism over masks, then Algorithm 1 of Antonova (2016) on those.

    Parameters
    ----------
    dataset, score, relation
        As for `SelectedStudy`.
    """

    def models(
        self, epsilon, *, draws, rng, n_features, selection_share=0.5, threshold_percentile=65.0, pseudocount=1.0
    ):
        """Return the models; settings: `n_features` T, `selection_share` of ε for the choice, and those of Alg. 1."""
        features, rest = self.choose(epsilon, n_features, selection_share, draws=draws, rng=rng)
        noisy = release_published(self.counts, rest, relation=self.relation, features=features, draws=draws, rng=rng)
        threshold = published_threshold(rest, features.shape[1], threshold_percentile, self.relation)
        return models_from_published(noisy, threshold, pseudocount).spread(features, self.schema.n_features)


class SelectionStudy:
    """Select features with any selector, then train any classifier on them, each with its share of ε.

    The selector makes the choices of all draws at once, from the same exact statistics. The classifier is fitted once
    for each draw, to the chosen columns.

    Parameters
    ----------
    dataset : Dataset
    selector : PrivateSelector
        The study sets its `epsilon`, `relation` and `schema`.
    classifier : estimator, optional
        A private classifier; None: `BernoulliNB` on all columns that it is given.
    relation : {"add-remove", "replace-one"}
    subsamples : int
        Number of independent cuts, which the draws use in turn if the selector cuts records.
    seed : int
        Seed of the cutting.
    """

    def __init__(self, dataset, selector, classifier=None, *, relation="add-remove", subsamples=10, seed=0):
        self.dataset, self.selector = dataset, selector
        self.classifier = keep_columns(BernoulliNB(1.0) if classifier is None else classifier)
        self.relation = check_relation(relation)
        schema = dataset.schema
        bound = selector.row_bound
        if bound is None or bound >= schema.row_bound:
            self.counts = contingency(dataset.X_train, dataset.y_train, schema.n_classes)
        else:
            rng = np.random.default_rng([seed, bound])
            train = dataset.X_train, dataset.y_train, schema.n_classes
            self.counts = contingency_of_subsamples(*train, bound, subsamples, rng=rng)

    def masks(self, epsilon: float, *, draws: int, rng: np.random.Generator, **setting: Any) -> NDArray[np.bool_]:
        """Return (draws, D) selections at ε; settings are parameters of the selector."""
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
    """Return the test accuracy of a classifier fitted to the selected columns, or of the majority class without any."""
    columns = np.flatnonzero(mask)
    if not columns.size:
        return majority_accuracy(dataset)
    model = clone(classifier).set_params(schema=dataset.schema.subset(columns), random_state=rng)
    model.fit(dataset.X_train[:, columns], dataset.y_train)
    return float(model.score(dataset.X_test[:, columns], dataset.y_test))


class LogisticStudy(AccuracyStudy):
    """Logistic regression by output or objective perturbation (Antonova 2016, Alg. 6 and 7).

    Parameters
    ----------
    dataset, relation
        As for `AccuracyStudy`.
    method : {"output", "objective"}
        Output perturbation minimises once for each λ; objective perturbation once for each draw.
    row_bound : int, optional
        Number of ones that a record keeps; None: the schema's bound, so that no record is cut. All draws use one cut.
    seed : int
        Seed of the cutting.
    """

    def __init__(self, dataset, *, relation="add-remove", method="output", row_bound=None, seed=0):
        super().__init__(dataset, relation=relation)
        self.method = check_choice(method, "method", ("output", "objective"))
        most = self.schema.row_bound
        self.row_bound = most if row_bound is None else min(check_integer(row_bound, "row_bound", 1), most)
        self.dataset, self.seed = dataset, seed
        self._codes = dataset.y_train
        self._minimisers: dict[float, NDArray[np.float64]] = {}

    @cached_property
    def _records(self) -> Any:
        """The records of all draws, cut and scaled into the unit ball."""
        cut = cut_rows(self.dataset.X_train, self.row_bound, rng=np.random.default_rng([self.seed, self.row_bound]))
        return unit_scale(cut, self.row_bound)

    def minimiser(self, reg_lambda: float) -> NDArray[np.float64]:
        """Return the weights without noise, for two classes. They are computed once for each λ."""
        if reg_lambda not in self._minimisers:
            self._minimisers[reg_lambda] = minimiser(self._records, 2.0 * self._codes - 1.0, reg_lambda)
        return self._minimisers[reg_lambda]

    def models(self, epsilon, *, draws, rng, reg_lambda=1.0):
        """Return the models; setting: `reg_lambda`."""
        options = {"relation": self.relation, "draws": draws, "rng": rng}
        C = self.schema.n_classes
        if self.method == "output" and C == 2:
            theta = release_output(self.minimiser(reg_lambda), epsilon, reg_lambda, **options)
        else:
            theta = release_weights(self._records, self._codes, C, epsilon, reg_lambda, method=self.method, **options)
        return linear_models(theta, self.row_bound)


def non_private_logistic(dataset: Dataset, reg_lambda: float = 1.0) -> LinearModels:
    """Return logistic regression without noise."""
    study = LogisticStudy(dataset)
    if study.schema.n_classes > 2:
        raise InvalidParameter("dataset", dataset.name, "one of two classes")
    return linear_models(study.minimiser(reg_lambda)[None], study.row_bound)


def non_private_nb(dataset: Dataset, pseudocount: float = 1.0) -> LinearModels:
    """Return naive Bayes on the exact counts, without noise."""
    exact = contingency(dataset.X_train, dataset.y_train, dataset.schema.n_classes)
    return models_from_row_bounded(NoisyCounts(exact.on[None], n=exact.n[None]), pseudocount)
