"""Studies of methods on raw tables: exact statistics are computed once, then drawn any number of times at any ε.

Each study is a callable for `dpml.sweep.sweep`, as in `dpml.studies.accuracy`. Numeric and categorical features are not
made binary.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_relation, check_rng
from dpml.classifiers.automatic import AutoClassifier, Layout, Plan, asks_density, default_plan, release_table
from dpml.classifiers.grid.counts import Records, places_of
from dpml.classifiers.naive_bayes.as_published import published_moments, vaidya_moments
from dpml.classifiers.naive_bayes.cells import (
    Design,
    MixedModels,
    cell_counts,
    default_n_bins,
    entry_bounds,
    models_from_cells,
)
from dpml.classifiers.naive_bayes.moments import (
    ClassStatistics,
    Moments,
    class_statistics,
    models_from_moments,
    release_moments,
)
from dpml.classifiers.tree import random_trees
from dpml.counts import FACTOR, Contingency, NoisyCounts, release_row_bounded
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.source import Source
from dpml.registry import methods_of
from dpml.schema import Schema

METHODS = methods_of("moments-naive-bayes")
# test matrices kept for each data set, because each ε has bins of its own: all of adult's would take 100 MB
MOST_MATRICES = 6


class _Checked:
    """A data set's raw table, checked once for all of its studies, with their shared exact statistics."""

    def __init__(self, dataset: Dataset, schema: Schema):
        self.schema, self.y_train = schema, dataset.y_train
        frame = dataset.frame[schema.feature_names]
        self.train, self.test = (schema.check_features(frame.loc[split])[0] for split in ("train", "test"))
        self._matrices: dict[tuple[int | None, bool], sparse.csr_array] = {}

    @cached_property
    def moments(self) -> tuple[Design, ClassStatistics]:
        """The columns of methods that keep numbers as numbers, and the statistics of each class."""
        design = Design(self.schema, binary_cells=True)
        return design, class_statistics(design, self.train, self.y_train)

    def test_matrix(self, design: Design) -> sparse.csr_array:
        """Return the columns of the test records; the last `MOST_MATRICES` are kept."""
        key, kept = (design.n_bins, design.binary_cells), dict(self._matrices)
        matrix = kept.pop(key, None)
        if matrix is None:
            matrix = design.matrix(self.test)
        # replaced as a whole, because several threads may call this
        self._matrices = {key: matrix, **dict(islice(kept.items(), MOST_MATRICES - 1))}
        return matrix


_CHECKED: WeakKeyDictionary[Dataset, dict[tuple[str, ...], _Checked]] = WeakKeyDictionary()


def _checked(dataset: Dataset, schema: Schema) -> _Checked:
    try:
        tables = _CHECKED.setdefault(dataset, {})
    except TypeError:  # an object like a data set that has no hash
        return _Checked(dataset, schema)
    names = tuple(schema.feature_names)
    if names not in tables:
        tables[names] = _Checked(dataset, schema)
    return tables[names]


class _MixedStudy:
    """A study of naive Bayes on a data set's raw table."""

    def __init__(self, dataset: Dataset, *, columns: Sequence[str] | None = None, relation: str = "add-remove"):
        self.relation = check_relation(relation)
        if dataset.frame_schema is None:
            raise InvalidParameter("dataset", dataset.name, "one whose raw table has features")
        schema = dataset.frame_schema
        self.schema = schema if columns is None else schema.subset(columns)
        self.y_train, self.y_test = dataset.y_train, dataset.y_test
        self._table = _checked(dataset, self.schema)

    def _measure(self, models: MixedModels, design: Design, auc: bool) -> dict[str, NDArray[np.float64]]:
        linear, X = models.linear(), self._table.test_matrix(design)
        result = {"accuracy": linear.accuracy(X, self.y_test)}
        if auc:
            result["auc"] = linear.auc(X, self.y_test)
        return result


