"""How far the worker processes are: a line, a bar, and a button that cancels a run or takes it up again."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

from dpml_app.kit.widgets import make_widget

BAR_STYLE = "progress { width: 100%; accent-color: var(--focus, #0b6fb8); }"
STATUS_STYLE = ":host { font-size: min(0.9rem, 15px); opacity: 0.85; }"
# its room stays
SHOWN, AWAY = {"visibility": "visible"}, {"visibility": "hidden"}


class ButtonLabels(NamedTuple):
    """What the button says while a run goes on and after it was stopped, what is then said, and what is there again."""

    stop: str = "Cancel"
    go_on: str = "Resume"
    stopped: str = "Cancelled. Faded or missing curves do not belong to this setting."
    # empty: what is done cannot be asked for again
    again: str = ""


def bar() -> pn.pane.HTML:
    """Return the place of a bar; its room stays."""
    return pn.pane.HTML("", sizing_mode="stretch_width", height=14, margin=(0, 6), stylesheets=[BAR_STYLE])


def filled(label: str, done: int, total: int) -> str:
    """Return a bar as HTML. Those of panel-material-ui have no name that could be read out (0.16)."""
    return f'<progress aria-label="{label}" value="{done}" max="{max(total, 1)}"></progress>'


async def followed(task: Future, tell: Callable[[], None]) -> Any:
    """Await a future of another thread, and tell how far it is now and then."""
    waiting = asyncio.wrap_future(task)
    while not waiting.done():
        await asyncio.wait({waiting}, timeout=0.25)
        if not waiting.done():
            tell()
    return waiting.result()


class Progress:
    """What a page shows of its run; nothing of it comes and goes.

    A bar that is shown and hidden makes the browser lay out all figures again (measured with ten: 0.2 s at least).

    `name`: of the source `state`, which tells tests and the browser how far the run is.
    `pressed`: called when the button is pressed.
    """

    def __init__(self, name: str, pressed: Callable[[], None], button_labels: ButtonLabels):
        self.button_labels = button_labels
        self.bar = bar()
        self.status = pn.pane.HTML("Starting…", margin=(8, 8), sizing_mode="stretch_width", stylesheets=[STATUS_STYLE])
        self.button = make_widget(
            pmui.Button, label=button_labels.stop, variant="outlined", size="small", margin=(2, 8), disabled=True
        )
        self.button.on_click(lambda _event: pressed())
        self.state = ColumnDataSource({"running": [False], "done": [0], "total": [0]}, name=name)

    @property
    def column(self) -> pn.Column:
        """The line, the bar and the button, below one another."""
        line = pn.Row(self.status, self.button, sizing_mode="stretch_width", margin=0, height=42)
        return pn.Column(line, self.bar, sizing_mode="stretch_width", margin=(8, 6))

    def tell(self, text: str, done: int, total: int, running: bool = False) -> None:
        """Say in words and by the bar how far a run is."""
        self.bar.object = filled("Progress", done, total) if running else ""
        self.status.object = text
        label = self.button_labels.stop if running else self.button_labels.again
        self.button.param.update(
            label=label or self.button_labels.stop, disabled=not label, styles=SHOWN if label else AWAY
        )
        self.state.data = {"running": [running], "done": [done], "total": [total]}

    def cancelled(self, done: int, total: int) -> None:
        """Say that a run was cancelled, and offer to take it up again."""
        self.tell(self.button_labels.stopped, done, total)
        self.button.param.update(label=self.button_labels.go_on, disabled=False, styles=SHOWN)
