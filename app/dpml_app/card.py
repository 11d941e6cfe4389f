"""A card: a title, a line that is read out beside the plot, the plot itself, and what one should know of it.

A page knows its cards by the contract `Card` alone: another one is a class in a file of its own. Cards stand in a grid
of CSS. Those far below the view have a place of their own, which is filled when it comes near: a figure that nobody has
scrolled to costs neither the server nor the browser anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import panel as pn
from bokeh.models import GlyphRenderer, Plot
from panel.models.markup import HTML
from panel.viewable import Viewable

from dpml_app.glossary import mark
from dpml_app.work.pool import Chunk

__all__ = [
    "AT_ONCE",
    "NOW",
    "SOON",
    "WHOLE",
    "Card",
    "Place",
    "Results",
    "Slot",
    "Values",
    "card",
    "figure_pane",
    "grid",
    "here",
    "line",
]

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


# A series and a place on its axis. What is at NOW is answered at once, in the server; what is at SOON is of the setting
# that is chosen as well, but slow, so that workers compute it, before anything else.
Place = tuple[str, Any]
NOW, SOON = "now", "soon"
Values = Mapping[str, Any]
Results = Mapping[Place, Any]


class Card:
    """One card of a page: its figures, what has to be computed for it, and how results are shown.

    Attributes
    ----------
    name, title, caption : str
    controls : tuple of str
        Settings whose widgets stand in the card.
    stacked : bool
        Whether they stand below one another.
    wide : bool
        Whether it is as wide as the page.
    draw : callable
        Makes the card's figure, which has a `plot`; a card of several figures is given them.
    figures, plots : list
        Those, and their Bokeh figures.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    controls: ClassVar[tuple[str, ...]] = ()
    stacked: ClassVar[bool] = False
    wide: ClassVar[bool] = False
    draw: ClassVar[Callable[[], Any]]
    figures: Sequence[Any]
    plots: list[Plot]

    def __init__(self, *figures: Any):
        self.figures = list(figures) or [type(self).draw()]
        self.figure: Any = self.figures[0]
        self.plots = [f.plot for f in self.figures]

    @classmethod
    def belongs(cls, values: Values) -> bool:
        """Return whether the card is on the page at this setting; it is made when it first is."""
        return True

    def refusal(self, values: Values, facts: Values) -> str:
        """Return in a sentence why the card says nothing about this data set or choice; empty if it does."""
        return ""

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        """Return the chunks that the card needs at this setting, each under its place."""
        return {}

    def waits(self, place: Place) -> bool:
        """Return whether the chunk at a place is computed after what every other card needs."""
        return False

    def lay_out(self, facts: Values) -> None:
        """Lay out for a new data set."""

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        """Show a setting: markers, levels and legend, and the results at the setting that is chosen.

        `now` has those at NOW, and those at SOON that are known already.
        """

    def outdate(self, names: set[str]) -> None:
        """Fade the curves of these series."""

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        """Show the curves as far as results are there."""

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        """Return in words, as HTML, what the plot shows at the setting that is chosen."""
        return ""

    def clear(self) -> None:
        """Show nothing."""


def here(results: Results, series: str) -> Any:
    """Return what is known of a series at the setting that is chosen, or None."""
    return results.get((series, NOW), results.get((series, SOON)))


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
    """Return a card around figures or other components; `controls` of its own stand above what is read out."""
    contents = content if isinstance(content, list) else [content]
    parts = [
        pn.pane.HTML(f"<h2>{title}</h2>", margin=(8, 12, 0, 12), stylesheets=[TEXT_STYLE]),
        *([] if controls is None else [controls]),
        # room for three lines, so that the plots of a row stand at one height and nothing jumps
        pn.pane.Bokeh(readout, margin=(2, 12), sizing_mode="stretch_width", min_height=66),
        *(figure_pane(part) if isinstance(part, Plot) else part for part in contents),
        pn.pane.HTML(
            f"<p>{mark(caption)}</p>", margin=(8, 12, 10, 12), sizing_mode="stretch_width", stylesheets=[TEXT_STYLE]
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
