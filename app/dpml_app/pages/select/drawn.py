"""What the browser draws on the Select page: probabilities of masks and of coins, by the library."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpml.selection import PublicFacts
from dpml_app.data.measures import dataset
from dpml_app.data.measures import facts as facts_of
from dpml_app.pages.select.chosen_figure import COINS, PLACED, SPREAD, TOP, set_table, short
from dpml_app.pages.select.compute import KINDS, coins, inclusion, one_set, places, shown_ranks
from dpml_app.pages.select.settings import SelectValues


def _setting(values: SelectValues) -> tuple[str, str, float, int]:
    """Return calibration, relation, the part of ε that pays for the choice, and T."""
    T = min(values.n_features, facts_of(values.dataset).n_features)
    return values.select_calibration, values.relation, values.epsilon * values.selection_share, T


def row_tables(values: SelectValues) -> dict[str, pd.DataFrame]:
    """Return the rows, best first, and what one drawn set has of them."""
    facts, setting = facts_of(values.dataset), _setting(values)
    scores, T = facts.scores[values.select_order], setting[-1]
    order = places(scores)
    rows = [(row, short(facts.names[i]), i, row, row) for row, i in enumerate(order[:TOP], 1)]
    first = TOP + 1
    for last in (T, len(order)):
        if last >= first:
            rows.append((len(rows) + 1, f"mean of {first} to {last}", -1, first, last))
            first = last + 1
    table = pd.DataFrame(rows, columns=list(PLACED))
    for kind in KINDS:
        p = inclusion(values.dataset, kind, *setting)[order]
        each = [p[first - 1 : last] for first, last in zip(table["first"], table["last"], strict=True)]
        for end, of in (("", np.mean), ("_low", np.min), ("_high", np.max)):
            table[kind + end] = [of(part) for part in each]
    mask = one_set(values.dataset, values.select_order, *setting, values.seed, values.select_draw)
    return {"select-rows": table[[*PLACED, *SPREAD]], "select-set": set_table(scores, mask)}


def coin_tables(values: SelectValues) -> dict[str, pd.DataFrame]:
    """Return the coins of both scores at the places that are drawn, best first."""
    facts, setting = facts_of(values.dataset), _setting(values)
    public = PublicFacts.of(dataset(values.dataset).schema, values.relation)
    ranks = shown_ranks(facts.n_features)
    names, tables = np.array(facts.names, dtype=object), {}
    for kind, scores in facts.scores.items():
        index = places(scores)[ranks]
        table = {"rank": ranks + 1, "index": index, "name": names[index], "score": scores[index]}
        # how far one record moves a score
        table["units"] = np.maximum((scores[index] - scores.min()) / public.change_range(kind), 0.1)
        table["coin"] = coins(values.dataset, kind, *setting)[index]
        tables[f"select-drawn-{kind}"] = pd.DataFrame(table)[list(COINS)]
    return tables
