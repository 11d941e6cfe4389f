"""Views in the cells of a notebook, which asks no other host for what draws them."""

import holoviews as hv
from bokeh.embed.notebook import notebook_content
from holoviews.core import Dimensioned

from dpml_app import compat

__all__ = ["extension"]


def extension() -> None:
    """Show views in the cells of this notebook; outside a notebook it does nothing.

    It stands for `hv.extension("bokeh")`, whose outputs load scripts and styles from two other hosts.

    Examples
    --------
    >>> extension()
    """
    shell = compat.load_extension()
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type(Dimensioned, html)


def html(view: Dimensioned) -> str:
    """Return a view as it stands in a cell, for a page that has Bokeh."""
    renderer = hv.renderer("bokeh")
    script, div, _ = notebook_content(hv.render(view, backend="bokeh"), theme=renderer.theme)
    return f"{div}<script>{script}</script>"
