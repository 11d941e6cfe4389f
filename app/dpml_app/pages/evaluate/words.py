"""Sentences of the ROC curve page."""

import math
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.evaluation import attack_bound, best_attack_success
from dpml.registry import of_family
from dpml_app.core.card import Number
from dpml_app.drawing.styles import EXACT, label_of
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.controls import probability
from dpml_app.pages.evaluate.numbers import FIGURES
from dpml_app.pages.evaluate.settings import CLASSIFIERS, WEAKENED, EvaluateValues
from dpml_app.text.phrases import interval, minus, number, percent, read_captions, table

STUDY = f'<b style="border-bottom:2px solid {EXACT}">non-private (simulation, never publish)</b>'
SHARE = ("accuracy", "true_positive_rate", "false_positive_rate", "prevalence")
LABELS = {each.key: label_of(each.key, "curve") for each in of_family("curve")}
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"), study=STUDY)


def headline(values: EvaluateValues, facts: EvaluateFacts, answer: Mapping[str, Any]) -> str:
    """Return the labels that an attacker recovers from either curve, and both AUCs, as HTML."""
    kind = CLASSIFIERS[values.evaluate_classifier]
    weakened = values.evaluate_weakened
    how = "" if weakened == "none" else f", {WEAKENED[weakened][0].lower()}{WEAKENED[weakened][1:]}"
    low, mid, high = np.quantile(answer["every_area"], [0.05, 0.5, 0.95])
    return (
        f"<p>An attacker recovers <b>{_hits(answer)}</b> labels from the non-private curve, "
        f"<b>{percent(_share(answer), 0)}</b> from a private one. AUC: non-private "
        f"<b>{answer['true']['roc_auc']:.3f}</b>, private <b>{mid:.3f}</b> ({low:.3f} to "
        f"{high:.3f}).</p><p>{kind}{how}, {facts.n_test:,} test records.</p>"
    )


def _hits(answer: Mapping[str, Any]) -> str:
    """Return how many labels are recovered from the non-private curve."""
    return f"{int((answer['exact_attack'] == answer['labels']).sum())} of {len(answer['labels'])}"


def _share(answer: Mapping[str, Any]) -> float:
    """Return the share of labels that are recovered from private curves, over all releases."""
    return float(answer["rights"].mean())


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
        Number("labels recovered from it", percent(_share(answer), 0), interval(answer["rights"], 0)),
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


def recall_words(true: float, private: NDArray[np.float64]) -> str:
    """Return the average precision."""
    low, mid, high = np.quantile(private, [0.05, 0.5, 0.95])
    return (
        f"Average precision: non-private <b>{true:.3f}</b>, private <b>{mid:.3f}</b> "
        f"(median, 90% of samples: {low:.3f} to {high:.3f})."
    )


def calibration_words(true: Mapping[str, NDArray[np.float64]], n_std: float) -> str:
    """Return the mean calibration error, and the number of bins with more noise than records."""
    stated, share, records = true["stated"], true["share"], true["records"]
    weight = records / max(records.sum(), 1)
    off = float(np.nansum(weight * np.abs(share - stated)))
    drowned = int(np.sum(records < n_std))
    return (
        f"The mean calibration error over the bins is <b>{percent(off)}</b> (non-private). In <b>{drowned}</b> of "
        f"{len(stated)} bins the noise (±{number(n_std)}) exceeds the number of records."
    )


def error_words(values: EvaluateValues, curves: Mapping[str, Mapping[str, NDArray]]) -> str:
    """Return the error of each method at the ε that is chosen, smallest first."""
    parts = sorted((float(np.median(curves[m]["error"])), LABELS[m]) for m in curves)
    if not parts:
        return "Choose a method." if not values.evaluate_methods else "Computing…"
    listed = ", ".join(f"{label} <b>{error:.4f}</b>" for error, label in parts)
    return f"Median area to the non-private curve at ε = {values.epsilon:g}, smallest first: {listed}."


def size_words(values: EvaluateValues, errors: Mapping[str, Mapping[int, NDArray]]) -> str:
    """Return the best number of bins of each method."""
    parts = []
    for method, points in errors.items():
        if points:
            size, draws = min(points.items(), key=lambda pair: float(np.median(pair[1])))
            parts.append(f"{LABELS[method]} <b>{size:,}</b> ({np.median(draws):.4f})")
    if not parts:
        return "Choose a method." if not values.evaluate_methods else "Computing…"
    return f"Best number of bins tried at ε = {values.epsilon:g}, with its median error: {', '.join(parts)}."


def _name_of(values: EvaluateValues, which: str) -> str:
    _dataset, kind, weakened = values.classifier_key(which)
    how = "" if weakened == "none" else f", {WEAKENED[weakened][0].lower()}{WEAKENED[weakened][1:]}"
    return f"{which}: {CLASSIFIERS[kind]}{how}"


def _figure(metric: str, value: float) -> str:
    return minus(percent(value, 2) if metric == "accuracy" else f"{value:.4f}")


def compare_words(values: EvaluateValues, true: float, released: Mapping[str, NDArray] | None) -> dict[str, str]:
    """Return what a comparison at the ε that is chosen says, for both plots."""
    metric = values.evaluate_metric
    better = "A is better" if true > 0 else "B is better" if true < 0 else "both are equal"
    name = "AUC" if metric == "roc_auc" else "accuracy"
    both = f"{_name_of(values, 'A')}. {_name_of(values, 'B')}."
    text = f"{both} By {name}, {better}: A − B = <b>{_figure(metric, true)}</b>. "
    if released is None:
        return {"compare": text + "Computing…", "sure": "Computing…"}
    low, mid, high = np.quantile(released["difference"], [0.05, 0.5, 0.95])
    probability_a = released["probability"]
    sign = np.sign(released["difference"])
    right = float(np.mean(sign == np.sign(true))) if true else math.nan
    text += (
        f"Private at ε = {values.epsilon:g}: <b>{_figure(metric, mid)}</b> "
        f"(90% of samples: {_figure(metric, low)} to {_figure(metric, high)})."
    )
    a, b, c = np.quantile(probability_a, [0.05, 0.5, 0.95])
    sure = (
        f"At ε = {values.epsilon:g}, given one release, A is better with probability <b>{percent(b)}</b> (median, 90% "
        f"of samples: {percent(a)} to {percent(c)}). "
    )
    if true:
        sure += f"The private difference has the correct sign in <b>{percent(right, 0)}</b> of samples."
    return {"compare": text, "sure": sure}


def attack_words(values: EvaluateValues, answer: Mapping[str, Any]) -> str:
    """Return how many labels are recovered."""
    return (
        f"The attacker recovers <b>{_hits(answer)}</b> labels from the non-private curve and, on average, "
        f"<b>{percent(_share(answer))}</b> from a release at ε = {values.epsilon:g} (90% of releases: "
        f"{interval(answer['rights'], 0)}). Chance is 50%."
    )


def success_words(values: EvaluateValues) -> str:
    """Return the bound and what the best attack reaches, at the ε that is chosen."""
    epsilon = values.epsilon
    bound, best = attack_bound(epsilon), best_attack_success(epsilon, values.relation)
    return (
        f"At ε = {epsilon:g} the best attack on the noisy table is correct with probability <b>{percent(best)}</b>. "
        f"The bound e^ε/(1 + e^ε) is {percent(bound)}. From the non-private curve the attack is always correct."
    )
