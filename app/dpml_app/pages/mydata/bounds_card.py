"""Card: at the ε that is chosen, what a bound costs in accuracy, and a published table beside the true one."""

import asyncio
from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.exceptions import DpmlError
from dpml_app.core.card import WHOLE, figure_pane, line
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import new_figure, percent_axis, set_ticks
from dpml_app.drawing.marginals import MarginalsFigure
from dpml_app.drawing.styles import REFERENCE, style_of
from dpml_app.jobs import LONG
from dpml_app.pages.mydata.bounds import DRAWS, MODEL, WIDTHS, BoundLoss, bound_loss
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.published import COLUMNS, distance, published
from dpml_app.pages.mydata.stopping import CancellationToken, Stopped
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import percent, points

ENDS = {"upper": "upper bound", "lower": "lower bound"}
USUAL, REST = 0.5, 0.3
# of accuracies that the noise of the runs tells apart
LEAST = 0.002


def bounds_figure() -> BandFigure:
    """Return the figure: accuracy against how wide the bounds are."""
    ends = (WIDTHS[0], WIDTHS[-1])
    p = new_figure("mydata-bounds", x_axis_type="log", x_range=ends, y_range=(0.5, 1.0))
    p.height, p.xaxis.axis_label = 230, "Width of the bounds (1: as stated)"
    set_ticks(p.xaxis[0], list(WIDTHS), "tick < 1 ? '1/' + 1 / tick : String(tick)", p.xgrid[0])
    percent_axis(p.yaxis[0])
    figure = BandFigure(p, {"bound": style_of(MODEL)}, "width", marks=True)
    figure.level("guess", "majority-class baseline", REFERENCE, "dotted")
    figure.marker.location = 1.0
    return figure


def words(loss: BoundLoss) -> str:
    """Return what the bound costs, as HTML."""
    stated, best = loss.accuracies[1.0], loss.accuracies[loss.best]
    gain = float(best.mean() - stated.mean())
    right = f"{percent(float(stated.mean()))} accuracy at ε = {loss.epsilon:g}"
    # two standard errors of the difference: the runs of both have the same random numbers
    clear = gain >= LEAST and gain > 2 * float((best - stated).std(ddof=1)) / DRAWS**0.5
    name = f"{escape(loss.column)}: the {ENDS[loss.end]}"
    if not clear:
        return f"<p>{name} as stated gives {right}. No other width is clearly better.</p>"
    which = "wide" if loss.best < 1 else "narrow"
    better = f"{loss.bounds[loss.best]:.4g} would add <b>{points(gain)}</b>"
    return f"<p>{name} as stated gives {right}. It is <b>too {which}</b>: {better}.</p>"


def table_words(drawn: dict[str, Any], epsilon: float) -> str:
    """Return how far a published table is from the true one, as HTML."""
    apart = distance(drawn)
    worst = max(apart, key=lambda name: apart[name])
    hidden = drawn["n_columns"] - len(drawn["kept"])
    noise = f" {hidden} columns contain noise only (grey)." if hidden else ""
    return (
        f"<p>Synthetic table at ε = {epsilon:g} (filled) and your table (outline). <b>{escape(worst)}</b> differs "
        f"most: by {percent(apart[worst])} of the records.{noise}</p>"
    )


