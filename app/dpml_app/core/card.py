"""A card: a title, a line that is read out beside the plot, the plot itself, and what one should know of it.

A page knows its cards by the contract `Card` alone: another one is a class in a file of its own. Cards stand in rows of
as many as there is room for. Those far below the view have a place of their own, which is filled when it comes near: a
figure that nobody has scrolled to costs neither the server nor the browser anything.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from html import escape
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd
import panel as pn
from bokeh.models import GlyphRenderer, HoverTool, LogScale, Plot
from panel.models.markup import HTML
from panel.viewable import Viewable

from dpml_app.drawing.figure import HEIGHT, script
from dpml_app.jobs import Task
from dpml_app.settings import PageValues
from dpml_app.text import formulas
from dpml_app.text.glossary import mark

# on a phone the control stays in reach while the picture is in view
CONTROL_STYLE = script("core/control.css")
# as much further in begins the line of a slider than what it stands in
INSET = 21


def under(plot: Plot, control: Any) -> dict[str, str]:
    """Return the paddings of control.css, by which a slider has its values under those of the plot's axis."""
    left, right, values = plot.min_border_left, plot.min_border_right or 0, getattr(control, "options", None)
    if not isinstance(plot.x_scale, LogScale) or not isinstance(values, dict) or left is None:
        return {
            "--right": f"{max(right - INSET, 0)}px",
            "--left": "35px",
            "--narrow-right": "8px",
            "--narrow-left": "8px",
        }
    whole = math.log(plot.x_range.end / plot.x_range.start)
    before = math.log(min(values.values()) / plot.x_range.start) / whole
    after = math.log(plot.x_range.end / max(values.values())) / whole

    def side(border: float, share: float, other: float) -> str:
        # a share of the frame, which is what the borders and the margins leave
        return f"calc({border - INSET - share * (border + other + 8):.1f}px + {100 * share:.2f}%)"

    sides = {"--right": side(right, after, left), "--left": side(left, before, right)}
    return {**sides, "--narrow-right": "0px", "--narrow-left": side(left, before, 14)}


# the button by which Panel scrolls a column stands among its parts, and would take a part's place
# cards that are left over share their row, so that no part of it is empty
GRID_STYLE = """
:host { display: flex !important; flex-flow: row wrap; align-items: stretch; gap: 16px; }
:host > * { flex: 1 1 min(420px, 100%); min-width: 0; }
.scroll-button { display: none !important; }
"""
ROW_STYLE = """
:host { display: grid !important; grid-template-columns: repeat(auto-fit, minmax(min(var(--least), 100%), 1fr)); }
.scroll-button { display: none !important; }
"""
CARD_STYLE = """
:host {
  background: var(--panel-surface-color, #fff);
  border: 1px solid #8884;
  border-radius: 8px;
  box-sizing: border-box;
  padding-bottom: 10px;
}
"""
# While a card waits, its place sets both variables: figures are greyed, and the card says so once, over them.
WAITING_STYLE = """
:host(.waiting) { --figure-opacity: 0.4; }
:host(.computing) { --waiting-text: "Computing…"; }
"""
FIGURE_STYLE = ":host { opacity: var(--figure-opacity, 1); }"
MESSAGE_STYLE = """
:host { position: relative; }
:host::after {
  background: var(--panel-surface-color, #fff);
  border: 1px solid #8888;
  border-radius: 8px;
  content: var(--waiting-text, none);
  font-size: 1rem;
  left: 50%;
  padding: 6px 14px;
  pointer-events: none;
  position: absolute;
  top: min(40%, 260px);
  transform: translateX(-50%);
  z-index: 2;
}
"""
BOX_STYLE = CARD_STYLE + ":host { padding: 12px 16px; }"
TEXT_STYLE = script("core/card.css")
# in the app a page's picture is as high as a part of the window (styles.css), or as a share of it
PICTURE_STYLE = (
    f":host {{ flex: none !important; height: calc(var(--share, 1) * var(--picture, {HEIGHT}px)) !important; }}"
)
WHOLE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}


# A series and a place on its axis. Three places are of the setting that is chosen. What is at IMMEDIATE is answered at
# once, in the server; what is at DEFERRED as well, but nothing waits for it; what is at WORKER is slow, so that workers
# compute it, before anything else.
ResultKey = tuple[str, Any]
IMMEDIATE, DEFERRED, WORKER = "now", "late", "soon"
CHOSEN = (IMMEDIATE, DEFERRED, WORKER)
V = TypeVar("V", bound=PageValues)
F = TypeVar("F")
C = TypeVar("C")
T = TypeVar("T")
Results = Mapping[ResultKey, Any]


@dataclass(frozen=True)
class Number:
    """A number of an answer, in words, and its interval; an exact one has none."""

    what: str
    value: str
    interval: str = ""


