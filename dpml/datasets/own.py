"""A table of your own as a data set: split, encoded and with its metadata, so that every simulation takes it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpml.datasets import Dataset
from dpml.datasets._readers import Raw
from dpml.encoding import BinaryEncoding
from dpml.exceptions import InvalidData, InvalidSchema
from dpml.schema import Schema
from dpml.schema.cells import read_frame
from dpml.schema.feature import Feature

# a number becomes this many intervals of equal width between its public bounds
CUTS = 8
SHARE = 0.7
# fewer test records tell no two methods apart
FEWEST = 20


def own_dataset(frame: Any, label: str, schema: Schema, *, name: str = "own", title: str = "My table") -> Dataset:
    """Return a table as a data set for simulations: 70% of its records for training, the others for testing.

    Values outside their domains are clipped, and records whose label is no class are left out, as in a release. The
    split is a fixed permutation. The training records are fewer than the table's, so their `n_lower` is 70% of the
    table's. Nothing is released. The split, the simulations and all choices from them read the records.

    Parameters
    ----------
    frame : DataFrame
        The table, with the schema's columns and the label's.
    label : str
        The column with the labels.
    schema : Schema
        Public metadata of the table.
    name : str, default="own"
        Name in results.
    title : str, default="My table"
        Name in figures.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    InvalidData
        A column is missing, or fewer than 20 records have a label that is a class.
    InvalidSchema
        The label is a feature, too.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 70] * 50, "left": ["yes", "no"] * 50})
    >>> schema = Schema((Feature("age", "numeric", lower=18, upper=98),), ("no", "yes"), n_lower=80)
    >>> data = own_dataset(frame, "left", schema)
    >>> data
    <Dataset own: 70 + 30 rows, 8 columns, 2 classes>
    >>> data.schema.n_lower, data.feature_names[:2]
    (56, ['age<28', '28<=age<38'])
    """
    frame = read_frame(frame)
    if label in schema.feature_names:
        raise InvalidSchema("label", label, "no feature of the schema")
    for column in (*schema.feature_names, label):
        if column not in frame.columns:
            raise InvalidData(f"the table has no column {column!r}, which the schema names")
    codes = schema.check_labels(frame[label], "clip")
    known = np.flatnonzero(codes >= 0)
    if len(known) < FEWEST:
        raise InvalidData(f"too few records have a label of {', '.join(map(str, schema.classes))}: {FEWEST} are needed")
    table, codes = frame[schema.feature_names].iloc[known].reset_index(drop=True), codes[known]
    checked, _ = schema.check_features(table, "clip")
    # features that are all binary come back as a matrix
    table = pd.DataFrame(checked, columns=schema.feature_names)
    facts = replace(schema, n_rows=None, n_lower=max(int(SHARE * schema.n_lower), 1), ignored=())
    encoding = BinaryEncoding(facts, {f.name: _cuts(f) for f in facts.features if f.kind == "numeric"})
    order = np.random.default_rng(0).permutation(len(codes))
    train, test = np.split(order, [int(SHARE * len(order))])
    X, binary = encoding.transform(table), encoding.encoded_schema
    labels = np.empty(len(facts.classes), dtype=object)
    labels[:] = facts.classes
    classes = [{"value": value} for value in facts.classes]
    return Dataset(
        name=name,
        X_train=X[train],
        y_train=codes[train],
        X_test=X[test],
        y_test=codes[test],
        schema=replace(binary, classes=tuple(range(facts.n_classes))),
        class_names=tuple(map(str, facts.classes)),
        frame_schema=facts,
        encoding=encoding,
        card={"title": title, "label": {"name": label, "classes": classes}},
        _raw=Raw(table, labels[codes], train, test),
    )


def _cuts(feature: Feature) -> list[float]:
    assert feature.lower is not None
    assert feature.upper is not None
    return np.linspace(feature.lower, feature.upper, CUTS + 1)[1:-1].tolist()
