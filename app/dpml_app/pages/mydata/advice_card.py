"""The card of the advice: in words at three ε, and below what every method reaches, between guessing and no privacy."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.core.properties import value
from bokeh.models import CategoricalColorMapper, FactorRange
from bokeh.transform import dodge
from panel.models.markup import HTML

from dpml.studies import Advice, advised
from dpml_app.core.card import WHOLE, figure_pane, head, spoken
from dpml_app.drawing.figure import Figure, empty_source, fill, hover, new_figure, percent_axis, write
from dpml_app.drawing.legend import PlotLegend, mark
from dpml_app.drawing.progress import AWAY, SHOWN, bar, filled
from dpml_app.drawing.styles import REFERENCE, style_of
from dpml_app.pages.mydata.advice import EPSILONS, advice_html
from dpml_app.pages.mydata.release import STYLE

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
MARKS = "<p>Filled mark: best, or not clearly worse. Hollow mark: clearly worse. Line: 90% of runs.</p>"
# of the measurement, by what its button does next
CANCEL, MEASURE = "Cancel", "Measure"


class AdviceFigure(Figure):
    """At each ε the methods side by side, in their own marks."""

    computed = ("sources", "levels")

    def __init__(self) -> None:
        factors = [*(f"{epsilon:g}" for epsilon in EPSILONS), NAMES]
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
        last = next((one for _at, one in sorted(advice.items(), reverse=True)), None)
        fill(self.levels, _levels(last))
        ends = [end for _at, each in reached for end in (each.low, each.mean, each.high)] + self.levels.data["right"]
        if ends:
            self.plot.y_range.update(start=max(min(ends) - MARGIN, 0.0), end=min(max(ends) + MARGIN, 1.0 + MARGIN))


def _levels(one: Advice | None) -> list[tuple[Any, ...]]:
    """Return the lines that do not depend on ε, each named on the side where the other is not."""
    levels = [] if one is None else [("majority class", one.guess, "dotted")]
    if one is not None and one.signal is not None:
        levels.append(("non-private", one.signal.accuracy, "dashed"))
    highest = max((right for _name, right, _dash in levels), default=0.0)
    # clear of its line
    above, below = ("bottom", -3), ("top", 3)
    return [(right, dash, name, *(above if right == highest else below)) for name, right, dash in levels]


class AdviceCard:
    """What is said of a session's table, and drawn; it is made for the first table that is used."""

    def __init__(self, pressed: Callable[[], None]) -> None:
        self.whole = pn.Column(visible=False, **WHOLE)
        self.text = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 14), stylesheets=[STYLE])
        self.readout = HTML(text="", name="mydata-advice-readout")
        self.figure: AdviceFigure | None = None
        self.bar = bar()
        self.button = pmui.Button(
            label=CANCEL, variant="outlined", size="small", margin=(2, 14), disabled=True, styles=AWAY
        )
        self.button.on_click(lambda _event: pressed())

    @property
    def known(self) -> bool:
        """Whether it has anything to say."""
        return bool(self.text.object)

    def progress(self, done: int, total: int) -> None:
        """Say how far the measurement is, and that it can be cancelled."""
        self.bar.object = filled("Measuring", done, total)
        self.button.param.update(label=CANCEL, disabled=False, styles=SHOWN)

    def rest(self, *, cancelled: bool) -> None:
        """Show that nothing is measured any more; what was cancelled can be asked for again."""
        self.bar.object = ""
        self.button.param.update(label=MEASURE, disabled=not cancelled, styles=SHOWN if cancelled else AWAY)

    def tell(self, advice: Mapping[float, Advice]) -> None:
        """Say and draw what is known so far."""
        figure = self.figure or AdviceFigure()
        self.text.object = advice_html(advice)
        # the model's own view takes escaped HTML
        self.readout.text = escape(self.text.object)
        figure.show(advice)
        if self.figure is None:
            # last: within one message a pane that is new has no document yet, and Panel (1.9.4) would have what changes
            # in it ask another host for its styles
            self.figure = figure
            marks = pn.pane.HTML(MARKS, sizing_mode="stretch_width", margin=(0, 14))
            parts = [self.text, self.bar, self.button, figure_pane(figure.plot), marks]
            readout = spoken(self.readout, aside=True)
            self.whole.objects = [head("Advice", CAPTION, [figure.plot], self.readout), *parts, readout]

    def clear(self) -> None:
        """Say nothing, and keep nothing of a table."""
        self.text.object = self.readout.text = ""
        self.rest(cancelled=False)
        self.whole.visible = False
        if self.figure is not None:
            self.figure.clear()
