"""A progress bar, and how to hide it and its button without moving what is below."""

import panel as pn

BAR_STYLE = "progress { width: 100%; accent-color: var(--focus, #0b6fb8); }"
# a hidden part keeps its room: one that comes and goes makes the browser lay out all figures again (0.2 s for ten)
SHOWN, AWAY = {"visibility": "visible"}, {"visibility": "hidden"}


def bar() -> pn.pane.HTML:
    """Return an empty progress bar."""
    return pn.pane.HTML("", sizing_mode="stretch_width", height=14, margin=(0, 6), stylesheets=[BAR_STYLE])


def filled(label: str, done: int, total: int) -> str:
    """Return a bar as HTML. Those of panel-material-ui have no accessible name (0.16)."""
    return f'<progress aria-label="{label}" value="{done}" max="{max(total, 1)}"></progress>'
