"""A card: a title, a line that is read out beside the plot, the plot itself, and what one should know of it."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import GlyphRenderer, Plot
from panel.models.markup import HTML

__all__ = ["CARD_STYLE", "card", "figure_pane"]

CARD_STYLE = """
h2 { font-size: 1.25rem; font-weight: 600; margin: 0; }
p { font-size: 0.9rem; opacity: 0.8; margin: 0; line-height: 1.4; }
"""


def card(title: str, readout: HTML, content: Any, caption: str, controls: Any = None) -> pmui.Paper:
    """Return a card around a Bokeh figure or another component; `controls` of its own stand above what is read out."""
    if isinstance(content, Plot):
        content = figure_pane(content)
    parts = [
        pn.pane.HTML(f"<h2>{title}</h2>", margin=(8, 12, 0, 12), stylesheets=[CARD_STYLE]),
        *([] if controls is None else [controls]),
        # room for three lines, so that the plots of a row stand at one height and nothing jumps
        pn.pane.Bokeh(readout, margin=(2, 12), sizing_mode="stretch_width", min_height=66),
        content,
        pn.pane.HTML(
            f"<p>{caption}</p>", margin=(8, 12, 10, 12), sizing_mode="stretch_width", stylesheets=[CARD_STYLE]
        ),
    ]
    return pmui.Paper(*parts, elevation=1, sizing_mode="stretch_width", margin=0)


def figure_pane(plot: Plot) -> pn.pane.Bokeh:
    """Return a figure as a component as wide as its card.

    Looks that a figure's methods make for what is selected or muted are left to the browser, which has the same: they
    are half of the models that a page sends.
    """
    for renderer in plot.renderers:
        if isinstance(renderer, GlyphRenderer) and renderer.nonselection_glyph is not None:
            renderer.update(nonselection_glyph="auto", muted_glyph="auto")
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=(0, 4))
