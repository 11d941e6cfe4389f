"""A progress bar, and the status line, bar and button of a page's work, which hide without moving what is below."""

from collections.abc import Callable
from functools import cached_property

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

BAR_STYLE = "progress { width: 100%; accent-color: var(--focus, #0b6fb8); }"
STATUS_STYLE = ":host { font-size: min(0.9rem, 15px); opacity: 0.85; }"
# a hidden part keeps its room: one that comes and goes makes the browser lay out all figures again (0.2 s for ten)
SHOWN, AWAY = {"visibility": "visible"}, {"visibility": "hidden"}
CANCEL = "Cancel"


def bar() -> pn.pane.HTML:
    """Return an empty progress bar."""
    return pn.pane.HTML("", sizing_mode="stretch_width", height=14, margin=(0, 6), stylesheets=[BAR_STYLE])


def filled(label: str, done: int, total: int) -> str:
    """Return a bar as HTML. Those of panel-material-ui have no accessible name (0.16)."""
    return f'<progress aria-label="{label}" value="{done}" max="{max(total, 1)}"></progress>'


class Progress:
    """The status line, bar and button of a page's runs; the source `state`, by its name, is for tests and scripts."""

    def __init__(self, name: str, pressed: Callable[[], None]):
        self.bar = bar()
        self.status = pn.pane.HTML("Starting…", margin=(8, 8), sizing_mode="stretch_width", stylesheets=[STATUS_STYLE])
        self._pressed = pressed
        self.row = pn.Row(self.status, sizing_mode="stretch_width", margin=0, height=42)
        self.state = ColumnDataSource({"running": [False], "done": [0], "total": [0]}, name=name)

    @property
    def column(self) -> pn.Column:
        """All parts, below one another."""
        return pn.Column(self.row, self.bar, sizing_mode="stretch_width", margin=(8, 6))

    @cached_property
    def button(self) -> pmui.Button:
        """The button, made when it first does something: a page that opens with stored results may need none."""
        button = pmui.Button(label=CANCEL, variant="outlined", size="small", margin=(2, 8))
        button.on_click(lambda _event: self._pressed())
        self.row.append(button)
        return button

    def tell(self, text: str, done: int, total: int, *, running: bool = False, label: str = "") -> None:
        """Show the status of a run, and the label of what the button does next."""
        label = label or (CANCEL if running else "")
        self.bar.object = filled("Progress", done, total) if running else ""
        self.status.object = text
        if label or len(self.row) > 1:
            styles = SHOWN if label else AWAY
            self.button.param.update(label=label or CANCEL, disabled=not label, styles=styles)
        self.state.data = {"running": [running], "done": [done], "total": [total]}
