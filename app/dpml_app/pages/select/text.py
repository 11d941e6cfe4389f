"""Texts and numbers of the page Feature selection."""

from collections.abc import Mapping

import numpy as np

from dpml.registry import standing
from dpml_app.core.card import IMMEDIATE, Results
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import expected_best
from dpml_app.drawing.styles import label_of
from dpml_app.pages.select.compute import KINDS, SelectValues
from dpml_app.pages.select.figures import OWN_STYLES
from dpml_app.text.phrases import interval, number, percent, points

# key of the results without noise on all features
WITHOUT = "non-private"
SHORT = {"mutual_information": "mutual information", "count": "counts"}
NOT_PRIVATE = '<b style="color:var(--cost)">not private</b>'
CAPTIONS = {
    "chosen": (
        "Exact probability that the exponential mechanism selects each feature, best exact score first. Lines in the "
        "last rows span all other features. The order reveals records: never publish this plot."
    ),
    "accuracy": (
        "Test accuracy of row-bounded naive Bayes on the selected features against T: mean and 90% of runs. Dashed: "
        f"the selection is {NOT_PRIVATE}. The best T and method are data-derived, so near-ties change with the seed."
    ),
}


def headline(values: SelectValues, facts: BinaryFacts, results: Results) -> str:
    """Return how many of the best features are selected on average, and the ε that selection spends, as HTML."""
    spent, T, D = values.epsilon * values.selection_share, values.n_features, facts.n_features
    kind = values.select_order
    if (kind, IMMEDIATE) not in results:
        return ""
    if T == D:
        return f"<p>All {D:,} features are selected.</p>"
    mean = expected_best(facts.scores[kind], results[kind, IMMEDIATE], T)
    return (
        f"<p>By {SHORT[kind]}, private selection finds on average <b>{mean:.1f}</b> of the {T} best features "
        f"(chance: {T * T / D:.1f}). It spends ε = {number(spent)}.</p>"
    )


def sensitivities(values: SelectValues, facts: BinaryFacts) -> str:
    """Compare the range of both scores in units of their sensitivity."""
    steps = {kind: np.ptp(facts.scores[kind]) / facts.unit[kind, values.relation] for kind in KINDS}
    each = (f"{SHORT[kind]} <b>{number(float(steps[kind]))}</b>" for kind in KINDS)
    return f"Sensitivities between the best and the worst feature: {', '.join(each)}."


def accuracy_readout(values: SelectValues, by_method: Mapping[str, Mapping]) -> str:
    """Return the best T of each method, and the accuracy of all features."""
    parts = []
    for name in values.select_methods:
        if by_method.get(name):
            T, draws = max(by_method[name].items(), key=lambda pair: pair[1].mean())
            private = "" if standing(name, "selector").private else f" ({NOT_PRIVATE})"
            parts.append(
                f"{label_of(name, 'selector')}{private} <b>{percent(float(draws.mean()))}</b> at T = {T} "
                f"({interval(draws)})"
            )
    for name, label in (("all", "all features"), ("best", OWN_STYLES["best"].label)):
        if by_method.get(name):
            (draws,) = by_method[name].values()
            parts.append(f"{label} <b>{percent(float(draws.mean()))}</b>")
    if not parts:
        return "Computing…"
    gap = ""
    if by_method.get("all") and by_method.get(WITHOUT):
        (draws,), (exact,) = by_method["all"].values(), by_method[WITHOUT].values()
        cost = float(exact.mean() - draws.mean())
        gap = f" Non-private naive Bayes, all features: {percent(float(exact.mean()))}"
        gap += f" (privacy cost {points(cost)})." if cost > 0.0005 else "."
    return f"Best T tried, with 90% of runs: {', '.join(parts)}.{gap}"
