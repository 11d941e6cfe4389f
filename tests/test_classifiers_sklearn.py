"""scikit-learn's own checks of the naive Bayes classifiers, with public facts stated from each check's data."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB, MixedNB, PrivPfCClassifier
from dpml.exceptions import BudgetExceeded
from dpml.schema import Feature, Schema


class Stated:
    """State classes and domain, which the checks do not know of, from what they pass: for tests only."""

    def __init__(self, epsilon=1e6, random_state=0):
        self.epsilon = epsilon
        self.random_state = random_state

    release, on_invalid = False, "clip"

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        classes = np.unique(y).tolist()
        if len(classes) < 2:
            classes.append("another" if isinstance(classes[0], str) else classes[0] + 1)
        self.prepare(X)
        facts = {"schema": self.schema_of(X, classes), "on_invalid": "clip", "random_state": self.random_state}
        inner = self.kind(self.epsilon, **facts).fit(self.table(X), y)
        checked = {k: v for k, v in vars(self).items() if k in ("n_features_in_", "feature_names_in_")}
        learned = {k: v for k, v in vars(inner).items() if k.endswith("_") or k.startswith("_")}
        self.__dict__.update({**learned, **checked})
        return self

    def prepare(self, X):
        pass

    def table(self, X):
        return X

    def _checked(self, X):
        check_is_fitted(self)
        return super()._checked(self.table(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class StatedMixedNB(Stated, MixedNB):
    kind = MixedNB

    def schema_of(self, X, classes):
        lower, upper = X.min(axis=0), X.max(axis=0)
        upper = np.where(upper > lower, upper, lower + 1)
        features = [
            Feature(f"x{i}", "numeric", lower=a, upper=b) for i, (a, b) in enumerate(zip(lower, upper, strict=True))
        ]
        return Schema(tuple(features), tuple(classes), n_lower=len(X))


class StatedPrivPfCClassifier(Stated, PrivPfCClassifier):
    schema_of = StatedMixedNB.schema_of

    def kind(self, epsilon, **facts):
        return PrivPfCClassifier(epsilon, max_grids=500, **facts)


class StatedBernoulliNB(Stated, BernoulliNB):
    kind = BernoulliNB

    def prepare(self, X):
        self._cuts = np.quantile(X, [0.2, 0.4, 0.6, 0.8], axis=0)

    def table(self, X):
        return np.hstack([cut < X for cut in self._cuts]).astype(float)

    def schema_of(self, X, classes):
        return Schema.binary(4 * X.shape[1], classes=classes, n_lower=len(X))


@parametrize_with_checks([StatedMixedNB(), StatedBernoulliNB(), StatedPrivPfCClassifier()])
def test_the_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


# ---- searches, pipelines -----------------------------------------------------------------------------------------


def mixed_table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return np.column_stack([rng.normal(3 * y, 1.0), rng.random(n) < 0.2 + 0.6 * y]), y


SCHEMA = Schema((Feature("x", "numeric", lower=-4, upper=8), Feature("b")), n_lower=500)


def test_a_search_works_in_demonstration_and_each_fit_is_charged():
    X, y = mixed_table()
    budget = Budget(100.0)
    model = MixedNB(1.0, schema=SCHEMA, budget=budget, random_state=0, on_invalid="clip")
    search = GridSearchCV(model, {"epsilon": [0.001, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"epsilon": 2.0}
    assert budget.spent == pytest.approx(3 * 0.001 + 4 * 2.0)
    assert search.score(X, y) > 0.85


@pytest.mark.parametrize("model", [MixedNB(1.0, schema=SCHEMA, release=True), BernoulliNB(1.0, release=True)])
def test_a_search_refuses_to_begin_in_release_mode(model):
    X, y = mixed_table()
    budget = Budget(100.0)
    model.set_params(budget=budget)
    X = X if isinstance(model, MixedNB) else np.round(X > 1)
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(model, {"epsilon": [0.1, 1.0]}, cv=3).fit(X, y)
    assert budget.spent == 0
    with pytest.raises(AttributeError, match="score"):
        model.fit(X, y).score(X, y)


def test_a_pipeline_and_cross_validation_work_and_stop_at_the_budget():
    X, y = mixed_table()
    model = MixedNB(1.0, schema=SCHEMA, random_state=0, on_invalid="clip")
    pipeline = make_pipeline(FunctionTransformer(lambda table: table.copy()), model)
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85
    model.set_params(budget=Budget(2.5))
    with pytest.raises(BudgetExceeded):
        cross_val_score(model, X, y, cv=3, error_score="raise")
    assert model.budget.spent == 2.0
