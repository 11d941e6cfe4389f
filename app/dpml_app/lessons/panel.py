"""What the page gets of lessons and glossary: styles, texts and two places, as one piece of HTML, and their script."""

import json
from collections.abc import Iterable
from html import escape
from pathlib import Path

from dpml_app.lessons.read import TERM, Lesson, Step, lessons
from dpml_app.text import glossary

HERE = Path(__file__).parent
STYLES = "".join(
    path.read_text(encoding="utf-8") for path in (HERE.parent / "text" / "glossary.css", HERE / "lessons.css")
)
GLOSSARY, LESSONS, CLASSROOM = (
    path.read_text(encoding="utf-8")
    for path in (HERE.parent / "text" / "glossary.js", HERE / "lessons.js", HERE / "classroom.js")
)
# scripts of their own scope, inside the shell's: of a lesson by itself, and of the app, where there are classes too
ALONE, SCRIPT = (f"\n{{\n{GLOSSARY}\n}}\n\n{{\n{of_lessons}\n}}\n" for of_lessons in (LESSONS, LESSONS + CLASSROOM))


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


def payload(some: Iterable[Lesson] | None = None) -> str:
    """Return lessons, all of them if none are given, as JSON for a page's script element."""
    content = json.dumps(
        [_lesson(lesson) for lesson in some or lessons().values()], ensure_ascii=False, separators=(",", ":")
    )
    return content.replace("</", "<\\/")


def html() -> str:
    """Return what stands in the page from the start: styles, and where a lesson and a term are shown."""
    return "\n".join(
        [
            f"<style>{STYLES}</style>",
            '<section id="lesson" aria-label="Lesson" tabindex="-1" hidden></section>',
            '<div id="term" role="dialog" aria-labelledby="term-title" tabindex="-1" hidden></div>',
        ]
    )


def texts(some: Iterable[Lesson] | None = None) -> str:
    """Return what the scripts of lessons and terms read."""
    return (
        f'<script type="application/json" id="glossary-texts">{glossary.payload()}</script>\n'
        f'<script type="application/json" id="lesson-texts">{payload(some)}</script>'
    )
