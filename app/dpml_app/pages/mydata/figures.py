"""The cards of My data: advice, bounds, and the bar that divides ε among the parts of a release."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.core.properties import value
from bokeh.models import CategoricalColorMapper, FactorRange
from bokeh.transform import dodge
from panel.models.markup import HTML

from dpml.exceptions import DpmlError
from dpml.studies import Advice, advised
from dpml_app.compat import answer_soon
from dpml_app.core.card import WHOLE, figure_pane, head, line, spoken
from dpml_app.core.curves_card import FAR
from dpml_app.core.widgets import WIDE, words_of
from dpml_app.drawing.figure import (
    Figure,
    empty_source,
    fill,
    hover,
    new_figure,
    percent_axis,
    script,
    set_ticks,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark
from dpml_app.drawing.marginals import MarginalsFigure
from dpml_app.drawing.progress import AWAY, SHOWN, bar, filled
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.jobs import LONG
from dpml_app.pages.mydata import compute, text
from dpml_app.pages.mydata.compute import WIDTHS
from dpml_app.settings import EPSILONS, Shared
from dpml_app.views.curve import curve_figure, curve_table
from dpml_app.views.frame import AXES, Axis
from dpml_app.views.rendered import ViewFigure

TABLES, BAR_STYLE = script("pages/mydata/tables.css"), script("pages/mydata/budget_bar.css")
OFFERED = {f"{epsilon:g}": epsilon for epsilon in EPSILONS}
# seconds that controls rest before their setting is computed
REST = 0.3


@dataclass
class Context:
    """What the parts of one session's page share: its table, and how they run coroutines and send changes at once."""

    settings: Shared
    spawn: Callable[[Coroutine], None]
    hold: Callable[[], AbstractContextManager[None]]
    draft: compute.Draft | None = None


def pane(html: str = "", margin: Any = (4, 12), *styles: str) -> pn.pane.HTML:
    """Return the place of some words or a table."""
    return pn.pane.HTML(html, sizing_mode="stretch_width", margin=margin, stylesheets=list(styles))


def button(label: str, pressed: Callable[[], Any], **options: Any) -> pmui.Button:
    """Return a button as wide as its place."""
    made = pmui.Button(label=label, **{"variant": "outlined", **WIDE, **options})
    made.on_click(lambda _event: pressed())
    return made


# ---- advice ----------------------------------------------------------------------------------------------------------

# between two methods at one ε, as a share of the room of an ε
APART = 0.18
# the place of the lines' names, right of all marks; blank, so that the axis has no label there
NAMES = " "
# of the axis beyond the lowest and the highest end, in shares
MARGIN = 0.03
CAPTION = (
    "Mean accuracy (mark) and 90% of the runs (line), simulated on your records. Hollow: worse by two standard errors. "
    "Dotted: majority-class baseline. Dashed: non-private boosted trees and logistic regression. All methods but "
    "AutoClassifier are naive Bayes."
)
LEGEND = "<p>Filled mark: best, or not clearly worse. Hollow mark: clearly worse. Line: 90% of runs.</p>"


