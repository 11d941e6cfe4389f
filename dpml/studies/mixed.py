"""Studies of accuracy for mixed tables: exact statistics are computed once, then drawn any number of times.

Each study is a callable for `dpml.sweep.sweep`, as in `dpml.studies.accuracy`. Here numeric and categorical features
are not made binary.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml._validate import check_choice, check_relation
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
    default_trim,
    models_from_moments,
    release_moments,
)
from dpml.counts import Contingency, NoisyCounts, release_row_bounded
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.methods import methods_of
from dpml.schema import Schema

METHODS = methods_of("moments-naive-bayes")
# each ε has bins of its own: all of adult's matrices would be 100 MB
MOST_MATRICES = 6


class _Checked:
    """A data set's raw table, checked once for all of its studies, with the exact statistics that they share."""

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
        """Return all columns of the test records; those that were used last are kept."""
        key, kept = (design.n_bins, design.binary_cells), dict(self._matrices)
        matrix = kept.pop(key, None)
        if matrix is None:
            matrix = design.matrix(self.test)
        # replaced as a whole, because threads may ask side by side
        self._matrices = {key: matrix, **dict(islice(kept.items(), MOST_MATRICES - 1))}
        return matrix


# as long as the data set lives
_CHECKED: WeakKeyDictionary[Dataset, dict[tuple[str, ...], _Checked]] = WeakKeyDictionary()


def _checked(dataset: Dataset, schema: Schema) -> _Checked:
    try:
        tables = _CHECKED.setdefault(dataset, {})
    except TypeError:  # what has a data set's attributes and cannot be told from another one
        return _Checked(dataset, schema)
    names = tuple(schema.feature_names)
    if names not in tables:
        tables[names] = _Checked(dataset, schema)
    return tables[names]


class _MixedStudy:
    """A method on one data set's raw table, ready to be drawn at any ε; its parameters are `MomentsNBStudy`'s."""

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

    def all_cells(self, n_bins: int) -> tuple[Design, Contingency]:
        """Return a design of cells only, and the exact counts of all cells.

        Parameters
        ----------
        n_bins : int
            Number of bins of each numeric feature.

        Returns
        -------
        design : Design
            Design that consists of cells only.
        counts : Contingency
            Exact counts of all cells, for private prediction.
        """
        design = Design(self.schema, n_bins, binary_cells=True)
        return design, cell_counts(design, self._table.train, self.y_train, (self.schema.n_features, 0))

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
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs as well.

        Settings: `n_bins`, `class_share`, `pseudocount`, `shrinkage`.
        """
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

    The methods are those of Zafarani and Clifton, repaired and as published.

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
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs as well.

        Settings: `trim`, `pseudocount`, `likelihood`; `noise`, `delta` and `allocation` for the repaired methods.
        """
        if trim is None:
            bun = self.method == "bun-steinke"
            trim = default_trim(self.schema.n_lower, self.schema.n_classes) if bun else 0
        common: dict[str, Any] = {"draws": draws, "rng": rng}
        if self.method == "vaidya":
            moments = vaidya_moments(self.statistics, self.design, epsilon, **common, **setting)
        elif self.method == "published":
            moments = published_moments(self.statistics, self.design, epsilon, trim=trim, **common, **setting)
        else:
            moments = release_moments(
                self.statistics,
                self.design,
                epsilon,
                self.method,
                trim=trim,
                relation=self.relation,
                **common,
                **setting,
            )
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
