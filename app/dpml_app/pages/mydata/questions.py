"""The step "Is this what you meant?": each question about a file with its possible readings, and the chosen one."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.tables.reading import IGNORE, OF_RELEASE, Question, Reading, merge_options
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE
from dpml_app.pages.mydata.draft import Draft

# a reading's example cells, and the questions, that are shown
SHOWN_CELLS, SHOWN_QUESTIONS = 3, 20
LONGEST = 40
STYLE = "h2 { font-size: 1.15rem; margin: 0; } p { margin: 0; }"
CONFIRM = "Confirm all"
# question and position of the chosen reading, by the question's kind and columns
Answers = Mapping[tuple[str, tuple[str, ...]], tuple[Question, int]]
Read = Callable[[dict[str, Any], dict[str, str], Answers], None]


def key_of(question: Question) -> tuple[str, tuple[str, ...]]:
    """Return the name under which the answer to a question is kept."""
    return question.kind, question.columns


def open_questions(draft: Draft) -> list[Question]:
    """Return the questions that a release cannot leave open."""
    return [question for question in draft.reading.questions if question.kind in OF_RELEASE]


def assumed(question: Question) -> int:
    """Return the position of the reading that the page takes until a person chooses: an identifier is left out."""
    return next((i for i, each in enumerate(question.readings) if IGNORE in _kinds(each)), 0)


def _kinds(reading: Reading) -> list[str]:
    return list(reading.options.get("columns", {}).values())


def answered(draft: Draft, choices: list[tuple[Question, int]]) -> tuple[dict[str, Any], dict[str, str], Answers]:
    """Return the options, the kinds of columns and the answers of a draft after some more choices.

    The answer to a question about the whole file can change the columns, so what was stated of them is asked again.
    """
    options: dict[str, Any] = {**draft.stated, "columns": dict(draft.kinds)}
    answers = dict(draft.answers)
    for question, position in choices:
        before = answers.get(key_of(question))
        if before is not None and not question.columns:
            options = {k: v for k, v in options.items() if k not in before[0].readings[before[1]].options}
        if not question.columns and position:
            options["columns"] = {}
            options.pop("missing", None)
            answers = {key: answer for key, answer in answers.items() if not key[1]}
        options = merge_options(options, question.readings[position].options)
        answers[key_of(question)] = question, position
    kinds = options.pop("columns")
    return options, kinds, answers


class Questions:
    """The step of one draft.

    `read`: reads the file again; takes what is stated of its format, the kinds of columns, and the answers.
    """

    def __init__(self, draft: Draft, read: Read):
        self.draft, self.read = draft, read
        open_ = list(draft.reading.questions)
        asked = {key_of(question) for question in open_}
        closed = [answer for key, answer in draft.answers.items() if key not in asked]
        self.choices: list[tuple[Question, Any]] = []
        shown = [(question, assumed(question)) for question in open_]
        for question, position in [*shown[:SHOWN_QUESTIONS], *closed]:
            options = {_label(question, place): place for place in range(len(question.readings))}
            widget = pmui.RadioBoxGroup(label=_title(question), options=options, value=position, inline=False, **WIDE)
            widget.param.watch(lambda event, question=question: self._choose(question, event.new), "value")
            self.choices.append((question, widget))
        self.confirm = pmui.Button(label=CONFIRM, variant="outlined", **WIDE)
        self.confirm.on_click(lambda _event: self.read(*answered(draft, shown)))
        self.confirm.visible = bool(open_)
        boxes = [
            pn.Column(_words(question, is_open=key_of(question) in asked), widget, **WHOLE)
            for question, widget in self.choices
        ]
        head = _pane("<h2>Was the file read correctly?</h2>", margin=(12, 12, 0, 12))
        self.whole = pn.Column(head, *boxes, self.confirm, visible=bool(self.choices), **WHOLE)

    def _choose(self, question: Question, position: int) -> None:
        self.read(*answered(self.draft, [(question, position)]))


def _words(question: Question, *, is_open: bool) -> pn.pane.HTML:
    state = "" if is_open else " <i>Answered.</i>"
    return _pane(f"<p>{escape(question.text)}{state}</p>", margin=(8, 12))


def _pane(text: str, **options: Any) -> pn.pane.HTML:
    return pn.pane.HTML(text, sizing_mode="stretch_width", stylesheets=[STYLE], **options)


def _title(question: Question) -> str:
    return f"Reading of {question.column}" if question.column else f"Reading of the file: {question.kind}"


def _label(question: Question, place: int) -> str:
    """Return a reading in words, with example cells."""
    reading = question.readings[place]
    # the names of encodings are in lower case
    is_sentence = " " in reading.rule
    words = reading.words[:1].upper() + reading.words[1:] if is_sentence else reading.words
    cells = [cell for cell in reading.cells[:SHOWN_CELLS] if cell not in words]
    short = [cell if len(cell) <= LONGEST else f"{cell[:LONGEST]}…" for cell in cells]
    return f"{words} ({', '.join(short)})" if short else words
