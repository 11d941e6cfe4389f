"""Plain words beside the numbers of the Evaluate page. They claim what was computed and nothing more."""

import math
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.evaluation import attack_bound, best_attack_success
from dpml.methods import of_family
from dpml_app.core.card import Number
from dpml_app.drawing.styles import EXACT
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.controls import probability
from dpml_app.pages.evaluate.numbers import FIGURES
from dpml_app.pages.evaluate.settings import CLASSIFIERS, METRICS, WEAKENED, EvaluateValues
from dpml_app.text.phrases import interval, minus, number, percent, read_captions, table

STUDY = f'<b style="border-bottom:2px solid {EXACT}">exact: for study</b>'
SHARE = ("accuracy", "true_positive_rate", "false_positive_rate", "prevalence")
LABELS = {each.key: each.label for each in of_family("curve")}
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"), study=STUDY)


def headline(values: EvaluateValues, facts: EvaluateFacts, answer: Mapping[str, Any]) -> str:
    """Return, as HTML, what an attacker reads off either curve, and how good the private one is."""
    kind = CLASSIFIERS[values.evaluate_classifier]
    weakened = values.evaluate_weakened
    how = "" if weakened == "none" else f", {WEAKENED[weakened][0].lower()}{WEAKENED[weakened][1:]}"
    low, mid, high = np.quantile(answer["every_area"], [0.05, 0.5, 0.95])
    return (
        f"<p>An attacker reads <b>{_hits(answer)}</b> labels off the true curve, "
        f"<b>{percent(_share(answer), 0)}</b> off a private one. Area: true "
        f"<b>{answer['true']['roc_auc']:.3f}</b>, private <b>{mid:.3f}</b> ({low:.3f} to "
        f"{high:.3f}).</p><p>{kind}{how}, {facts.n_test:,} test records.</p>"
    )


def _hits(answer: Mapping[str, Any]) -> str:
    """Return how many labels are read off the true curve."""
    return f"{int((answer['exact_attack'] == answer['labels']).sum())} of {len(answer['labels'])}"


def _share(answer: Mapping[str, Any]) -> float:
    """Return the share of labels that are read off private curves, over all releases."""
    return float(answer["rights"].mean())


