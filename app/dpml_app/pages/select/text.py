"""Texts and numbers of the page Feature selection."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpml.registry import standing
from dpml_app.core.card import IMMEDIATE, Number, Results
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import expected_best
from dpml_app.drawing.styles import label_of
from dpml_app.pages.select.compute import KINDS, SelectValues, places
from dpml_app.pages.select.figures import OWN_STYLES
from dpml_app.text.phrases import interval, number, percent, points

# key of the results without noise on all features
WITHOUT = "non-private"
SHORT = {"mutual_information": "mutual information", "count": "counts"}
NOT_PRIVATE = '<b style="color:var(--cost)">not private</b>'
CAPTIONS = {
    "chosen": (
        "Exact probability that the exponential mechanism selects each feature, best exact score first. The right "
        "column is one sample. Lines in the last rows span all other features. Order and hits reveal records: never "
        "publish this plot."
    ),
    "coins": (
        "Probability that private selection prefers a feature to the one in place T + 1 (Antonova 2016, Fig. 3.11, "
        "3.12, 3.18), against its score in sensitivities. A score that spans few sensitivities has a flat curve."
    ),
    "accuracy": (
        "Test accuracy of row-bounded naive Bayes on the selected features against T: mean and 90% of runs. Dashed: "
        f"the selection is {NOT_PRIVATE}. The best T and method are data-derived, so near-ties change with the seed."
    ),
}


def headline(values: SelectValues, facts: BinaryFacts, results: Results) -> str:
    """Return the best features in one sample and on average, and the ε that selection spends, as HTML."""
    spent, T, D = values.epsilon * values.selection_share, values.n_features, facts.n_features
    if ("set", IMMEDIATE) not in results:
        return ""
    if T == D:
        return f"<p>All {D:,} features are selected.</p>"
    kind = values.select_order
    scores = facts.scores[kind]
    hits = int(results["set", IMMEDIATE][places(scores)[:T]].sum())
    mean = expected_best(scores, results[kind, IMMEDIATE], T)
    true = results["cost", IMMEDIATE]
    whole = (
        f"<b>{hits}</b> of the {T} best features (●), {T - hits} missed (○), {T - hits} others (×)"
        if T > 1
        else "<b>the best feature</b> (●)"
        if hits
        else "<b>another feature</b> (×) than the best (○)"
    )
    more = f" as stated, but actual ε = <b>{number(true)}</b>: {NOT_PRIVATE}"
    return (
        f"<p>One sample by {SHORT[kind]}: {whole}. On average {mean:.1f} (chance: {T * T / D:.1f}). "
        f"Selection spends ε = {number(spent)}{more if true > spent * (1 + 1e-9) else ''}.</p>"
    )


def pinned_numbers(best: float, T: int, n_features: int, spent: float) -> tuple[Number, ...]:
    """Return the exact numbers of a selection by counts, for pins."""
    return (
        Number("ε of the selection", number(spent)),
        Number("best features selected on average", f"{best:.1f} of {T}"),
        Number("best features by chance", f"{T * T / n_features:.1f} of {T}"),
    )


def coins_readout(facts: BinaryFacts, values: SelectValues, coins: Mapping[str, NDArray]) -> str:
    """Compare the range of both scores in units of their sensitivity."""
    parts, steps = [], {}
    for kind in KINDS:
        steps[kind] = float(np.ptp(facts.scores[kind])) / facts.unit[kind, values.relation]
        low, high = float(coins[kind].min()), float(coins[kind].max())
        parts.append(
            f"{SHORT[kind]}: <b>{number(steps[kind])}</b> sensitivities from the worst to the best feature, "
            f"probabilities from {percent(low)} to <b>{percent(high)}</b>."
        )
    times = steps["count"] / steps["mutual_information"] if steps["mutual_information"] else np.inf
    text = " ".join(part.capitalize() for part in parts)
    if times > 1:
        text += f" For the same odds of the best against the worst feature, counts need only about ε/{number(times)}."
    if values.select_calibration == "per-feature":
        text += " These weights spend more than the stated ε."
    return text


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
