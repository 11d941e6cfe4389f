"""Figures of the private choice of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpml_app.core.lesson_figures import Figures
from dpml_app.data import measures
from dpml_app.pages.select import compute
from dpml_app.pages.select.settings import SelectValues

figure = Figures()


@figure
def span(s: Any, kind: str) -> float:
    """Return how far the best feature's score is from the worst."""
    return float(np.ptp(measures.facts(s.dataset).scores[kind]))


@figure
def step(s: Any, kind: str) -> float:
    """Return by how much one record moves a score at most."""
    return float(measures.facts(s.dataset).unit[kind, s.relation])


@figure
def steps(s: Any, kind: str) -> float:
    """Return how many steps a score has from its worst feature to its best."""
    return span(s, kind) / step(s, kind)


@figure
def chosen(s: Any, chosen_by: str, judged_by: str) -> float:
    """Return how many of the T best features by one score a mask by another has on average."""
    paid = s.epsilon * s.selection_share
    p = compute.inclusion(s.dataset, chosen_by, s.select_calibration, s.relation, paid, s.n_features)
    return compute.expected_best(measures.facts(s.dataset).scores[judged_by], p, s.n_features)


@figure
def chosen_blindly(s: Any) -> float:
    """Return how many of the T best features a blind choice has on average."""
    return s.n_features**2 / measures.facts(s.dataset).n_features


@figure
def accuracy_of(s: Any, selector: str) -> float:
    """Return how many percent a classifier is right for with the features that a selector chooses."""
    return 100 * float(compute.accuracy(*SelectValues.of(s).accuracy_key(selector, s.n_features)).mean())
