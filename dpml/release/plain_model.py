"""The default classifier's model of a table as JSON, and a script that scores it without dpml.

A record gets the scores of its cell in the grid, plus those of its group in each attribute. All of it is released
values or public metadata, so writing it costs nothing.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic.layout import Attribute
from dpml.classifiers.automatic.tables import TableModel
from dpml.release.folder import MODEL_FORMAT

# the script that predicts with the JSON, for Python without any library
SCORE = Path(__file__).with_name("score.py")


def plain_model(model: Any, status: str, *, epsilon: float | None = None, relation: str | None = None) -> str | None:
    """Return a released model as JSON, None where it is no model of a table by the default classifier.

    `epsilon` and `relation` are those of the whole release, which has no δ.
    """
    classifier = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not isinstance(classifier, AutoClassifier) or classifier.plan_.kind != "table":
        return None
    table: TableModel = classifier._model_of_table
    layout, additive = table.layout, table.additive
    attributes = []
    for a, attribute in enumerate(layout.attributes):
        above = attribute.taxonomy.above(layout.levels[a])
        scores = additive.groups[:, layout.starts[a] + above].T
        attributes.append({**_attribute(attribute, table), "scores": scores.tolist()})
    grid = []
    for a in table.grid.attributes:
        attribute, level = layout.everything[a], table.grid.levels[a]
        coarse = attribute.taxonomy.above(level).tolist()
        grid.append({**_attribute(attribute, table), "group_of": coarse, "size": attribute.taxonomy.sizes[level]})
    link = "softmax" if not additive.margins else "margins" if len(additive.cells) > 1 else "margin"
    facts = {
        "format": MODEL_FORMAT,
        "status": status,
        **({} if epsilon is None else {"epsilon": epsilon, "delta": 0.0, "relation": relation}),
        "classes": classifier.classes_.tolist(),
        "attributes": attributes,
        "grid": grid,
        "cells": additive.cells.T.tolist(),
        "link": link,
        "slope": additive.slope,
    }
    return json.dumps(facts, ensure_ascii=False)


def _attribute(attribute: Attribute, table: TableModel) -> dict[str, Any]:
    """Return the columns of an attribute, and how a value becomes a group."""
    feature, taxonomy = attribute.feature, attribute.taxonomy
    columns = [table.layout.schema.feature_names[i] for i in attribute.columns]
    if feature.kind == "numeric":
        bounds = {"lower": feature.lower, "upper": feature.upper, "cuts": list(taxonomy.values[1:-1])}
        middle = feature.lower / 2 + feature.upper / 2  # type: ignore[operator]
        return {
            "columns": columns,
            "kind": "number",
            **bounds,
            "gap": middle if feature.missing is None else feature.missing,
        }
    if len(columns) > 1:
        return {"columns": columns, "kind": "one-hot"}
    values = (0, 1) if feature.kind == "binary" else feature.categories or ()
    groups = taxonomy.places(np.array(values, dtype=object)).tolist()
    gap = values[0] if feature.missing is None else feature.missing
    kind = "binary" if feature.kind == "binary" else "category"
    return {"columns": columns, "kind": kind, "values": list(values), "groups": groups, "gap": gap}
