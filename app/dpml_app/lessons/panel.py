"""The panel of lessons: the step that a link names, and the styles, texts and script that the browser gets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

from dpml_app.core import link
from dpml_app.lessons.classrooms import OPEN
from dpml_app.lessons.read import TERM, Lesson, Step, lessons
from dpml_app.text import glossary

# what a link says beside settings
BESIDE = ("lesson", "step", "lessons", "class")
HERE = Path(__file__).parent
STYLES = "".join(
    path.read_text(encoding="utf-8") for path in (HERE.parent / "text" / "glossary.css", HERE / "lessons.css")
)
GLOSSARY, LESSONS, CLASSROOM = (
    path.read_text(encoding="utf-8")
    for path in (HERE.parent / "text" / "glossary.js", HERE / "lessons.js", HERE / "classroom.js")
)
# scripts of their own scope, inside the shell's
SCRIPT = f"\n{{\n{GLOSSARY}\n}}\n\n{{\n{LESSONS}{CLASSROOM}\n}}\n"


def _written(text: str) -> str:
    """Return a text as HTML, its terms as words that open."""
    parts = TERM.split(text)
    # a text, then for each term its id, its words and the text behind it
    lines = [escape(parts[0])]
    for name, words, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        lines += [glossary.term(name, words), escape(after)]
    return glossary.raised("".join(lines))


def _step(step: Step) -> dict:
    return {
        "page": step.page,
        "card": step.card,
        "control": step.control,
        "picture": step.picture,
        "words": _written(step.words),
        "question": _written(step.question),
        "options": [escape(option) for option in step.options],
        "answer": step.options.index(step.answer),
        "teaches": _written(step.teaches),
    }


def _lesson(lesson: Lesson) -> dict:
    steps = [_step(step) for step in lesson.steps]
    return {"name": lesson.name, "title": lesson.title, "audience": lesson.audience, "steps": steps}


def payload() -> str:
    """Return all lessons as JSON for a page's script element."""
    content = json.dumps([_lesson(lesson) for lesson in lessons().values()], ensure_ascii=False, separators=(",", ":"))
    return content.replace("</", "<\\/")


def html() -> str:
    """Return the HTML that each page contains: styles, and the elements for a lesson and a term."""
    return "\n".join(
        [
            f"<style>{STYLES}</style>",
            '<section id="lesson" aria-label="Lesson" tabindex="-1" hidden></section>',
            '<div id="term" role="dialog" aria-labelledby="term-title" tabindex="-1" popover autofocus></div>',
        ]
    )


@cache
def texts() -> str:
    """Return what the scripts of lessons and terms read: 200 kB, which all sessions share."""
    return (
        f'<script type="application/json" id="glossary-texts">{glossary.payload()}</script>\n'
        f'<script type="application/json" id="lesson-texts">{payload()}</script>'
    )


@dataclass(frozen=True)
class LessonPosition:
    """What a link says of lessons, and the state of the page that it starts from; both as texts."""

    query: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.query)


NOWHERE = LessonPosition()


def position_of(given: Mapping[str, str]) -> tuple[LessonPosition, dict[str, str], list[str]]:
    """Return a link's position in the lessons, the settings that it means, and a sentence for each fault.

    A step's state is what its link alone says; what the reader has changed since stands beside it and goes before it.

    Examples
    --------
    >>> position, settings, faults = position_of({"lesson": "what-epsilon-means", "step": "2", "draws": "20"})
    >>> position.query["step"], settings["epsilon"], settings["draws"], faults
    ('2', '2', '20', [])
    >>> position_of({"lesson": "alchemy"})[2][0][:29]
    'lesson = alchemy is not allow'
    """
    rest = {name: text for name, text in given.items() if name not in BESIDE}
    faults = []
    name, number = given.get("lesson"), given.get("step")
    query: dict[str, str] = {}
    if "class" in given:
        room = OPEN.get(given["class"])
        if room is None:
            faults.append(f"class = {link.short(given['class'])} is not open: it has ended, or there was none.")
        else:
            query["class"] = given["class"]
            if number is None:
                name, number = room.place[0], str(room.place[1])
    if given.get("lessons") == "1":
        query["lessons"] = "1"
    elif "lessons" in given:
        faults.append(f"lessons = {link.short(given['lessons'])} is not allowed: it must be 1. No list is shown.")
    if name is None:
        if number is not None:
            faults.append(f"step = {link.short(number)} is not allowed: it must stand beside a lesson.")
        return LessonPosition(query), rest, faults
    if name not in lessons():
        known = ", ".join(lessons())
        faults.append(f"lesson = {link.short(name)} is not allowed: it must be one of {known}. No lesson is shown.")
        return LessonPosition(query), rest, faults
    steps = lessons()[name].steps
    at = int(number) if number and number.isascii() and number.isdigit() and len(number) < 4 else 0
    if not 1 <= at <= len(steps):
        if number is not None:
            allowed = f"a whole number from 1 to {len(steps)}"
            faults.append(f"step = {link.short(number)} is not allowed: it must be {allowed}. It starts at 1.")
        at = 1
    state = dict(steps[at - 1].state)
    return LessonPosition({**query, "lesson": name, "step": str(at)}, state), {**state, **rest}, faults