class AdviceFigure(Figure):
    """At each ε the methods side by side, in their own marks, between guessing and no privacy."""

    computed = ("sources", "levels")

    def __init__(self) -> None:
        factors = [*(f"{epsilon:g}" for epsilon in compute.ADVICE_EPSILONS), NAMES]
        ranges: dict[str, Any] = {"x_range": FactorRange(factors=factors), "y_range": (0.5, 1.0)}
        self.plot = p = new_figure("mydata-advice", **ranges)
        p.xgrid.visible = False
        p.xaxis.axis_label = "← more private      ε      less private →"
        percent_axis(p.yaxis[0])
        self.levels = empty_source("mydata-advice-levels", "right", "dash", "name", "baseline", "off")
        p.hspan(y="right", source=self.levels, line_color=REFERENCE, line_width=2, line_dash="dash")
        words: dict[str, Any] = {"text_font_size": "14px", "color": REFERENCE, "x_offset": -4}
        words |= {"text_align": "right", "text_baseline": "baseline", "y_offset": "off"}
        write(p, value((NAMES, 0.5)), "right", "name", source=self.levels, **words)
        shown = {name: style_of(name) for name in advised()}
        legend, dots, self.sources = PlotLegend(p), [], {}
        for place, (name, style) in enumerate(shown.items()):
            source = empty_source(f"mydata-advice-{name}", "epsilon", "method", "mean", "low", "high", "as_good")
            at = dodge("epsilon", (place - (len(shown) - 1) / 2) * APART, range=p.x_range)
            p.segment(x0=at, y0="low", x1=at, y1="high", source=source, line_color=style.color, line_width=3)
            # hollow shows the line behind it, so that an interval is seen whole
            within = CategoricalColorMapper(factors=["yes", "no"], palette=[style.color, f"{style.color}00"])
            look: dict[str, Any] = {"marker": style.marker, "line_color": style.color, "line_width": 2}
            inside = {"field": "as_good", "transform": within}
            dots.append(p.scatter(at, "mean", source=source, size=13, fill_color=inside, **look))
            legend.add(style.label, [mark(style.marker, style.color)])
            self.sources[name] = source
        right = ("accuracy", "@mean{0.0%}"), ("90% of runs", "@low{0.0%} to @high{0.0%}")
        hover(p, dots, ("", "@method"), ("ε", "@epsilon"), *right, ("as good as the best", "@as_good"))

    def show(self, advice: Mapping[float, Advice]) -> None:
        """Show what is known so far."""
        reached = [(f"{epsilon:g}", each) for epsilon, one in sorted(advice.items()) for each in one.methods]
        for name, source in self.sources.items():
            label, mine = style_of(name).label, [(at, each) for at, each in reached if each.method == name]
            fill(source, [(at, label, e.mean, e.low, e.high, "yes" if e.equal else "no") for at, e in mine])
        levels = []
        if advice:
            last = advice[max(advice)]
            levels = [("majority class", last.guess, "dotted")]
            levels += [("non-private", last.signal.accuracy, "dashed")] if last.signal is not None else []
        highest = max((right for _name, right, _dash in levels), default=0.0)
        # the name of each on the side where the other is not, clear of its line
        sides = ("bottom", -3), ("top", 3)
        fill(self.levels, [(right, dash, name, *sides[right < highest]) for name, right, dash in levels])
        ends = [end for _at, each in reached for end in (each.low, each.mean, each.high)] + self.levels.data["right"]
        if ends:
            self.plot.y_range.update(start=max(min(ends) - MARGIN, 0.0), end=min(max(ends) + MARGIN, 1.0 + MARGIN))


class AdviceCard:
    """What is said of a session's table, and drawn; it is made for the first table that is used."""

    def __init__(self, pressed: Callable[[], None]) -> None:
        self.whole = pn.Column(visible=False, **WHOLE)
        self.text = pane("", (4, 14), TABLES)
        self.readout = HTML(text="", name="mydata-advice-readout")
        self.figure: AdviceFigure | None = None
        self.bar = bar()
        look: dict[str, Any] = {"size": "small", "margin": (2, 14), "sizing_mode": None}
        self.button = button("Cancel", pressed, disabled=True, styles=AWAY, **look)

    def progress(self, done: int, total: int) -> None:
        """Say how far the measurement is, and that it can be cancelled."""
        self.bar.object = filled("Measuring", done, total)
        self.button.param.update(label="Cancel", disabled=False, styles=SHOWN)

    def rest(self, *, cancelled: bool) -> None:
        """Show that nothing is measured any more; what was cancelled can be asked for again."""
        self.bar.object = ""
        self.button.param.update(label="Measure", disabled=not cancelled, styles=SHOWN if cancelled else AWAY)

    def tell(self, advice: Mapping[float, Advice]) -> None:
        """Say and draw what is known so far."""
        figure = self.figure or AdviceFigure()
        self.text.object = text.advice_html(advice)
        # the model's own view takes escaped HTML
        self.readout.text = escape(self.text.object)
        figure.show(advice)
        if self.figure is None:
            # last: within one message a pane that is new has no document yet, and Panel (1.9.4) would have what changes
            # in it ask another host for its styles
            self.figure = figure
            parts = [self.text, self.bar, self.button, figure_pane(figure.plot), pane(LEGEND, (0, 14))]
            title = head("Advice", CAPTION, [figure.plot], self.readout)
            self.whole.objects = [title, *parts, spoken(self.readout, aside=True)]

    def clear(self) -> None:
        """Say nothing, and keep nothing of a table."""
        self.text.object = self.readout.text = ""
        self.rest(cancelled=False)
        self.whole.visible = False
        if self.figure is not None:
            self.figure.clear()


# ---- bounds ----------------------------------------------------------------------------------------------------------

BOUNDS_NOTE = (
    "<p>The other bound stays fixed. The model divides each number into bins of equal width. This simulation uses your "
    "exact records and charges nothing. Do not publish it.</p>"
)


GUESS = {"guess": Style("majority-class baseline", REFERENCE, "dot", "dotted")}


