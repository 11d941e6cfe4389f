"""Sentences and numbers of the page Feature selection."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.registry import standing
from dpml_app.core.card import IMMEDIATE, Number, Results
from dpml_app.drawing.styles import label_of
from dpml_app.pages.select.compute import KINDS, SelectFacts, expected_best, places, threshold_of
from dpml_app.pages.select.figures import OWN_STYLES
from dpml_app.pages.select.settings import SCORES, SelectValues
from dpml_app.text.phrases import interval, number, percent, points, read_captions, table

# key of the results without noise on all features
WITHOUT = "non-private"
SHORT = {"mutual_information": "mutual information", "count": "counts"}
NOT_PRIVATE = '<b style="color:var(--cost)">not private</b>'
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"), not_private=NOT_PRIVATE)


def headline(values: SelectValues, facts: SelectFacts, results: Results) -> str:
    """Return the best features in one sample and on average, and the ε that selection spends, as HTML."""
    paid, T, D = values.epsilon * values.selection_share, values.n_features, facts.n_features
    if ("set", IMMEDIATE) not in results:
        return ""
    if T == D:
        return f"<p>All {D:,} features are selected.</p>"
    kind = values.select_order
    scores = facts.scores[kind]
    hits = int(results["set", IMMEDIATE][places(scores)[:T]].sum())
    mean = expected_best(scores, results["inclusion", IMMEDIATE], T)
    true = results["costs", IMMEDIATE][values.select_calibration]
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
        f"Selection spends ε = {number(paid)}{more if true > paid * (1 + 1e-9) else ''}.</p>"
    )


def chosen_words(kind: str, paid: float, values: SelectValues, p: NDArray, best: float, costs: Mapping) -> str:
    """Return the expected number of best features, and the actual ε of each kind of weights."""
    T = values.n_features
    if len(p) == T:
        return "All features are selected, so the selection reveals nothing about the data."
    published = costs["published"]
    wasted = (
        "the same" if published > paid * (1 - 1e-9) else f"only {number(published)}, so they add more noise than needed"
    )
    return (
        f"By {SHORT[kind]}, a sample contains on average <b>{best:.1f}</b> of the {T} best features (chance: "
        f"{T * T / len(p):.1f}). Stated ε: <b>{number(paid)}</b>. Weights of ε/(2Δ) per feature spend "
        f"<b>{number(costs['per-feature'])}</b>. Published weights of ε/(2TΔ) spend {wasted}."
    )


def numbers(best: float, T: int, n_features: int, paid: float) -> tuple[Number, ...]:
    """Return the exact numbers of a selection by counts, for pins."""
    return (
        Number("ε of the selection", number(paid)),
        Number("best features selected on average", f"{best:.1f} of {T}"),
        Number("best features by chance", f"{T * T / n_features:.1f} of {T}"),
    )


def coin_words(facts: SelectFacts, values: SelectValues, coins: Mapping[str, NDArray]) -> str:
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


def threshold_words(values: SelectValues, n_lower: int) -> tuple[str, str]:
    """Return the threshold in its unit, and the unit."""
    score = values.select_score
    threshold = threshold_of(n_lower, score, values.select_threshold)
    unit = "bits" if score == "mutual_information" else "records"
    return f"{number(threshold)} {unit}", unit


def f1_words(values: SelectValues, n_lower: int, true: int, by_rule: Mapping[str, NDArray]) -> str:
    """Return the F1 of each method at the chosen threshold, private methods first."""
    shown, _ = threshold_words(values, n_lower)
    ranked = sorted(((float(v.mean()), rule) for rule, v in by_rule.items() if np.isfinite(v).all()), reverse=True)

    def listed(private: bool) -> str:
        every = [(mean, rule) for mean, rule in ranked if standing(rule, "selector").private == private]
        return ", ".join(f"{label_of(rule, 'selector')} <b>{percent(mean, 0)}</b>" for mean, rule in every)

    text = f"{true:,} features reach τ = {shown} by {SCORES[values.select_score].lower()}. "
    if not by_rule:
        return text + "Computing…"
    text += f"Mean F1: {listed(True)}. Mean F1, {NOT_PRIVATE}: {listed(False)}."
    if "mask" in by_rule and np.isnan(by_rule["mask"]).any():
        text += " The curve of masks has gaps where very many features reach τ."
    if values.select_score != "total_count":
        text += " Stoddard et al. (2014) define clusters for total counts only."
    return text


def accuracy_words(values: SelectValues, by_method: Mapping[str, Mapping]) -> str:
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
        gap = f" Non-private, all features: {percent(float(exact.mean()))}"
        gap += f" (privacy cost {points(cost)})." if cost > 0.0005 else "."
    return f"Best T tried, with 90% of runs: {', '.join(parts)}.{gap}"


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
    heads = ("score", "rank", "sensitivity", "probability", "with ε/(2Δ) per feature")
    return f"<b>{escape(facts.names[index])}</b>, column {index + 1:,} of {facts.n_features:,}{table(heads, rows)}"


def leads_words(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Count the cells of the map in which each method leads."""
    counts = Counter(row["leads"] for row in rows)
    listed = [f"{escape(method)} in <b>{n}</b>" for method, n in counts.most_common() if method != "level"]
    listed.append(f"level in {counts['level']}")
    return f"Best method in {len(rows)} cells on {escape(name)}: {', '.join(listed)}."
