"""One drawn table beside the true one: marginals of some columns, and their first rows. For study."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.classifiers.grid import places_of
from dpml.schema import Feature
from dpml_app.data.measures import dataset
from dpml_app.pages.publish.compute import MOST_RECORDS, grid_options, make_publisher, tables

# columns and rows that are shown, and bars of one column
COLUMNS, ROWS, MOST_BARS = 8, 6, 16


def drawn_table(
    name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int, draw: int
) -> dict[str, Any]:
    """Return one of the tables whose accuracies `dpml_app.pages.publish.compute.published` returns.

    Returns
    -------
    dict
        ``names`` of the columns that are shown: the class, those that the grid keeps, then the first of the others.
        ``groups``: the names of each one's bars. ``shares`` and ``rows``, both by ``true`` and ``published``: the share
        of the table in each bar, and the first rows as texts. ``n``: the numbers of records. ``kept``: all columns that
        the grid keeps, of ``n_columns``.
    """
    parts = tables(name)
    publisher = make_publisher(
        "privpfc", epsilon, grid_options(parts, relation, max_grids, share), np.random.default_rng([seed, draw])
    )
    model = publisher.fit(parts.train, parts.y_train)
    table = model.sample(int(min(model.cell_counts_.sum(), MOST_RECORDS)))
    both = {
        "true": (parts.train, np.asarray(parts.y_train)),
        "published": (table, table[model.label_name_].to_numpy(dtype=object)),
    }
    kept = [f.name for f in parts.schema.features if f.name in model.levels_]
    shown = sorted(parts.schema.features, key=lambda f: f.name not in kept)[: COLUMNS - 1]
    return {
        "names": [str(dataset(name).card["label"]["name"]), *(f.name for f in shown)],
        "groups": [[str(c) for c in parts.schema.classes], *(f.taxonomy.groups(_level(f)) for f in shown)],
        "shares": {
            of: [_label_shares(label, parts.schema.classes), *(_shares(frame, parts.schema, f) for f in shown)]
            for of, (frame, label) in both.items()
        },
        "rows": {of: _rows(frame, label, shown) for of, (frame, label) in both.items()},
        "n": {of: len(label) for of, (_frame, label) in both.items()},
        "kept": kept,
        "n_columns": parts.schema.n_features,
    }


def _level(feature: Feature) -> int:
    """Return the finest level that has room for its bars, or the finest where none has."""
    sizes = feature.taxonomy.sizes
    return max((level for level, size in enumerate(sizes) if 1 < size <= MOST_BARS), default=len(sizes) - 1)


def _rounded(counts: NDArray) -> list[float]:
    return [round(float(share), 4) for share in counts / max(counts.sum(), 1)]


def _label_shares(label: NDArray, classes: Any) -> list[float]:
    texts = label.astype(str)
    return _rounded(np.array([(texts == str(c)).sum() for c in classes]))


def _shares(frame: pd.DataFrame, schema: Any, feature: Feature) -> list[float]:
    """Return the share of a table in each group of a column."""
    level = _level(feature)
    (places,) = places_of(frame[[feature.name]], schema.subset([feature.name]), [feature.taxonomy])
    counts = np.bincount(feature.taxonomy.above(level)[places], minlength=feature.taxonomy.sizes[level])
    return _rounded(counts)


def _rows(frame: pd.DataFrame, label: NDArray, shown: list[Feature]) -> list[list[str]]:
    columns = [[str(c) for c in label[:ROWS]], *(_texts(frame[f.name].iloc[:ROWS], f) for f in shown)]
    return [list(row) for row in zip(*columns, strict=True)]


def _texts(column: pd.Series, feature: Feature) -> list[str]:
    if feature.kind != "numeric":
        return [str(v) for v in column]
    # a range of a few units needs its decimals
    assert feature.lower is not None
    assert feature.upper is not None
    digits = 0 if feature.upper - feature.lower >= 10 else 2
    return [f"{float(v):,.{digits}f}" for v in column]
