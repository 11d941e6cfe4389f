"""Captions and sentences of the ROC curve page."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.evaluation import attack_bound, best_attack_success
from dpml_app.core.card import Number
from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.styles import EXACT
from dpml_app.pages.evaluate.compute import ATTACKED, METHODS, EvaluateValues
from dpml_app.text.phrases import percent

STUDY = f'<b style="border-bottom:2px solid {EXACT}">non-private (simulation, never publish)</b>'
CAPTIONS = {
    "roc": (
        f"Purple: {STUDY}. Green: one release of a noisy table with 16 bins, and a band of 90% of releases. An "
        "attacker who knows all other records guesses a label from either (Stoddard et al. 2014)."
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


def headline(facts: BinaryFacts, answer: Mapping[str, Any]) -> str:
    """Return the labels that an attacker recovers from either curve, and both AUCs, as HTML."""
    low, mid, high = np.quantile(answer["areas"], [0.05, 0.5, 0.95])
    return (
        f"<p>An attacker recovers <b>{answer['recovered']} of {ATTACKED}</b> labels from the non-private curve, "
        f"<b>{percent(answer['success'])}</b> of labels from a private one. AUC: non-private "
        f"<b>{answer['exact_area']:.3f}</b>, private <b>{mid:.3f}</b> ({low:.3f} to {high:.3f}).</p>"
        f"<p>Naive Bayes, {answer['n_records']:,} of {facts.n_test:,} test records.</p>"
    )


def numbers(answer: Mapping[str, Any]) -> tuple[Number, ...]:
    """Return the AUC of the non-private curve and of the private ones, and the labels that are recovered."""
    low, mid, high = np.quantile(answer["areas"], [0.05, 0.5, 0.95])
    return (
        Number("AUC, non-private curve", f"{answer['exact_area']:.3f}"),
        Number("AUC, private curve (median)", f"{mid:.3f}", f"{low:.3f} to {high:.3f}"),
        Number("labels recovered from it (best attack)", percent(answer["success"])),
    )


def error_words(values: EvaluateValues, errors: Mapping[str, NDArray]) -> str:
    """Return the error of each method at the ε that is chosen, smallest first."""
    parts = sorted((float(np.median(each)), METHODS[method]) for method, each in errors.items())
    if not parts:
        return "Choose a method." if not values.evaluate_methods else "Computing…"
    listed = ", ".join(f"{label} <b>{error:.4f}</b>" for error, label in parts)
    return f"Median area to the non-private curve at ε = {values.epsilon:g}, smallest first: {listed}."


def success_words(values: EvaluateValues) -> str:
    """Return the bound and what the best attack reaches, at the ε that is chosen."""
    epsilon = values.epsilon
    bound, best = attack_bound(epsilon), best_attack_success(epsilon, values.relation)
    return (
        f"At ε = {epsilon:g} the best attack on the noisy table is correct with probability <b>{percent(best)}</b>. "
        f"The bound e^ε/(1 + e^ε) is {percent(bound)}. From the non-private curve the attack is always correct."
    )
