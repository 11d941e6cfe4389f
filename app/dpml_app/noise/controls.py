"""The widgets of the Noise page, each tied to one setting both ways."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui

from dpml_app.card import WHOLE
from dpml_app.noise.points import LOWER, PRESETS, SIZES, UPPER, decode, encode, preset
from dpml_app.noise.settings import (
    BETA_SHARES,
    DELTAS,
    FAILURES,
    MECHANISMS,
    NOISE_EPSILONS,
    QUERIES,
    REACHES,
    STATISTICS,
    TOUCHED,
    NoiseSettings,
)
from dpml_app.widgets import DEBOUNCE, WIDE, note, tie

__all__ = ["NoiseControls", "points_of"]

RELATIONS = {"Replace one point": "replace-one", "Add or remove one point": "add-remove"}


def points_of(settings: NoiseSettings):
    """Return the points that the settings say."""
    if settings.noise_points:
        return decode(settings.noise_points)
    return preset(settings.noise_preset, settings.noise_size)


def _at_once(widget) -> None:
    widget._debounce = DEBOUNCE


def _flip(options: dict) -> dict:
    return {label: value for value, label in options.items()}


class NoiseControls:
    """All widgets: `side` and `advanced` are for beside the picture, `cards` holds those of a card.

    Parameters
    ----------
    settings : NoiseSettings
    report : callable
        Takes the name of a control and a sentence for the page.
    """

    def __init__(self, settings: NoiseSettings, report: Callable[[str, str], None]):
        self.settings, self.report = settings, report
        discrete = self._discrete
        self.widgets = {
            "noise_mechanism": pmui.Select(options=_flip(MECHANISMS), **self._named("noise_mechanism")),
            "noise_dimension": pmui.RadioBoxGroup(
                options={"One": 1, "Two": 2}, inline=True, **self._named("noise_dimension")
            ),
            "noise_epsilon": discrete("noise_epsilon", NOISE_EPSILONS),
            "noise_sensitivity": pmui.IntSlider(start=1, end=20, step=1, **self._named("noise_sensitivity")),
            "noise_delta": discrete("noise_delta", DELTAS),
            "noise_beta": pmui.DiscreteSlider(options=list(BETA_SHARES), **self._named("noise_beta")),
            "noise_draws": pmui.IntSlider(start=500, end=10_000, step=500, **self._named("noise_draws")),
            "noise_seed": pmui.IntInput(start=0, end=2**31 - 1, step=1, **self._named("noise_seed")),
            "noise_reach": discrete("noise_reach", REACHES),
            "noise_queries": discrete("noise_queries", QUERIES),
            "noise_failure": discrete("noise_failure", FAILURES),
            "noise_touched": discrete("noise_touched", TOUCHED),
            "noise_measure": pmui.RadioBoxGroup(
                options={"Mean": "mean", "95 % stay below": "q95"}, inline=True, **self._named("noise_measure")
            ),
            "noise_gap": pmui.FloatSlider(start=0.5, end=20.0, step=0.5, **self._named("noise_gap")),
            "noise_statistic": pmui.Select(options=_flip(STATISTICS), **self._named("noise_statistic")),
            "noise_trim": pmui.IntSlider(start=0, end=50, step=1, **self._named("noise_trim")),
            "noise_relation": pmui.RadioBoxGroup(options=RELATIONS, inline=True, **self._named("noise_relation")),
            "noise_size": discrete("noise_size", SIZES),
            "noise_preset": pmui.Select(options=_flip(PRESETS), **self._named("noise_preset")),
        }
        for name, widget in self.widgets.items():
            if name in ("noise_preset", "noise_size"):
                self._starts_anew(name, widget)
            tie(settings, name, widget, report)
        self.redraw = pmui.Button(label="Redraw noise", icon="casino", variant="contained", **WIDE)
        self.redraw.on_click(self._redraw)
        self._point_controls()
        self._lay_out()

    def _named(self, name: str) -> dict:
        return {"label": self.settings.param[name].label, **WIDE}

    def _discrete(self, name: str, values) -> pmui.DiscreteSlider:
        return pmui.DiscreteSlider(
            options={f"{v:,}" if v >= 1000 else f"{v:g}": v for v in values}, **self._named(name)
        )

    def _starts_anew(self, name: str, widget) -> None:
        """Forget what was dragged when other points to start from are chosen, but not when a link brings both."""

        def forget(event):
            if event.new != getattr(self.settings, name):
                self.settings.noise_points = ""

        widget.param.watch(forget, "value")

    def _point_controls(self) -> None:
        """Make what moves a point without a pointer."""
        self.point = pmui.IntInput(label="Point to move", start=1, end=SIZES[-1], step=1, value=1, **WIDE)
        self.value = pmui.FloatSlider(label="Its value", start=LOWER, end=UPPER, step=0.5, value=50.0, **WIDE)
        _at_once(self.value)
        self.back = pmui.Button(label="Put the points back", icon="undo", variant="outlined", **WIDE)
        self.back.on_click(self._put_back)
        self.point.param.watch(lambda _event: self.show_value(), "value")
        self.value.param.watch(self._move, "value")
        names = ["noise_points", "noise_preset", "noise_size"]
        self.settings.param.watch(lambda *_events: self.show_value(), names)
        self.show_value()

    def _redraw(self, _event) -> None:
        self.settings.noise_seed = (self.settings.noise_seed + 1) % 2**31

    def _put_back(self, _event) -> None:
        self.settings.noise_points = ""

    def _index(self) -> int:
        return min(max(int(self.point.value or 1), 1), len(points_of(self.settings))) - 1

    def show_value(self) -> None:
        """Show the value of the point that is chosen, which a drag may have changed."""
        self.point.end = len(points_of(self.settings))
        self.value.value = float(points_of(self.settings)[self._index()])

    def _move(self, event) -> None:
        points, index = points_of(self.settings), self._index()
        if abs(points[index] - event.new) > 1e-9:
            points[index] = event.new
            self.settings.noise_points = encode(points)

    def _lay_out(self) -> None:
        w = self.widgets
        self.side = pn.Column(
            w["noise_mechanism"],
            w["noise_sensitivity"],
            self.redraw,
            **WHOLE,
        )
        self.advanced = pn.Column(
            w["noise_delta"],
            note("Probability that the Gaussian's promise fails; smaller is more private."),
            w["noise_beta"],
            note("Smoothness of the sensitivity that Cauchy and Student's t noise is scaled by."),
            w["noise_draws"],
            w["noise_seed"],
            **WHOLE,
        )
        self.cards = {
            "draws": [w["noise_dimension"], w["noise_reach"]],
            "tails": [w["noise_queries"], w["noise_failure"]],
            "rivals": [w["noise_touched"], w["noise_measure"]],
            "choices": [w["noise_gap"]],
            "smooth": [
                w["noise_preset"],
                w["noise_size"],
                w["noise_statistic"],
                w["noise_trim"],
                w["noise_relation"],
                self.point,
                self.value,
                self.back,
            ],
        }
