"""A card: a title, a line that is read out beside the plot, the plot itself, and what one should know of it.

Cards stand in a grid of CSS. Those far below the view have a place of their own, which is filled when it comes near:
a figure that nobody has scrolled to costs neither the server nor the browser anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
from bokeh.models import GlyphRenderer, Plot
from panel.models.markup import HTML
from panel.viewable import Viewable

__all__ = ["AT_ONCE", "Slot", "card", "figure_pane", "grid", "line"]

GRID_STYLE = """
:host { display: grid !important; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 16px; padding: 0 16px; }
@media (max-width: 1199px) { :host { grid-template-columns: minmax(0, 1fr); padding: 0 8px; } }
"""
ROW_STYLE = """
:host { display: grid !important; grid-template-columns: repeat(auto-fit, minmax(min(COLUMNpx, 100%), 1fr)); }
"""
CARD_STYLE = """
:host {
  background: var(--panel-surface-color, #fff);
  border: 1px solid var(--divider-color, #ddd);
  border-radius: 8px;
  box-sizing: border-box;
}
"""
TEXT_STYLE = """
h2 { font-size: 1.25rem; font-weight: 600; margin: 0; }
p { font-size: 0.9rem; opacity: 0.8; margin: 0; line-height: 1.4; }
"""
WHOLE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
# mounted with the page: what a screen shows
AT_ONCE = 2


class Slot(pn.Column):
    """The place of a card, filled when `mount` is called; until then it holds the room that a card takes."""

    def __init__(self, name: str, make: Callable[[], Viewable], *, wide: bool = False):
        look = {"grid-column": "1 / -1"} if wide else {}
        super().__init__(name=f"place-{name}", styles=look, min_height=700, **WHOLE)
        self.make = make

    def mount(self) -> None:
        """Put the card in its place."""
        if not self.objects:
            self.objects = [self.make()]
            self.min_height = None


def grid(slots: Sequence[Slot]) -> pn.Column:
    """Return a grid of two columns, one where it is narrow; the first cards are there at once."""
    for place in slots[:AT_ONCE]:
        place.mount()
    return pn.Column(*slots, stylesheets=[GRID_STYLE], **WHOLE)


def line(*parts: Any, least: int = 240) -> pn.Column:
    """Return parts side by side, as many as have `least` pixels each."""
    return pn.Column(*parts, stylesheets=[ROW_STYLE.replace("COLUMN", str(least))], **WHOLE)


def card(title: str, readout: HTML, content: Any, caption: str, controls: Any = None) -> pn.Column:
    """Return a card around a Bokeh figure or another component; `controls` of its own stand above what is read out."""
    if isinstance(content, Plot):
        content = figure_pane(content)
    parts = [
        pn.pane.HTML(f"<h2>{title}</h2>", margin=(8, 12, 0, 12), stylesheets=[TEXT_STYLE]),
        *([] if controls is None else [controls]),
        # room for three lines, so that the plots of a row stand at one height and nothing jumps
        pn.pane.Bokeh(readout, margin=(2, 12), sizing_mode="stretch_width", min_height=66),
        content,
        pn.pane.HTML(
            f"<p>{caption}</p>", margin=(8, 12, 10, 12), sizing_mode="stretch_width", stylesheets=[TEXT_STYLE]
        ),
    ]
    return pn.Column(*parts, stylesheets=[CARD_STYLE], **WHOLE)


def figure_pane(plot: Plot) -> pn.pane.Bokeh:
    """Return a figure as a component as wide as its card.

    Looks that a figure's methods make for what is selected or muted are left to the browser, which has the same: they
    are half of the models that a page sends.
    """
    for renderer in plot.renderers:
        if isinstance(renderer, GlyphRenderer) and renderer.nonselection_glyph is not None:
            renderer.update(nonselection_glyph="auto", muted_glyph="auto")
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=(0, 4))
