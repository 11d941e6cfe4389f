"""The widgets of the Select page, each tied to one setting both ways."""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui

from dpml_app.select.settings import CALIBRATIONS, SCORES, SELECTORS, THRESHOLDS
from dpml_app.widgets import DataControls, note, words_of

__all__ = ["SelectControls"]

# as many columns as fit
COLUMNS = {"display": "grid", "gridTemplateColumns": "repeat(auto-fill, minmax(250px, 1fr))"}


def _flip(options: dict) -> dict:
    return {label: value for value, label in options.items()}


class SelectControls(DataControls):
    """All widgets: `column` is for the drawer, `cards` holds those that stand above a figure, by card."""

    def own(self) -> dict[str, Any]:
        """Return the widgets that only this page has, by setting."""
        named = self.named
        shares = {f"{100 * share:g} %": share for share in THRESHOLDS}
        whole = words_of("return tick == 0 ? 'all of them' : String(tick)")
        return {
            "select_row_bound": pmui.IntSlider(start=0, end=100, step=1, format=whole, **named("select_row_bound")),
            "select_calibration": pmui.RadioBoxGroup(options=_flip(CALIBRATIONS), **named("select_calibration")),
            "select_score": pmui.Select(options=_flip(SCORES), **named("select_score")),
            "select_threshold": pmui.DiscreteSlider(options=shares, **named("select_threshold")),
            "select_methods": pmui.CheckBoxGroup(options=_flip(SELECTORS), sx=COLUMNS, **named("select_methods")),
            "select_feature": pmui.IntInput(start=0, end=100_000, step=1, **named("select_feature")),
        }

    def rows(self) -> list:
        """Return what of them stands in the drawer."""
        return [
            self.widgets["select_row_bound"],
            note("Of total and difference counts, and of noisy counts. Fewer: less noise, and lower counts."),
        ]

    @property
    def cards(self) -> dict[str, list]:
        """What stands in the cards."""
        w = self.widgets
        return {
            "coins": [w["select_calibration"]],
            "f1": [w["select_score"], w["select_threshold"]],
            "accuracy": [w["select_methods"]],
            "feature": [w["select_feature"]],
        }
