"""Views in the cells of a notebook, with sliders where a setting can be moved; no other host is asked for scripts."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import holoviews as hv
import panel as pn
from bokeh.embed.notebook import notebook_content
from holoviews.core import Dimensioned

from dpml_app.kit.notebook import inline_styles, load_scripts
from dpml_app.views.frame import axis


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
    shell = load_scripts()
    if shell is not None:
        shell.display_formatter.mimebundle_formatter.for_type(Dimensioned, with_sliders if sliders else plain)


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
    """Return a view for a cell, with sliders for its settings."""
    if not any(isinstance(part, hv.DynamicMap) and part.kdims for part in view.traverse()):
        return plain(view)
    output = pn.Column(pn.panel(view, widget_location="top_left"), hooks=[inline_styles])
    return output._repr_mimebundle_(include, exclude)


def plain(view: Dimensioned, include: Any = None, exclude: Any = None) -> dict[str, str]:
    """Return a view for a page that has Bokeh, at the first positions of its settings."""
    renderer = hv.renderer("bokeh")
    script, div, _ = notebook_content(hv.render(view, backend="bokeh"), theme=renderer.theme)
    return {"text/html": f"{div}<script>{script}</script>"}
