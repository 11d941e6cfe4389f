"""The widgets of the Explore page."""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui

from dpml_app.settings import LAMBDAS, MOST_FEATURES
from dpml_app.widgets import DataControls, note, words_of

__all__ = ["Controls"]


class Controls(DataControls):
    """All widgets of the Explore page; `column` is what the drawer shows."""

    def own(self) -> dict[str, Any]:
        """Return the widgets that only this page has, by setting."""
        named = self.named
        scores = {"Counts": "count", "Mutual information": "mutual_information"}
        rule = words_of("return tick == 0 ? 'by the public rule' : String(tick)")
        return {
            "threshold_percentile": pmui.IntSlider(start=50, end=99, step=1, **named("threshold_percentile")),
            "row_bound": pmui.IntSlider(start=0, end=MOST_FEATURES, step=1, format=rule, **named("row_bound")),
            "reg_lambda": pmui.DiscreteSlider(options={f"{v:,g}": v for v in LAMBDAS}, **named("reg_lambda")),
            "map_score": pmui.RadioBoxGroup(options=scores, inline=True, **named("map_score")),
        }

    def rows(self) -> list:
        """Return what of them stands in the drawer."""
        w = self.widgets
        return [
            w["threshold_percentile"],
            note("Counts below this percentile of the noise are raised to it."),
            w["row_bound"],
            note("What a record adds to the counts in all: less means less noise and less signal."),
            w["reg_lambda"],
            note("Of the sum of losses, N times the thesis' Λ. Larger: less noise, simpler model."),
            w["map_score"],
        ]
