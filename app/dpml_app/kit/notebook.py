"""Scripts and styles of Panel for outputs in a notebook, which ask no other host."""

import sys
from typing import Any

import panel as pn
from bokeh.models import ImportedStyleSheet, InlineStyleSheet, UIElement
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from panel.theme import Native

# the cell whose output has brought the scripts
_loader: list[Any] = []


def load_scripts() -> Any:
    """Load the scripts of Panel into the notebook, and return its shell; None outside a notebook.

    They are several megabytes, so one cell alone brings them. It brings them again when it runs again: the notebook
    may be open in a new window, of which the kernel knows nothing.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return None
    # panel-material-ui sets its own, which would wrap each output in a widget with its bundle
    pn.config.design = Native
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = request.get("metadata", {}).get("cellId")
    if not pn.config.inline or (cell is not None and _loader == [cell]):
        pn.extension(inline=True)
        _loader[:] = [cell]
    return shell


def inline_styles(_output: Any, root: Any, *_changed: Any) -> None:
    """Replace addresses of Panel's styles by the styles; for the hooks of a layout."""
    for model in root.select({"type": UIElement}):
        styles = [_inlined(style) for style in model.stylesheets]
        if styles != model.stylesheets:
            model.stylesheets = styles


def _inlined(style: Any) -> Any:
    if not isinstance(style, ImportedStyleSheet):
        return style
    path = style.url.partition("?")[0].removeprefix(CDN_DIST).removeprefix(LOCAL_DIST)
    return InlineStyleSheet(css=(DIST_DIR / path).read_text(encoding="utf-8")) if (DIST_DIR / path).exists() else style
