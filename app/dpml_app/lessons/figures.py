"""The figures of lessons: numbers that a text names in braces, computed at the settings of its step.

``{trained method=output}`` names the function `trained` and passes it ``method="output"``; a keyword that is a setting
changes the setting instead, as in ``{smooth noise_size=200}``. A colon and a format of Python may follow, as in
``{records:,.0f}``; without one a number has one decimal. The functions are those of `FIGURES` here and in each page's
``lesson.py``. ``python -m dpml_app.lessons`` stores the figures of all lessons in figures.json.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from dpml.budget import Budget
from dpml.datasets import missing
from dpml.evaluation.histogram import noise_scale
from dpml.exceptions import InvalidParameter
from dpml.papers import items
from dpml_app.core import link
from dpml_app.core.card import CHOSEN, Number
from dpml_app.core.page import CardPage
from dpml_app.data import measures
from dpml_app.jobs import Task
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from dpml_app.text import phrases

FILE = Path(__file__).with_name("figures.json")
Value = float | str


# ---- figures of every page ------------------------------------------------------------------------------------------


def _epsilon(s: Any) -> float:
    return float(getattr(s, PAGES[s.page].risk_of[0]))


def paid(s: Any, part: str) -> float:
    """Charge selection and training to a budget of ε, and return the first, the second or their sum."""
    budget = Budget(s.epsilon)
    for share in (s.selection_share, 1 - s.selection_share):
        budget.spend(share * s.epsilon, label="a part")
    costs: list[Any] = list(budget.ledger["epsilon"])
    return float({"first": costs[0], "second": costs[1], "sum": sum(costs)}[part])


@cache
def _run(task: Task) -> Any:
    return task.function(*task.arguments)


def _number(s: Any, word: str) -> Number:
    """Return the first number of the page's main plot whose name contains a word."""
    page = PAGES[s.page]
    assert issubclass(page, CardPage)
    kind = next(kind for kind in page.kinds if kind.name == page.main_card)
    card, values = kind(), page.values_kind.of(s)
    assert page.facts_of is not None
    facts = page.facts_of(s.dataset)
    tasks = {key: task for key, task in card.work(values, facts).items() if key[1] in CHOSEN}
    known = page.shipped_results(s.dataset)
    results = {key: known[task] if task in known else _run(task) for key, task in tasks.items()}
    card.show(values, facts, results, tasks)
    answer = card.to_pin(values, facts, results)
    numbers = {number.what: number for number in answer.numbers} if answer else {}
    for what, number in numbers.items():
        if word in what:
            return number
    raise InvalidParameter("figure", f"main number={word}", f"a word of {', '.join(numbers)} on the page {s.page}")


def main(s: Any, number: str) -> str:
    """Return a number of the page's main plot as the page writes it."""
    return _number(s, number).value


def _of_main(s: Any, number: str) -> float:
    return float(re.sub(r"[^\d.-]", "", main(s, number)))


def guess(s: Any) -> float:
    """Return the accuracy of the majority-class baseline in percent."""
    return 100 * measures.facts(s.dataset).majority


def custom_gain(s: Any, method: str) -> float:
    """Return the accuracy of the custom model less that of a method of Classifiers, in percentage points."""
    return _of_main(s, "custom") - float(functions()["trained"](s, method))


def verdict(s: Any, paper: str, item: str) -> str:
    """Return the verdict of the map of papers on an item."""
    found = {row.key: row.verdict for row in items(paper)}
    if item not in found:
        raise InvalidParameter("item", item, f"one that `dpml papers {paper}` prints")
    return found[item]


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (paid, main, guess, custom_gain, verdict)},
    # a setting of the step
    "setting": lambda s, name: float(getattr(s, name)),
    # bound on the attacker's success in percent, as each page writes it
    "sure": lambda s: phrases.right_of_hundred(_epsilon(s)),
    # bound on the growth of odds, as each page writes it
    "factor": lambda s: phrases.factor(_epsilon(s)),
    # ratio of the noise scales of a table of counts under replace-one and add/remove
    "replacement_noise_ratio": lambda s: noise_scale(1.0, "replace-one") / noise_scale(1.0, "add-remove"),
    # the interval of 90% of runs of a number of the page's main plot, as the page writes it
    "main_range": lambda s, number: _number(s, number).interval,
    # accuracy of the default classifier less that of the majority-class baseline, in percentage points
    "default_gain": lambda s: _of_main(s, "default") - guess(s),
    # training records, test records and features of the data set
    "records": lambda s: measures.facts(s.dataset).n_train,
    "tested": lambda s: measures.facts(s.dataset).n_test,
    "features": lambda s: measures.facts(s.dataset).n_features,
}