def roc_words(values: EvaluateValues, true: float, areas: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the areas under the curves of each method that is there."""
    text = f"Area under the true curve: <b>{true:.3f}</b>. "
    if not areas:
        return text + ("Choose a method." if not values.evaluate_methods else "Computing…")
    parts = []
    for method in (m for m in LABELS if m in areas):
        low, mid, high = np.quantile(areas[method], [0.05, 0.5, 0.95])
        parts.append(f"{LABELS[method]} <b>{mid:.3f}</b> ({low:.3f} to {high:.3f})")
    return text + f"Private, median and 90 % of draws: {'; '.join(parts)}."


def numbers(answer: Mapping[str, Any]) -> tuple[Number, ...]:
    """Return the areas under the true curve and the private ones, and the labels that are read, to be compared."""
    low, mid, high = np.quantile(answer["every_area"], [0.05, 0.5, 0.95])
    return (
        Number("area under the true curve", f"{answer['true']['roc_auc']:.3f}"),
        Number("area under the private curve, median", f"{mid:.3f}", f"{low:.3f} to {high:.3f}"),
        Number("labels read off it", percent(_share(answer), 0), interval(answer["rights"], 0)),
    )


def number_words(
    values: EvaluateValues,
    facts: EvaluateFacts,
    true: Mapping[str, Any],
    one: Mapping[str, tuple[float, float, float]],
    confusion: NDArray[np.float64],
    holds: tuple[int, int],
) -> str:
    """Return the table of true figures beside those of one release; `confusion` is of all draws, (draws, 2, 2)."""

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
                f"<tr><th scope='row'>{names[truly]}, taken for {names[guess]}</th>"
                f"<td>{int(true['confusion'][truly, guess]):,}</td><td><b>{confusion[0, truly, guess]:,.0f}</b></td>"
                f"<td>{low:,.0f} to {high:,.0f} *</td></tr>"
            )
    heads = ("true", "one release", "90 % interval")
    cut = probability(values.evaluate_cut)
    return (
        f"One release for ε = {values.epsilon:g} gives all of these. A record is taken for {second} from {cut} "
        f"on. Of ten releases' intervals for the area, <b>{holds[0]} of {holds[1]}</b> hold the area of the same bins "
        f"without noise.{table(heads, rows)}* numbers of records: 90 % of draws."
    )


def recall_words(true: float, private: NDArray[np.float64]) -> str:
    """Return the average precision."""
    low, mid, high = np.quantile(private, [0.05, 0.5, 0.95])
    return (
        f"Average precision (the area under it): true <b>{true:.3f}</b>; private, median <b>{mid:.3f}</b> "
        f"(90 % of draws: {low:.3f} to {high:.3f})."
    )


def calibration_words(true: Mapping[str, NDArray[np.float64]], n_std: float) -> str:
    """Return how far from its word the classifier is, and how many bins the noise drowns."""
    stated, share, records = true["stated"], true["share"], true["records"]
    weight = records / max(records.sum(), 1)
    off = float(np.nansum(weight * np.abs(share - stated)))
    drowned = int(np.sum(records < n_std))
    return (
        f"The stated probability is wrong by <b>{percent(off)}</b> on average over the bins (true). In "
        f"<b>{drowned}</b> of {len(stated)} bins the noise (±{number(n_std)}) is larger than the number of records: a "
        "release says nothing about those."
    )


def error_words(values: EvaluateValues, curves: Mapping[str, Mapping[str, NDArray]]) -> str:
    """Return the error of each method at the ε that is chosen, smallest first."""
    parts = sorted((float(np.median(curves[m]["error"])), LABELS[m]) for m in curves)
    if not parts:
        return "Choose a method." if not values.evaluate_methods else "Computing…"
    listed = ", ".join(f"{label} <b>{error:.4f}</b>" for error, label in parts)
    return f"Median area to the true curve at ε = {values.epsilon:g}, smallest first: {listed}."


def size_words(values: EvaluateValues, errors: Mapping[str, Mapping[int, NDArray]]) -> str:
    """Return the best number of bins of each method."""
    parts = []
    for method, points in errors.items():
        if points:
            size, draws = min(points.items(), key=lambda pair: float(np.median(pair[1])))
            parts.append(f"{LABELS[method]} <b>{size:,}</b> ({np.median(draws):.4f})")
    if not parts:
        return "Choose a method." if not values.evaluate_methods else "Computing…"
    return f"Best of the numbers tried at ε = {values.epsilon:g}, with its median error: {'; '.join(parts)}."


def _name_of(values: EvaluateValues, which: str) -> str:
    _dataset, kind, weakened = values.classifier_key(which)
    how = "" if weakened == "none" else f", {WEAKENED[weakened].lower()}"
    return f"{which} is {CLASSIFIERS[kind]}{how}"


def _figure(metric: str, value: float) -> str:
    return minus(percent(value, 2) if metric == "accuracy" else f"{value:.4f}")


def compare_words(values: EvaluateValues, true: float, released: Mapping[str, NDArray] | None) -> dict[str, str]:
    """Return what a comparison at the ε that is chosen says, for both plots."""
    metric = values.evaluate_metric
    better = "A is truly better" if true > 0 else "B is truly better" if true < 0 else "they are truly equal"
    text = (
        f"{_name_of(values, 'A')}; {_name_of(values, 'B')}. By {METRICS[metric][0].lower()}{METRICS[metric][1:]}, "
        f"{better}: A − B = <b>{_figure(metric, true)}</b>. "
    )
    if released is None:
        return {"compare": text + "Computing…", "sure": "Computing…"}
    low, mid, high = np.quantile(released["difference"], [0.05, 0.5, 0.95])
    probability_a = released["probability"]
    sign = np.sign(released["difference"])
    right = float(np.mean(sign == np.sign(true))) if true else math.nan
    text += (
        f"Private at ε = {values.epsilon:g}: <b>{_figure(metric, mid)}</b> "
        f"(90 % of draws: {_figure(metric, low)} to {_figure(metric, high)})."
    )
    a, b, c = np.quantile(probability_a, [0.05, 0.5, 0.95])
    sure = (
        f"At ε = {values.epsilon:g} a release makes it <b>{percent(b)}</b> probable that A is better (median; 90 % "
        f"of draws: {percent(a)} to {percent(c)}). "
    )
    if true:
        sure += f"The private difference has the right sign in <b>{percent(right, 0)}</b> of draws."
    return {"compare": text, "sure": sure}


def attack_words(values: EvaluateValues, answer: Mapping[str, Any]) -> str:
    """Return how many labels are recovered."""
    return (
        f"From the true curve <b>{_hits(answer)}</b> labels are recovered. From private releases at "
        f"ε = {values.epsilon:g}, <b>{percent(_share(answer))}</b> of these on average (90 % of releases: "
        f"{interval(answer['rights'], 0)}); half would be blind guessing."
    )


def success_words(values: EvaluateValues) -> str:
    """Return the bound and what the best attack reaches, at the ε that is chosen."""
    epsilon = values.epsilon
    bound, best = attack_bound(epsilon), best_attack_success(epsilon, values.relation)
    return (
        f"At ε = {epsilon:g} the best attack on the noisy table is right with probability <b>{percent(best)}</b>; the "
        f"bound e^ε/(1 + e^ε) is {percent(bound)}. From the exact curve it is always right."
    )
