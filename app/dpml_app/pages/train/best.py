"""Card: which method is best at which ε. A map of a standard study that ships, so that it is there at once."""

from typing import Any

import numpy as np
from bokeh.models import ColorBar, CustomJS, FactorRange, LinearColorMapper
from bokeh.palettes import Viridis256

from dpml.sweep import STANDARD
from dpml_app.core.card import IMMEDIATE, ResultKey, Results, here
from dpml_app.drawing.figure import Figure, across, edges, empty_source, hover, over_epsilon
from dpml_app.drawing.legend import PlotLegend, mark
from dpml_app.drawing.styles import HERE, OVERLAY
from dpml_app.pages.train.best_compute import METHODS, RELATION, best_at, best_for, places
from dpml_app.pages.train.card import TrainCard, nearest
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.settings import TrainValues
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import percent
from dpml_app.work.pool import Task

# what is so many points behind, or more, is darkest
FAR = 10.0
# the marker stands at an ε that can be chosen
SNAP = """
const off = (step) => Math.abs(Math.log(step / cb_obj.location))
const nearest = cb_obj.location > 0 ? steps.reduce((best, step) => off(step) < off(best) ? step : best) : steps[0]
if (nearest !== cb_obj.location) { cb_obj.setv({location: nearest}, {sync: false}) }
"""


class BestFigure(Figure):
    """A row for each method, a column for each ε: how far it is behind the best, and which are as good."""

    computed = ("cells", "equal", "best")

    def __init__(self) -> None:
        methods = FactorRange(factors=list(METHODS.values())[::-1])
        self.plot = p = over_epsilon("train-best", EPSILONS[0] / 1.5, EPSILONS[-1] * 1.5, y_range=methods)
        p.grid.visible = False
        p.yaxis.major_label_text_font_size = "11px"  # on a phone the names take half of the width
        columns = ("left", "right", "epsilon", "method", "setting", "mean", "error", "behind")
        self.cells = empty_source("train-best-cells", *columns)
        self.equal = empty_source("train-best-equal", "epsilon", "method")
        self.best = empty_source("train-best-best", "epsilon", "method", "setting", "mean", "error", "share")
        look: dict[str, Any] = {"line_color": HERE, "line_width": 3, "hover_line_color": HERE, "hover_line_width": 6}
        self.marker = across(p, "height", editable=True, name="train-best-marker", level=OVERLAY, **look)
        # where the server has put it last, which is no move
        self._placed: float | None = None
        snap = CustomJS(args={"steps": list(EPSILONS)}, code=SNAP)
        self.marker.js_on_change("location", snap)
        mapper = LinearColorMapper(palette=Viridis256[::-1], low=0.0, high=FAR, name="train-best-colors")
        look = {"fill_color": {"field": "behind", "transform": mapper}, "line_color": None}
        cells = p.hbar("method", left="left", right="right", height=1, source=self.cells, **look)
        dot: Any = {"size": 9, "fill_color": "black", "line_color": "white", "level": OVERLAY}
        ring: Any = {"fill_color": "white", "line_color": "black", "line_width": 2}
        p.scatter("epsilon", "method", source=self.equal, **dot)
        p.scatter("epsilon", "method", source=self.best, size=14, level=OVERLAY, **ring)
        legend = PlotLegend(p)
        legend.add("best", [mark("circle", "white", **{k: v for k, v in ring.items() if k != "fill_color"})])
        legend.add("as good", [mark("circle", "black")])
        bar = ColorBar(color_mapper=mapper, height=10, major_label_text_font_size="12px", padding=3)
        bar.title = "percentage points behind the best"
        p.add_layout(bar, "above")
        right = ("accuracy", "@mean{0.0%} ± @error{0.0%}"), ("points behind", "@behind{0.0}")
        hover(p, [cells], ("method", "@method @setting"), ("ε", "@epsilon"), *right)

    def place(self, epsilon: float) -> None:
        """Put the marker at an ε."""
        self._placed = epsilon
        self.marker.location = epsilon

    def moved(self, location: float | None) -> float | None:
        """Return where the browser has moved the marker; None if the server has put it there."""
        return None if location == self._placed else location

    def show(self, cells: dict[str, list[Any]], best: list[dict[str, Any]]) -> None:
        """Show the cells of a study, and what is best at each ε."""
        methods = list(dict.fromkeys(cells["method"]))
        if list(self.plot.y_range.factors) != methods[::-1]:
            self.plot.y_range.factors = methods[::-1]
        epsilons = sorted(set(cells["epsilon"]))
        ends = dict(zip(epsilons, zip(*edges(epsilons), strict=True), strict=True))
        taken = {name: cells[name] for name in ("epsilon", "method", "setting", "mean")}
        self.cells.data = {
            "left": [float(ends[epsilon][0]) for epsilon in cells["epsilon"]],
            "right": [float(ends[epsilon][1]) for epsilon in cells["epsilon"]],
            **taken,
            "error": cells["se"],
            "behind": (100 * np.array(cells["behind"])).tolist(),
        }
        good = [
            result_key for result_key, equal in enumerate(cells["equal"]) if equal and not cells["best"][result_key]
        ]
        self.equal.data = {name: [cells[name][result_key] for result_key in good] for name in ("epsilon", "method")}
        of_best = {name: [row[name] for row in best] for name in ("epsilon", "method", "setting", "mean", "share")}
        self.best.data = {**of_best, "error": [row["se"] for row in best]}


class BestCard(TrainCard):
    """The best method and settings at each ε, and the ε that a target accuracy needs."""

    draw = BestFigure
    name, title = "best", "Best method at each ε"
    families, wide, says, controls = ("naive-bayes", "linear"), True, True, ("train_wanted",)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        if values.dataset not in STANDARD:
            return (
                f"this study covers {', '.join(STANDARD)}. Run <code>python -m dpml sweep</code> for other data sets."
            )
        if values.relation != RELATION:
            return "this study covers the relation add or remove one record."
        return ""

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        name = values.dataset
        return {
            ("places", IMMEDIATE): Task(places, (name,)),
            ("best", IMMEDIATE): Task(best_at, (name,)),
            ("needed", IMMEDIATE): Task(best_for, (name, values.train_wanted / 100)),
        }

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        self.figure.place(values.epsilon)
        cells, best = here(now, "places"), here(now, "best")
        if cells is not None and best is not None:
            self.figure.show(cells, best)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        best, needed = here(results, "best"), here(results, "needed")
        if best is None or needed is None:
            return "Computing…"
        by_epsilon = {row["epsilon"]: row for row in best}
        row = by_epsilon[nearest(list(by_epsilon), values.epsilon)]
        return f"{_best_in_words(row)} {_needed_in_words(values.train_wanted, *needed)}"


def _best_in_words(row: dict[str, Any]) -> str:
    setting = f" with {row['setting']}" if row["setting"] else ""
    others = row["equal"] - 1
    as_good = f"Equally good: {others} of {row['candidates'] - 1} other candidates"
    mean = f"<b>{percent(row['mean'])}</b> (± {100 * row['se']:.1f})"
    return f"At ε = {row['epsilon']:g}: <b>{row['method']}</b>{setting}, {mean}. {as_good}."


def _needed_in_words(wanted: float, interval: Any, method: str) -> str:
    if not np.isfinite(interval.epsilon):
        return f"No ε up to 10 reaches {wanted:g}%."
    high = f"{interval.high:g}" if np.isfinite(interval.high) else "more than 10"
    reaches = f"<b>{wanted:g}%</b> needs <b>ε = {interval.epsilon:g}</b>"
    return f"{reaches} ({interval.low:g} to {high}) with {method}."
