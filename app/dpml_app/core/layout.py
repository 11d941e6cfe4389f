"""The layout of cards: their heads, sentences and figures, and a slider that is aligned with an axis."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import panel as pn
from bokeh.models import GlyphRenderer, HoverTool, LogScale, Plot
from panel.models.markup import HTML

from dpml_app.core.card import WHOLE, Card
from dpml_app.drawing.figure import HEIGHT, script
from dpml_app.text import formulas
from dpml_app.text.glossary import mark

# on a phone the control stays in reach while the picture is in view
CONTROL_STYLE = script("core/control.css")
# pixels between the edge of a slider's element and the start of its line
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


def line(*parts: Any, least: int = 240, **looks: Any) -> pn.Column:
    """Return parts side by side, as many as have `least` pixels each."""
    return pn.Column(*parts, stylesheets=[ROW_STYLE], styles={"--least": f"{least}px"}, **{**WHOLE, **looks})


def head(title: str, caption: str, plots: Sequence[Plot], readout: HTML) -> pn.pane.HTML:
    """Return a card's title, with buttons for its numbers and for what one should know of the plot."""
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


def answer(one: Card, readout: HTML, control: Any, own: Sequence[Any], below: Sequence[Any]) -> pn.Column:
    """Return a page's main picture: its parts, its control under them, further controls, and what is below.

    Several plots stand side by side; parts that are no plots have a line each.
    """
    content = one.content()
    panes = [figure_pane(part) if isinstance(part, Plot) else part for part in content]
    if len(one.plots) == len(content):
        for plot in one.plots:
            plot.update(height=HEIGHT, stylesheets=[PICTURE_STYLE, FIGURE_STYLE])
        panes = panes if len(panes) == 1 else [line(*panes, least=340)]
    side = under(one.plots[0 if len(panes) == 1 else -1], control)
    below = [*([line(*own)] if own else []), *below, spoken(readout, aside=True)]
    return pn.Column(
        head(one.title, one.caption, one.plots, readout),
        *panes,
        pn.Column(control, stylesheets=[CONTROL_STYLE], styles=side, **WHOLE),
        *below,
        stylesheets=[MESSAGE_STYLE],
        **WHOLE,
    )


def card(one: Card, readout: HTML, own: Sequence[Any], *, aside: bool) -> pn.Column:
    """Return a card: its head, its own controls, its sentence and its content."""
    content = [figure_pane(part) if isinstance(part, Plot) else part for part in one.content()]
    above = [line(*own)] if own else []
    parts = [head(one.title, one.caption, one.plots, readout), *above, spoken(readout, aside=aside), *content]
    return pn.Column(*parts, stylesheets=[CARD_STYLE, MESSAGE_STYLE], **WHOLE)


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
