"""The settings of the page Privacy cost, and the arguments of its computations."""

from dataclasses import dataclass

from dpml_app.core.values import DatasetValues, declared_by
from dpml_app.pages.explore.compute import CELL_DRAWS, DRAWS
from dpml_app.settings import LAMBDAS, MOST_FEATURES, SWEEP_EPSILONS, Shared, choice, number


@dataclass(frozen=True)
class ExploreValues(DatasetValues):
    """All settings that the page Privacy cost depends on."""

    threshold_percentile: int
    n_features: int
    selection_share: float
    draws: int
    wanted: float = number(85.0, (50.0, 100.0), "Target accuracy (%)", 0.5)
    reg_lambda: float = choice(50.0, LAMBDAS, "Regularisation λ")
    row_bound: int = number(0, (0, MOST_FEATURES), "Contribution bound")
    hand_model: str = choice("naive-bayes", {"naive-bayes": "Naive Bayes", "logistic": "Logistic"}, "Model")
    map_score: str = choice("count", {"count": "Counts", "mutual_information": "Mutual information"}, "Score")

    def options(self, method: str) -> tuple:
        """Return the settings that a method depends on besides data set, relation, ε, draws and seed."""
        if method == "published":
            return (self.threshold_percentile,)
        if method == "row-bounded":
            return (self.row_bound,)
        if method == "logistic":
            return (self.reg_lambda,)
        return self.n_features, self.selection_share, self.threshold_percentile

    def accuracy_key(self, method: str, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.data.measures.accuracy`."""
        return self.dataset, method, self.relation, epsilon, self.options(method), self.draws, self.seed

    def by_hand(self) -> tuple:
        """Return the custom model: model, score, and its options (`dpml_app.pages.explore.compute`)."""
        own = self.reg_lambda if self.hand_model == "logistic" else self.threshold_percentile
        return self.hand_model, self.map_score, (self.n_features, self.selection_share, own)

    def hand_key(self, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.pages.explore.compute.by_hand`."""
        return self.dataset, self.relation, epsilon, *self.by_hand(), DRAWS, self.seed

    def roc_key(self) -> tuple:
        """Return the arguments of `dpml_app.pages.explore.compute.roc`."""
        return self.dataset, self.relation, self.epsilon, *self.by_hand(), self.draws, self.seed

    def map_key(self, n_features: int) -> tuple:
        """Return the arguments of `dpml_app.pages.explore.compute.map_row`."""
        model, score, (_, share, own) = self.by_hand()
        # each fit of logistic regression on many features takes a tenth of a second
        draws = CELL_DRAWS if model == "logistic" else self.draws
        levers = model, score, (n_features, share, own)
        return self.dataset, self.relation, SWEEP_EPSILONS, *levers, draws, self.seed


@declared_by(ExploreValues)
class ExploreSettings(Shared):
    """Every control of the Explore page that no other page has."""
