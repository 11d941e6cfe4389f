"""The figures of the page Feature selection in lessons."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpml_app.data import measures
from dpml_app.pages.select import compute
from dpml_app.pages.select.compute import SelectValues
from dpml_app.text import phrases


def span(s: Any, score: str) -> float:
    """Return how far the best feature's score is from the worst."""
    return float(np.ptp(measures.facts(s.dataset).scores[score]))


def step(s: Any, score: str) -> float:
    """Return by how much one record moves a score at most."""
    return float(measures.facts(s.dataset).unit[score, s.relation])


def chosen(s: Any, by: str, judged_by: str) -> float:
    """Return how many of the T best features by one score a selection by another has on average."""
    spent = s.epsilon * s.selection_share
    p = compute.inclusion(s.dataset, by, s.relation, spent, s.n_features)
    return measures.expected_best(measures.facts(s.dataset).scores[judged_by], p, s.n_features)


def steps(s: Any, score: str) -> float:
    """Return the number of sensitivities between the best and the worst feature."""
    return span(s, score) / step(s, score)


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (step, chosen)},
    # the number of sensitivities between the best and the worst feature, as the page writes it
    "steps": lambda s, score: phrases.number(steps(s, score)),
    "steps_ratio": lambda s, score, other: steps(s, score) / steps(s, other),
    # how many of the T best features a random selection has on average
    "chosen_blindly": lambda s: s.n_features**2 / measures.facts(s.dataset).n_features,
    # accuracy in percent of a classifier on the features of a selector
    "accuracy_of": lambda s, selector: (
        100 * float(compute.accuracy(*SelectValues.of(s).accuracy_key(selector, s.n_features)).mean())
    ),
}