class BoundsCard:
    """At an ε, what a bound costs in accuracy, and a published table beside the true one; drawn when it is opened."""

    def __init__(self, context: Context):
        self.context = context
        self.figure: ViewFigure | None = None
        self.tables: MarginalsFigure | None = None
        self.loss: compute.BoundLoss | None = None
        self._asked, self._stop = 0, compute.CancellationToken()
        self.open = button("Test these bounds", self.show)
        self.bound = pmui.Select(label="Bound", options=[], **WIDE)
        self.epsilon = pmui.DiscreteSlider(label="ε of the estimate", options=OFFERED, value=0.5, **WIDE)
        self.text, self.table_text = pane(), pane()
        self.inside = pn.Column(visible=False, **WHOLE)
        self.whole = pn.Column(self.open, self.inside, visible=False, **WHOLE)
        for widget in (self.bound, self.epsilon):
            widget.param.watch(lambda _event: self.ask(), "value")

    def refresh(self) -> None:
        """Offer the bounds of the draft as it is now, and estimate anew what is shown."""
        draft = self.context.draft
        columns = [] if draft is None else [c.name for c in draft.columns.values() if c.kind == "numeric"]
        offered = {f"{name}: {title}": (name, end) for name in columns for end, title in text.ENDS.items()}
        self.whole.visible = bool(offered)
        if self.bound.options != offered:
            chosen = self.bound.value if self.bound.value in offered.values() else next(iter(offered.values()), None)
            self.bound.param.update(options=offered, value=chosen)
        self.ask()

    def show(self) -> None:
        """Open the card."""
        self.open.visible = False
        if self.figure is None or self.tables is None:
            x, series = Axis("width of the bounds (1: as stated)", log=True), {"bound": style_of(compute.MODEL)}
            look: dict[str, Any] = {"xlim": (WIDTHS[0], WIDTHS[-1]), "ylim": (0.5, 1.0)}
            options: dict[str, Any] = {"column": "width", "marks": True, "look": look, "marker": {}, "height": 230}
            self.figure = curve_figure("mydata-bounds", x, AXES["accuracy"], series, GUESS, **options)
            p = self.figure.plot
            set_ticks(p.xaxis[0], list(WIDTHS), "tick < 1 ? '1/' + 1 / tick : String(tick)", p.xgrid[0])
            self.tables = MarginalsFigure("mydata", compute.COLUMNS, named=True)
            pictures = [figure_pane(self.figure.plot), self.table_text, figure_pane(self.tables.plot)]
            controls = line(self.bound, self.epsilon, least=220)
            self.inside.objects = [controls, self.text, *pictures, pane(BOUNDS_NOTE, (0, 12))]
        self.inside.visible = True
        self.ask()

    def ask(self) -> None:
        """Estimate once the controls rest; the latest wish wins."""
        self._asked += 1
        self._stop.set()
        self._stop = compute.CancellationToken()
        if self.inside.visible and self.bound.value is not None:
            self.text.object = text.COMPUTING
            self.context.spawn(self._estimate(self._asked, self._stop))

    async def _estimate(self, asked: int, stop: compute.CancellationToken) -> None:
        await asyncio.sleep(REST)
        draft = self.context.draft
        if asked != self._asked or draft is None:
            return
        epsilon, relation = float(self.epsilon.value), self.context.settings.relation
        loss: Any = None
        drawn: Any = None
        try:
            facts: tuple[Any, ...] = draft.frame, draft.label, draft.schema()
            task = LONG.call(compute.bound_loss, *facts, *self.bound.value, epsilon, relation, stop.check)
            loss = await asyncio.wrap_future(task)
            sentence = text.loss_words(loss)
        except compute.Stopped:
            return
        except DpmlError as error:
            sentence = f"<p>{escape(str(error))}</p>"
        self._tell(asked, draft, self._show_loss, loss, sentence)
        if loss is None:
            return
        try:
            drawn = await asyncio.wrap_future(LONG.call(compute.published, *facts, epsilon, relation))
            sentence = text.table_words(drawn, epsilon)
        except DpmlError as error:
            sentence = f"<p>{escape(str(error))}</p>"
        self._tell(asked, draft, self._show_tables, drawn, sentence)

    def _tell(self, asked: int, draft: compute.Draft, show: Callable[..., None], *results: Any) -> None:
        if asked == self._asked and self.context.draft is draft and self.figure is not None:
            with self.context.hold():
                show(self.figure, self.tables, *results)

    def _show_loss(self, figure: ViewFigure, tables: Any, loss: compute.BoundLoss | None, sentence: str) -> None:
        self.loss, self.text.object = loss, sentence
        if loss is None:
            figure.clear()
            self._show_tables(figure, tables, None, "")
        else:
            curve = curve_table(loss.accuracies, style_of(compute.MODEL).label, "width")
            figure.show({"bound": curve, "guess": {"x": FAR, "y": (loss.guess, loss.guess)}})
            figure.fit([loss.guess, *curve["low"], *curve["high"]])
            figure.mark(1.0)

    def _show_tables(self, _figure: Any, tables: Any, drawn: dict[str, Any] | None, sentence: str) -> None:
        self.table_text.object = sentence
        if drawn is None:
            tables.clear()
        else:
            tables.show(drawn)

    def clear(self) -> None:
        """Keep nothing of a table."""
        self._asked += 1
        self._stop.set()
        self.bound.param.update(options={}, value=None)
        self.loss, self.text.object, self.table_text.object, self.whole.visible = None, "", "", False
        if self.figure is not None and self.tables is not None:
            self.figure.clear()
            self.tables.clear()


