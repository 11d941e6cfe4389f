"""The parts of My data: the form of public metadata, advice, and the weights of the parts of a release."""

from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.models.markup import HTML

from dpml.studies import Advice, advised
from dpml.tables import TextFormat
from dpml.tables.cells import NumberReader
from dpml_app.compat import answer_soon
from dpml_app.core.card import WHOLE
from dpml_app.core.curves_card import FAR
from dpml_app.core.layout import figure_pane, head, line, spoken
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.figure import script
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.pages.mydata import compute, text
from dpml_app.settings import EPSILONS, Shared
from dpml_app.views.curve import CurveFigure
from dpml_app.views.frame import AXES
from dpml_app.views.rendered import Table

TABLES = script("pages/mydata/tables.css")
OFFERED = {f"{epsilon:g}": epsilon for epsilon in EPSILONS}


@dataclass
class Context:
    """What the parts of one session's page share: its table, and how they run coroutines and send changes at once."""

    settings: Shared
    spawn: Callable[[Coroutine], Any]
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


# ---- public metadata -------------------------------------------------------------------------------------------------

KINDS = {"Number": "numeric", "Categories": "categorical", "0 or 1": "binary", "Left out": "ignored"}
# the facts that a person types of a column of each kind
TYPED = {"numeric": ("lower", "upper", "missing"), "categorical": ("categories", "missing"), "binary": ("missing",)}
PLACEHOLDERS = {"numeric": "midpoint", "categorical": "first category", "binary": "0"}
LONGEST_LIST = 40_000


