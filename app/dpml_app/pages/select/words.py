"""Plain words beside the numbers of the Select page. They claim what was computed and nothing more."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.catalogue import standing
from dpml.methods import method
from dpml_app.core.card import IMMEDIATE, Number, Results
from dpml_app.pages.select.compute import KINDS, SelectFacts, expected_best, places, threshold_of
from dpml_app.pages.select.figures import OWN_STYLES
from dpml_app.pages.select.settings import SCORES, SelectValues
from dpml_app.text.phrases import interval, number, percent, points, read_captions, table

# the result of the model of the curves on all features, without noise
WITHOUT = "without privacy"
SHORT = {"mutual_information": "mutual information", "count": "counts"}
NOT_PRIVATE = '<b style="color:var(--cost)">not private</b>'
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"), not_private=NOT_PRIVATE)


def headline(values: SelectValues, facts: SelectFacts, results: Results) -> str:
    """Return, as HTML, what one drawn set has of the best features, what a set has on average, and what it costs."""
    paid, T, D = values.epsilon * values.selection_share, values.n_features, facts.n_features
    if ("set", IMMEDIATE) not in results:
        return ""
    if T == D:
        return f"<p>All {D:,} features are kept: there is nothing to choose.</p>"
    kind = values.select_order
    scores = facts.scores[kind]
    hits = int(results["set", IMMEDIATE][places(scores)[:T]].sum())
    mean = expected_best(scores, results["inclusion", IMMEDIATE], T)
    true = results["costs", IMMEDIATE][values.select_calibration]
    whole = (
        f"<b>{hits}</b> of the {T} best (●), {T - hits} missed (○), {T - hits} others (×)"
        if T > 1
        else "<b>the best</b> (●)"
        if hits
        else "<b>not the best</b> (○), but another (×)"
    )
    more = f", but these weights cost <b>{number(true)}</b>: {NOT_PRIVATE} as stated"
    return (
        f"<p>One set by {SHORT[kind]}: {whole}. On average {mean:.1f}, blind {T * T / D:.1f}. "
        f"Cost: ε = {number(paid)}{more if true > paid * (1 + 1e-9) else ''}.</p>"
    )


def chosen_words(kind: str, paid: float, values: SelectValues, p: NDArray, best: float, costs: Mapping) -> str:
    """Return what is found of the T best features, and what each kind of weights truly costs."""
    T = values.n_features
    if len(p) == T:
        return "All features are kept: there is nothing to choose, and nothing of the data in the choice."
    published = costs["published"]
    wasted = "the same" if published > paid * (1 - 1e-9) else f"only {number(published)}: the rest is wasted"
    return (
        f"By {SHORT[kind]}, a set has on average <b>{best:.1f}</b> of the {T} best features, a blind one "
        f"{T * T / len(p):.1f}. With weights of ε/(2Δ) for each feature: stated <b>{number(paid)}</b> a feature, costs "
        f"<b>{number(costs['per-feature'])}</b> for the set. Weights as published, ε/(2TΔ), cost {wasted}."
    )


def numbers(best: float, T: int, n_features: int, paid: float) -> tuple[Number, ...]:
    """Return the numbers of a choice by counts, to be compared; all are exact."""
    return (
        Number("ε of the choice", number(paid)),
        Number("of the best features, found on average", f"{best:.1f} of {T}"),
        Number("by a blind choice", f"{T * T / n_features:.1f} of {T}"),
    )


def coin_words(facts: SelectFacts, values: SelectValues, coins: Mapping[str, NDArray]) -> str:
    """Return why one score is flat and the other is not."""
    parts, steps = [], {}
    for kind in KINDS:
        steps[kind] = float(np.ptp(facts.scores[kind])) / facts.unit[kind, values.relation]
        low, high = float(coins[kind].min()), float(coins[kind].max())
        parts.append(
            f"{SHORT[kind]} has <b>{number(steps[kind])}</b> steps from its worst to its best feature, and the coin "
            f"goes from {percent(low)} to <b>{percent(high)}</b>"
        )
    times = steps["count"] / steps["mutual_information"] if steps["mutual_information"] else np.inf
    text = f"{parts[0].capitalize()}; {parts[1]}."
    if times > 1:
        text += f" Counts need only about ε/{number(times)} for the same odds of the best against the worst."
    if values.select_calibration == "per-feature":
        text += " These weights cost more than the ε that is stated: see above."
    return text


def threshold_words(values: SelectValues, n_lower: int) -> tuple[str, str]:
    """Return the threshold in its unit, and the unit."""
    score = values.select_score
    threshold = threshold_of(n_lower, score, values.select_threshold)
    unit = "bits" if score == "mutual_information" else "records"
    return f"{number(threshold)} {unit}", unit


def f1_words(values: SelectValues, n_lower: int, true: int, by_rule: Mapping[str, NDArray]) -> str:
    """Return what each method reaches at the threshold that is chosen, private ones first."""
    shown, _ = threshold_words(values, n_lower)
    ranked = sorted(((float(v.mean()), rule) for rule, v in by_rule.items() if np.isfinite(v).all()), reverse=True)

    def listed(private: bool) -> str:
        every = [(mean, rule) for mean, rule in ranked if standing(rule, "selector").private == private]
        return ", ".join(f"{method(rule, 'selector').label} <b>{percent(mean, 0)}</b>" for mean, rule in every)

    text = f"At τ = {shown}, {true:,} features truly reach it by {SCORES[values.select_score].lower()}. "
    if not by_rule:
        return text + "Computing…"
    text += f"Mean F1: {listed(True)}; {NOT_PRIVATE}: {listed(False)}."
    if "mask" in by_rule and np.isnan(by_rule["mask"]).any():
        text += " The exact curve of masks has gaps where very many features reach τ."
    if values.select_score != "total_count":
        text += " Stoddard et al.'s clusters are for total counts only."
    return text


def accuracy_words(values: SelectValues, by_method: Mapping[str, Mapping]) -> str:
    """Return the best number of features of each method, and what all features reach."""
    parts = []
    for name in values.select_methods:
        if by_method.get(name):
            T, draws = max(by_method[name].items(), key=lambda pair: pair[1].mean())
            private = "" if standing(name, "selector").private else f" ({NOT_PRIVATE})"
            parts.append(
                f"{method(name, 'selector').label}{private} <b>{percent(float(draws.mean()))}</b> at T = {T} "
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
        gap = f" Without privacy all features reach {percent(float(exact.mean()))}"
        gap += f": privacy costs {points(cost)} with all features." if cost > 0.0005 else "."
    return f"Best of the T tried (90 % of draws): {'; '.join(parts)}.{gap}"


def feature_words(facts: SelectFacts, index: int, counts: Mapping[str, Any], inclusion: Mapping) -> str:
    """Return a feature's scores and probabilities as a table."""
    rows = []
    for kind, unit in (("mutual_information", "bits"), ("count", "records")):
        score, step = counts["score"][kind], counts["range"][kind]
        rows.append(
            f"<tr><th scope='row'>{SCORES[kind]}</th><td>{number(score)} {unit}</td><td>{counts['place'][kind]:,}</td>"
            f"<td>{number(step)}</td><td><b>{percent(inclusion[kind, 'range'][index], 2)}</b></td>"
            f"<td>{percent(inclusion[kind, 'per-feature'][index], 2)}</td></tr>"
        )
    heads = ("score", "place", "step", "chosen", "by ε/(2Δ) each")
    return f"<b>{escape(facts.names[index])}</b>, column {index + 1:,} of {facts.n_features:,}{table(heads, rows)}"


def leads_words(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return in how many cells of the map each method leads."""
    counts = Counter(row["leads"] for row in rows)
    listed = [f"{escape(method)} in <b>{n}</b>" for method, n in counts.most_common() if method != "level"]
    listed.append(f"level in {counts['level']}")
    return f"On {escape(name)}, of {len(rows)} cells: {', '.join(listed)}."
