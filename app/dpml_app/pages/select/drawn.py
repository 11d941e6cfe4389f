"""What the browser draws on the Select page: probabilities of masks and of coins, by the library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit

from dpml.counts import contingency
from dpml.selection import MaskSelector, PublicFacts, inclusion_probabilities, scores_from_counts
from dpml_app.data.measures import dataset
from dpml_app.pages.select.compute import shown_ranks
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
        # how far one record moves a score; the reference of the thesis' coin is score T + 1
        step = PublicFacts.of(schema, relation).change_range(kind)
        reference = np.sort(scores)[::-1][min(T, D - 1)]
        table = {"rank": ranks + 1, "index": index, "name": names[index], "score": scores[index]}
        table["units"] = np.maximum((scores[index] - scores.min()) / step, 0.1)
        for calibration in ("range", "published", "per-feature"):
            selector = MaskSelector(epsilon, T, kind, calibration=calibration, relation=relation)
            weight = selector.weight(schema)
            table[calibration] = inclusion_probabilities(weight * scores, T)[index]
            if calibration == values.select_calibration:
                table["coin"] = expit(weight * (scores - reference))[index]
        tables[f"select-drawn-{kind}"] = pd.DataFrame(table)[COLUMNS]
    return tables