class BinnedNBStudy(_MixedStudy):
    """Simulate `MixedNB` with noisy counts of cells.

    Settings: `n_bins`, the number of bins of each numeric feature (by default the public rule), `class_share` (0.05),
    `pseudocount` and `shrinkage`.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    columns : sequence of str, optional
        Features to use. The default is all.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    row_bound : int, optional
        Most that a record adds to the cells and ones. The default is the public rule.

    See Also
    --------
    MomentsNBStudy : Study of noisy means and variances.
    RowBoundedNBStudy : Study of binary tables.
    """

    def __init__(self, dataset, *, columns=None, relation="add-remove", row_bound=None):
        super().__init__(dataset, columns=columns, relation=relation)
        self.row_bound = row_bound
        self._tables: dict[tuple, Contingency] = {}

    def __call__(
        self,
        epsilon: float,
        *,
        draws: int,
        rng: np.random.Generator,
        auc: bool = False,
        n_bins: int | None = None,
        class_share: float = 0.05,
        **model: Any,
    ) -> dict[str, NDArray[np.float64]]:
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs as well."""
        bounds = entry_bounds(self.schema, epsilon, self.row_bound)
        n_bins = default_n_bins(self.schema, epsilon, self.relation) if n_bins is None else n_bins
        design = Design(self.schema, n_bins)
        if (n_bins, bounds) not in self._tables:
            self._tables[n_bins, bounds] = cell_counts(design, self._table.train, self.y_train, bounds)
        options: dict[str, Any] = {"relation": self.relation, "class_share": class_share}
        exact = self._tables[n_bins, bounds]
        noisy = release_row_bounded(exact, epsilon, sum(bounds), draws=draws, rng=rng, **options)
        return self._measure(models_from_cells(noisy, design, epsilon, bounds, **options, **model), design, auc)


class MomentsNBStudy(_MixedStudy):
    """Simulate naive Bayes with noisy means, variances and counts.

    The methods are those of Zafarani and Clifton, repaired and as published. Settings: `trim` (by default the public
    rule of `MixedNB`), `pseudocount` (1) and `likelihood`; for the repaired methods also `noise`, `delta` and
    `allocation`.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    method : {"global", "smooth", "bun-steinke", "vaidya", "published"}, default="smooth"
        Method, as in `MixedNB`. The ε of "vaidya" and "published" is the claim of the paper, not the actual ε.
    columns : sequence of str, optional
        Features to use. The default is all.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    BinnedNBStudy : Study of noisy counts of cells.
    non_private_mixed_nb : Naive Bayes without noise.
    """

    def __init__(self, dataset, method="smooth", *, columns=None, relation="add-remove"):
        super().__init__(dataset, columns=columns, relation=relation)
        self.method = check_choice(method, "method", METHODS)
        self.design, self.statistics = self._table.moments

    def __call__(
        self,
        epsilon: float,
        *,
        draws: int,
        rng: np.random.Generator,
        auc: bool = False,
        trim: int | None = None,
        pseudocount: float = 1.0,
        likelihood: str = "truncated-normal",
        **setting: Any,
    ) -> dict[str, NDArray[np.float64]]:
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs as well."""
        given, setting = (self.statistics, self.design, epsilon), {"draws": draws, "rng": rng, **setting}
        if self.method == "vaidya":
            moments = vaidya_moments(*given, **setting)
        elif self.method == "published":
            moments = published_moments(*given, trim=trim, **setting)
        else:
            moments = release_moments(*given, self.method, trim=trim, relation=self.relation, **setting)
        models = models_from_moments(moments, self.design, pseudocount=pseudocount, likelihood=likelihood)
        return self._measure(models, self.design, auc)


def non_private_mixed_nb(
    dataset: Dataset, *, columns: Sequence[str] | None = None, n_bins: int | None = None
) -> dict[str, float]:
    """Return the test accuracy of naive Bayes without noise.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    columns : sequence of str, optional
        Features to use. The default is all.
    n_bins : int, optional
        Number of bins of binned naive Bayes. The default is Gaussian naive Bayes.

    Returns
    -------
    dict
        The test accuracy, under the key "accuracy".

    See Also
    --------
    BinnedNBStudy : Study of binned naive Bayes.
    MomentsNBStudy : Study of noisy means and variances.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.
    """
    study = MomentsNBStudy(dataset, "global", columns=columns)
    if n_bins is None:
        s = study.statistics
        mean = np.array([[z.mean() if len(z) else 0.0 for z in mine] for mine in s.numbers])
        variance = np.array([[z.var() if len(z) else 1.0 for z in mine] for mine in s.numbers])
        moments = Moments(s.n[None], s.cells[None], mean[None], np.maximum(variance, 1e-9)[None])
        models, design = models_from_moments(moments, study.design, likelihood="gaussian"), study.design
    else:
        design = Design(study.schema, n_bins)
        bounds = entry_bounds(study.schema, 1.0, study.schema.n_features)
        exact = cell_counts(design, study._table.train, study.y_train, bounds)
        models = models_from_cells(NoisyCounts(exact.on[None], n=exact.n[None]), design, 1e9, bounds)
    return {"accuracy": float(study._measure(models, design, False)["accuracy"][0])}


