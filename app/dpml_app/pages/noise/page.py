"""The page Noise: the noise of each mechanism, and its size. The server answers every change at once."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import panel as pn
import panel_material_ui as pmui

from dpml_app.compat import answer_soon
from dpml_app.core.card import IMMEDIATE, WHOLE, Card, ResultKey, Results, figure_pane, line
from dpml_app.core.curves_card import CurvesCard
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import WIDE, Controls, note
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.styles import REFERENCE, Style
from dpml_app.jobs import Task
from dpml_app.kit.widgets import make_widget
from dpml_app.pages.noise import compute, text
from dpml_app.pages.noise.compute import (
    BETA_SHARES,
    LOWER,
    SIZES,
    UPPER,
    NoiseSettings,
    NoiseValues,
    encode,
    has_scale,
    points_of,
)
from dpml_app.pages.noise.figures import CALIBRATION_STYLES, RIVAL_STYLES, CountFigure, SmoothFigures
from dpml_app.pages.noise.lesson import FIGURES
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import risk
from dpml_app.views.frame import Axis

CLAIMED_STYLE = Style("Claimed ε", REFERENCE, "dot", "dotted")
CLAIMED = {epsilon: np.array([epsilon]) for epsilon in EPSILONS}


class NoiseControls(Controls):
    """The widgets of the page; three of them move a point without a pointer."""

    settings: NoiseSettings
    in_top = "noise_epsilon"
    seed = "noise_seed"

    def lay_out(self) -> None:
        """Make the widgets beside the picture and under "Advanced"."""
        self.side = pn.Column(self.add("noise_mechanism"), self.add("noise_sensitivity"), self.redraw, **WHOLE)
        self.advanced = pn.Column(
            self.add("noise_delta"),
            note("Probability that the guarantee of Gaussian noise fails."),
            self.add("noise_beta", pmui.DiscreteSlider),
            note("Smoothness of the sensitivity that scales Cauchy and Student's t noise."),
            self.add("noise_seed", pmui.IntInput),
            **WHOLE,
        )

    def in_cards(self) -> None:
        self.add("noise_relation", pmui.RadioBoxGroup, inline=True)
        for name in ("noise_preset", "noise_size"):
            self.add(name, before=self._forget_points)
        point = make_widget(pmui.IntInput, label="Point", start=1, end=SIZES[-1], step=1, value=1, **WIDE)
        value: Any = make_widget(
            pmui.FloatSlider, label="Value of the point", start=LOWER, end=UPPER, step=0.5, value=50.0, **WIDE
        )
        answer_soon(value)
        back = make_widget(pmui.Button, label="Reset points", variant="outlined", **WIDE)
        back.on_click(self._reset_points)
        point.param.watch(self._show_value, "value")
        value.param.watch(self._move, "value")
        self.point, self.value = point, value
        self.widgets |= {"point": point, "value": value, "back": back}
        self.settings.param.watch(self._show_value, ["noise_points", "noise_preset", "noise_size"])
        self._show_value()

    def _forget_points(self, event: Any) -> None:
        """Forget dragged points when other initial points are chosen, but not when a link brings both."""
        if event.new not in (self.settings.noise_preset, self.settings.noise_size):
            self._reset_points(event)

    def _reset_points(self, _event: Any) -> None:
        self.settings.noise_points = ""

    def _index(self) -> int:
        return min(max(int(self.point.value or 1), 1), len(points_of(self.settings))) - 1

    def _show_value(self, *_events: Any) -> None:
        """Show the value of the chosen point, which a drag may have changed."""
        points = points_of(self.settings)
        self.point.end, self.value.value = len(points), float(points[self._index()])

    def _move(self, event: Any) -> None:
        points, index = points_of(self.settings), self._index()
        if abs(points[index] - event.new) > 1e-9:
            points[index] = event.new
            self.settings.noise_points = encode(points)


class CountCard(Card[NoiseValues, NoFacts]):
    """Two densities, their overlap, and releases that fall one by one."""

    draw = CountFigure
    name, title, caption = "count", "Count with and without you", text.CAPTIONS["count"]
    depends = frozenset({f"noise_{name}" for name in ("mechanism", "epsilon", "sensitivity", "delta", "beta", "seed")})

    def refusal(self, values: NoiseValues, facts: NoFacts) -> str:
        return "" if has_scale(values.noise_mechanism, BETA_SHARES[values.noise_beta]) else text.NO_SCALE

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("pair", IMMEDIATE): Task(compute.pair, (*values.mechanism_key(), values.noise_seed))}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        self.figure.show(now["pair", IMMEDIATE], values.noise_epsilon, values.noise_sensitivity, values.noise_seed)

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return text.count_readout(values, results["pair", IMMEDIATE])


class ExactCurvesCard(CurvesCard[NoiseValues, NoFacts]):
    """Exact curves over ε, which the server answers at once."""

    look: ClassVar[Mapping[str, Any]] = {"tip": "0.000 a"}

    def at(self, values: NoiseValues) -> float:
        return values.noise_epsilon

    def series(self, results: Results) -> Mapping[str, Mapping[float, np.ndarray]]:
        found: Mapping[str, Mapping[float, np.ndarray]] = results["curves", IMMEDIATE]
        return found

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.show(now, {})

    def chosen(self, results: Results) -> dict[str, float]:
        """Return the value of each curve at the chosen ε."""
        return {name: float(curve[self._values.noise_epsilon][0]) for name, curve in self.series(results).items()}


class RivalsCard(ExactCurvesCard):
    """The mean size of each mechanism's noise against ε."""

    plot_name, styles, ylim = "noise-rivals", RIVAL_STYLES, (1e-4, 1.5e6)
    y = Axis("mean size (log scale)", log=True, ticks=tuple(10.0**k for k in range(-4, 7, 2)))
    name, title, caption = "rivals", "Noise size by mechanism", text.CAPTIONS["rivals"]
    controls = ("noise_touched",)
    depends = frozenset({"noise_epsilon", "noise_sensitivity", "noise_delta", *controls})

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        key = values.noise_sensitivity, values.noise_delta, values.noise_touched
        return {("curves", IMMEDIATE): Task(compute.rival_sizes, key)}

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return text.rivals_readout(values, self.chosen(results))


