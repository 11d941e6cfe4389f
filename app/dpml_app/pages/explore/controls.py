"""The widgets of the page Privacy cost."""

from collections.abc import Callable
from typing import Any

import panel as pn

from dpml_app.core.card import BOX_STYLE, WHOLE
from dpml_app.core.widgets import Controls, note, words_of
from dpml_app.drawing.figure import script
from dpml_app.pages.explore.settings import ExploreSettings

LEVERS_STYLE = script("pages/explore/levers.css")
# both choices in one row
CHOICE_STYLE = (
    ".MuiSelect-select { font-size: 0.88rem; padding-right: 26px !important; padding-left: 10px !important; }"
    "@media (max-width: 340px) { .MuiSelect-select { font-size: 0.82rem; padding: 8px 20px 8px 6px !important; } }"
)
CHOICES_STYLE = (
    ":host { display: grid !important; grid-template-columns: 11fr 13fr; column-gap: 6px; margin-top: 4px; }"
)
# the levers of each model beside those of both
OWN = {"naive-bayes": "threshold_percentile", "logistic": "reg_lambda"}


class ExploreControls(Controls):
    """All widgets of the Explore page."""

    settings: ExploreSettings
    most_classes = 2
    # takes an accuracy in percent that a person has aimed at
    on_goal: Callable[[float], None] = staticmethod(lambda wanted: None)

    def middle(self) -> list:
        rule = words_of("return tick == 0 ? 'default rule' : String(tick)")
        self.needed = note("")
        return [
            self.add("wanted", before=self._aim),
            self.needed,
            self.add("row_bound", format=rule),
            note("Most ones that a record adds to the counts. Fewer: less noise and less signal."),
        ]

    def _aim(self, event: Any) -> None:
        # a link brings its ε with it
        if event.new != self.settings.wanted:
            self.on_goal(event.new)

    def in_cards(self) -> None:
        """Make the controls of the custom model."""
        self.by_hand = pn.pane.HTML("", sizing_mode="stretch_width", margin=0, stylesheets=[LEVERS_STYLE])
        title = pn.pane.HTML("<h2>Custom model</h2>", sizing_mode="stretch_width", margin=0, stylesheets=[LEVERS_STYLE])
        look: dict[str, Any] = {"size": "small", "margin": (8, 0, 0, 0)}
        choices = [self.add(name, stylesheets=[CHOICE_STYLE], **look) for name in ("hand_model", "map_score")]
        look["margin"] = (4, 6, 0, 6)
        sliders = [self.add("n_features", **look), self.add("selection_share", format="0%", **look)]
        sliders += [self.add(name, **look) for name in OWN.values()]
        parts = [title, self.by_hand, pn.Column(*choices, stylesheets=[CHOICES_STYLE], **WHOLE), *sliders]
        self.levers = pn.Column(*parts, stylesheets=[BOX_STYLE], **{**WHOLE, "margin": (0, 0, 12, 0)})
        self.side.insert(0, self.levers)
        self.settings.param.watch(self._show_own, "hand_model")
        self._show_own()

    def _show_own(self, *_events: Any) -> None:
        for model, name in OWN.items():
            self.widgets[name].visible = model == self.settings.hand_model
