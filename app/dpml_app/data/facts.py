"""The data sets that the app offers, and the facts of one that a page shows at every setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from dpml.datasets import NAMES, card
from dpml_app.text.phrases import about_data

CARDS = {name: card(name) for name in NAMES}
# a ROC curve and its cost are about two
OF_TWO_CLASSES = tuple(name for name, facts in CARDS.items() if len(facts["label"]["classes"]) == 2)


@dataclass(frozen=True)
class NoFacts:
    """Those of a page without a data set."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstFacts:
    """Those that the first picture of a data set needs: the classes, and the accuracy of the larger one."""

    classes: tuple[str, ...]
    majority: float


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupFacts(FirstFacts):
    """Those of a picture by groups."""

    groups: tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class DatasetFacts(FirstFacts):
    """Those of any data set."""

    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False, kw_only=True)
class BinaryFacts(DatasetFacts, GroupFacts):
    """Those of binary features."""

    n_features: int
    row_bound: int
    # of the features
    names: list[str]
    # exact scores of the features by their kind
    scores: Mapping[str, NDArray[np.float64]]
    # range of the change of a mask's score for each of the min(T, D - T) features in which two masks can differ; it is
    # linear in that number
    unit: Mapping[tuple[str, str], float]


def dataset_note(facts: BinaryFacts) -> str:
    """Return one line about the data set."""
    classes = " or ".join(escape(str(c)) for c in facts.classes)
    most = f", at most {facts.row_bound} ones in a record" if facts.row_bound else ""
    return about_data(
        f"{facts.n_train:,} training and {facts.n_test:,} test records, {facts.n_features:,} binary "
        f"features{most}. Classes: {classes}."
    )
