"""Views in the cells of a notebook, with sliders where a setting can be moved; no other host is asked for scripts."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import holoviews as hv
import panel as pn
from bokeh.embed.notebook import notebook_content
from holoviews.core import Dimensioned

from dpml_app import compat
from dpml_app.views.frame import axis

__all__ = ["extension", "interactive"]


def extension(*, sliders: bool = True) -> None:
    """Show views in the cells of this notebook; outside a notebook it does nothing.

    It replaces `hv.extension("bokeh")`, whose outputs load scripts and styles from two other hosts.

    Parameters
    ----------
    sliders : bool, default=True
        Whether plots of `interactive` have sliders. Pass False for a page without a kernel, which shows their first
        positions.

    Examples
    --------
    >>> extension()
    """
    shell = compat.load_extension()
    if shell is not None:
        if sliders:
            shell.display_formatter.mimebundle_formatter.for_type(Dimensioned, with_sliders)
        shell.display_formatter.formatters["text/html"].for_type(Dimensioned, html)


def interactive(picture: Callable[..., Any], **settings: Sequence[Any]) -> hv.DynamicMap:
    """Return a plot with a slider for each setting; a moved slider calls the function again.

    Compute exact statistics before the call, so that the function only draws noise. Give the plots fixed axes
    (``xlim``, ``ylim``) and the same series at each setting.

    Parameters
    ----------
    picture : callable
        Function that returns a view. The default of an argument is the first position of its slider.
    **settings : sequence
        Positions of the slider of each argument, in ascending order.

    Returns
    -------
    holoviews.DynamicMap
        Plot with sliders in Jupyter and JupyterLab.

    Examples
    --------
    >>> import pandas as pd
    >>> from dpml_app.views import curve
    >>> def line(epsilon=1.0):
    ...     return curve(pd.DataFrame({"n": [1, 10], "noise": [1 / epsilon, 10 / epsilon]}), "n", "noise", exact=True)
    >>> plot = interactive(line, epsilon=[0.1, 1.0, 10.0])
    >>> [(dimension.name, dimension.default) for dimension in plot.kdims]
    [('epsilon', 1.0)]
    """
    arguments = inspect.signature(picture).parameters
    kdims = [
        hv.Dimension((name, _label(name)), values=list(positions), default=arguments[name].default)
        for name, positions in settings.items()
    ]
    return hv.DynamicMap(picture, kdims=kdims)


def _label(setting: str) -> str:
    return axis(setting, log=False).label if axis(setting).symbol != "ε" else "ε"


def with_sliders(view: Dimensioned, include: Any = None, exclude: Any = None) -> Any:
    """Return a plot with its sliders for a cell, or None for a plot without settings."""
    if not any(isinstance(part, hv.DynamicMap) and part.kdims for part in view.traverse()):
        return None
    return pn.pane.HoloViews(view, widget_location="top_left")._repr_mimebundle_(include, exclude)


def html(view: Dimensioned) -> str:
    """Return a view as it stands in a cell, for a page that has Bokeh."""
    renderer = hv.renderer("bokeh")
    script, div, _ = notebook_content(hv.render(view, backend="bokeh"), theme=renderer.theme)
    return f"{div}<script>{script}</script>"
