"""The widgets of the Evaluate page, each tied to one setting both ways."""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui
from bokeh.models import ColumnDataSource
from scipy.special import expit

from dpml_app.evaluate.settings import CLASSIFIERS, CUTS, METHODS, METRICS, WEAKENED
from dpml_app.settings import EPSILONS
from dpml_app.widgets import DataControls, note

__all__ = ["EvaluateControls", "probability"]


def _flip(options: dict) -> dict:
    return {label: value for value, label in options.items()}


def probability(log_odds: float) -> str:
    """Return log-odds as a probability, to the digits that tell it from 0 and 100 %.

    Examples
    --------
    >>> probability(0.0), probability(3.81), probability(-12.2), probability(12.2)
    ('50 %', '97.83 %', '0.000503 %', '99.999497 %')
    """
    share = 100 * float(expit(-abs(log_odds)))
    small = f"{share:.3g}" if share >= 1e-4 else f"{share:.7f}".rstrip("0").rstrip(".")
    if log_odds <= 0:
        return f"{small} %"
    digits = len(small.split(".")[1]) if "." in small else 0
    return f"{100 - float(small):.{digits}f} %"


class EvaluateControls(DataControls):
    """All widgets: `column` is for the drawer, `cards` holds those that stand above a figure, by card."""

    def own(self) -> dict[str, Any]:
        """Return the widgets that only this page has, by setting."""
        named = self.named
        cuts = {probability(cut): cut for cut in CUTS}
        return {
            "evaluate_classifier": pmui.Select(options=_flip(CLASSIFIERS), **named("evaluate_classifier")),
            "evaluate_weakened": pmui.Select(options=_flip(WEAKENED), **named("evaluate_weakened")),
            "evaluate_rival": pmui.Select(options=_flip(CLASSIFIERS), **named("evaluate_rival")),
            "evaluate_rival_weakened": pmui.Select(options=_flip(WEAKENED), **named("evaluate_rival_weakened")),
            "evaluate_metric": pmui.RadioBoxGroup(options=_flip(METRICS), inline=True, **named("evaluate_metric")),
            "evaluate_methods": pmui.CheckBoxGroup(options=_flip(METHODS), **named("evaluate_methods")),
            "evaluate_cut": pmui.DiscreteSlider(options=cuts, **named("evaluate_cut")),
        }

    def middle(self) -> list:
        """Return what stands in the drawer between relation and draws; no feature is selected here."""
        w = self.widgets
        return [
            w["evaluate_classifier"],
            w["evaluate_weakened"],
            note("Weakened: noise is added to its scores until the area under its curve is near that number."),
            w["evaluate_methods"],
            note("Stoddard et al.: as published. Exact noise: the same, its noise made for the privacy it claims."),
        ]

    @property
    def cards(self) -> dict[str, list]:
        """What stands in the cards."""
        w = self.widgets
        return {
            "numbers": [w["evaluate_cut"]],
            "compare": [w["evaluate_rival"], w["evaluate_rival_weakened"], w["evaluate_metric"]],
        }

    def tell_browser(self, source: ColumnDataSource) -> None:
        """Write ε into a source of one row, without asking the server."""
        code = f"controls.setv({{data: {{epsilon: [{list(EPSILONS)}[cb_obj.value]]}}}}, {{sync: false}})"
        self.widgets["epsilon"].jscallback(value=code, args={"controls": source})
