"""How far the worker processes are: a line, a bar, and a button that cancels a run or takes it up again."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

__all__ = ["Progress"]

STATUS_STYLE = ":host { font-size: 0.9rem; opacity: 0.85; }"
# its room stays
SHOWN, AWAY = {"visibility": "visible"}, {"visibility": "hidden"}
CANCELLED = "Cancelled: what is faded or missing is not of this setting"


class Progress:
    """What a page shows of its run; nothing of it comes and goes.

    A bar that is shown and hidden makes the browser lay out all figures again (measured with ten: 0.2 s at least).

    Parameters
    ----------
    name : str
        Of the source `state`, which tells tests and the browser how far the run is.
    cancel : callable
        Called when the button is pressed.
    """

    def __init__(self, name: str, cancel: Callable[[], None]):
        self.bar = pmui.LinearProgress(
            value=0, max=1, variant="determinate", sizing_mode="stretch_width", margin=(0, 16), label="Progress"
        )
        self.status = pn.pane.HTML("Starting…", margin=(8, 8), sizing_mode="stretch_width", stylesheets=[STATUS_STYLE])
        self.button = pmui.Button(label="Cancel", variant="outlined", size="small", margin=(2, 8), disabled=True)
        self.button.on_click(lambda _event: cancel())
        self.state = ColumnDataSource({"running": [False], "done": [0], "total": [0]}, name=name)

    @property
    def column(self) -> pn.Column:
        """The line, the bar and the button, below one another."""
        line = pn.Row(self.status, self.button, sizing_mode="stretch_width", margin=0, height=42)
        return pn.Column(line, self.bar, sizing_mode="stretch_width", margin=(8, 6))

    def tell(self, text: str, done: int, total: int, running: bool = False) -> None:
        """Say in words and by the bar how far a run is."""
        self.bar.param.update(value=done if running else 0, max=max(total, 1))
        self.status.object = text
        self.button.param.update(label="Cancel", disabled=not running, styles=SHOWN if running else AWAY)
        self.state.data = {"running": [running], "done": [done], "total": [total]}

    def cancelled(self, done: int, total: int) -> None:
        """Say that a run was cancelled, and offer to take it up again."""
        self.tell(CANCELLED, done, total)
        self.button.param.update(label="Resume", disabled=False, styles=SHOWN)