# ---- the budget bar --------------------------------------------------------------------------------------------------

# in hundredths of the whole: the keys PageUp and PageDown move a slider by ten of its units
WHOLE_BAR, PERCENT = 100.0, "return Math.round(tick) + '%'"
# the label of a control that is switched off is read all the same
READ = {"& .MuiFormLabel-root.Mui-disabled": {"color": "text.secondary"}}


class BudgetBar:
    """The shares of one ε as a bar, and under it a slider and a lock for each part; the sliders move each other.

    `changed`: called after each change of the shares.
    """

    def __init__(self, epsilon: float, changed: Callable[[], None]):
        self.epsilon, self.changed = epsilon, changed
        # what the parts buy on the table in use, None where there is none
        self.bought: compute.Bought | None = None
        self.shares = dict(compute.START)
        self._showing, self.touched = False, False
        self.picture = pane("", (6, 12), BAR_STYLE)
        look: dict[str, Any] = {"start": 0.0, "end": WHOLE_BAR, "step": 1.0, "show_value": False, "sx": READ}
        look |= {"min_width": 130, **WIDE}
        self.sliders: dict[str, Any] = {
            part: pmui.FloatSlider(label=title, bar_color=text.COLOURS[part], format=words_of(PERCENT), **look)
            for part, title in text.PART_TITLES.items()
        }
        self.locks = {part: pmui.Checkbox(label=f"Lock {part}", margin=(14, 12, 0, 4)) for part in compute.PARTS}
        for part, slider in self.sliders.items():
            answer_soon(slider)
            slider.param.watch(lambda event, part=part: self._move(part, event.new), "value")
        for lock in self.locks.values():
            lock.param.watch(lambda _event: self.show(), "value")
        # a lock goes below its slider where both have no room
        wrap: dict[str, Any] = {"styles": {"flex-wrap": "wrap"}, **WHOLE}
        rows = [pn.Row(self.sliders[part], self.locks[part], **wrap) for part in compute.PARTS]
        self.whole = pn.Column(self.picture, line(*rows, least=360), **WHOLE)
        self.show()

    def begin(self, *, selection: bool) -> None:
        """Begin anew; a table whose columns cannot be selected has no share for that."""
        self.shares = dict(compute.START) if selection else compute.moved(compute.START, "selection", 0.0)
        self._showing = True
        for part, lock in self.locks.items():
            lock.value = part == "selection" and not selection
        self.show()

    @property
    def locked(self) -> set[str]:
        """The parts that keep their shares."""
        return {part for part, lock in self.locks.items() if lock.value}

    def _move(self, part: str, to: float | None) -> None:
        # what comes from a browser is not trusted
        if self._showing or to is None or math.isnan(to):
            return
        self.touched = True
        self.shares = compute.moved(self.shares, part, min(max(float(to) / WHOLE_BAR, 0.0), 1.0), self.locked)
        self.show()
        self.changed()

    def show(self) -> None:
        """Show the shares in all widgets; a slider that could not move is switched off."""
        locked, self._showing = self.locked, True
        try:
            for part, slider in self.sliders.items():
                fixed = part in locked or len(locked - {part}) == len(compute.PARTS) - 1
                slider.param.update(value=WHOLE_BAR * self.shares[part], disabled=fixed)
            self.draw()
        finally:
            self._showing = False

    def draw(self) -> None:
        """Draw the bar, and say what its parts buy."""
        epsilons = {part: self.epsilon * share for part, share in self.shares.items()}
        buys = {} if self.bought is None else self.bought.lines(self.epsilon, epsilons)
        self.picture.object = text.budget_bar(self.epsilon, self.shares, self.locked, buys)
