"""What the browser draws on the Select page: probabilities of masks and of coins, by the library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpml.counts import contingency
from dpml.selection import PublicFacts, scores_from_counts
from dpml_app.data.measures import dataset
from dpml_app.pages.select.compute import coins, inclusion, shown_ranks
from dpml_app.pages.select.settings import SelectValues

COLUMNS = ["rank", "index", "name", "score", "units", "coin", "range", "published", "per-feature"]


def drawn_tables(values: SelectValues, kinds: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of these scores: the places that are drawn, best first."""
    data, relation = dataset(values.dataset), values.relation
    schema = data.schema
    counts = contingency(data.X_train, data.y_train, schema.n_classes)
    names, D = np.array(data.feature_names, dtype=object), schema.n_features
    T = min(values.n_features, D)
    # the part of ε that pays for the choice
    epsilon = values.epsilon * values.selection_share
    tables = {}
    for kind in kinds:
        scores = scores_from_counts(counts, kind)
        ranks = shown_ranks(D)
        index = np.argsort(-scores, kind="stable")[ranks]
        # how far one record moves a score
        step = PublicFacts.of(schema, relation).change_range(kind)
        table = {"rank": ranks + 1, "index": index, "name": names[index], "score": scores[index]}
        table["units"] = np.maximum((scores[index] - scores.min()) / step, 0.1)
        setting = relation, epsilon, T
        for calibration in ("range", "published", "per-feature"):
            table[calibration] = inclusion(values.dataset, kind, calibration, *setting)[index]
        table["coin"] = coins(values.dataset, kind, values.select_calibration, *setting)[index]
        tables[f"select-drawn-{kind}"] = pd.DataFrame(table)[COLUMNS]
    return tables
