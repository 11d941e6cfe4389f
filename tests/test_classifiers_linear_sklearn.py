"""scikit-learn's own checks of the linear classifiers, with public facts stated from each check's data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dpml.budget import Budget
from dpml.classifiers import LinearSVC, LogisticRegression
from dpml.schema import Feature, Schema


class Stated:
    """State classes and bounds, which the checks do not know of, from what they pass: for tests only."""

    release, on_invalid = False, "clip"

    def __init__(self, epsilon=1e6, random_state=0):
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        classes = np.unique(y).tolist()
        if len(classes) < 2:
            classes.append("another" if isinstance(classes[0], str) else classes[0] + 1)
        lower, upper = X.min(axis=0), X.max(axis=0)
        upper = np.where(upper > lower, upper, lower + 1)
        features = [
            Feature(f"x{i}", "numeric", lower=a, upper=b) for i, (a, b) in enumerate(zip(lower, upper, strict=True))
        ]
        facts = {"schema": Schema(tuple(features), tuple(classes)), "on_invalid": "clip"}
        inner = self.kind(self.epsilon, random_state=self.random_state, **facts, **self.options)
        inner.fit(pd.DataFrame(X, columns=[f.name for f in features]), y)
        checked = {k: v for k, v in vars(self).items() if k in ("n_features_in_", "feature_names_in_")}
        learned = {k: v for k, v in vars(inner).items() if k.endswith("_") or k.startswith("_")}
        learned.pop("feature_names_in_", None)
        self.__dict__.update({**learned, **checked})
        return self

    def _checked(self, X):
        check_is_fitted(self)
        return self._schema.check_features(validate_data(self, X, reset=False), "clip")[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class StatedLogistic(Stated, LogisticRegression):
    kind = LogisticRegression
    options = {"method": "objective"}  # noqa: RUF012


class StatedFunctional(Stated, LogisticRegression):
    kind = LogisticRegression
    options = {"method": "functional"}  # noqa: RUF012


class StatedSVC(Stated, LinearSVC):
    kind = LinearSVC
    options = {"method": "approximate-minima"}  # noqa: RUF012


class StatedDescent(Stated, LinearSVC):
    kind = LinearSVC
    options = {"method": "noisy-descent"}  # noqa: RUF012


@parametrize_with_checks([StatedLogistic(), StatedFunctional(), StatedSVC(), StatedDescent()])
def test_the_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_a_search_works_and_each_fit_is_charged(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    X = (rng.random((600, 4)) < np.where(y[:, None] == 1, 0.8, 0.2)).astype(int)
    budget = Budget(100.0)
    model = kind(1.0, method="objective", budget=budget, random_state=0)
    search = GridSearchCV(model, {"epsilon": [0.001, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"epsilon": 2.0}
    assert budget.spent == pytest.approx(3 * 0.001 + 4 * 2.0)


def test_a_search_refuses_to_begin_in_release_mode():
    budget = Budget(100.0)
    model = LogisticRegression(1.0, method="functional", release=True, budget=budget)
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(model, {"epsilon": [0.1, 1.0]}, cv=3).fit(np.eye(6, dtype=int), [0, 1] * 3)
    assert budget.spent == 0
