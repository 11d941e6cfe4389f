"""A published table beside the true one, column by column, for the person's own eyes: for study, before one pays."""

from typing import Any

import numpy as np
import pandas as pd

from dpml.datasets.own import own_dataset
from dpml.registry import method
from dpml.schema import Schema
from dpml_app.data.two_tables import side_by_side

PUBLISHER = "privpfc"
COLUMNS, MOST_RECORDS = 13, 60_000
SEED = 0


def published(frame: pd.DataFrame, label: str, schema: Schema, epsilon: float, relation: str) -> dict[str, Any]:
    """Return what `side_by_side` shows of a table and of one that is published at an ε, with noise for study.

    Raises
    ------
    InvalidData
        The table has too few records.
    """
    data = own_dataset(frame, label, schema)
    facts = data.frame_schema
    assert facts is not None
    true = data.frame.loc["train"].reset_index(drop=True)
    features, labels = true.drop(columns=label), true[label].to_numpy()
    options: dict[str, Any] = {"relation": relation, "schema": facts, "random_state": np.random.default_rng(SEED)}
    model = method(PUBLISHER, "publisher").make(epsilon, **options).fit(features, labels)
    table = model.sample(int(min(model.cell_counts_.sum(), MOST_RECORDS)))
    drawn = table, table[model.label_name_].to_numpy(dtype=object)
    kept = [name for name in facts.feature_names if name in model.levels_]
    return side_by_side((features, labels), drawn, facts, kept, label, columns=COLUMNS)


def distance(drawn: dict[str, Any]) -> dict[str, float]:
    """Return for each column the share of records that would have to move to make its two marginals alike.

    Examples
    --------
    >>> distance({"names": ["left"], "shares": {"true": [[0.5, 0.5]], "published": [[0.4, 0.6]]}})
    {'left': 0.1}
    """
    pairs = zip(drawn["names"], *drawn["shares"].values(), strict=True)
    return {name: round(float(np.abs(np.subtract(t, p)).sum() / 2), 4) for name, t, p in pairs}
