"""The data sets on which the default classifier is judged, as raw tables with their public facts.

Each has tables of training and of test records, labels, and a schema of the raw columns: numbers with bounds,
categories, or words. No cut points are given: a method bins by itself. The eight sets under ``DPML_DATA/more`` had no
part in the older rules.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from auto_generated import GENERATED, N_LOWER, N_TRAIN, drawn
from scipy import sparse

from dpml.datasets import data_folder, load
from dpml.encoding import BinaryEncoding
from dpml.schema import Feature, Schema

__all__ = ["ANTONOVA", "MORE", "SETS", "JudgedSet", "judged_set"]

ANTONOVA = ("xwindows", "mushrooms", "adult", "newsgroup1", "newsgroup2", "newsgroup3")
MORE = ("telco", "nursery", "dutch", "law", "rt", "shoppers", "letter", "cardio")
SETS = (*MORE, *ANTONOVA, "bank", "skin", "sms", *GENERATED)
WORDS = ("xwindows", "newsgroup1", "newsgroup2", "newsgroup3", "sms")
N_WORDS = 2000


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """One data set: raw tables and labels, their schema, and the encoding with public cut points, if there is one."""

    name: str
    train: Any
    y_train: np.ndarray
    test: Any
    y_test: np.ndarray
    schema: Schema
    encoding: BinaryEncoding | None

    @property
    def majority(self) -> float:
        """Test accuracy of the largest class of the training records."""
        values, counts = np.unique(self.y_train, return_counts=True)
        return float((self.y_test == values[counts.argmax()]).mean())


@cache
def judged_set(name: str) -> JudgedSet:
    """Read one set."""
    if name in MORE:
        return _more(name)
    if name in GENERATED:
        return _generated(name)
    data = load(name)
    if name in WORDS:
        return JudgedSet(name, data.X_train, data.y_train, data.X_test, data.y_test, data.schema, None)
    assert data.frame_schema is not None
    frame, names = data.frame, data.frame_schema.feature_names
    schema = replace(data.frame_schema, classes=data.schema.classes, n_lower=data.schema.n_lower, n_rows=None)
    train, test = (frame.loc[part][names].reset_index(drop=True) for part in ("train", "test"))
    return JudgedSet(name, train, data.y_train, test, data.y_test, schema, data.encoding)


def _generated(name: str) -> JudgedSet:
    table, labels, features = drawn(name)
    schema = Schema(tuple(features), tuple(range(labels.max() + 1)), n_lower=N_LOWER)
    cuts = {f.name: list(f.taxonomy.values[1:-1]) for f in features if f.kind == "numeric"}
    tables = [part.reset_index(drop=True) for part in (table[:N_TRAIN], table[N_TRAIN:])]
    return JudgedSet(
        name, tables[0], labels[:N_TRAIN], tables[1], labels[N_TRAIN:], schema, BinaryEncoding(schema, cuts, "clip")
    )


def _more(name: str) -> JudgedSet:
    folder = Path(data_folder()) / "more"
    facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    table = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False)
    classes = tuple(facts["classes"])
    parts = [table[table["split"] == part].reset_index(drop=True) for part in ("train", "test")]
    y_train, y_test = (part["label"].to_numpy() for part in parts)
    if facts["text"]:
        schema = Schema.binary(N_WORDS, classes=classes, row_bound=facts["row_bound"], n_lower=facts["n_lower"])
        return JudgedSet(name, *_split_words(parts, y_train, y_test), schema, None)
    cuts = {f["name"]: f["cuts"] for f in facts["features"] if f["kind"] == "numeric"}
    features = [
        Feature(f["name"], "numeric", lower=f["lower"], upper=f["upper"])
        if f["kind"] == "numeric"
        else Feature(f["name"], "categorical", tuple(f["categories"]))
        for f in facts["features"]
    ]
    schema = Schema(tuple(features), classes, n_lower=facts["n_lower"])
    tables = [part[schema.feature_names] for part in parts]
    return JudgedSet(name, tables[0], y_train, tables[1], y_test, schema, BinaryEncoding(schema, cuts, "clip"))


def _words(column: pd.Series) -> sparse.csr_array:
    """Return a column of the numbers of words as zeros and ones."""
    numbers = [np.array(text.split(), dtype=int) for text in column.astype(str)]
    indptr = np.cumsum([0, *map(len, numbers)])
    return sparse.csr_array((np.ones(indptr[-1]), np.concatenate(numbers), indptr), (len(numbers), N_WORDS))


def _split_words(parts: list, y_train: np.ndarray, y_test: np.ndarray) -> tuple:
    return _words(parts[0]["words"]), y_train, _words(parts[1]["words"]), y_test
