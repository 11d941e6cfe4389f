"""The figures of lessons: numbers that a text names in braces, computed at the settings of its step.

``{accuracy-of exact}`` is a figure's name and words behind it; a word with = changes a setting, as in
``{smooth noise_size=200}``; a minus or a slash between two of them is their difference or ratio. Behind a colon stands
how many decimals are written (one if nothing is said), how many digits in all, or "g" for as many as needed:
``{records:0}``, ``{steps count:s3}``, ``{setting epsilon:g}``. The figures themselves stand in ``lesson_figures.py`` of
each page, and in `dpml_app.lessons.all_pages`. What the lessons of the app name is computed by ``python -m
dpml_app.lessons.ship`` and ships, so that the app starts at once; a test computes all of it again, and compares it with
what the steps show.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dpml.datasets import missing
from dpml.exceptions import InvalidParameter
from dpml_app.core import link
from dpml_app.lessons.all_pages import figure
from dpml_app.page_list import PAGES
from dpml_app.state import Settings

FILE = Path(__file__).with_name("figures.json")
PLACEHOLDER = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")
FORMATS = "a number of decimals, as in {records:0}, of digits in all, as in {records:s2}, or g"
Value = float | str


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return what lessons may name, of all pages."""
    return {
        name: each for of in (figure, *(page.lesson_figures for page in PAGES.values())) for name, each in of.items()
    }


def settings_of(state: Mapping[str, str], *changes: str) -> Any:
    """Return the settings of a step's state, with some changed. The data set need not be on this machine."""
    settings = Settings()
    given = {**state, **dict(change.split("=", 1) for change in changes)}
    known = ["page", *settings.names()]
    faults = link.read(settings, given, known)
    if absent := settings.missing_dataset.dataset:
        settings.dataset = absent
        del given["dataset"]
        faults = link.read(settings, given, known)
    if faults:
        raise InvalidParameter("figure", " ".join(changes), f"a change that a link can say. {faults[0]}")
    return settings


def number(value: Value) -> float:
    """Return a figure as a number, also where a page has said it in words."""
    return float(re.sub(r"[^\d.-]", "", value)) if isinstance(value, str) else value


def computed(name: str, state: Mapping[str, str]) -> Value:
    """Return a figure, computed now."""
    for sign, combine in ((" - ", operator.sub), (" / ", operator.truediv)):
        if sign in name:
            first, second = (number(computed(part, state)) for part in name.split(sign, 1))
            return float(combine(first, second))
    function, *words = name.split()
    if function not in functions():
        raise InvalidParameter("figure", function, f"one of {', '.join(sorted(functions()))}")
    settings = settings_of(state, *[word for word in words if "=" in word])
    if missing(settings.dataset):  # no figure downloads anything
        allowed = f"on this machine for the figure {name!r}; dpml.datasets.fetch({settings.dataset!r}) gets it"
        raise InvalidParameter("dataset", settings.dataset, allowed)
    value = functions()[function](settings, *[word for word in words if "=" not in word])
    return value if isinstance(value, str) else float(value)


def read_shipped() -> dict[str, dict[str, Value]]:
    """Return the figures that ship, by the key of a state and by name."""
    shipped: dict[str, dict[str, Value]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return shipped


KNOWN = read_shipped()


def key_of(state: Mapping[str, str]) -> str:
    """Return the key of a step's state among the figures that ship."""
    return "&".join(f"{name}={text}" for name, text in sorted(state.items()))


def value(name: str, state: Mapping[str, str]) -> Value:
    """Return a figure that is known, or is computed now."""
    known = KNOWN.setdefault(key_of(state), {})
    if name not in known:
        known[name] = computed(name, state)
    return known[name]


def written(value: Value, form: str | None) -> str:
    """Return a figure as a text has it.

    >>> written(22026.5, "s2"), written(20000.0, "0"), written(84.16, None), written(-0.01, None), written("7.39", None)
    ('22,000', '20,000', '84.2', '0.0', '7.39')
    >>> written(0.000843, "s2"), written(6.14, "s2")
    ('0.00084', '6.1')
    """
    if isinstance(value, str):
        return value
    form = form or "1"
    if form == "g":
        return f"{value:g}"
    if form.startswith("s"):
        digits = int(form[1:])
        place = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
        return f"{round(value, place):,.{max(place, 0)}f}"
    return f"{round(value, int(form)) + 0.0:,.{int(form)}f}"


def filled(text: str, state: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a text with its figures, and each figure's text by its name.

    Raises `InvalidParameter` for a figure that there is not, or a format of it.
    """
    texts: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        name, form = match[1], match[2]
        if form is not None and not re.fullmatch(r"s?\d|g", form):
            raise InvalidParameter("format", form, FORMATS)
        name = " ".join(name.split())
        texts[name] = written(value(name, state), form)
        return texts[name]

    return PLACEHOLDER.sub(fill, text), texts
