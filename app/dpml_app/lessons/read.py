"""Reading of lessons: the steps of a file, and an error that a teacher can act on."""

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
from dpml_app.lessons.figures import filled, settings_of
from dpml_app.page_list import PAGES
from dpml_app.text.glossary import glossary

FOLDER = Path(__file__).parent
LESSON_FIELDS = ("title", "audience", "steps")
NEEDED = ("link", "words", "question", "options", "answer", "teaches")
OPTIONAL = ("card", "control", "claims")
# a term of the glossary in a text: [[mask]], or [[mask|a set of features]]
TERM = re.compile(r"\[\[([^\]|]*)(?:\|([^\]]*))?\]\]")


class InvalidLesson(DpmlError, ValueError):
    """A lesson's file is not as it must be: the message names file, step, field and what is allowed."""


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


def _check(holds: bool, where: str, value: object, allowed: str) -> None:
    if not holds:
        raise InvalidLesson(f"{where} = {shown(value)} is not allowed: it must be {allowed}")


def _fields(where: str, entry: Any, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    known = ", ".join((*needed, *optional))
    _check(isinstance(entry, dict), where, entry, f"fields: {known}")
    for name in entry:
        _check(name in (*needed, *optional), f"{where}, {name}", entry[name], f"one of the fields {known}")
    for name in needed:
        _check(name in entry, f"{where}, {name}", None, "given")
    return dict(entry)


def _text(where: str, value: Any, state: Mapping[str, str], figures: dict[str, str]) -> str:
    """Return a text with its figures, which are added to `figures`, and with known terms."""
    is_text = isinstance(value, str) and bool(value.strip())
    _check(is_text, where, value, "a text, in quotes where it is a number or has a colon")
    try:
        text, found = filled(value.strip(), state)
    except InvalidParameter as error:
        _check(False, where, value, f"a text whose figures are known. {error}")
    for match in TERM.finditer(text):
        _check(match[1] in glossary(), where, match[0], "a term of the glossary, by its id: see glossary.yaml")
    figures |= found
    return text


def _state(where: str, text: Any) -> dict[str, str]:
    """Return what a link says, each value as links have it."""
    given = link.parse(str(text).partition("?")[2] or str(text))
    _check("page" in given, where, text, "what an address has behind its question mark, with page=")
    try:
        # a data set may be on this machine or not: that is the session's concern, and no fault of the lesson
        settings = settings_of(given)
    except InvalidParameter as error:
        _check(False, where, text, f"a link without faults. {error}")
    for name in given:
        used = name == "page" or name in settings.page_names(settings.page)
        _check(used, where, name, f"a setting of the page {settings.page}")
    return {name: link.text_of(settings.param[name], getattr(settings, name)) for name in given}


def _step(where: str, entry: Any) -> Step:
    entry = _fields(where, entry, NEEDED, OPTIONAL)
    state = _state(f"{where}, link", entry["link"])
    figures: dict[str, str] = {}
    page = state["page"]
    kind: Any = PAGES[page]

    def text(field: str, value: Any) -> str:
        return _text(f"{where}, {field}", value, state, figures)

    _check(isinstance(entry["options"], list), f"{where}, options", entry["options"], "a list of texts")
    options = tuple(text("options", option) for option in entry["options"])
    _check(len(set(options)) == len(options), f"{where}, options", options, "texts that differ from each other")
    answer = text("answer", entry["answer"])
    _check(answer in options, f"{where}, answer", answer, f"one of the options: {' | '.join(options)}")
    cards, settings = [card.name for card in kind.kinds], list(kind.values_kind.names())
    card = entry.get("card", "")
    _check(card in ("", *cards), f"{where}, card", card, f"a card of the page {page}: one of {', '.join(cards)}")
    named = [name for name in state if name not in ("page", "dataset")]
    control = entry.get("control", named[-1] if named else kind.controls_kind.in_top)
    rule = f"a setting of the page {page}: one of {', '.join(settings)}"
    _check(control in settings, f"{where}, control", control, rule)
    claims = tuple(map(str, entry.get("claims", ())))
    words, question, teaches = (text(name, entry[name]) for name in ("words", "question", "teaches"))
    return Step(state, words, question, options, answer, teaches, card, control, figures, claims)


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
    file = f"{name}.yaml"
    try:
        entry = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidLesson(f"{file} is not YAML: {' '.join(str(error).split())}") from None
    entry = _fields(file, entry, LESSON_FIELDS)
    title, audience = (_text(f"{file}, {field}", entry[field], {}, {}) for field in LESSON_FIELDS[:2])
    _check(isinstance(entry["steps"], list), f"{file}, steps", entry["steps"], "a list of steps")
    steps = tuple(_step(f"{file}, step {number}", one) for number, one in enumerate(entry["steps"], 1))
    return Lesson(name, title, audience, steps)


@lru_cache(maxsize=1)
def lessons() -> dict[str, Lesson]:
    """Return all lessons by their names, in the order of their files' numbers."""
    by_name = {}
    for path in sorted(FOLDER.glob("*.yaml"), key=lambda path: int(path.stem.partition("-")[0])):
        name = re.sub(r"^\d+-", "", path.stem)
        by_name[name] = read_lesson(name, path.read_text(encoding="utf-8"))
    return by_name
