"""The settings of the Synthetic data page alone. Each name begins with ``publish_``."""

from dataclasses import dataclass

from dpml.registry import method
from dpml_app.core.values import DatasetValues, declared_by
from dpml_app.data.offered import CARDS
from dpml_app.settings import MultiSelect, Shared, choice, number

# a table has columns of its own, and a text has words; the columns of the generated table are not on its card
PUBLISH_DATASETS = tuple(name for name, facts in CARDS.items() if facts["attributes"] or not facts["files"])
CLASSIFIERS = {"cart": "CART (tree)", "svm": "Linear SVM", "logistic": "Logistic regression"}
CLASSIFIER_WORDS = {"cart": "a CART", "svm": "a linear SVM", "logistic": "a logistic regression"}
GRIDS = (1, 10, 100, 300, 1_000, 3_000, 10_000)
# of ε, for the number of records (Su et al. 2018, Algorithm 2)
SIZE_SHARE = 0.03
SHARE_LADDER = (0.02, 0.07, 0.17, 0.27, 0.37, 0.47, 0.57, 0.67, 0.77, 0.87, 0.92)
# what one can ask of the public table that is weighted; the records that meet all that is chosen
ASKED = {
    "rich": "High income",
    "married": "Married",
    "single": "Never married",
    "graduate": "Bachelor's degree",
    "manager": "Manager",
    "long": "Long hours",
    "young": "Young",
}
# by data set and condition: a column of `dpml.studies.publishing`, its values, and the condition in words
CONDITIONS: dict[str, dict[str, tuple[str, tuple, str]]] = {
    "adult": {
        "rich": ("income", (">50K",), "an income above 50,000 dollars"),
        "married": ("marital-status", ("Married-civ-spouse",), "a spouse"),
        "single": ("marital-status", ("Never-married",), "no marriage so far"),
        "graduate": ("education", ("Bachelors",), "a bachelor's degree"),
        "manager": ("occupation", ("Exec-managerial",), "a manager's work"),
        "long": ("hours-per-week", (2, 3), "more than 40 hours of work a week"),
        "young": ("age", (0,), "an age below 26"),
    },
    "census": {
        "rich": ("income", ("high",), "a high income"),
        "married": ("marital", ("married",), "a spouse"),
        "single": ("marital", ("never married",), "no marriage so far"),
        "graduate": ("education", ("bachelor",), "a bachelor's degree"),
        "manager": ("occupation", ("manager",), "a manager's work"),
        "long": ("hours", (3,), "45 hours of work a week or more"),
        "young": ("age", (0,), "an age below 30"),
    },
}
# a smaller λ takes seconds at a small ε, and its answers are noise
PENALTIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# releases of each method at each place
WEIGHT_DRAWS = 10
# by the names in the benchmarks' table: a fit takes half a minute and more
RECORDED = {method(key, "publisher").title: key for key in ("mst", "mst-delta", "aim", "aim-delta")}
SLOW = {"none": "None (precomputed only)"} | {
    key: f"{name} (about {'half a minute' if name.startswith('MST') else 'three minutes'} on adult)"
    for name, key in RECORDED.items()
}


def shares_of(share: float) -> tuple[float, float, float]:
    """Return the shares of ε for the number of records, the choice of a grid and the counts.

    >>> shares_of(0.37)
    (0.03, 0.37, 0.6)
    """
    return SIZE_SHARE, share, round(1 - SIZE_SHARE - share, 6)


@dataclass(frozen=True)
class PublishValues(DatasetValues):
    """The settings of the Synthetic data page."""

    publish_classifier: str = choice("cart", CLASSIFIERS, "Classifier")
    publish_grids: float = choice(3_000.0, [float(n) for n in GRIDS], "Candidate grids Θ")
    publish_share: float = number(0.37, (0.02, 0.92), "Share of ε for grid selection", 0.05)
    publish_draws: int = number(10, (5, 40), "Synthetic tables", 5)
    publish_draw: int = number(1, (1, 40), "Table shown")
    publish_query: tuple[str, ...] = choice(["rich"], ASKED, "Share of records with all of", MultiSelect)
    publish_lambda: float = choice(0.1, PENALTIES, "λ of Algorithm 1")
    publish_slow: str = choice("none", SLOW, "Fit a slow method at the chosen ε")

    def release_key(self, epsilon: float) -> tuple:
        """Return data set, relation, ε, Θ and the choice's share: what a release of PrivPfC depends on."""
        return self.dataset, self.relation, epsilon, int(self.publish_grids), self.publish_share

    @property
    def draw(self) -> int:
        """The place of the table that is shown among those that are drawn."""
        return (self.publish_draw - 1) % self.publish_draws

    def drawn_key(self) -> tuple:
        """Return the arguments of `drawn_table.drawn_table` and of `one_release.release_facts`."""
        return (*self.release_key(self.epsilon), self.seed, self.draw)

    def table_key(self, epsilon: float, n_columns: int = 0) -> tuple:
        """Return the arguments of `dpml_app.pages.publish.compute.published`."""
        drawn = self.publish_classifier, self.publish_draws, self.seed
        return (*self.release_key(epsilon), n_columns, *drawn)


@declared_by(PublishValues)
class PublishSettings(Shared):
    """Every control that only the Publish page has."""
