"""The widgets of the Noise page."""

from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml_app.compat import answer_soon
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE, Controls, note
from dpml_app.pages.noise.points import LOWER, SIZES, UPPER, decode, encode, preset
from dpml_app.pages.noise.settings import NoiseSettings


def points_of(settings: NoiseSettings):
    """Return the points that the settings say."""
    if settings.noise_points:
        return decode(settings.noise_points)
    return preset(settings.noise_preset, settings.noise_size)


class NoiseControls(Controls):
    """All widgets; among those in cards are three that move a point without a pointer."""

    settings: NoiseSettings
    in_top = "noise_epsilon"
    seed = "noise_seed"

    def lay_out(self) -> None:
        """Make what stands beside the picture and under "Advanced"."""
        self.side = pn.Column(self.add("noise_mechanism"), self.add("noise_sensitivity"), self.redraw, **WHOLE)
        self.advanced = pn.Column(
            self.add("noise_delta"),
            note("Probability that the guarantee of Gaussian noise fails."),
            self.add("noise_beta", pmui.DiscreteSlider),
            note("Smoothness of the sensitivity that scales Cauchy and Student's t noise."),
            self.add("noise_draws"),
            self.add("noise_seed", pmui.IntInput),
            **WHOLE,
        )

    def in_cards(self) -> None:
        for name in ("noise_dimension", "noise_measure", "noise_relation"):
            self.add(name, pmui.RadioBoxGroup, inline=True)
        for name in ("noise_epsilon", "noise_reach", "noise_queries", "noise_failure", "noise_touched", "noise_gap"):
            self.add(name)
        for name in ("noise_preset", "noise_size"):
            self.add(name, before=self._start_anew)
        for name in ("noise_statistic", "noise_trim"):
            self.add(name)
        point = pmui.IntInput(label="Point", start=1, end=SIZES[-1], step=1, value=1, **WIDE)
        value: Any = pmui.FloatSlider(label="Value of the point", start=LOWER, end=UPPER, step=0.5, value=50.0, **WIDE)
        answer_soon(value)
        back = pmui.Button(label="Reset points", variant="outlined", **WIDE)
        back.on_click(self._put_back)
        point.param.watch(lambda _event: self.show_value(), "value")
        value.param.watch(self._move, "value")
        self.point, self.value = point, value
        self.widgets |= {"point": point, "value": value, "back": back}
        names = ["noise_points", "noise_preset", "noise_size"]
        self.settings.param.watch(lambda *_events: self.show_value(), names)
        self.show_value()

    def _start_anew(self, event) -> None:
        """Forget what was dragged when other points to start from are chosen, but not when a link brings both."""
        if event.new not in (self.settings.noise_preset, self.settings.noise_size):
            self.settings.noise_points = ""

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
