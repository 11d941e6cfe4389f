"""The widgets of the Explore page."""

from __future__ import annotations

import panel_material_ui as pmui

from dpml_app.widgets import Controls, note, words_of

__all__ = ["ExploreControls"]


class ExploreControls(Controls):
    """All widgets of the Explore page; `column` is what the drawer shows."""

    def middle(self) -> list:
        """Return what stands in the drawer between relation and draws."""
        rule = words_of("return tick == 0 ? 'by the public rule' : String(tick)")
        return [
            *self.selection(),
            self.add("threshold_percentile"),
            note("Counts below this percentile of the noise are raised to it."),
            self.add("row_bound", format=rule),
            note("What a record adds to the counts in all: less means less noise and less signal."),
            self.add("reg_lambda"),
            note("Of the sum of losses, N times the thesis' Λ. Larger: less noise, simpler model."),
            self.add("map_score", pmui.RadioBoxGroup, inline=True),
        ]