# ---- figures in texts -----------------------------------------------------------------------------------------------


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the figures of all pages by name."""
    return {name: each for of in (FIGURES, *(p.lesson_figures for p in PAGES.values())) for name, each in of.items()}


def settings_of(state: Mapping[str, str], changes: Mapping[str, str] | None = None) -> Any:
    """Return the settings of a step's state, with some changed. The data set need not be on this machine."""
    settings = Settings()
    given = {**state, **(changes or {})}
    known = ["page", *settings.names()]
    faults = link.read(settings, given, known)
    if absent := settings.missing_dataset.dataset:
        settings.dataset = absent
        del given["dataset"]
        faults = link.read(settings, given, known)
    if faults:
        raise InvalidParameter("state", str(given), f"what a link can say. {faults[0]}")
    return settings


def computed(name: str, state: Mapping[str, str]) -> Value:
    """Return a figure, computed now."""
    function, *words = name.split()
    if function not in functions():
        raise InvalidParameter("figure", function, f"one of {', '.join(sorted(functions()))}")
    given = dict(word.split("=", 1) for word in words)
    changes = {key: text for key, text in given.items() if key in Settings().names()}
    settings = settings_of(state, changes)
    if missing(settings.dataset):  # no figure downloads anything
        allowed = f"on this machine for the figure {name!r}; dpml.datasets.fetch({settings.dataset!r}) gets it"
        raise InvalidParameter("dataset", settings.dataset, allowed)
    arguments = {key: text for key, text in given.items() if key not in changes}
    try:
        value = functions()[function](settings, **arguments)
    except TypeError as error:
        raise InvalidParameter("figure", name, f"a function with its keywords. {error}") from None
    return value if isinstance(value, str) else float(value)


def read_shipped() -> dict[str, dict[str, Value]]:
    """Return the figures that ship, by the key of a state and by name."""
    shipped: dict[str, dict[str, Value]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return shipped


KNOWN = read_shipped()


def key_of(state: Mapping[str, str]) -> str:
    """Return the key of a step's state among the figures that ship."""
    return "&".join(f"{name}={text}" for name, text in sorted(state.items()))


class _Figures(Formatter):
    """Python's own formatter, whose fields are the figures at a step's state; `texts` collects them as written."""

    def __init__(self, state: Mapping[str, str]):
        self.state = state
        self.texts: dict[str, str] = {}

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Return a figure with its name: one that is known, or computed now."""
        name, known = " ".join(field_name.split()), KNOWN.setdefault(key_of(self.state), {})
        if name not in known:
            known[name] = computed(name, self.state)
        return (name, known[name]), name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a figure, a number with one decimal where no format is given."""
        name, figure = value
        default = "" if isinstance(figure, str) else "z,.1f"
        self.texts[name] = format(figure, format_spec or default)
        return self.texts[name]


def filled(text: str, state: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a text with its figures, and each figure's text by its name.

    Raises `InvalidParameter` for an unknown figure or format.

    >>> filled("ε = {setting name=epsilon:g}: {factor} times", {"page": "explore", "epsilon": "2"})[0]
    'ε = 2: 7.39 times'
    """
    figures = _Figures(state)
    try:
        return figures.format(text), figures.texts
    except InvalidParameter:
        raise
    except ValueError as error:
        raise InvalidParameter("format", text, f"a text with figures in braces. {error}") from None