@dataclass(frozen=True)
class Answer:
    """The numbers with which a page's picture answers at a setting."""

    numbers: tuple[Number, ...]
    # what the intervals hold
    within: str = ""


class Card(Generic[V, F]):
    """One card of a page: its figures, what has to be computed for it, and how results are shown.

    It is of the page's values V and of what is known of the data set, F.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    # settings whose widgets stand in the card
    controls: ClassVar[tuple[str, ...]] = ()
    # whether it is as wide as the page
    wide: ClassVar[bool] = False
    # settings after whose change the card is prepared again; empty: any
    depends: ClassVar[frozenset[str]] = frozenset()
    # why the code behind its plot is not offered; empty: it is
    no_script: ClassVar[str] = ""
    # how long its code takes, where results of the default classifier may not ship
    takes: ClassVar[str] = ""
    # makes the card's figure, which has a `plot`; a card of several figures is given them. None: it has no figure
    draw: ClassVar[Callable[[], Any] | None]
    # what `draw` has made, and the Bokeh figures in it
    figures: Sequence[Any] = ()
    plots: list[Plot]

    def __init__(self, *figures: Any):
        draw = getattr(type(self), "draw", None)
        self.figures = list(figures) or ([draw()] if draw else [])
        self.figure: Any = self.figures[0] if self.figures else None
        self.plots = [f.plot for f in self.figures]

    def content(self) -> list[Any]:
        """Return the content of the card: plots or other components."""
        return list(self.plots)

    def refusal(self, values: V, facts: F) -> str:
        """Return in a sentence why the card says nothing about this data set or choice; empty if it does."""
        return ""

    def work(self, values: V, facts: F) -> dict[ResultKey, Task]:
        """Return the tasks that the card needs at this setting, each under its place."""
        return {}

    def greyed(self, results: Results, wanted: Mapping[ResultKey, Task], computing: bool) -> bool:
        """Return whether the card waits and is greyed; a card that greys a part of its plot does it here."""
        return len(results) < len(wanted)

    def lay_out(self, facts: F) -> None:
        """Lay out for a new data set."""

    def prepare(self, values: V, facts: F, now: Results) -> None:
        """Show a setting: markers, levels and legend, and the results at the setting that is chosen.

        `now` has those at IMMEDIATE, and those at DEFERRED and WORKER that are known already.
        """

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        """Show the curves as far as results are there."""

    def readout(self, values: V, facts: F, results: Results) -> str:
        """Return in words, as HTML, what the plot shows at the setting that is chosen."""
        return ""

    def to_pin(self, values: V, facts: F, results: Results) -> Answer | None:
        """Return what a page's picture shows, to be pinned; None while there is nothing to pin."""
        return None

    def clear(self) -> None:
        """Show nothing."""
        for figure in self.figures:
            figure.clear()

    @classmethod
    def browser_tables(cls, values: V) -> dict[str, pd.DataFrame]:
        """Return the tables of what the browser computes by itself."""
        return {}


def kept_but_for(*names: str) -> Callable[[Callable[[C, V, F], T]], Callable[[C, V, F], T]]:
    """Keep the last result of a card's method while nothing but these settings changes; it is not given them."""

    def keep(method: Callable[[C, V, F], T]) -> Callable[[C, V, F], T]:
        name = f"_last_{method.__name__}"

        @wraps(method)
        def call(self: C, values: V, facts: F) -> T:
            rest: Any = replace(values, **dict.fromkeys(names))
            last: tuple[V, F, T] | None = vars(self).get(name)
            if last is None or last[0] != rest or last[1] is not facts:
                last = rest, facts, method(self, rest, facts)
                vars(self)[name] = last
            return last[2]

        return call

    return keep


def here(results: Results, series: str) -> Any:
    """Return what is known of a series at the setting that is chosen, or None."""
    return results.get((series, IMMEDIATE), results.get((series, WORKER)))


class Slot(pn.Column):
    """The place of a card, filled when `mount` is called; until then it holds the room that a card takes, or `room`."""

    def __init__(self, name: str, make: Callable[[], Viewable], *, wide: bool = False, room: int | None = 560):
        look = {"flex-basis": "100%"} if wide else {}
        super().__init__(name=f"place-{name}", styles=look, min_height=room, stylesheets=[WAITING_STYLE], **WHOLE)
        self.make = make
        # called once it is filled
        self.on_mount: Callable[[], None] = lambda: None

    def mount(self) -> None:
        """Put the card in its place."""
        if not self.objects:
            self.objects = [self.make()]
            self.min_height = None
            self.on_mount()

    def wait(self, waiting: bool, computing: bool) -> None:
        """Grey the figures of a card that waits for results, with one "Computing…" while they are computed."""
        classes = ["waiting"] * waiting + ["computing"] * (waiting and computing)
        if self.css_classes != classes:
            self.css_classes = classes


