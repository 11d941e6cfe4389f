"""Figures of how often classifiers are right."""

from __future__ import annotations

from functools import cache
from typing import Any

from dpml.exceptions import InvalidParameter
from dpml_app.core.card import CHOSEN, Number
from dpml_app.core.card_page import CardPage
from dpml_app.data import measures
from dpml_app.lessons.figures import figure
from dpml_app.page_list import PAGES
from dpml_app.pages.explore import cost, shipped
from dpml_app.pages.train.compute import nb_facts, nb_silenced
from dpml_app.pages.train.linear_compute import lambda_without_noise
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.tasks import measured
from dpml_app.work.pool import Task


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
    known = shipped.results(s.dataset, s.relation, s.seed)
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
def main_range(s: Any, name: str) -> str:
    """Return where 90 % of runs have a number of the page's main picture, as the page itself says it."""
    return _number(s, name).interval


@figure
def guess(s: Any) -> float:
    """Return how many percent always guessing the larger class is right for."""
    return 100 * measures.facts(s.dataset).majority


@figure
def found_of_second_class(s: Any) -> float:
    """Return how many percent of the second class the default classifier finds, mean over runs."""
    task = Task(cost.private, (s.dataset, s.relation, s.epsilon, s.seed))
    result = shipped.results(s.dataset, s.relation, s.seed).get(task) or _run(task)
    return 100 * float(result["recall"].mean(axis=0)[1])


@figure
def records(s: Any) -> float:
    """Return how many records the training part of the data set has."""
    return measures.facts(s.dataset).n_train


@figure
def tested(s: Any) -> float:
    """Return how many test records the data set has."""
    return measures.facts(s.dataset).n_test


@figure
def features(s: Any) -> float:
    """Return how many features the data set has."""
    return measures.facts(s.dataset).n_features


def _silenced(s: Any) -> dict[str, Any]:
    return nb_silenced(s.dataset, s.relation, s.epsilon, s.threshold_percentile, s.draws, s.seed)


@figure
def thresholded(s: Any) -> float:
    """Return how many percent Algorithm 1 of the thesis is right for, mean over draws."""
    return 100 * float(_silenced(s)["accuracy"].mean())


@figure
def raised_for_all(s: Any) -> float:
    """Return of how many features Algorithm 1 raises the counts of all classes to the threshold, mean over draws."""
    return features(s) * float(_silenced(s)["on"].mean())


@figure
def trained(s: Any, method: str) -> float:
    """Return how many percent a method of "Which model?" is right for, mean over draws."""
    return 100 * float(_run(measured(method, TrainValues.of(s), s.epsilon))["accuracy"].mean())


@figure
def without_noise(s: Any) -> float:
    """Return how many percent logistic regression is right for without noise, at the step's λ."""
    return 100 * float(lambda_without_noise(s.dataset, s.train_lambda)["accuracy"].mean())


@figure
def naive_bayes_without_privacy(s: Any) -> float:
    """Return how many percent naive Bayes without privacy is right for."""
    known = nb_facts(s.dataset).accuracy
    return 100 * max(known.get("table", 0.0), known["binary"])
