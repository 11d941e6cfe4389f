"""Three steps from an uploaded table to a schema: columns, label, public facts. Widgets, each tied to the draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.exceptions import DpmlError
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.figure import script
from dpml_app.pages.mydata.draft import GAP, KINDS, Column, Draft, Proposed
from dpml_app.pages.mydata.file_format import FileFormat, Read
from dpml_app.pages.mydata.words import overview, preview

STEPS = ("Columns", "Label", "Public facts")
TABLE_STYLE = script("pages/mydata/tables.css")
LONGEST_LIST = 40_000
# of a column's categories, those that can be chosen for a gap
MOST_GAPS = 200
# a list of facts to tick; those of more columns are ticked at each column
MOST_FACTS = 200
ASKED = "Tick each fact that is public and true for every record"


def table_pane(text: str = "") -> pn.pane.HTML:
    """Return the place of a table."""
    return pn.pane.HTML(text, sizing_mode="stretch_width", margin=(4, 12), stylesheets=[TABLE_STYLE])


class Wizard:
    """The steps for one draft.

    Parameters
    ----------
    draft : Draft
    report : callable
        Takes a sentence on what is wrong, empty if nothing is.
    changed : callable
        Called after each change of the draft.
    use : callable
        Called when the last step is done.
    read : callable
        Reads the file again, as `FileFormat` calls it.
    """

    def __init__(
        self,
        draft: Draft,
        report: Callable[[str], None],
        changed: Callable[[], None],
        use: Callable[[], None],
        read: Read,
    ):
        self.draft, self.report, self.changed = draft, report, changed
        self.step = 0
        self._showing = False
        self.overview, self.preview = table_pane(), table_pane(preview(draft.frame))
        self.title = pn.pane.HTML("", sizing_mode="stretch_width", margin=(6, 12))
        self.file_format = FileFormat(draft, read)
        self._make_columns()
        self._make_label()
        self._make_facts()
        look: dict[str, Any] = {"margin": (8, 6, 8, 12)}
        self.back = pmui.Button(label="Back", variant="outlined", **look)
        self.forth = pmui.Button(label="Next", variant="contained", **look)
        self.use = pmui.Button(label="Use this table", variant="contained", **look)
        self.back.on_click(lambda _event: self.go(self.step - 1))
        self.forth.on_click(lambda _event: self.go(self.step + 1))
        self.use.on_click(lambda _event: use())
        self.parts = [
            pn.Column(
                self.file_format.whole, self.overview, self.column, self.kind, self.bounds, self.categories, **WHOLE
            ),
            pn.Column(self.label, self.classes, **WHOLE),
            pn.Column(self.records, self.facts_note, self.facts.whole, **WHOLE),
        ]
        self.parts[0].extend([self.categories, self.gaps, self.gap, self.facts_of_column.whole, self.preview])
        buttons = pn.Row(self.back, self.forth, self.use, sizing_mode="stretch_width", margin=0)
        self.whole = pn.Column(self.title, *self.parts, buttons, **WHOLE)
        self.go(0)

    # ---- widgets -------------------------------------------------------------------------------------------------

    def _make_columns(self) -> None:
        self.column = pmui.Select(label="Column", options=[], **WIDE)
        self.kind = pmui.RadioBoxGroup(
            label="What it is", options={title: kind for kind, title in KINDS.items()}, inline=True, **WIDE
        )
        look: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (6, 12)}
        # the buttons of a widget for numbers have no names that could be read out (panel-material-ui 0.16)
        self.lower, self.upper = (pmui.TextInput(label=f"{end} bound", **look) for end in ("Lower", "Upper"))
        self.bounds = pn.Row(self.lower, self.upper, sizing_mode="stretch_width", margin=0)
        self.categories = pmui.TextAreaInput(
            label="Categories, one a line", rows=4, max_length=LONGEST_LIST, auto_grow=False, **WIDE
        )
        self.gaps = pmui.Select(label="A missing value counts as", options=[], **WIDE)
        self.gap = pmui.TextInput(label="A missing value counts as", placeholder="The middle of the bounds", **WIDE)
        self.facts_of_column = Facts(self._confirm)
        self.column.param.watch(lambda _event: self.show(), "value")
        for widget in (self.kind, self.lower, self.upper, self.categories):
            widget.param.watch(self._say_column, "value")
        self.gaps.param.watch(self._say_gaps, "value")
        self.gap.param.watch(self._say_gaps, "value")

    def _make_label(self) -> None:
        self.label = pmui.Select(label="Column with the labels", options=[], **WIDE)
        self.classes = pmui.TextAreaInput(
            label="Labels that a record can have, one a line", rows=4, max_length=LONGEST_LIST, auto_grow=False, **WIDE
        )
        self.label.param.watch(self._say_label, "value")
        self.classes.param.watch(self._say_classes, "value")

    def _make_facts(self) -> None:
        self.records = pmui.TextInput(label="Number of records, at least", **WIDE)
        self.facts_note = table_pane()
        self.facts = Facts(self._confirm)
        self.records.param.watch(self._say_records, "value")

    # ---- what a person says ----------------------------------------------------------------------------------------

    def _said(self, say: Callable[[], None]) -> None:
        try:
            say()
        except DpmlError as error:
            self.report(str(error))
        else:
            self.check()
        self.show()
        self.changed()

    def check(self) -> bool:
        """Say what is wrong with the draft; return whether nothing is."""
        try:
            self.draft.schema()
        except DpmlError as error:
            self.report(str(error))
            return False
        self.report("")
        return True

    def _say_column(self, event: Any) -> None:
        if not self._showing and self.column.value in self.draft.columns:
            # the one fact that was typed: another one that stands in its widget is not said by that
            read: dict[Any, tuple[str, Callable[[Any], Any]]] = {
                self.kind: ("kind", str),
                self.lower: ("lower", _number),
                self.upper: ("upper", _number),
                self.categories: ("categories", _lines),
            }
            fact, of = read[event.obj]
            self._said(lambda: self.draft.say(self.column.value, **{fact: of(event.new)}))

    def _confirm(self, changed: Iterable[tuple[Proposed, bool]]) -> None:
        if not self._showing:

            def say() -> None:
                for each, sure in changed:
                    self.draft.confirm(each.column, each.fact, sure)

            self._said(say)

    def _say_gaps(self, event: Any) -> None:
        if not self._showing and self.column.value in self.draft.columns:
            column = self.draft.columns[self.column.value]
            value = _number(event.new) if column.kind == "numeric" else _gap_values(column).get(event.new)
            self._said(lambda: self.draft.say_gaps(column.name, value))

    def _say_label(self, event: Any) -> None:
        if not self._showing and event.new and event.new != self.draft.label:
            self._said(lambda: self.draft.say_label(event.new))

    def _say_classes(self, event: Any) -> None:
        if not self._showing:
            self._said(lambda: self.draft.say_classes(_lines(event.new)))

    def _say_records(self, event: Any) -> None:
        number = _number(event.new)
        if not self._showing and number != self.draft.n_lower:
            whole = isinstance(number, float) and number.is_integer()
            self._said(lambda: self.draft.say_records(int(number) if whole else number))

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def go(self, step: int) -> None:
        """Show a step."""
        self.step = min(max(step, 0), len(STEPS) - 1)
        self.title.object = f"<h2>Step {self.step + 1} of {len(STEPS)}: {STEPS[self.step]}</h2>"
        for place, part in enumerate(self.parts):
            part.visible = place == self.step
        last = self.step == len(STEPS) - 1
        self.back.disabled, self.forth.visible, self.use.visible = self.step == 0, not last, last
        self.show()

    def show(self) -> None:
        """Show the draft in all widgets."""
        self._showing = True
        try:
            self._show()
        finally:
            self._showing = False

    def _show(self) -> None:
        draft = self.draft
        names = list(draft.columns)
        self.overview.object = overview(draft)
        if self.column.options != names:
            chosen = self.column.value if self.column.value in names else names[0]
            self.column.param.update(options=names, value=chosen)
        column = draft.columns[self.column.value]
        self.kind.value = column.kind
        self.bounds.visible = column.kind == "numeric"
        self.categories.visible = column.kind == "categorical"
        self.lower.value, self.upper.value = _text(column.lower), _text(column.upper)
        self.categories.value = "\n".join(map(str, column.categories))
        self.gaps.visible = column.kind in ("categorical", "binary")
        self.gap.visible = column.kind == "numeric"
        values = list(_gap_values(column).items()) if self.gaps.visible else []
        if list(self.gaps.options) != [title for title, _ in values]:
            self.gaps.options = [title for title, _ in values]
        self.gaps.value = next((title for title, value in values if value == column.missing), None)
        self.gap.value = _text(column.missing) if self.gap.visible else ""
        self.facts_of_column.show(column.proposed)
        every = [str(name) for name in draft.frame.columns]
        if self.label.options != every:
            self.label.options = every
        self.label.value = draft.label
        self.classes.value = "\n".join(map(str, draft.classes))
        self.records.value = _text(draft.n_lower)
        proposed = draft.proposed
        self.facts.show(proposed[-MOST_FACTS:])
        self.facts_note.object = facts_words(len(draft.unconfirmed), max(len(proposed) - MOST_FACTS, 0))


def facts_words(unconfirmed: int, unlisted: int) -> str:
    """Return what stands against a release, and where it is said.

    Examples
    --------
    >>> facts_words(0, 0)
    '<p>Every fact is stated, or confirmed by you.</p>'
    """
    if not unconfirmed:
        return "<p>Every fact is stated, or confirmed by you.</p>"
    many = f"<b>{unconfirmed}</b> fact{'s are' if unconfirmed > 1 else ' is'}"
    more = f" {unlisted} more are listed at their columns." if unlisted else ""
    rule = "A study may use them; for a release each must be ticked or stated."
    return f"<p>{many} proposed from the data. {rule}{more}</p>"


class Facts:
    """A list of proposed facts, in full, each with a box of its own.

    Parameters
    ----------
    say : callable
        Takes the facts whose boxes have changed, and whether each is ticked.
    """

    def __init__(self, say: Callable[[list[tuple[Proposed, bool]]], None]):
        self.say = say
        self.listed: dict[str, Proposed] = {}
        self.boxes = pmui.CheckBoxGroup(label=ASKED, options=[], value=[], **WIDE)
        self.whole = pn.Column(self.boxes, visible=False, **WHOLE)
        self.boxes.param.watch(self._changed, "value")

    def show(self, proposed: list[Proposed]) -> None:
        """Show these facts."""
        self.listed = {each.words: each for each in proposed}
        ticked = [words for words, each in self.listed.items() if each.confirmed]
        # in whatever order they were ticked: what comes back from here would undo the next tick of a quick hand
        if self.boxes.options != list(self.listed) or set(self.boxes.value or ()) != set(ticked):
            self.boxes.param.update(options=list(self.listed), value=ticked)
        self.whole.visible = bool(proposed)

    def _changed(self, event: Any) -> None:
        changed = [(each, words in event.new) for words, each in self.listed.items()]
        self.say([(each, sure) for each, sure in changed if sure != each.confirmed])


def _gap_values(column: Column) -> dict[str, Any]:
    """Return, by their titles, what a gap of a column that is no number can count as."""
    if column.kind == "binary":
        return {"0: none are expected": None, "0": 0, "1": 1}
    own = {} if GAP in column.categories else {"A value of its own": GAP}
    first = {"The first category: none are expected": None}
    return {**first, **own, **{f"“{category}”": category for category in column.categories[:MOST_GAPS]}}


def _lines(text: str | None) -> tuple[str, ...]:
    """Return the lines of a text, each once and without spaces around it."""
    return tuple(dict.fromkeys(line.strip() for line in (text or "").splitlines() if line.strip()))


def _number(text: str) -> Any:
    """Return the number that a text spells, None where it is empty, and the text itself where it spells none."""
    try:
        return float(text.replace(",", "")) if text.strip() else None
    except ValueError:
        return text.strip()


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.12g}" if isinstance(value, (int, float)) else str(value)
