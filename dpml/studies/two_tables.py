"""Two tables of different people: one data set split by sex, which is then left out (Ji and Elkan 2013, section 5).

Of one sex 90% of the records are private, of the other 10%; the others are public. Every attribute is categorical:
numbers are in intervals with public ends. The label is the last column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.publishing.ratio_features import RatioFeatures
from dpml.schema import Feature, Schema


@dataclass(frozen=True)
class _Split:
    """How a data set is split: ends of intervals, columns without use, and the private share of each sex."""

    cuts: Mapping[str, tuple[int, ...]]
    left_out: tuple[str, ...]
    private: Mapping[str, float]


SPLITS = {
    # the intervals of the R package arules
    "adult": _Split(
        {
            "age": (26, 46, 66),
            "hours-per-week": (26, 41, 61),
            "capital-gain": (1, 7298),
            "capital-loss": (1, 1887),
        },
        ("fnlwgt", "education-num", "native-country", "sex"),
        {"Male": 0.9, "Female": 0.1},
    ),
    "census": _Split(
        {"age": (30, 45, 60), "hours": (1, 30, 45)},
        ("sex", "birthplace", "household", "industry", "investment"),
        {"male": 0.9, "female": 0.1},
    ),
}


@dataclass(frozen=True, eq=False)
class TwoTables:
    """A private table and a public one with the same schema.

    `schema`: categorical attributes; the last one is the label.
    """

    private: pd.DataFrame
    public: pd.DataFrame
    schema: Schema

    @cached_property
    def features(self) -> RatioFeatures:
        """The one-hot features of the ratio of the two tables' densities."""
        return RatioFeatures(self.schema)

    @cached_property
    def private_records(self) -> NDArray[np.float64]:
        """The private records in the columns of `features`. Not private."""
        return self.matrix(self.private)

    @cached_property
    def public_records(self) -> NDArray[np.float64]:
        """The public records in the columns of `features`."""
        return self.matrix(self.public)

    def matrix(self, table: pd.DataFrame) -> NDArray[np.float64]:
        """Return a table with this schema in the columns of `features`."""
        return self.features.matrix(self.features.parts(self.schema.check_features(table)[0]))


def split_by_sex(dataset: Dataset, *, rng: np.random.Generator) -> TwoTables:
    """Return the training records of a data set in `SPLITS` as a private and a public table; `rng` draws which."""
    if dataset.name not in SPLITS or dataset.frame_schema is None:
        raise InvalidParameter("dataset", dataset.name, f"a data set with a split by sex: {', '.join(SPLITS)}")
    split, label = SPLITS[dataset.name], dataset.card["label"]["name"]
    frame = dataset.frame.loc["train"].reset_index(drop=True)
    columns, features = {}, []
    for f in dataset.frame_schema.features:
        if f.name in split.left_out:
            continue
        if f.kind == "numeric":
            cuts = split.cuts[f.name]
            columns[f.name] = np.digitize(frame[f.name], cuts)
            features.append(Feature(f.name, "categorical", tuple(range(len(cuts) + 1))))
        else:
            columns[f.name] = frame[f.name].astype(str)
            features.append(f)
    columns[label] = frame[label].astype(str)
    features.append(Feature(label, "categorical", tuple(dataset.frame_schema.classes)))
    table, private = pd.DataFrame(columns), np.zeros(len(frame), dtype=bool)
    for sex, share in split.private.items():
        at = np.flatnonzero(frame["sex"].astype(str).str.strip() == sex)
        private[rng.permutation(at)[: round(share * len(at))]] = True
    parts = (table[private].reset_index(drop=True), table[~private].reset_index(drop=True))
    return TwoTables(*parts, Schema(tuple(features)))
