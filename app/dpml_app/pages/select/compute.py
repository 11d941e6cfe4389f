"""The settings of the page Feature selection, and the computations at them, as plain functions for workers too."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers import BernoulliNB
from dpml.counts import contingency
from dpml.registry import method
from dpml.selection import MaskSelector, inclusion_probabilities, scores_from_counts
from dpml.studies.accuracy import RowBoundedNBStudy, SelectionStudy, accuracy_of_selected
from dpml.tuning import BestSelector
from dpml_app.data.measures import dataset, feature_ladder
from dpml_app.drawing.styles import styles_of
from dpml_app.jobs import kept
from dpml_app.settings import DatasetValues, MultiSelect, Shared, choice, declared_by

# the scores that the first plots compare
KINDS = ("mutual_information", "count")
ORDERS = {"count": "Counts", "mutual_information": "Mutual information"}
SELECTOR_STYLES = styles_of("selector", "top")
SELECTORS = {name: style.label for name, style in SELECTOR_STYLES.items()}
# an ε at which the noise is below visibility
NO_NOISE = 1e9
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SelectValues(DatasetValues):
    """All settings that the page Feature selection depends on, and the arguments of its computations."""

    n_features: int
    selection_share: float
    draws: int
    select_order: str = choice("count", ORDERS, "Rank features by")
    select_methods: tuple[str, ...] = choice(
        ["mask-count", "mask-mi", "exact"], SELECTORS, "Selection methods", MultiSelect
    )

    def selection_key(self) -> tuple[str, float, int]:
        """Return relation, the ε that selection spends, and the number of selected features."""
        return self.relation, self.epsilon * self.selection_share, self.n_features

    def accuracy_key(self, selector: str, n_features: int) -> tuple:
        """Return the arguments of `accuracy`."""
        budget = self.dataset, self.relation, self.epsilon, self.selection_share
        return (selector, *budget, n_features, self.draws, self.seed)


@declared_by(SelectValues)
class SelectSettings(Shared):
    """The settings that only the page Feature selection has."""


@kept(8)
def _scores(name: str, kind: str) -> Floats:
    data = dataset(name)
    return scores_from_counts(contingency(data.X_train, data.y_train, data.schema.n_classes), kind)


# ---- the mask distribution ----------------------------------------------------------------------------------------


def inclusion(name: str, kind: str, relation: str, epsilon: float, n_features: int) -> Floats:
    """Return the exact probability that each feature is selected."""
    weight = MaskSelector(epsilon, n_features, kind, relation=relation).weight(dataset(name).schema)
    return inclusion_probabilities(weight * _scores(name, kind), n_features)


def places(scores: Floats) -> NDArray[np.intp]:
    """Return the features, best exact score first."""
    return np.argsort(-scores, kind="stable")


# ---- accuracy against the number of features ----------------------------------------------------------------------


def selector_ladder(n_total: int) -> tuple[int, ...]:
    """Return the numbers of features of the accuracy plot, without all of them."""
    return tuple(t for t in feature_ladder(n_total) if t < n_total)


@kept(32)
def _study(selector: str, name: str, relation: str) -> SelectionStudy:
    mechanism = method(selector, "selector").make(1.0, n_features=1)
    return SelectionStudy(dataset(name), mechanism, relation=relation)


def accuracy(
    selector: str, name: str, relation: str, epsilon: float, share: float, n_features: int, draws: int, seed: int
) -> Floats:
    """Return test accuracies of row-bounded naive Bayes on T selected features; selection spends `share` of ε."""
    rng = np.random.default_rng(seed)
    if selector != "exact":
        setting: dict[str, Any] = {"selection_share": share, "n_features": n_features}
        return _study(selector, name, relation)(epsilon, draws=draws, rng=rng, **setting)["accuracy"]
    # the same ε for training, so that only the selection differs
    order = places(_scores(name, "mutual_information"))
    mask = np.isin(np.arange(len(order)), order[:n_features])
    model = BernoulliNB(epsilon * (1 - share), relation=relation)
    return np.array([accuracy_of_selected(dataset(name), mask, model, rng) for _ in range(draws)])


@kept(8)
def _study_of_all(name: str, relation: str) -> RowBoundedNBStudy:
    return RowBoundedNBStudy(dataset(name), relation=relation)


def accuracy_of_all(name: str, relation: str, epsilon: float, draws: int, seed: int) -> Floats:
    """Return test accuracies of row-bounded naive Bayes on all features, which spends all of ε."""
    return _study_of_all(name, relation)(epsilon, draws=draws, rng=np.random.default_rng(seed))["accuracy"]


def best(name: str, relation: str, epsilon: float, draws: int, seed: int) -> Floats:
    """Return test accuracies of `BestSelector`, which selects T by itself from the same budget."""
    data, rng = dataset(name), np.random.default_rng(seed)
    model = BestSelector(epsilon, relation=relation, schema=data.schema, random_state=rng)
    return np.array([model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) for _ in range(draws)])
