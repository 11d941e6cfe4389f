"""The widgets of the Publish page."""

from typing import Any

import panel_material_ui as pmui

from dpml_app.core.widgets import DIE, WIDE, Controls, divider, note
from dpml_app.pages.publish.settings import PUBLISH_DATASETS, PublishSettings


class PublishControls(Controls):
    """All widgets: `side` and `advanced` are for beside the picture."""

    settings: PublishSettings
    datasets = PUBLISH_DATASETS
    most_classes = 100
    draws = "publish_draws"
    left_out = "which are text"

    def beside(self) -> list:
        again = pmui.Button(label="Show next table", icon=DIE, variant="outlined", **WIDE)
        again.on_click(self._draw_again)
        return [again, self.add("publish_classifier")]

    def _draw_again(self, _event: Any) -> None:
        """Show the next of the tables that are drawn."""
        self.settings.publish_draw = self.settings.publish_draw % self.settings.publish_draws + 1

    def middle(self) -> list:
        return [
            divider(),
            self.add("publish_grids"),
            self.add("publish_share", format="0 %"),
            note("The number of records gets 3% of ε, the counts get the rest."),
        ]

    def in_cards(self) -> None:
        """Make the widgets of single cards."""
        self.add("publish_slow")
        self.add("publish_query", inline=True)
        self.add("publish_lambda")
