"""The widgets of the Evaluate page."""

import panel_material_ui as pmui
from scipy.special import expit

from dpml_app.core.widgets import COLUMNS, Controls, divider, note
from dpml_app.pages.evaluate.settings import CUTS


def probability(log_odds: float) -> str:
    """Return log-odds as a probability, with enough digits to differ from 0 and 100%.

    >>> probability(0.0), probability(3.81), probability(-12.2), probability(12.2)
    ('50%', '97.83%', '0.000503%', '99.999497%')
    """
    share = 100 * float(expit(-abs(log_odds)))
    small = f"{share:.3g}" if share >= 1e-4 else f"{share:.7f}".rstrip("0").rstrip(".")
    if log_odds <= 0:
        return f"{small}%"
    digits = len(small.split(".")[1]) if "." in small else 0
    return f"{100 - float(small):.{digits}f}%"


class EvaluateControls(Controls):
    """All widgets: `side` and `advanced` are for beside the picture, `widgets` holds those of cards, too."""

    most_classes = 2

    def middle(self) -> list:
        """Return what stands under "Advanced" between relation and draws; no feature is selected here."""
        return [
            divider(),
            self.add("evaluate_classifier"),
            self.add("evaluate_weakened"),
            note("Weakened: noise in the scores lowers the AUC to about this value."),
        ]

    def in_cards(self) -> None:
        self.add("evaluate_methods", sx=COLUMNS)
        self.add("evaluate_cut", options={probability(cut): cut for cut in CUTS})
        self.add("evaluate_rival")
        self.add("evaluate_rival_weakened")
        self.add("evaluate_metric", pmui.RadioBoxGroup, inline=True)
