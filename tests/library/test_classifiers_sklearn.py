"""scikit-learn's own checks of the classifiers, with public facts stated from each check's data."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dpml.classifiers import BernoulliNB, LinearSVC, LogisticRegression, MixedNB, PrivPfCClassifier
from dpml.schema import Feature, Schema


class Stated:
    """State classes and domain, which the checks do not know of, from what they pass: for tests only."""

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

    def schema_of(self, X, classes):
        lower, upper = X.min(axis=0), X.max(axis=0)
        upper = np.where(upper > lower, upper, lower + 1)
        features = [
            Feature(f"x{i}", "numeric", lower=a, upper=b) for i, (a, b) in enumerate(zip(lower, upper, strict=True))
        ]
        return Schema(tuple(features), tuple(classes), n_lower=len(X))

    def _checked(self, X):
        check_is_fitted(self)
        return super()._checked(self.table(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # `validate_data` refuses sparse tables and missing values before the classifier sees them
        tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags


class StatedMixedNB(Stated, MixedNB):
    kind = MixedNB


class StatedPrivPfCClassifier(Stated, PrivPfCClassifier):
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


class StatedLogistic(Stated, LogisticRegression):
    def kind(self, epsilon, **facts):
        return LogisticRegression(epsilon, method="objective", **facts)


class StatedFunctional(Stated, LogisticRegression):
    def kind(self, epsilon, **facts):
        return LogisticRegression(epsilon, method="functional", **facts)


class StatedSVC(Stated, LinearSVC):
    def kind(self, epsilon, **facts):
        return LinearSVC(epsilon, method="approximate-minima", **facts)


class StatedDescent(Stated, LinearSVC):
    def kind(self, epsilon, **facts):
        return LinearSVC(epsilon, method="noisy-descent", **facts)


@parametrize_with_checks([StatedMixedNB(), StatedBernoulliNB(), StatedLogistic()])
def test_the_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([StatedPrivPfCClassifier(), StatedFunctional(), StatedSVC(), StatedDescent()])
def test_the_checks_pass_for_other_estimators(estimator, check):
    check(estimator)
