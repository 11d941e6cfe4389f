"""The widgets of the Select page."""

from __future__ import annotations

import panel_material_ui as pmui

from dpml_app.widgets import Controls, note, words_of

__all__ = ["SelectControls"]

# as many columns as fit
COLUMNS = {"display": "grid", "gridTemplateColumns": "repeat(auto-fill, minmax(250px, 1fr))"}


class SelectControls(Controls):
    """All widgets: `column` is for the drawer, `widgets` also holds those that stand in a card."""

    def middle(self) -> list:
        """Return what stands in the drawer between relation and draws."""
        whole = words_of("return tick == 0 ? 'all of them' : String(tick)")
        return [
            *self.selection(),
            self.add("select_row_bound", format=whole),
            note("Of total and difference counts, and of noisy counts. Fewer: less noise, and lower counts."),
        ]

    def in_cards(self) -> None:
        """Make the widgets that stand in cards."""
        self.add("select_calibration", pmui.RadioBoxGroup)
        self.add("select_score")
        self.add("select_threshold")
        self.add("select_methods", sx=COLUMNS)
        self.add("select_feature", pmui.IntInput)
