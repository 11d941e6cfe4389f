"""Reading of lessons: what a file must hold, and an error that a teacher can act on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from dpml.exceptions import DpmlError, InvalidParameter, shown
from dpml_app.core import link
from dpml_app.core.page import CardPage
from dpml_app.lessons.figures import filled
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from dpml_app.text.glossary import glossary

FOLDER = Path(__file__).parent
LESSON_FIELDS = ("title", "audience", "steps")
STEP_FIELDS = ("link", "words", "question", "options", "answer", "teaches", "card", "control", "claims")
NEEDED = STEP_FIELDS[:6]
STEPS, OPTIONS = (5, 7), (2, 4)
MOST = {"title": 10, "audience": 30, "words": 40, "question": 25, "teaches": 40, "options": 12, "answer": 12}
# a term of the glossary in a text: [[mask]], or [[mask|a set of features]]
TERM = re.compile(r"\[\[([^\]|]*)(?:\|([^\]]*))?\]\]")


class InvalidLesson(DpmlError, ValueError):
    """A lesson's file is not as it must be.

    Parameters
    ----------
    file : str
        Its name.
    step : int or None
        The step, counted from 1; None where the fault is in none of them.
    field : str
    value : object
    allowed : str
        What is allowed, in words.
    """

    def __init__(self, file: str, step: int | None, field: str, value: object, allowed: str):
        where = file if step is None else f"{file}, step {step}"
        super().__init__(f"{where}, {field} = {shown(value)} is not allowed: it must be {allowed}")
        self.file, self.step, self.field = file, step, field


@dataclass(frozen=True)
class Step:
    """One step: a state of a page, as texts of a link, what is said, and a question with its answer.

    `control` is the setting whose control it is about, and `figures` has the text of each figure in its texts.
    """

    state: Mapping[str, str]
    words: str
    question: str
    options: tuple[str, ...]
    answer: str
    teaches: str
    card: str
    control: str
    figures: Mapping[str, str]
    claims: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The name of the page that the step shows."""
        return self.state["page"]

    @property
    def picture(self) -> str:
        """The card with the picture of that page."""
        page = PAGES[self.page]
        assert issubclass(page, CardPage)
        return page.main_card


@dataclass(frozen=True)
class Lesson:
    """A lesson; `name` is its name in links."""

    name: str
    title: str
    audience: str
    steps: tuple[Step, ...]


def plain(text: str) -> str:
    """Return a text with its terms as mere words.

    >>> plain("One [[mask]] of [[mask|many masks]].")
    'One mask of many masks.'
    """
    return TERM.sub(lambda match: match[2] or _display_name(match[1]), text)


def _display_name(name: str) -> str:
    return glossary()[name].term if name in glossary() else name


