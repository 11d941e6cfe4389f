"""The widgets of the Select page."""

from typing import Any

import panel_material_ui as pmui

from dpml_app.core.widgets import COLUMNS, DIE, WIDE, Controls, note, words_of
from dpml_app.pages.select.settings import SelectSettings


class SelectControls(Controls):
    """All widgets; `widgets` also holds those that stand in a card."""

    settings: SelectSettings
    in_top = "n_features"
    most_classes = 2

    def beside(self) -> list:
        return [self.add("selection_share", format="0%")]

    def middle(self) -> list:
        whole = words_of("return tick == 0 ? 'no bound' : String(tick)")
        return [
            self.add("select_row_bound", format=whole),
            note("For total, difference and noisy counts. Fewer: less noise and lower counts."),
        ]

    def in_cards(self) -> None:
        self.add("n_features")
        self.add("select_order", pmui.RadioBoxGroup, inline=True)
        again = pmui.Button(label="Resample set", icon=DIE, variant="outlined", **WIDE)
        again.on_click(self._draw_again)
        self.widgets["select_draw"] = again
        self.add("select_calibration", pmui.RadioBoxGroup)
        self.add("select_score")
        self.add("select_threshold")
        self.add("select_methods", sx=COLUMNS)
        self.add("select_feature", format=words_of("return tick == 0 ? 'best' : `column ${tick}`"))

    def fit(self, facts: Any) -> str:
        lowered = super().fit(facts)
        self.widgets["select_feature"].end = facts.n_features
        return lowered

    def _draw_again(self, _event) -> None:
        self.settings.select_draw = (self.settings.select_draw + 1) % 2**31
