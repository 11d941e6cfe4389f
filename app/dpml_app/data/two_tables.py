"""A true table and a published one side by side: the marginals of some columns, and the first rows. For study."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.classifiers.grid import places_of
from dpml.schema import Feature, Schema

# columns and rows that are shown, and bars of one column
COLUMNS, ROWS, MOST_BARS = 8, 6, 16
# a table and its labels
Labelled = tuple[pd.DataFrame, NDArray]


def side_by_side(
    true: Labelled, published: Labelled, schema: Schema, kept: Sequence[str], label_name: str
) -> dict[str, Any]:
    """Return what is shown of a true table and of a published one.

    `true`, `published`: features and labels.
    `kept`: columns that the published table tells apart.

    Result: ``names`` of the columns that are shown: the class, those that are kept, then the first of the others.
    ``groups``: the names of each one's bars. ``shares`` and ``rows``, both by ``true`` and ``published``: the share of
    the table in each bar, and the first rows as texts. ``n``: the numbers of records. ``kept``: all columns that are
    kept, of ``n_columns``.
    """
    both = {"true": true, "published": published}
    shown = sorted(schema.features, key=lambda f: f.name not in kept)[: COLUMNS - 1]
    return {
        "names": [label_name, *(f.name for f in shown)],
        "groups": [[str(c) for c in schema.classes], *(f.taxonomy.groups(_level(f)) for f in shown)],
        "shares": {
            of: [_label_shares(label, schema.classes), *(_shares(frame, schema, f) for f in shown)]
            for of, (frame, label) in both.items()
        },
        "rows": {of: _rows(frame, label, shown) for of, (frame, label) in both.items()},
        "n": {of: len(label) for of, (_frame, label) in both.items()},
        "kept": list(kept),
        "n_columns": schema.n_features,
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