class _Reader:
    """One file while it is read: it knows where it is, for the error."""

    def __init__(self, file: str):
        self.file = file
        self.step: int | None = None
        # of the step that is read
        self.link_state: dict[str, str] = {}
        self.figures: dict[str, str] = {}

    def wrong(self, field: str, value: object, allowed: str) -> InvalidLesson:
        return InvalidLesson(self.file, self.step, field, value, allowed)

    def text(self, field: str, value: Any) -> str:
        """Return a text with its figures, whose terms are known and which is not too long."""
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, value, "a text, in quotes where it is a number or has a colon")
        try:
            text, figures = filled(value.strip(), self.link_state)
        except InvalidParameter as error:
            raise self.wrong(field, value, f"a text whose figures are known. {error}") from None
        self.figures |= figures
        for match in TERM.finditer(text):
            if match[1] not in glossary():
                raise self.wrong(field, match[0], "a term of the glossary, by its id: see glossary.yaml")
        if (words := len(plain(text).split())) > MOST[field]:
            raise self.wrong(field, f"{words} words", f"at most {MOST[field]} words")
        return text

    def fields(self, entry: Any, what: str, allowed: tuple[str, ...], needed: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(entry, dict):
            raise self.wrong(what, entry, f"fields: {', '.join(allowed)}")
        for name in entry:
            if name not in allowed:
                raise self.wrong(str(name), entry[name], f"one of the fields {', '.join(allowed)}")
        for name in needed:
            if name not in entry:
                raise self.wrong(name, None, "given")
        return entry

    def options(self, entry: Mapping[str, Any]) -> tuple[str, ...]:
        given, (least, most) = entry["options"], OPTIONS
        if not isinstance(given, list) or not least <= len(given) <= most:
            raise self.wrong("options", given, f"a list of {least} to {most} texts")
        texts = tuple(self.text("options", option) for option in given)
        if len(set(texts)) < len(texts):
            raise self.wrong("options", list(texts), "texts that differ from each other")
        return texts

    def state(self, text: Any) -> dict[str, str]:
        """Return what a link says, each value as links have it."""
        if not isinstance(text, str) or "page=" not in text:
            raise self.wrong("link", text, "what an address has behind its question mark, with page=")
        settings, given = Settings(), link.parse(text.partition("?")[2] or text)
        # a data set may be on this machine or not: that is the session's concern, and no fault of the lesson
        data = {n: value for n, value in given.items() if n == "dataset" and value in settings.param.dataset.objects}
        others = {name: value for name, value in given.items() if name not in data}
        faults = link.read(settings, others, ["page", *settings.names()])
        if faults:
            raise self.wrong("link", text, f"a link without faults. {faults[0]}")
        used = ["page", *settings.page_names(settings.page)]
        for name in given:
            if name not in used:
                raise self.wrong("link", name, f"a setting of the page {settings.page}")
        return {n: data.get(n) or link.text_of(settings.param[n], getattr(settings, n)) for n in given}

    def one(self, entry: Any) -> Step:
        entry = self.fields(entry, "step", STEP_FIELDS, NEEDED)
        self.link_state, self.figures = self.state(entry["link"]), {}
        options = self.options(entry)
        answer = self.text("answer", entry["answer"])
        if answer not in options:
            raise self.wrong("answer", answer, f"one of the options: {' | '.join(options)}")
        page = self.link_state["page"]
        named = [name for name in self.link_state if name not in ("page", "dataset")]
        shown = PAGES[page]
        if not issubclass(shown, CardPage):
            raise self.wrong("link", entry["link"], "a link of a page that has a picture")
        card, cards = entry.get("card", ""), [kind.name for kind in shown.kinds]
        if card not in ("", *cards):
            raise self.wrong("card", card, f"a card of the page {page}: one of {', '.join(cards)}")
        first = named[-1] if named else shown.controls_kind.in_top
        control, known = entry.get("control", first), Settings().page_names(page)
        if control not in known:
            raise self.wrong("control", control, f"a setting of the page {page}: one of {', '.join(known)}")
        claims = entry.get("claims") or []
        if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
            raise self.wrong("claims", claims, "a list of checks")
        words, question, teaches = (self.text(name, entry[name]) for name in ("words", "question", "teaches"))
        figures, claims = self.figures, tuple(claims)
        return Step(self.link_state, words, question, options, answer, teaches, card, control, figures, claims)


def read_lesson(name: str, text: str) -> Lesson:
    """Return the lesson that a YAML text holds.

    Parameters
    ----------
    name : str
        Its name in links, that of its file.
    text : str

    Raises
    ------
    InvalidLesson
        For the first thing that is not as it must be, with file, step, field and what is allowed.
    """
    reader = _Reader(f"{name}.yaml")
    try:
        entry = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise reader.wrong("text", " ".join(str(error).split()), "YAML") from None
    entry = reader.fields(entry, "lesson", LESSON_FIELDS, LESSON_FIELDS)
    title, audience = (reader.text(name, entry[name]) for name in ("title", "audience"))
    least, most = STEPS
    if not isinstance(entry["steps"], list) or not least <= len(entry["steps"]) <= most:
        count = len(entry["steps"]) if isinstance(entry["steps"], list) else entry["steps"]
        raise reader.wrong("steps", count, f"a list of {least} to {most} steps")
    steps = []
    for number, one in enumerate(entry["steps"], 1):
        reader.step = number
        steps.append(reader.one(one))
    return Lesson(name, title, audience, tuple(steps))


@lru_cache(maxsize=1)
def lessons() -> dict[str, Lesson]:
    """Return all lessons by their names, in the order of their files' numbers."""
    by_name = {}
    for path in sorted(FOLDER.glob("*.yaml"), key=lambda path: int(path.stem.partition("-")[0])):
        name = re.sub(r"^\d+-", "", path.stem)
        by_name[name] = read_lesson(name, path.read_text(encoding="utf-8"))
    return by_name