# ---- the default classifier and random trees -----------------------------------------------------------------------


def raw_table(dataset: Dataset) -> tuple[Schema, Any, Any]:
    """Return the records that the default classifier receives.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.

    Returns
    -------
    schema : Schema
        Schema of the raw table, or of the binary records if the raw data are text.
    train : DataFrame or array
        Training records.
    test : DataFrame or array
        Test records.

    See Also
    --------
    AutoStudy : Study of the default classifier.
    RandomTreesStudy : Study of random trees.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.
    """
    schema = dataset.frame_schema
    if schema is None:
        return dataset.schema, dataset.X_train, dataset.X_test
    frame = dataset.frame[schema.feature_names]
    return schema, frame.loc["train"], frame.loc["test"]


class AutoStudy:
    """Simulate `dpml.classifiers.AutoClassifier` on one data set at any ε.

    A table's bins and grid are costly to draw, its noise is cheap. So the draws are divided among a number of `grids`
    (2), and the spread of the results includes that of both. Draws of one grid are not independent. For a standard
    error, use as many grids as draws. A table of words is fitted for each draw. Another setting is `plan`, which
    replaces the plan of the public rule.

    Parameters
    ----------
    dataset : Dataset
        Raw table, or binary records if the table is text. `n_lower` must be stated.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    cost : Privacy cost of the default classifier.
    advise : Compare methods on a data set.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> found = AutoStudy(load("census", n=4000))(1.0, draws=6, grids=2, rng=np.random.default_rng(0))
    >>> found["accuracy"].shape, bool(found["accuracy"].mean() > 0.8)
    ((6,), True)
    """

    def __init__(self, dataset: Dataset, *, relation: str = "add-remove"):
        self.relation = check_relation(relation)
        schema, train, test = raw_table(dataset)
        if schema.n_lower == 1:
            raise InvalidParameter("n_lower", 1, "stated by the data set's schema")
        self._train, self.schema = schema.check_features(train)
        self._test = schema.check_features(test)[0]
        self.y_train, self.y_test = dataset.y_train, dataset.y_test

    def __call__(
        self,
        epsilon: float,
        *,
        draws: int,
        rng: np.random.Generator,
        auc: bool = False,
        grids: int = 2,
        plan: Plan | None = None,
        predictions: bool = False,
    ) -> dict[str, NDArray[Any]]:
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs (two classes) as well.

        With ``predictions=True`` it also has the predicted class codes of the test records, shape (draws, n).
        """
        epsilon, rng = check_epsilon(epsilon), check_rng(rng)
        plan = self._public_plan(epsilon) if plan is None else plan
        batched = plan.kind == "table" and not asks_density(self.schema, epsilon, self._public_number())

        def rows(n: int) -> Iterable[dict[str, Any]]:
            for shares in self._on_one_grid(epsilon, plan, n, rng) if batched else self._fitted(epsilon, n, rng):
                row = _measures(shares.argmax(axis=1), shares[:, -1] - shares[:, 0], self.y_test, shares.shape[1], auc)
                yield {**row, "predictions": shares.argmax(axis=1)} if predictions else row

        return _in_parts(rows, draws, grids, "grids")

    def _public_number(self) -> float:
        count = self.schema.public_count(self._train, self.relation)
        return float(count or self.schema.n_lower or 1)

    def _public_plan(self, epsilon: float) -> Plan:
        """Return the plan of the public rule at an ε."""
        return default_plan(self.schema, epsilon, self._public_number(), relation=self.relation)

    def _on_one_grid(self, epsilon: float, plan: Plan, n: int, rng: np.random.Generator) -> Iterable[FloatArray]:
        """Yield the log probabilities of the test records by n models of one grid."""
        options: dict[str, Any] = {"relation": self.relation, "draws": n, "rng": rng}
        layout = Layout.from_schema(self.schema)
        models: list[Any] = release_table(layout, self._train, self.y_train, plan, epsilon, **options)
        where = models[0].located(self._test)
        return (model.log_probabilities_at(*where) for model in models)

    def _fitted(self, epsilon: float, n: int, rng: np.random.Generator) -> Iterable[FloatArray]:
        """Yield the log probabilities of the test records by n fits."""
        labels = self.schema.class_labels[self.y_train]
        for _ in range(n):
            model = AutoClassifier(epsilon, schema=self.schema, relation=self.relation, random_state=rng)
            yield model.fit(self._train, labels).predict_log_proba(self._test)


class RandomTreesStudy:
    """Simulate `dpml.classifiers.RandomTrees` on one data set at any ε.

    The draws are divided among a number of `sets` of trees (5), and their spread includes that of both. Draws of one
    set are not independent. For a standard error, use as many sets as draws.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    n_trees : int, default=10
        Number of trees of one model, from 1 to 1000.

    See Also
    --------
    AutoStudy : Study of the default classifier.
    dpml.classifiers.RandomTrees : The classifier.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> result = RandomTreesStudy(load("census", n=4000))(1.0, draws=4, rng=np.random.default_rng(0))
    >>> result["accuracy"].shape, bool(result["accuracy"].mean() > 0.7)
    ((4,), True)
    """

    def __init__(self, dataset: Dataset, *, relation: str = "add-remove", n_trees: int = 10):
        self.relation, self.n_trees = check_relation(relation), check_integer(n_trees, "n_trees", 1, 1000)
        self.schema, train, test = raw_table(dataset)
        taxonomies = tuple(feature.taxonomy for feature in self.schema.features)
        places, self._test = (
            places_of(self.schema.check_features(part)[0], self.schema, taxonomies) for part in (train, test)
        )
        self._records = Records(places, dataset.y_train, self.schema.n_classes, taxonomies)
        self.y_test = dataset.y_test

    def __call__(
        self, epsilon: float, *, draws: int, rng: np.random.Generator, auc: bool = False, sets: int = 5
    ) -> dict[str, NDArray[np.float64]]:
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs (two classes) as well."""
        epsilon, rng = check_epsilon(epsilon), check_rng(rng)
        C = self.schema.n_classes
        sensitivity = self.n_trees * FACTOR[self.relation]
        depth = random_trees.default_depth(self.schema.n_lower, epsilon, self.n_trees, C)

        def rows(n: int) -> Iterable[dict[str, Any]]:
            trees = [random_trees.random_tree(self._records.taxonomies, depth, rng) for _ in range(self.n_trees)]
            exact = random_trees.leaf_counts(self._records, trees)
            noisy = Source(rng).counts(exact, epsilon, sensitivity, draws=n)
            leaves = [tree.leaves(self._test) for tree in trees]
            for of_leaves in random_trees.leaf_probabilities(noisy, sensitivity / epsilon):
                shares = random_trees.mean_probabilities(of_leaves, leaves)
                yield _measures(shares.argmax(axis=0), shares[-1], self.y_test, C, auc)

        return _in_parts(rows, draws, sets, "sets")


def _in_parts(
    rows: Callable[[int], Iterable[dict[str, Any]]], draws: int, parts: int, name: str
) -> dict[str, NDArray[Any]]:
    """Return the measures of all draws, divided among parts; ``rows(n)`` measures n draws of one part."""
    sizes = map(len, np.array_split(np.arange(check_integer(draws, "draws", 1)), check_integer(parts, name, 1)))
    measured = [row for n in sizes if n for row in rows(n)]
    return {name: np.array([row[name] for row in measured]) for name in measured[0]}


def _measures(predicted: IntArray, scores: FloatArray, y_test: IntArray, n_classes: int, auc: bool) -> dict[str, Any]:
    """Return the test accuracy of one model, and its AUC by scores of the positive class."""
    from sklearn.metrics import roc_auc_score

    row = {"accuracy": float((predicted == y_test).mean())}
    if auc:
        both = n_classes == 2 and np.ptp(y_test) > 0
        row["auc"] = float(roc_auc_score(y_test, scores)) if both else np.nan
    return row
