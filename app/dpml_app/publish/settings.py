"""The settings of the Publish page that other pages do not have; each name begins with ``publish_``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from dpml_app.settings import Shared, choice

__all__ = [
    "CLASSIFIERS",
    "CLASSIFIER_WORDS",
    "GRIDS",
    "MOST_COLUMNS",
    "PUBLISH_DATASETS",
    "SHARE_LADDER",
    "SIZE_SHARE",
    "PublishSettings",
    "shares_of",
]

# a published table has few columns that say anything; texts have hundreds
MOST_COLUMNS = 60
PUBLISH_DATASETS = ("census", "adult", "bank", "mushrooms", "skin", "breast_cancer", "toy", "seeds", "glass")
CLASSIFIERS = {"cart": "CART (tree)", "svm": "Linear SVM", "logistic": "Logistic regression"}
CLASSIFIER_WORDS = {"cart": "a CART", "svm": "a linear SVM", "logistic": "a logistic regression"}
GRIDS = (1, 10, 100, 300, 1_000, 3_000, 10_000)
# of ε, for the number of records (Su et al. 2018, Algorithm 2)
SIZE_SHARE = 0.03
SHARE_LADDER = (0.02, 0.07, 0.17, 0.27, 0.37, 0.47, 0.57, 0.67, 0.77, 0.87, 0.92)
SHARED = ("dataset", "relation", "epsilon", "seed")


def shares_of(share: float) -> tuple[float, float, float]:
    """Return the shares of ε for the number of records, the choice of a grid and the counts.

    Examples
    --------
    >>> shares_of(0.37)
    (0.03, 0.37, 0.6)
    """
    return SIZE_SHARE, share, round(1 - SIZE_SHARE - share, 6)


class PublishSettings(Shared):
    """Every control that only the Publish page has."""

    publish_classifier: Any = choice("cart", CLASSIFIERS, "Learned by")
    publish_grids: Any = choice(3_000.0, [float(n) for n in GRIDS], "Θ, candidate grids")
    publish_share = param.Number(default=0.37, bounds=(0.02, 0.92), step=0.05, label="Share of ε for the choice")
    publish_draws = param.Integer(default=10, bounds=(5, 40), step=5, label="Tables drawn")

    @classmethod
    def publish_names(cls) -> list[str]:
        """Return the names of all settings that the Publish page depends on."""
        return [*SHARED, *(name for name in PublishSettings.param if name.startswith("publish_"))]

    def publish_values(self) -> dict[str, Any]:
        """Return their values, as a dictionary that does not change."""
        return {name: getattr(self, name) for name in self.publish_names()}

    @staticmethod
    def release_key(values: Mapping[str, Any], epsilon: float, **changes: Any) -> tuple:
        """Return data set, relation, ε, Θ and the choice's share: what a release of PrivPfC depends on."""
        values = {**values, **changes}
        grids, share = int(values["publish_grids"]), values["publish_share"]
        return values["dataset"], values["relation"], epsilon, grids, share

    @classmethod
    def table_key(cls, values: Mapping[str, Any], epsilon: float, n_columns: int = 0, **changes: Any) -> tuple:
        """Return the arguments of `dpml_app.publish.compute.published`."""
        drawn = values["publish_classifier"], values["publish_draws"], values["seed"]
        return (*cls.release_key(values, epsilon, **changes), n_columns, *drawn)
