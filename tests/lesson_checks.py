"""What runs the checks that lessons name: see `lesson_figures` and `lesson_figures_more`, which hold them."""

import math
import re

from dpml_app.core import link
from dpml_app.state import Settings

CHECKS = {}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers(text):
    """Return the numbers of a text as they are written."""
    return [found.rstrip(",") for found in NUMBER.findall(text)]


def says(stated, value):
    """Return whether a number is the value, rounded to its own digits or, from 1,000 on, to three digits."""
    number, digits = float(stated.replace(",", "")), len(stated.partition(".")[2])
    rounded = float(f"{value:.3g}") if abs(value) >= 1000 else value
    return math.isfinite(value) and (round(value, digits) == number or rounded == number)


def settings_of(step, *changes):
    """Return the settings of a step's state, with some changed."""
    settings = Settings()
    given = {**step.state, **dict(change.split("=") for change in changes)}
    assert link.read(settings, given, given) == []
    return settings


def run(check, step):
    """Return what a check finds at a step's settings."""
    name, *words = check.split()
    changes = [w for w in words if "=" in w]
    settings = settings_of(step, *changes)
    return CHECKS[name](settings, *[w for w in words if "=" not in w])


def check(function):
    CHECKS[function.__name__.replace("_", "-")] = function
    return function
