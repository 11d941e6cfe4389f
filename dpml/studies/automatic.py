"""A study of the default classifier: many draws at one ε, without as many fits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.classifiers.automatic import AutoClassifier, Layout, Plan, asks_density, default_plan, release_table
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema

FloatArray = NDArray[np.float64]


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

    A table's bins and grid are costly to draw, its noise is cheap. So the draws are divided among a stated number of
    grids, and the spread of the results includes that of both. Draws of one grid are not independent. For a standard
    error, use as many grids as draws. A table of words is fitted for each draw.

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
        `plan` takes the place of the public rule's, for a table that is not looked at.
        """
        epsilon, rng = check_epsilon(epsilon), check_rng(rng)
        number = self.public_number()
        if plan is None:
            plan = default_plan(self.schema, epsilon, number, relation=self.relation)
        batched = plan.kind == "table" and not asks_density(self.schema, epsilon, number)
        parts = np.array_split(np.arange(check_integer(draws, "draws", 1)), check_integer(grids, "grids", 1))
        rows: list[dict[str, Any]] = []
        for part in parts:
            if batched and len(part):
                options: dict[str, Any] = {"relation": self.relation, "draws": len(part), "rng": rng}
                table = self._train, self.y_train, plan, epsilon
                models: list[Any] = release_table(Layout.of(self.schema), *table, **options)
                where = models[0].located(self._test)
                rows += [self._measure(model.log_probabilities_at(*where), auc, predictions) for model in models]
            else:
                rows += [self._fitted(epsilon, auc, predictions, rng) for _ in part]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def public_number(self) -> float:
        """Return the number of training records for the public rule.

        Returns
        -------
        float
            Number of training records that the public rule uses.
        """
        count = self.schema.public_count(self._train, self.relation)
        return float(count or self.schema.n_lower or 1)

    def _fitted(self, epsilon: float, auc: bool, predictions: bool, rng: np.random.Generator) -> dict[str, Any]:
        model = AutoClassifier(epsilon, schema=self.schema, relation=self.relation, random_state=rng)
        labels = self.schema.class_labels[self.y_train]
        return self._measure(model.fit(self._train, labels).predict_log_proba(self._test), auc, predictions)

    def _measure(self, log_probabilities: FloatArray, auc: bool, predictions: bool) -> dict[str, Any]:
        from sklearn.metrics import roc_auc_score

        predicted = log_probabilities.argmax(axis=1)
        row: dict[str, Any] = {"accuracy": float((predicted == self.y_test).mean())}
        if predictions:
            row["predictions"] = predicted
        if auc:
            both = log_probabilities.shape[1] == 2 and np.ptp(self.y_test) > 0
            scores = log_probabilities[:, 1] - log_probabilities[:, 0]
            row["auc"] = float(roc_auc_score(self.y_test, scores)) if both else np.nan
        return row
