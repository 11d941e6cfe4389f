"""Figures of every page that lessons name: its promise, its records, and the numbers of its main picture."""

from functools import cache
from typing import Any

from dpml.budget import Budget
from dpml.evaluation.histogram import noise_scale
from dpml.exceptions import InvalidParameter
from dpml_app.core.card import CHOSEN, Number
from dpml_app.core.card_page import CardPage
from dpml_app.core.lesson_figures import Figures
from dpml_app.data import measures
from dpml_app.jobs import Task
from dpml_app.page_list import PAGES
from dpml_app.text import phrases

figure = Figures()


def _epsilon(s: Any) -> float:
    return float(getattr(s, PAGES[s.page].risk_of[0]))


@figure
def paid(s: Any, what: str) -> float:
    """Charge choice and training to a budget of ε, and return the first, the second or their sum."""
    budget = Budget(s.epsilon)
    for share in (s.selection_share, 1 - s.selection_share):
        budget.spend(share * s.epsilon, label="a part")
    costs: list[Any] = list(budget.ledger["epsilon"])
    return float({"first": costs[0], "second": costs[1], "sum": sum(costs)}[what])


@cache
def _run(task: Task) -> Any:
    return task.function(*task.arguments)


def _number(s: Any, name: str) -> Number:
    """Return a number of the page's main picture, the first among what the page pins whose name has a word."""
    page = PAGES[s.page]
    assert issubclass(page, CardPage)
    kind = next(kind for kind in page.kinds if kind.name == page.main_card)
    card, values = kind(), page.values_kind.of(s)
    assert page.facts_of is not None
    facts = page.facts_of(s.dataset)
    card.lay_out(facts)
    tasks = {key: task for key, task in card.work(values, facts).items() if key[1] in CHOSEN}
    known = page.shipped_results(values)
    results = {key: known[task] if task in known else _run(task) for key, task in tasks.items()}
    card.prepare(values, facts, results)
    answer = card.to_pin(values, facts, results)
    numbers = {number.what: number for number in answer.numbers} if answer else {}
    for what, number in numbers.items():
        if name in what:
            return number
    raise InvalidParameter("figure", f"main {name}", f"a word of {', '.join(numbers)} on the page {s.page}")


@figure
def main(s: Any, name: str) -> str:
    """Return a number of the page's main picture as the page itself says it."""
    return _number(s, name).value


@figure
def guess(s: Any) -> float:
    """Return how many percent always guessing the larger class is right for."""
    return 100 * measures.facts(s.dataset).majority


figure |= {
    # a setting of the step
    "setting": lambda s, name: float(getattr(s, name)),
    # how many of 100 even bets are won at most, as each page says it
    "sure": lambda s: phrases.right_of_hundred(_epsilon(s)),
    # by how much odds rise at most, as each page says it
    "factor": lambda s: phrases.factor(_epsilon(s)),
    # how much more noise a table of counts needs where a record is replaced
    "times-as-much-noise": lambda s: noise_scale(1.0, "replace-one") / noise_scale(1.0, "add-remove"),
    # where 90 % of runs have a number of the page's main picture, as the page itself says it
    "main-range": lambda s, name: _number(s, name).interval,
    # how many records the training part of the data set has
    "records": lambda s: measures.facts(s.dataset).n_train,
    # how many test records the data set has
    "tested": lambda s: measures.facts(s.dataset).n_test,
    # how many features the data set has
    "features": lambda s: measures.facts(s.dataset).n_features,
}
