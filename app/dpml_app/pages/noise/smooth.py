"""Card: the sensitivity of points that one drags, and what is released of them. The browser computes what it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import panel as pn
from panel.models.markup import HTML

from dpml.mechanisms import Laplace
from dpml.mechanisms.smooth.admissible import Cauchy
from dpml_app.core.card import WHOLE, Card, Results, figure_pane, line
from dpml_app.data.facts import NoFacts
from dpml_app.pages.noise import words
from dpml_app.pages.noise.controls import points_of
from dpml_app.pages.noise.drawn import smooth_tables
from dpml_app.pages.noise.points import encode
from dpml_app.pages.noise.settings import BETA_SHARES, NoiseSettings, NoiseValues
from dpml_app.pages.noise.smooth_figures import SPREAD, SmoothFigures


class SmoothCard(Card[NoiseValues, NoFacts]):
    """The points, the envelope of their sensitivities, and draws of two releases.

    Parameters
    ----------
    settings : NoiseSettings
        Into which dragged points go, and so into the link.
    readout : HTML
        Its line, which the browser writes.
    """

    name, title, caption = "smooth", "Sensitivity of your own points", words.CAPTIONS["smooth"]
    wide = True
    in_browser = True
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
    depends = frozenset({"noise_epsilon", "noise_beta", "noise_seed", "noise_points", *controls[:5]})

    def __init__(self, settings: NoiseSettings, readout: HTML):
        self.settings, self.smooth = settings, SmoothFigures()
        self.plots = [self.smooth.line, self.smooth.envelope, self.smooth.release]
        self.smooth.connect(readout)
        self.smooth.points.on_change("data", self._dragged)

    def content(self) -> list[Any]:
        points, envelope, release = map(figure_pane, self.plots)
        return [line(pn.Column(points, release, **WHOLE), envelope, least=480)]

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        rng = np.random.default_rng(values.noise_seed)
        unit = Cauchy(1.0, 1 / 6)
        self.smooth.unit.data = {
            "smooth": unit.release(0.0, 1.0, rng=rng, draws=SPREAD) / unit.scale,
            "global": Laplace(1.0).release(0.0, rng=rng, draws=SPREAD),
            "off": rng.uniform(-0.3, 0.3, SPREAD),
        }
        controls = {name: [getattr(values, f"noise_{name}")] for name in ("statistic", "relation", "trim", "epsilon")}
        self.smooth.controls.data = {**controls, "share": [BETA_SHARES[values.noise_beta]]}
        if not np.array_equal(points_of(self.settings), self._points):
            self.smooth.show_points(points_of(self.settings))

    @classmethod
    def browser_tables(cls, values: NoiseValues) -> dict[str, pd.DataFrame]:
        return smooth_tables(values)

    @property
    def _points(self) -> np.ndarray:
        return np.asarray(self.smooth.points.data["x"], dtype=float)

    def _dragged(self, _attribute: str, _old: Any, _new: dict[str, Any]) -> None:
        if not np.array_equal(self._points, points_of(self.settings)):
            self.settings.noise_points = encode(self._points)