class BoundsCard:
    """A bound to choose, an ε, and both pictures; they are made when the card is first opened.

    `draft`: returns the session's draft, None while it has no table.
    `relation`: returns the neighbouring relation that is chosen.
    `spawn`, `hold`: of the page: run a coroutine, and send changes as one message.
    """

    def __init__(
        self,
        draft: Callable[[], Draft | None],
        relation: Callable[[], str],
        spawn: Callable[[Any], None],
        hold: Callable[[], Any],
    ):
        self.draft, self.relation, self.spawn, self.hold = draft, relation, spawn, hold
        self.figure: BandFigure | None = None
        self.loss: BoundLoss | None = None
        self._asked, self._stop = 0, CancellationToken()
        self.open = pmui.Button(label="Test these bounds", variant="outlined", **WIDE)
        self.open.on_click(lambda _event: self.show())
        self.bound = pmui.Select(label="Bound", options=[], **WIDE)
        offered = {f"{epsilon:g}": epsilon for epsilon in EPSILONS}
        self.epsilon = pmui.DiscreteSlider(label="ε of the estimate", options=offered, value=USUAL, **WIDE)
        self.text = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 12))
        self.tables: MarginalsFigure | None = None
        self.table_text = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 12))
        self.inside = pn.Column(visible=False, **WHOLE)
        self.whole = pn.Column(self.open, self.inside, visible=False, **WHOLE)
        for widget in (self.bound, self.epsilon):
            widget.param.watch(lambda _event: self.ask(), "value")

    def refresh(self) -> None:
        """Offer the bounds of the draft as it is now, and estimate anew what is shown."""
        draft = self.draft()
        columns = [] if draft is None else [c.name for c in draft.columns.values() if c.kind == "numeric"]
        offered = {f"{name}: {title}": (name, end) for name in columns for end, title in ENDS.items()}
        self.whole.visible = bool(offered)
        if self.bound.options != offered:
            value = self.bound.value if self.bound.value in offered.values() else next(iter(offered.values()), None)
            self.bound.param.update(options=offered, value=value)
        self.ask()

    def show(self) -> None:
        """Open the card."""
        self.open.visible = False
        if self.figure is None:
            self.figure, self.tables = bounds_figure(), MarginalsFigure("mydata", COLUMNS, named=True)
            about = (
                "<p>The other bound stays fixed. The model divides each number into bins of equal width. This "
                "simulation uses your exact records and charges nothing. Do not publish it.</p>"
            )
            controls = line(self.bound, self.epsilon, least=220)
            notes = pn.pane.HTML(about, sizing_mode="stretch_width", margin=(0, 12))
            pictures = [figure_pane(self.figure.plot), self.table_text, figure_pane(self.tables.plot)]
            self.inside.objects = [controls, self.text, *pictures, notes]
        self.inside.visible = True
        self.ask()

    def ask(self) -> None:
        """Estimate once the controls rest; the latest wish wins."""
        self._asked += 1
        self._stop.ask()
        self._stop = CancellationToken()
        if self.inside.visible and self.bound.value is not None:
            self.text.object = "<p>Computing…</p>"
            self.spawn(self._estimate(self._asked, self._stop))

    async def _estimate(self, asked: int, stop: CancellationToken) -> None:
        await asyncio.sleep(REST)
        draft = self.draft()
        if asked != self._asked or draft is None:
            return
        try:
            facts: tuple[Any, ...] = draft.frame, draft.label, draft.schema()
            epsilon, relation = float(self.epsilon.value), self.relation()
            task = LONG.call(bound_loss, *facts, *self.bound.value, epsilon, relation, stop.check)
            loss = await asyncio.wrap_future(task)
            sentence = words(loss)
        except Stopped:
            return
        except DpmlError as error:
            loss, sentence = None, f"<p>{escape(str(error))}</p>"
        if not self._wanted(asked, draft):
            return
        with self.hold():
            self._tell(loss, sentence)
        if loss is None:
            return
        try:
            drawn = await asyncio.wrap_future(LONG.call(published, *facts, epsilon, relation))
            sentence = table_words(drawn, epsilon)
        except DpmlError as error:
            drawn, sentence = None, f"<p>{escape(str(error))}</p>"
        if self._wanted(asked, draft):
            with self.hold():
                self._tell_tables(drawn, sentence)

    def _wanted(self, asked: int, draft: Draft) -> bool:
        return asked == self._asked and self.draft() is draft and self.figure is not None

    def _tell_tables(self, drawn: dict[str, Any] | None, sentence: str) -> None:
        assert self.tables is not None
        self.table_text.object = sentence
        if drawn is None:
            self.tables.clear()
        else:
            self.tables.show(drawn)

    def _tell(self, loss: BoundLoss | None, sentence: str) -> None:
        self.loss, self.text.object = loss, sentence
        assert self.figure is not None
        if loss is None:
            self.figure.clear()
            self._tell_tables(None, "")
        else:
            self.figure.show("bound", loss.accuracies, complete=True)
            self.figure.place_levels({"guess": loss.guess})
        self.figure.fit()

    def clear(self) -> None:
        """Keep nothing of a table."""
        self._asked += 1
        self._stop.ask()
        self.bound.param.update(options={}, value=None)
        self.loss, self.text.object, self.table_text.object, self.whole.visible = None, "", "", False
        if self.figure is not None and self.tables is not None:
            self.figure.clear()
            self.tables.clear()