def line(*parts: Any, least: int = 240, **looks: Any) -> pn.Column:
    """Return parts side by side, as many as have `least` pixels each."""
    return pn.Column(*parts, stylesheets=[ROW_STYLE], styles={"--least": f"{least}px"}, **{**WHOLE, **looks})


def head(title: str, caption: str, plots: Sequence[Plot], readout: HTML) -> pn.pane.HTML:
    """Return a card's title, its numbers, in words and as tables, and what one should know of the plot."""
    names = " ".join(plot.name for plot in plots if plot.name)
    shown = escape(title)
    # a card's line is called by the card, as its formulas are
    about = mark(caption) + formulas.caption((readout.name or "").removesuffix("-readout"))
    numbers = (
        f'data-plots="{names}" data-said="{readout.name}" data-title="{shown}" aria-label="{shown}: numbers and code"'
    )
    return pn.pane.HTML(
        f'<div class="head"><h2>{shown}</h2><button type="button" {numbers}>▦</button>'
        f'<button type="button" class="info" popovertarget="about" aria-label="{shown}: about this plot"></button>'
        f'<div id="about" popover>{about}</div></div>',
        margin=(10, 14, 2, 14),
        sizing_mode="stretch_width",
        stylesheets=[TEXT_STYLE],
    )


def spoken(readout: HTML, *, aside: bool) -> pn.pane.Bokeh:
    """Return the place of a card's sentence; `aside` keeps it for the card's numbers."""
    # on the model itself: the pane around it does not hand these on
    readout.update(margin=(2, 14), styles={"display": "none"} if aside else {})
    return pn.pane.Bokeh(readout, sizing_mode="stretch_width", margin=0)


def answer(title: str, caption: str, content: Sequence[Any], control: Any, *below: Any, readout: HTML) -> pn.Column:
    """Return the picture that answers a page's question: its parts, its one control under them, and its sentences.

    Several plots stand side by side; parts that are no plots have a line each.
    """
    plots = _plots(content)
    panes = [figure_pane(part) if isinstance(part, Plot) else part for part in content]
    if len(plots) == len(content):
        for plot in plots:
            plot.update(height=HEIGHT, stylesheets=[PICTURE_STYLE, FIGURE_STYLE])
        panes = panes if len(panes) == 1 else [line(*panes, least=340)]
    return pn.Column(
        head(title, caption, plots, readout),
        *panes,
        pn.Column(
            control, stylesheets=[CONTROL_STYLE], styles=under(plots[0 if len(panes) == 1 else -1], control), **WHOLE
        ),
        *below,
        spoken(readout, aside=True),
        stylesheets=[MESSAGE_STYLE],
        **WHOLE,
    )


def card(
    title: str, readout: HTML, content: Any, caption: str, controls: Any = None, *, aside: bool = False
) -> pn.Column:
    """Return a card around figures or other components; `controls` of its own stand above what is read out."""
    contents = content if isinstance(content, list) else [content]
    parts = [
        head(title, caption, _plots(contents), readout),
        *([] if controls is None else [controls]),
        spoken(readout, aside=aside),
        *(figure_pane(part) if isinstance(part, Plot) else part for part in contents),
    ]
    return pn.Column(*parts, stylesheets=[CARD_STYLE, MESSAGE_STYLE], **WHOLE)


def _plots(contents: Sequence[Any]) -> list[Plot]:
    """Return the plots among components, and inside them."""
    plots: list[Plot] = []
    for part in contents:
        inside = part.object if isinstance(part, pn.pane.Bokeh) else part
        if isinstance(inside, Plot):
            plots.append(inside)
        elif isinstance(part, pn.Column):
            plots += _plots(part.objects)
    return plots


def figure_pane(plot: Plot) -> pn.pane.Bokeh:
    """Return a figure as a component as wide as its card.

    Looks that a figure's methods make for what is selected or muted are left to the browser, which has the same: they
    are half of the models that a page sends.
    """
    for tool in plot.tools:
        # else Bokeh writes 0.1 with an exponent
        if isinstance(tool, HoverTool) and isinstance(tool.tooltips, list):
            tool.tooltips = [(name, f"{tip}{{0.0[00]}}" if tip == "@epsilon" else tip) for name, tip in tool.tooltips]
    for renderer in plot.renderers:
        if isinstance(renderer, GlyphRenderer) and renderer.nonselection_glyph is not None:
            renderer.update(nonselection_glyph="auto", muted_glyph="auto")
    # not on the pane, which does not hand it on
    plot.stylesheets = [*plot.stylesheets, FIGURE_STYLE]
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=(0, 4))