class CalibrationsCard(ExactCurvesCard):
    """The actual ε of each calibration of Cauchy noise against its claim."""

    plot_name, styles, ylim = "noise-costs", {**CALIBRATION_STYLES, "claimed": CLAIMED_STYLE}, (1e-3, 30.0)
    y = Axis("actual ε (log scale)", log=True, ticks=(0.001, 0.01, 0.1, 1, 10))
    name, title, caption = "calibrations", "Three calibrations of Cauchy noise", text.CAPTIONS["calibrations"]
    depends = frozenset({"noise_epsilon", "noise_beta"})

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("curves", IMMEDIATE): Task(compute.calibrations, (BETA_SHARES[values.noise_beta],))}

    def series(self, results: Results) -> Mapping[str, Mapping[float, np.ndarray]]:
        return {**super().series(results), "claimed": CLAIMED}

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return text.calibrations_readout(values, super().chosen(results))


class SmoothCard(Card[NoiseValues, NoFacts]):
    """The points, the envelope of their sensitivities, and samples of two releases.

    `settings`: receives dragged points, and with them the link.
    """

    name, title, caption = "smooth", "Smooth sensitivity of your points", text.CAPTIONS["smooth"]
    wide = True
    controls = (
        "noise_preset",
        "noise_size",
        "noise_statistic",
        "noise_trim",
        "noise_relation",
        "point",
        "value",
        "back",
    )
    depends: ClassVar[frozenset[str]] = frozenset(
        {"noise_epsilon", "noise_beta", "noise_seed", "noise_points", *controls[:5]}
    )

    def __init__(self, settings: NoiseSettings | None = None):
        super().__init__()
        self.settings, self.figure = settings, SmoothFigures()
        self.plots = [self.figure.line, self.figure.envelope.plot, self.figure.release.plot]
        self.figure.points.on_change("data", self._dragged)

    def content(self) -> list[Any]:
        points, envelope, release = map(figure_pane, self.plots)
        return [line(pn.Column(points, release, **WHOLE), envelope, least=480)]

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("smooth", IMMEDIATE): Task(compute.smooth, values.smooth_key())}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        # what is dragged meanwhile is in the settings already
        self.figure.show_points(points_of(self.settings or values))
        self.figure.show(now["smooth", IMMEDIATE], values.noise_statistic)

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return text.smooth_readout(values, results["smooth", IMMEDIATE])

    def _dragged(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        x = np.clip(np.asarray(new["x"], dtype=float), LOWER, UPPER)
        if self.settings is not None and encode(x) != encode(points_of(self.settings)):
            self.settings.noise_points = encode(x)


class NoisePage(CardPage[NoiseValues, NoFacts]):
    """The page of one session."""

    page_id = "noise"
    title = "Noise"
    settings_kind, values_kind = NoiseSettings, NoiseValues
    lesson_figures = FIGURES
    question = "How much noise protects one person?"
    lead = "Drag <b>ε</b>: smaller values give more privacy, larger values smaller errors."
    settings: NoiseSettings
    kinds = (CountCard, RivalsCard, SmoothCard, CalibrationsCard)
    sources = ("noise-state", "noise-work")
    readout_name = "noise-{}-readout"
    controls_kind = NoiseControls
    main_card = "count"
    details = ("rivals",)
    risk_of = ("noise_epsilon", "relation")

    def show_risk(self) -> None:
        # the picture is of a person who is in the count or not; the relation is of the points' card
        self.risk.object = risk(self.settings.noise_epsilon, "add-remove")

    def side(self) -> list[Any]:
        return [self.risk, self.controls.side]

    def words(self, values: NoiseValues, facts: NoFacts, results: Mapping[str, Results]) -> str:
        pair = results.get(self.main_card, {}).get(("pair", IMMEDIATE))
        return self.cards[self.main_card].refusal(values, facts) if pair is None else text.headline(pair)

    def make(self, kind: type[Card]) -> Card:
        return SmoothCard(self.settings) if kind is SmoothCard else kind()
