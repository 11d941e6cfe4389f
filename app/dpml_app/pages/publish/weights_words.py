"""Sentences of the cards about weighted public tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.publishing.importance import FEW_RECORDS
from dpml_app.pages.publish.settings import ASKED, CONDITIONS, PENALTIES, WEIGHT_DRAWS, PublishValues
from dpml_app.pages.publish.weights_figures import CLASSIFIER_STYLES, PUBLIC_WORDS, WEIGHT_STYLES
from dpml_app.text.phrases import minus, percent, points, read_captions
from dpml_app.uploaded_table import display_name

Draws = NDArray[np.float64]
CAPTIONS = read_captions(Path(__file__).with_name("weights_captions.yaml"), weight_draws=WEIGHT_DRAWS)


def refusal(dataset: str, conditions: Sequence[str]) -> str:
    """Return why there is nothing to weigh or to ask; empty if there is."""
    if dataset not in CONDITIONS:
        split = " or ".join(sorted(CONDITIONS))
        return f"{display_name(dataset)} has no split into a private and a public table. Choose {split}."
    if not conditions:
        return f"no condition is chosen. Choose one or more of: {', '.join(ASKED.values())}."
    return ""


def what_is_asked(dataset: str, conditions: Sequence[str]) -> str:
    """Return a conjunction in words.

    >>> what_is_asked("census", ["rich", "young"])
    'records with a high income and an age below 30'
    """
    conditions_in_words = [CONDITIONS[dataset][c][2] for c in ASKED if c in conditions]
    return f"records with {' and '.join(conditions_in_words)}"


def _told(method: str, draws: Draws, truth: float) -> str:
    error = float(np.abs(draws - truth).mean())
    return f"{WEIGHT_STYLES[method].label} <b>{percent(float(draws.mean()))}</b> (mean error {points(error)})"


def _signed(value: float) -> str:
    return minus(f"{100 * value:+.1f} points")


def query(values: PublishValues, truth: float, unweighted: float, answers: Mapping[str, Draws]) -> str:
    """Return what is answered at the chosen ε."""
    asked = what_is_asked(values.dataset, values.publish_query)
    parts = [_told(method, draws, truth) for method, draws in answers.items()]
    answered = f" At ε = {values.epsilon:g}: {', '.join(parts)}." if parts else ""
    return (
        f"{percent(truth)} of the private table are {asked}. The unweighted public table answers {percent(unweighted)} "
        f"(error {points(abs(unweighted - truth))}).{answered}"
    )


def penalty(values: PublishValues, truth: float, answers: Mapping[str, Draws]) -> str:
    """Return bias and standard deviation of both methods at the chosen ε and λ."""
    parts = [
        f"{WEIGHT_STYLES[method].label}: bias <b>{_signed(float(draws.mean()) - truth)}</b>, standard deviation "
        f"{points(float(draws.std()))}"
        for method, draws in answers.items()
    ]
    if not parts:
        return "Computing…"
    return f"At ε = {values.epsilon:g} and λ = {values.publish_lambda:g}. {'. '.join(parts)}."


def concentration(n_public: int, releases: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the effective sample sizes of the first draw, and a warning where few records carry most weight."""
    parts, few = [], []
    for method, release in releases.items():
        label, half = WEIGHT_STYLES[method].label, int(release["n_half"][0])
        parts.append(f"<b>{release['ess'][0]:,.0f}</b> by {label} (λ = {release['reg_lambda']:.3g})")
        if half <= FEW_RECORDS:
            few.append(f"{label}: half of the weight is on {half} record{'s' if half > 1 else ''}")
    if not parts:
        return "Computing…"
    warning = f" <b>Few records have most of the weight</b>. {', '.join(few)}. Increase λ or ε." if few else ""
    return f"Effective sample size of the {n_public:,} public records: {', '.join(parts)}.{warning}"


def _mean(draws: Draws) -> str:
    return f"<b>{percent(float(draws.mean()))}</b>"


def classifier(values: PublishValues, known: Mapping[str, Any], distances: Mapping[str, Draws]) -> str:
    """Return how far the classifiers are at the chosen ε."""
    parts = [f"{CLASSIFIER_STYLES[name].label} {_mean(far)}" for name, far in distances.items()]
    at = f" At ε = {values.epsilon:g}: {', '.join(parts)}." if parts else ""
    return (
        f"The private table's SVM has norm {known['norm']:.2f}. Distance of the SVM from the unweighted public table: "
        f"{percent(known['far']['skewed'])} of that norm, from other private records: "
        f"{percent(float(known['others'].mean()))}.{at}"
    )


def plane(values: PublishValues, truth: float, answers: Mapping[str, Mapping[float, Draws]]) -> str:
    """Return the λ of each method's smallest error. Its choice needs the exact answer."""
    parts = []
    for method, by_lambda in answers.items():
        errors = {x: float(np.sqrt(((draws - truth) ** 2).mean())) for x, draws in by_lambda.items()}
        if len(errors) == len(PENALTIES):  # the least of all, once all are there
            best = min(errors, key=lambda x: errors[x])
            parts.append(f"{WEIGHT_STYLES[method].label} <b>{points(errors[best])}</b> at λ = {best:g}")
    if not parts:
        return "Computing…"
    return (
        f"Smallest root mean square error over λ at ε = {values.epsilon:g}: {', '.join(parts)}. "
        "Choosing this λ needs the exact answer, so it is not private."
    )


def tables(truth: float, answers: Mapping[str, Mapping[str, Draws]]) -> str:
    """Return how far off the answers by each public table are on average."""
    parts = [
        f"{PUBLIC_WORDS[kind]} {points(float(np.abs(draws - truth).mean()))}"
        for kind, draws in answers.get("moments", {}).items()
    ]
    if not parts:
        return "Computing…"
    return (
        f"{percent(truth)} of the private records have a high income. Mean error of "
        f"{WEIGHT_STYLES['moments'].label}, by public table: <b>{', '.join(parts)}</b>."
    )


def taught(far: Mapping[str, Mapping[str, Draws]]) -> str:
    """Return how far the classifiers of each public table are on average."""
    parts = [f"{PUBLIC_WORDS[kind]} {percent(float(draws.mean()))}" for kind, draws in far.get("moments", {}).items()]
    if not parts:
        return "Computing…"
    return f"Distance by {WEIGHT_STYLES['moments'].label}, by public table: <b>{', '.join(parts)}</b> of the norm."
