"""The Noise page: what goes where, and what is drawn again when a control changes.

The server answers every change at once, for nothing here takes longer than some milliseconds; the browser computes what
depends on the dragged points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, Range1d, Span
from panel.models.markup import HTML

from dpml.exceptions import DpmlError
from dpml.mechanisms import Laplace
from dpml.mechanisms.smooth.admissible import Cauchy
from dpml_app.card import Slot, answer, card, figure_pane, grid, line
from dpml_app.drawing.looks import REFERENCE, Style
from dpml_app.noise import compute as noise_compute
from dpml_app.noise import words as noise_words
from dpml_app.noise.controls import NoiseControls, points_of
from dpml_app.noise.figures import (
    CALIBRATION_STYLES,
    CHOICE_STYLES,
    RIVAL_STYLES,
    CurveFigure,
    HistogramFigure,
    PlaneFigure,
)
from dpml_app.noise.models import model
from dpml_app.noise.points import encode
from dpml_app.noise.settings import BETA_SHARES, MECHANISMS, NOISE_EPSILONS, NoiseSettings
from dpml_app.noise.smooth_figures import SPREAD, SmoothFigures
from dpml_app.page import BasePage
from dpml_app.work.pool import Pool

__all__ = ["NoisePage"]

TAIL_STYLES = {
    "bound": Style("Theorem 2.2.2", "#E69F00", "square", "dashed"),
    "exact": Style("Laplace, exact", "#0072B2", "circle", "solid"),
    "own": Style("Chosen mechanism", "#D55E00", "triangle", "dotted"),
}
ERRORS = np.linspace(0, 25, 501)
SHARED = {"noise_mechanism", "noise_epsilon", "noise_sensitivity", "noise_delta", "noise_beta"}


class NoisePage(BasePage):
    """The page of one session.

    Parameters
    ----------
    settings : NoiseSettings
    pool : Pool
        Not used: nothing here takes long.
    """

    question = "How much noise hides a person?"
    lead = "Drag <b>ε</b>: left hides better, right errs less."
    settings: NoiseSettings

    def __init__(self, settings: NoiseSettings, pool: Pool):
        super().__init__(settings, pool)
        self.names = settings.noise_names()
        self.controls = NoiseControls(settings, self.report)
        self.histogram, self.plane = HistogramFigure(), PlaneFigure()
        self.tails = CurveFigure(
            "noise-tails",
            TAIL_STYLES,
            "probability of a larger error (log scale)",
            (-4, 0),
            values="probability",
            x_range=Range1d(start=0, end=25),
            x_axis_label="largest error, in units of Δ/ε",
        )
        self.rivals = CurveFigure("noise-rivals", RIVAL_STYLES, "size of the noise (log scale)", (-4, 6), "Smallest")
        self.choices = CurveFigure("noise-choices", CHOICE_STYLES, "expected loss (log scale)", (-6, 2), "Smallest")
        self.scales = CurveFigure("noise-scales", CALIBRATION_STYLES, "Cauchy scale per unit of S (log scale)", (-3, 3))
        self.costs = CurveFigure("noise-costs", CALIBRATION_STYLES, "ε that is truly paid (log scale)", (-3, 2))
        ends = [NOISE_EPSILONS[0] / 2, NOISE_EPSILONS[-1] * 2]
        self.costs.plot.line(ends, ends, color=REFERENCE, line_width=2, line_dash="dotted")
        self.level = Span(location=0.05, dimension="width", line_width=2, line_color=REFERENCE, line_dash="dotted")
        self.tails.plot.add_layout(self.level)
        self.smooth = SmoothFigures()
        # named apart from what the browser writes: how often the server has answered
        self.state = ColumnDataSource({"answers": [0]}, name="noise-state")
        self.sections: dict[str, tuple[set[str], Callable[[dict[str, Any]], None]]] = {
            "draws": (SHARED | {"noise_draws", "noise_seed", "noise_dimension", "noise_reach"}, self._draws),
            "tails": (SHARED | {"noise_queries", "noise_failure"}, self._tails),
            "rivals": ({*SHARED, "noise_touched", "noise_measure"} - {"noise_mechanism", "noise_beta"}, self._rivals),
            "choices": ({"noise_epsilon", "noise_sensitivity", "noise_gap"}, self._choices),
            "smooth": (
                {"noise_epsilon", "noise_beta", "noise_statistic", "noise_trim", "noise_relation", "noise_seed"},
                self._smooth,
            ),
            "points": ({"noise_points", "noise_preset", "noise_size"}, self._points),
            "calibrations": ({"noise_epsilon", "noise_beta"}, self._calibrations),
        }
        self._build()
        settings.param.watch(self._on_change, self.names)

    # ---- layout -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        names = ("draws", "tails", "rivals", "choices", "smooth", "calibrations")
        self.readouts = {
            name: HTML(text="", name=f"noise-{name}-readout", sizing_mode="stretch_width") for name in names
        }
        # a model is in the document once another one refers to it: the browser draws before the card is near the view
        smooth = self.smooth
        self.histogram.plot.tags = [self.state, smooth.points, smooth.controls, smooth.unit]
        scales = line(figure_pane(self.scales.plot), figure_pane(self.costs.plot), least=480)
        captions, slots = noise_words.CAPTIONS, {}
        for title, name, content, wide in (
            ("The largest error of many answers", "tails", self.tails.plot, False),
            ("Which noise is smallest", "rivals", self.rivals.plot, False),
            ("Sensitivity of your own points", "smooth", self._smooth_panes(), True),
            ("Choosing one of five", "choices", self.choices.plot, False),
            ("Three calibrations of Cauchy noise", "calibrations", scales, True),
        ):
            aside = name in ("tails", "rivals")
            make = partial(card, title, self.readouts[name], content, captions[name], self._above(name), aside=aside)
            slots[name] = Slot(f"noise-{name}", make, wide=wide)
        self.slots = list(slots.values())
        plots = [self.histogram.plot, self.plane.plot]
        self.places["top"].append(self._answer_place("What the noise looks like", captions["draws"], plots))
        self.places["side"].extend([self.risk, self.controls.side])
        self.places["advanced"].append(self.controls.advanced)
        self.places["why"].append(grid(self.slots[:2]))
        self.places["more"].append(grid(self.slots[2:]))
        self.smooth.connect(self.readouts["smooth"])
        self.smooth.points.on_change("data", self._dragged)

    def _answer_place(self, title: str, caption: str, plots: list[Any]) -> pn.Column:
        epsilon, own = self.controls.widgets["noise_epsilon"], self._above("draws")
        return answer(title, caption, plots, epsilon, own, readout=self.readouts["draws"])

    def _smooth_panes(self) -> pn.Column:
        left = pn.Column(figure_pane(self.smooth.line), figure_pane(self.smooth.release), sizing_mode="stretch_width")
        return line(left, figure_pane(self.smooth.envelope), least=480)

    def _above(self, name: str) -> pn.Column | None:
        """Return the controls that stand in a card, if there are any."""
        widgets = self.controls.cards.get(name, [])
        return line(*widgets) if widgets else None

    # ---- answers ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Draw everything; called once the page is in the browser."""
        if self._doc is not None:
            return
        self._doc = pn.state.curdoc
        self._answer(set().union(*(names for names, _ in self.sections.values())))

    def _on_change(self, *events) -> None:
        if self._doc is not None:
            self._answer({e.name for e in events})

    def _answer(self, changed: set[str]) -> None:
        values = {name: getattr(self.settings, name) for name in self.names}
        with pn.io.hold(self._doc):
            self.show_risk("noise_epsilon", "noise_relation")
            for section, (names, draw) in self.sections.items():
                if not names & changed:
                    continue
                try:
                    draw(values)
                    self.clear(section)
                except (DpmlError, ValueError, ArithmeticError) as error:
                    self.report(section, f"{section.capitalize()}: {error}")
            self.state.data = {"answers": [self.state.data["answers"][0] + 1]}

    @staticmethod
    def _numbers(values: dict[str, Any]) -> tuple[float, float, float, float]:
        share = BETA_SHARES[values["noise_beta"]]
        return values["noise_epsilon"], values["noise_sensitivity"], values["noise_delta"], share

    def _usable(self, values: dict[str, Any]) -> bool:
        """Say so, and clear the picture, where Student's t has no scale at this β."""
        if values["noise_mechanism"] != "student" or BETA_SHARES[values["noise_beta"]] < 1 / 3:
            return True
        self.plane.clear()
        for source in (self.histogram.bars, self.histogram.exact):
            source.data = {c: [] for c in source.data}
        self._read_out(
            "draws",
            "Student's t noise with 3 degrees of freedom needs β below ε/3. Choose a smaller β, or Cauchy noise, "
            "which needs β below ε.",
        )
        return False

    def _draws(self, values: dict[str, Any]) -> None:
        dimension = values["noise_dimension"]
        self.histogram.plot.visible, self.plane.plot.visible = dimension == 1, dimension == 2
        if not self._usable(values):
            return
        name, numbers, reach = values["noise_mechanism"], self._numbers(values), values["noise_reach"]
        draws, seed = values["noise_draws"], values["noise_seed"]
        if dimension == 1:
            noise = model(name, *numbers)
            found = noise_compute.histogram(noise, reach, draws, seed)
            self.histogram.show(found)
            self._read_out("draws", noise_words.draw_words(values, noise, found))
        else:
            pair = noise_compute.plane(name, numbers, reach, draws, seed)
            self.plane.show(pair, reach)
            beyond = float(np.mean((np.abs(pair.x) > reach) | (np.abs(pair.y) > reach)))
            self._read_out("draws", noise_words.plane_words(values, beyond))

    def _tails(self, values: dict[str, Any]) -> None:
        name, numbers, queries = values["noise_mechanism"], self._numbers(values), values["noise_queries"]
        unit = numbers[1] / numbers[0]
        exact = noise_compute.largest_tail("laplace", numbers, queries, ERRORS * unit)
        assert exact is not None
        curves = {"exact": exact, "bound": np.minimum(queries * np.exp(-ERRORS), 1.0)}
        note = ""
        if name not in ("laplace", "norm-1"):
            blocked = name == "student" and numbers[3] >= 1 / 3
            own = None if blocked else noise_compute.largest_tail(name, numbers, queries, ERRORS * unit)
            if own is None:
                why = "has no scale at this β" if blocked else "has no closed form for its largest coordinate"
                note = f" {MECHANISMS[name]} noise {why} and is not drawn."
            else:
                curves["own"] = own
        self.tails.show(curves, ERRORS)
        bound, true = (t / unit for t in noise_compute.accuracy_bounds(*numbers[:2], queries, values["noise_failure"]))
        self.tails.mark(bound, {"bound": values["noise_failure"]})
        self.tails.here.data = {"x": [bound, true], "y": [values["noise_failure"]] * 2}
        self.level.location = values["noise_failure"]
        self._read_out("tails", noise_words.tail_words(values, note))

    def _rivals(self, values: dict[str, Any]) -> None:
        names = ("noise_sensitivity", "noise_delta", "noise_touched", "noise_measure")
        sizes = noise_compute.rival_sizes(*(values[n] for n in names))
        # what is 0 has no place on a log axis
        drawn = {name: np.where(size > 0, size, np.nan) for name, size in sizes.items()}
        here = _at(values["noise_epsilon"], sizes)
        self.rivals.show(drawn)
        self.rivals.mark(values["noise_epsilon"], _at(values["noise_epsilon"], drawn))
        self._read_out("rivals", noise_words.rival_words(values, here))

    def _choices(self, values: dict[str, Any]) -> None:
        losses = noise_compute.choice_losses(values["noise_gap"], values["noise_sensitivity"])
        here = _at(values["noise_epsilon"], losses)
        self.choices.show(losses)
        self.choices.mark(values["noise_epsilon"], here)
        self._read_out("choices", noise_words.choice_words(values, here))

    def _calibrations(self, values: dict[str, Any]) -> None:
        found = noise_compute.calibrations(BETA_SHARES[values["noise_beta"]])
        scales, costs = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
        here = [_at(values["noise_epsilon"], curves) for curves in (scales, costs)]
        for plot, curves, marks in zip((self.scales, self.costs), (scales, costs), here, strict=True):
            plot.show(curves)
            plot.mark(values["noise_epsilon"], marks)
        self._read_out(
            "calibrations",
            noise_words.calibration_words(values, {name: (here[0][name], here[1][name]) for name in found}),
        )

    # ---- the points ---------------------------------------------------------------------------------------------

    def _smooth(self, values: dict[str, Any]) -> None:
        rng = np.random.default_rng(values["noise_seed"])
        unit = Cauchy(1.0, 1 / 6)
        self.smooth.unit.data = {
            "smooth": unit.release(0.0, 1.0, rng=rng, draws=SPREAD) / unit.scale,
            "global": Laplace(1.0).release(0.0, rng=rng, draws=SPREAD),
            "off": rng.uniform(-0.3, 0.3, SPREAD),
        }
        names = ("statistic", "relation", "trim", "epsilon")
        controls = {name: [values[f"noise_{name}"]] for name in names}
        self.smooth.controls.data = {**controls, "share": [BETA_SHARES[values["noise_beta"]]]}

    def _points(self, _values: dict[str, Any]) -> None:
        x = points_of(self.settings)
        now = np.asarray(self.smooth.points.data["x"], dtype=float)
        if not np.array_equal(x, now):
            self.smooth.show_points(x)

    def _dragged(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        """Take what has been dragged into the settings, and so into the link."""
        x = np.asarray(new["x"], dtype=float)
        if not np.array_equal(x, points_of(self.settings)):
            self.settings.noise_points = encode(x)


def _at(epsilon: float, curves: dict[str, np.ndarray]) -> dict[str, float]:
    place = NOISE_EPSILONS.index(epsilon)
    return {name: float(curve[place]) for name, curve in curves.items()}
