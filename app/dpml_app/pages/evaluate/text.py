"""Captions and sentences of the ROC curve page."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.evaluation import attack_bound, best_attack_success
from dpml.registry import of_family
from dpml_app.core.card import Number
from dpml_app.drawing.styles import EXACT, label_of
from dpml_app.pages.evaluate.compute import CLASSIFIERS, FIGURES, WEAKENED, EvaluateFacts, EvaluateValues, probability
from dpml_app.text.phrases import percent, table

STUDY = f'<b style="border-bottom:2px solid {EXACT}">non-private (simulation, never publish)</b>'
SHARE = ("accuracy", "true_positive_rate", "false_positive_rate", "prevalence")
LABELS = {each.key: label_of(each.key, "curve") for each in of_family("curve")}
CAPTIONS = {
    "roc": (
        f"Left, purple: {STUDY}. Green: one release of a noisy table with 16 bins, and a band of 90% of "
        "releases. Right: an attacker who knows all other records guesses 30 labels from either (Stoddard et "
        "al. 2014)."
    ),
    "methods": (
        "Median curves with bands of 90% of samples, as in Stoddard et al. 2014, Fig. 6. Purple: the non- "
        "private curve. Dashed: as published. The published Laplace takes thresholds from the data, and "
        "FixedSpace reveals the number of records."
    ),
    "numbers": (
        "One noisy table, released for ε, gives every figure here. In 90% of releases the interval contains "
        "the figure of the same bins without noise. It does not cover the sampling of records. Plot: ten "
        "releases with their intervals."
    ),
    "errors": (
        "Area between the private and the non-private curve (0: identical), as in Stoddard et al. 2014, Fig. "
        "7. Lines are medians, and bands cover 90% of samples. RecursiveMedians has 1,024 bins, FixedSpace "
        "one per record, and Laplace 10."
    ),
    "success": (
        "The bound holds for every release at ε. The best attack on the noisy table stays below it. Both are "
        "exact. Labels are assigned at random, so chance is 50%. Under add-remove, a changed label is two "
        "changes."
    ),
}


def headline(values: EvaluateValues, facts: EvaluateFacts, answer: Mapping[str, Any]) -> str:
    """Return the labels that an attacker recovers from either curve, and both AUCs, as HTML."""
    kind = CLASSIFIERS[values.evaluate_classifier]
    weakened = values.evaluate_weakened
    how = "" if weakened == "none" else f", {WEAKENED[weakened][0].lower()}{WEAKENED[weakened][1:]}"
    low, mid, high = np.quantile(answer["every_area"], [0.05, 0.5, 0.95])
    return (
        f"<p>An attacker recovers <b>{_hits(answer)}</b> labels from the non-private curve, "
        f"<b>{percent(answer['success'])}</b> of labels from a private one. AUC: non-private "
        f"<b>{answer['true']['roc_auc']:.3f}</b>, private <b>{mid:.3f}</b> ({low:.3f} to "
        f"{high:.3f}).</p><p>{kind}{how}, {answer['true']['n_records']:,} of {facts.n_test:,} test records.</p>"
    )


def _hits(answer: Mapping[str, Any]) -> str:
    """Return how many labels are recovered from the non-private curve."""
    return f"{int((answer['exact_attack'] == answer['labels']).sum())} of {len(answer['labels'])}"


def roc_words(values: EvaluateValues, true: float, areas: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the areas under the curves of each method that is there."""
    text = f"Non-private AUC: <b>{true:.3f}</b>. "
    if not areas:
        return text + ("Choose a method." if not values.evaluate_methods else "Computing…")
    parts = []
    for method in (m for m in LABELS if m in areas):
        low, mid, high = np.quantile(areas[method], [0.05, 0.5, 0.95])
        parts.append(f"{LABELS[method]} <b>{mid:.3f}</b> ({low:.3f} to {high:.3f})")
    return text + f"Private, median and 90% of samples: {', '.join(parts)}."