class FactsForm:
    """The public metadata of one draft: fields of the whole table, fields of one column, and all entries as a table.

    `changed`: called after each edit.
    `use`: called when the table is to be used.
    """

    def __init__(self, draft: compute.Draft, changed: Callable[[], None], use: Callable[[], Any]):
        self.draft, self._changed, self._filling = draft, changed, False
        form = draft.reading.format or TextFormat()
        self.decimal = form.decimal
        self.numbers = NumberReader(form.decimal, form.thousands or ("." if form.decimal == "," else ","))
        self.label = pmui.Select(label="Label column", options=list(draft.frame), value=draft.label, **WIDE)
        self.which = pmui.Select(label="Column", options=list(draft.columns), **WIDE)
        self.kind = pmui.Select(label="Kind", options=KINDS, **WIDE)
        titles = {"classes": "Labels", "n_lower": "Records, at least", "lower": "Lower bound", "upper": "Upper bound"}
        titles |= {"categories": "Categories", "missing": "Replace missing values by"}
        self.typed = {
            fact: pmui.TextInput(label=title, max_length=LONGEST_LIST, **WIDE) for fact, title in titles.items()
        }
        # whether the entries of the table, and of the column, that were read off the data are public; their places, and
        # the columns that they are about
        self.known: dict[str, pmui.Checkbox] = {}
        self.places = {of: pn.Column(**WHOLE) for of in ("table", "column")}
        self._about: dict[str, str] = {}
        self.about, self.every = pane(), pane("", (4, 12), TABLES)
        self.next = button("Next column to check", self._next)
        for fact, widget in {**self.typed, "label": self.label, "kind": self.kind}.items():
            widget.param.watch(lambda event, fact=fact: self._say(fact, event.new), "value")
        self.which.param.watch(lambda _event: self.show(), "value")
        classes, records, *of_column = self.typed.values()
        head = pane("<h2>Public metadata of this table</h2>", (8, 12, 0, 12), TABLES)
        of_table = line(self.label, classes, records, least=220)
        fields = line(self.which, self.kind, *of_column, least=220)
        self.of_column = pn.Column(fields, self.about, self.places["column"], self.next, **WHOLE)
        whole = button("Use this table", use, variant="contained")
        self.whole = pn.Column(head, of_table, self.places["table"], self.of_column, self.every, whole, **WHOLE)
        self.show()

    def show(self) -> None:
        """Show every entry as it is now."""
        if self._filling:
            return
        draft, names = self.draft, list(self.draft.columns)
        self._filling = True
        self.label.value = draft.label
        chosen = self.which.value if self.which.value in names else next(iter(names), None)
        self.which.param.update(options=names, value=chosen)
        typed = {fact: self._text(getattr(draft, fact)) for fact in ("classes", "n_lower")}
        self.of_column.visible = chosen is not None
        if chosen is not None:
            column = draft.columns[chosen]
            self.kind.value, self.about.object = column.kind, text.column_words(draft, chosen)
            self.typed["missing"].placeholder = PLACEHOLDERS.get(column.kind, "")
            values = {fact: getattr(column, fact) for fact in TYPED.get(column.kind, ())}
            if column.missing is None and not draft.frame[chosen].isna().any():
                values.pop("missing", None)
            typed |= {fact: self._text(value) for fact, value in values.items()}
        for fact, widget in self.typed.items():
            widget.param.update(value=typed.get(fact, ""), visible=fact in typed)
        self._show_box("table", "", draft.label)
        self._show_box("column", chosen or "", chosen or "")
        self.every.object = text.facts(draft)
        self.next.disabled = not self._open()
        self._filling = False

    def _show_box(self, of: str, name: str, about: str) -> None:
        """Show the box for the entries of a column, or of the table (an empty name).

        Another column has another box, so that a late tick confirms no column but the one that the person saw.
        """
        is_other = self._about.get(of) != about
        if is_other:
            self._about[of], self.known[of] = about, pmui.Checkbox(**WIDE)
            self.known[of].param.watch(lambda event: self._confirm(name, event.new), "value")
        entries = self._entries(name)
        title = f"From a public source: {', '.join(text.FACT_TITLES[each.fact] for each in entries)}"
        sure = all(each.confirmed for each in entries)
        self.known[of].param.update(label=title, visible=bool(entries), value=sure)
        if is_other:
            self.places[of].objects = [self.known[of]]

    def _entries(self, name: str) -> list[compute.Proposed]:
        """Return the entries of a column, or of the table, that were read off the data."""
        return [each for each in self.draft.proposed if each.column == name]

    def _open(self) -> list[str]:
        """Return the other columns that lack a fact or a source, in their order from the one that is shown."""
        names = list(self.draft.columns)
        place = names.index(self.which.value) if names else 0
        columns = ((name, self.draft.columns[name]) for name in names[place + 1 :] + names[:place])
        return [name for name, column in columns if column.fault or column.marked(compute.DERIVED)]

    def _next(self) -> None:
        self.which.value = next(iter(self._open()), self.which.value)

    def _say(self, fact: str, value: Any) -> None:
        """Take what a person says of one fact."""
        if self._filling:
            return
        draft, name = self.draft, self.which.value
        if fact == "label":
            draft.say_label(value)
        elif fact == "classes":
            draft.say_classes(text.listed(value))
        elif fact == "n_lower":
            typed = self._number(value)
            draft.say_records(int(typed) if isinstance(typed, float) and typed.is_integer() else typed)
        elif fact == "categories":
            draft.say(name, categories=text.listed(value))
        elif fact == "missing" and draft.columns[name].kind == "categorical":
            known = {str(each): each for each in draft.columns[name].categories}
            draft.say(name, missing=known.get(value, value) if value else None)
        else:
            draft.say(name, **{fact: value if fact == "kind" else self._number(value)})
        self.show()
        self._changed()

    def _confirm(self, name: str, sure: bool) -> None:
        if not self._filling:
            for each in self._entries(name):
                self.draft.confirm(each.column, each.fact, sure)
            self.show()
            self._changed()

    def _text(self, value: Any) -> str:
        """Return a fact as the file writes it."""
        if value is None or isinstance(value, tuple):
            return text.as_line(value or ())
        return f"{value:.12g}".replace(".", self.decimal) if isinstance(value, (int, float)) else str(value)

    def _number(self, typed: str) -> Any:
        """Return the number that a text spells, None where it is empty, and the text itself where it spells none."""
        typed = typed.strip()
        read = self.numbers.read(typed)
        return (typed or None) if read is None or read[1] else read[0]


# ---- advice ----------------------------------------------------------------------------------------------------------

CAPTION = (
    "Mean accuracy of each method, and a band that contains 90% of the runs, simulated on your records. Dotted: "
    "majority-class baseline. Dashed: non-private boosted trees and logistic regression. All methods but "
    "AutoClassifier are naive Bayes."
)
LEVELS = {
    "guess": Style("Majority-class baseline", REFERENCE, "dot", "dotted"),
    "non-private": Style("Non-private baseline", REFERENCE, "dot", "dashed"),
}


