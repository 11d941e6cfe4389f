"""Card: which choice of T features leads at which T and ε; what ``benchmarks/selection_delta.py`` measured ships."""

from pathlib import Path
from typing import Any

import pandas as pd
from bokeh.models import FactorRange

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.data.shipped import read_shipped
from dpml_app.drawing.figure import empty_source, hover, new_figure, write
from dpml_app.drawing.styles import REFERENCE, style_of
from dpml_app.pages.select import words
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.settings import SelectValues
from dpml_app.work.pool import Task

HERE = Path(__file__).with_name("shipped")
LEADS = "leads"
# by the names in the benchmark's table
METHODS = {
    "masks": "mask-count",
    "joint": "joint",
    "one shot": "one-shot",
    "peeling": "exact",
    "peeling, δ": "peeling-delta",
    "limited domain, δ": "limited-domain",
}
SIZES = (1, 5, 20, 100)
LEVEL = "level"
FEW = 2  # standard errors


def copy_leads(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return `rows`, one for each data set, T and ε of the benchmark's table: what leads, and what is next."""
    table = pd.read_csv(folder / "selection_delta.csv", comment="#")
    rows = []
    for (data, T, epsilon), cell in table[table["T"].isin(SIZES)].groupby(["data", "T", "epsilon"]):
        best, after = cell.sort_values("share", ascending=False, kind="stable").to_dict("records")[:2]
        close = best["share"] - after["share"] <= FEW * (best["se"] ** 2 + after["se"] ** 2) ** 0.5
        row = {"data": data, "T": T, "epsilon": epsilon, "leads": LEVEL if close else best["method"]}
        rows.append({**row, "share": best["share"], "best": best["method"], "next": after["share"]})
    return {"rows": rows}


def _leads() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_shipped(HERE, LEADS)["rows"]
    return rows


def leads(name: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the rows of a data set, or of the longest text where it has none, and which it is.

    >>> leads("census")[0]
    'sms'
    """
    shown = name if any(row["data"] == name for row in _leads()) else "sms"
    return shown, [row for row in _leads() if row["data"] == shown]


class LeadsFigure:
    """A cell for each T and ε, in the colour of the method that leads."""

    def __init__(self) -> None:
        epsilons = sorted({row["epsilon"] for row in _leads()})
        ranges = {"x_range": FactorRange(*map(str, epsilons)), "y_range": FactorRange(*map(str, SIZES))}
        self.plot = p = new_figure("select-leads", x_axis_label="ε", y_axis_label="number of features T", **ranges)
        p.grid.visible = False
        self.cells = empty_source("select-leads", "x", "y", "leads", "colour", "share", "best", "next")
        boxes = p.rect("x", "y", 0.96, 0.96, source=self.cells, fill_color="colour", fill_alpha=0.3, line_color=None)
        write(p, "x", "y", "leads", color=REFERENCE, source=self.cells, text_align="center", text_baseline="middle")
        tips = [("best", "@best"), ("share of the best scores", "@share{0.000}"), ("next method", "@next{0.000}")]
        hover(p, [boxes], *tips)

    def show(self, rows: list[dict[str, Any]]) -> None:
        """Show the cells of a data set."""
        colours = {name: style_of(key, "selector").color for name, key in METHODS.items()}
        self.cells.data = {
            "x": [str(row["epsilon"]) for row in rows],
            "y": [str(row["T"]) for row in rows],
            "colour": [colours.get(row["leads"], "rgba(0, 0, 0, 0)") for row in rows],
            **{name: [row[name] for row in rows] for name in ("leads", "share", "best", "next")},
        }

    def clear(self) -> None:
        """Keep the cells: they need no draws."""


class LeadsCard(Card[SelectValues, SelectFacts]):
    """What leads on the data set, or on SMS."""

    draw = LeadsFigure
    name, title, caption = "leads", "Most accurate selection", words.CAPTIONS["leads"]
    no_script = "Its results are recorded. To measure them again, run: python benchmarks/selection_delta.py --results"

    def work(self, values: SelectValues, facts: SelectFacts) -> dict[ResultKey, Task]:
        return {("leads", IMMEDIATE): Task(leads, (values.dataset,))}

    def prepare(self, values: SelectValues, facts: SelectFacts, now: Results) -> None:
        self.figure.show(now["leads", IMMEDIATE][1])

    def readout(self, values: SelectValues, facts: SelectFacts, results: Results) -> str:
        return words.leads_words(*results["leads", IMMEDIATE])