def numbers(answer: Mapping[str, Any]) -> tuple[Number, ...]:
    """Return the AUC of the non-private curve and of the private ones, and the labels that are recovered."""
    low, mid, high = np.quantile(answer["every_area"], [0.05, 0.5, 0.95])
    return (
        Number("AUC, non-private curve", f"{answer['true']['roc_auc']:.3f}"),
        Number("AUC, private curve (median)", f"{mid:.3f}", f"{low:.3f} to {high:.3f}"),
        Number("labels recovered from it (best attack)", percent(answer["success"])),
    )


def number_words(
    values: EvaluateValues,
    facts: EvaluateFacts,
    true: Mapping[str, Any],
    one: Mapping[str, tuple[float, float, float]],
    confusion: NDArray[np.float64],
    holds: tuple[int, int],
) -> str:
    """Return the table of exact figures and those of one release. `confusion` has the shape (draws, 2, 2)."""

    def shown(figure: str, value: float) -> str:
        return percent(value) if figure in SHARE else f"{value:.3f}"

    rows = []
    for figure, label in FIGURES.items():
        value, low, high = one[figure]
        rows.append(
            f"<tr><th scope='row'>{label}</th><td>{shown(figure, true[figure])}</td>"
            f"<td><b>{shown(figure, value)}</b></td><td>{shown(figure, low)} to {shown(figure, high)}</td></tr>"
        )
    ends = np.quantile(confusion, [0.05, 0.95], axis=0)
    first, second = (escape(str(c)) for c in facts.classes)
    names = (first, second)
    for truly in (0, 1):
        for guess in (0, 1):
            low, high = ends[:, truly, guess]
            rows.append(
                f"<tr><th scope='row'>{names[truly]}, predicted {names[guess]}</th>"
                f"<td>{int(true['confusion'][truly, guess]):,}</td><td><b>{confusion[0, truly, guess]:,.0f}</b></td>"
                f"<td>{low:,.0f} to {high:,.0f} *</td></tr>"
            )
    heads = ("non-private", "one release", "90% interval")
    cut = probability(values.evaluate_cut)
    return (
        f"One release for ε = {values.epsilon:g} gives all figures. The prediction is {second} from a probability of "
        f"{cut}. The AUC intervals of <b>{holds[0]} of {holds[1]}</b> releases contain the AUC of the same bins "
        f"without noise.{table(heads, rows)}* Numbers of records: 90% of samples."
    )


def error_words(values: EvaluateValues, curves: Mapping[str, Mapping[str, NDArray]]) -> str:
    """Return the error of each method at the ε that is chosen, smallest first."""
    parts = sorted((float(np.median(curves[m]["error"])), LABELS[m]) for m in curves)
    if not parts:
        return "Choose a method." if not values.evaluate_methods else "Computing…"
    listed = ", ".join(f"{label} <b>{error:.4f}</b>" for error, label in parts)
    return f"Median area to the non-private curve at ε = {values.epsilon:g}, smallest first: {listed}."


def attack_words(values: EvaluateValues, answer: Mapping[str, Any]) -> str:
    """Return how many labels are recovered."""
    return (
        f"The attacker recovers <b>{_hits(answer)}</b> labels from the non-private curve. From a release at "
        f"ε = {values.epsilon:g} the best attack recovers <b>{percent(answer['success'])}</b> of labels (chance: 50%)."
    )


def success_words(values: EvaluateValues) -> str:
    """Return the bound and what the best attack reaches, at the ε that is chosen."""
    epsilon = values.epsilon
    bound, best = attack_bound(epsilon), best_attack_success(epsilon, values.relation)
    return (
        f"At ε = {epsilon:g} the best attack on the noisy table is correct with probability <b>{percent(best)}</b>. "
        f"The bound e^ε/(1 + e^ε) is {percent(bound)}. From the non-private curve the attack is always correct."
    )