def advice_figure() -> CurveFigure:
    """Return the figure of the accuracy of each advised method against ε."""
    epsilons, styles = compute.ADVICE_EPSILONS, {name: style_of(name) for name in advised()}
    x = replace(AXES["epsilon"], ticks=epsilons)
    look: dict[str, Any] = {"xlim": (epsilons[0] / 1.3, epsilons[-1] * 1.3), "ylim": (0.5, 1.0)}
    return CurveFigure(
        "mydata-advice", x, AXES["accuracy"], styles, LEVELS, column="epsilon", marks=True, look=look, height=460
    )


def advice_tables(advice: Mapping[float, Advice]) -> dict[str, Table]:
    """Return the tables of `advice_figure` that are known so far."""
    reached = [(epsilon, each) for epsilon, one in sorted(advice.items()) for each in one.methods]
    tables: dict[str, Table] = {}
    for name in advised():
        mine = [(epsilon, e.mean, e.low, e.high, style_of(name).label) for epsilon, e in reached if e.method == name]
        columns = zip(*mine, strict=True) if mine else [()] * 5
        tables[name] = dict(zip(("epsilon", "mean", "low", "high", "label"), columns, strict=True))
    if advice:
        last = advice[max(advice)]
        levels = {"guess": last.guess} | ({"non-private": last.signal.accuracy} if last.signal else {})
        tables |= {name: {"x": FAR, "y": (level, level)} for name, level in levels.items()}
    return tables


class AdviceCard:
    """What is said of a session's table, and drawn; its figure is made for the first table that is used."""

    def __init__(self) -> None:
        self.whole = pn.Column(visible=False, **WHOLE)
        self.text = pane("", (4, 14), TABLES)
        self.readout = HTML(text="", name="mydata-advice-readout")
        self.figure: CurveFigure | None = None

    def tell(self, advice: Mapping[float, Advice]) -> None:
        """Say and draw what is known so far."""
        figure, tables = self.figure or advice_figure(), advice_tables(advice)
        self.text.object = text.advice_html(advice)
        # the model's own view takes escaped HTML
        self.readout.text = escape(self.text.object)
        figure.show(tables)
        columns = [table.get(name, ()) for table in tables.values() for name in ("low", "high", "y")]
        if any(columns):
            figure.fit([end for column in columns for end in column])
        if self.figure is None:
            # last: within one message a pane that is new has no document yet, and Panel (1.9.4) would have what changes
            # in it ask another host for its styles
            self.figure = figure
            title = head("Advice", CAPTION, [figure.plot], self.readout)
            self.whole.objects = [title, self.text, figure_pane(figure.plot), spoken(self.readout, aside=True)]

    def clear(self) -> None:
        """Say nothing, and keep nothing of a table."""
        self.text.object = self.readout.text = ""
        self.whole.visible = False
        if self.figure is not None:
            self.figure.clear()


# ---- shares of one ε -------------------------------------------------------------------------------------------------

# the label of a control that is switched off is read all the same
READ = {"& .MuiFormLabel-root.Mui-disabled": {"color": "text.secondary"}}


class ShareSliders:
    """A slider for the weight of each part of a release, in proportion to which the parts share ε.

    `changed`: called after each change of the shares.
    """

    def __init__(self, changed: Callable[[], None]):
        look: dict[str, Any] = {"start": 0.0, "end": compute.MOST_WEIGHT, "step": 1.0, "show_value": False, "sx": READ}
        self.sliders: dict[str, Any] = {
            part: pmui.FloatSlider(label=f"{part.capitalize()}, share of ε", value=weight, **look, **WIDE)
            for part, weight in compute.START.items()
        }
        for slider in self.sliders.values():
            answer_soon(slider)
            slider.param.watch(lambda _event: changed(), "value")
        self.whole = line(*self.sliders.values(), least=360)

    @property
    def shares(self) -> dict[str, float]:
        """The share of each part."""
        return compute.shares_of({part: slider.value for part, slider in self.sliders.items()})

    def offer(self, *, selection: bool) -> None:
        """Offer the selection of columns, or none where the columns of a table cannot be selected."""
        slider = self.sliders["selection"]
        if slider.disabled is selection:
            slider.param.update(disabled=not selection, value=compute.START["selection"] if selection else 0.0)
