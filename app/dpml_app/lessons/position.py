"""Where in the lessons a link is: which lesson and step, or the list of them; what it means for the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpml_app.core import link
from dpml_app.lessons.classrooms import CLASSROOMS
from dpml_app.lessons.read import lessons

# what a link says beside settings
BESIDE = ("lesson", "step", "lessons", "class")


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
        teacher = CLASSROOMS.place_of(given["class"])
        if teacher is None:
            faults.append(f"class = {link.short(given['class'])} is not open: it has ended, or there was none.")
        else:
            query["class"] = given["class"]
            if number is None:
                name, number = teacher[0], str(teacher[1])
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
