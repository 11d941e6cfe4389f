"""The results of the card of the best method, from a study that ships."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dpml.registry import method
from dpml.studies import NeededEpsilon, best_needed, frontier, standings
from dpml.sweep import standard_study
from dpml_app.drawing.styles import label_of
from dpml_app.work.cache import kept

# what ships is drawn under it
RELATION = "add-remove"
# a method of the map: a study by its name, and what else tells it apart
MAPPED = ("auto", "row-bounded", "binned", "global", "smooth", "objective", "output")
METHODS = {
    **{(method(key).sweep, method(key).study_options.get("method", "")): label_of(key) for key in MAPPED},
    ("naive-bayes", "count"): "T features, counts",
    ("naive-bayes", "mutual_information"): "T features, information",
    # without the year, as the names share a phone's width with the plot
    ("naive-bayes", ""): "Algorithm 1 (Antonova)",
    (method("partitioned").sweep, ""): "Partitioned (Antonova)",
}
SYMBOLS = {"n_features": "T", "reg_lambda": "λ"}


def method_of(row: Mapping[str, Any]) -> str:
    """Return which method of the map a candidate is of.

    >>> method_of({"study": "logistic-regression", "method": "output", "score": None})
    'Logistic, output'
    """
    own = [row.get(name) for name in ("method", "score")]
    return METHODS[row["study"], next((value for value in own if isinstance(value, str)), "")]


def setting_of(row: Mapping[str, Any]) -> str:
    """Return a candidate's own settings in symbols.

    >>> setting_of({"n_features": 10.0, "reg_lambda": float("nan")})
    'T = 10'
    """
    own = {symbol: row.get(name) for name, symbol in SYMBOLS.items()}
    return ", ".join(f"{symbol} = {value:g}" for symbol, value in own.items() if value is not None and value == value)


@kept(2)
def _table(name: str) -> pd.DataFrame:
    return standard_study(name).table


def places(name: str) -> dict[str, list[Any]]:
    """Return the cells of the map as columns: of each method at each ε the candidate that the even draws choose."""
    standing = standings(_table(name))
    standing["method"] = [method_of(row) for row in standing.to_dict("records")]
    standing["setting"] = [setting_of(row) for row in standing.to_dict("records")]
    chosen = standing.loc[standing.groupby(["epsilon", "method"], sort=False)["choice"].idxmax()]
    order = {method: place for place, method in enumerate(METHODS.values())}
    chosen = chosen.assign(place=chosen["method"].map(order)).sort_values(["epsilon", "place"])
    columns = ("epsilon", "method", "setting", "mean", "se", "behind", "behind_se", "best", "equal")
    return {column: chosen[column].tolist() for column in columns}


def best_at(name: str) -> list[dict[str, Any]]:
    """Return what is best at each ε, with how sure that is, a row for each."""
    rows = frontier(_table(name), rng=np.random.default_rng(0)).to_dict("records")
    return [{**row, "method": method_of(row), "setting": setting_of(row)} for row in rows]


def best_for(name: str, target: float) -> tuple[NeededEpsilon, str]:
    """Return which ε the best needs to reach an accuracy, and which method that is."""
    [row] = best_needed(_table(name), target).to_dict("records")
    return NeededEpsilon(row["epsilon"], row["low"], row["high"]), method_of(row)
