"""What the Train page knows of its data set at every setting."""

from collections.abc import Mapping
from dataclasses import dataclass

from dpml_app.data.facts import DatasetFacts


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainFacts(DatasetFacts):
    """Those of a table of numbers and categories, if the data set has one, and of its binary form."""

    name: str
    table: bool
    # columns of the table of each kind
    numeric: int
    categorical: int
    columns: list[str]
    binary_columns: list[str]
    # levels without privacy, by what is measured; no area with more than two classes
    accuracy: Mapping[str, float]
    auc: Mapping[str, float]
