"""Plain words beside the cards of learned classifiers and of other public tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.pages.publish.settings import PENALTIES, WEIGHT_DRAWS, PublishValues
from dpml_app.pages.publish.weighted_classifiers_figures import CLASSIFIER_STYLES, PUBLIC_WORDS
from dpml_app.pages.publish.weights_figures import WEIGHT_STYLES
from dpml_app.text.captions import read_captions
from dpml_app.text.phrases import percent, points

Draws = NDArray[np.float64]
CAPTIONS = read_captions(Path(__file__).with_name("weighted_classifiers_captions.yaml"), weight_draws=WEIGHT_DRAWS)


def _mean(draws: Draws) -> str:
    return f"<b>{percent(float(draws.mean()))}</b>"


def classifier(values: PublishValues, known: Mapping[str, Any], distances: Mapping[str, Draws]) -> str:
    """Return how far the classifiers are at the chosen ε."""
    parts = [f"{CLASSIFIER_STYLES[name].label} {_mean(far)}" for name, far in distances.items()]
    at = f" At ε = {values.epsilon:g}: {', '.join(parts)}." if parts else ""
    return (
        f"The private table teaches a machine of norm {known['norm']:.2f}. The public table alone teaches one that is "
        f"{percent(known['far']['skewed'])} of that away, and other private records one that is "
        f"{percent(float(known['others'].mean()))} away.{at}"
    )


def plane(values: PublishValues, truth: float, answers: Mapping[str, Mapping[float, Draws]]) -> str:
    """Return at which λ each method's error is least, which nobody knows without the truth."""
    parts = []
    for method, by_lambda in answers.items():
        errors = {x: float(np.sqrt(((draws - truth) ** 2).mean())) for x, draws in by_lambda.items()}
        if len(errors) == len(PENALTIES):  # the least of all, once all are there
            best = min(errors, key=lambda x: errors[x])
            parts.append(f"{WEIGHT_STYLES[method].label} <b>{points(errors[best])}</b> at λ = {best:g}")
    if not parts:
        return "Computing…"
    return (
        f"Least error of any λ, at ε = {values.epsilon:g} (square root of the mean square): {', '.join(parts)}. "
        "Only the truth shows which λ that is, so nobody can choose it without looking."
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
