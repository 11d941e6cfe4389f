"""The widgets of the Explore page."""

from __future__ import annotations

import panel_material_ui as pmui

from dpml_app.core.widgets import Controls, note, words_of


class ExploreControls(Controls):
    """All widgets of the Explore page."""

    most_classes = 2

    def beside(self) -> list:
        """Return what stands beside the picture with the data set."""
        self.needed = note("")
        return [self.add("wanted"), self.needed]

    def middle(self) -> list:
        """Return what stands under "Advanced" between relation and draws."""
        rule = words_of("return tick == 0 ? 'by the public rule' : String(tick)")
        return [
            self.add("row_bound", format=rule),
            note("What a record adds to the counts in all: less means less noise and less signal."),
            self.add("map_score", pmui.RadioBoxGroup, inline=True),
        ]

    def in_cards(self) -> None:
        """Make the hyperparameters."""
        self.add("n_features")
        self.add("selection_share", format="0%")
        self.add("threshold_percentile")
        self.add("reg_lambda")
