"""Texts and numbers of the page Privacy cost."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.studies import NeededEpsilon
from dpml_app.core.card import Number
from dpml_app.data.facts import GroupFacts
from dpml_app.pages.explore.compute import ExploreValues
from dpml_app.text.phrases import interval, minus, percent

CAPTIONS = {
    "cost": (
        "Mean and 90% of 20 runs: default classifier (blue), custom model (green). The baseline is chosen on test "
        "records: never publish it. A new plan can lower the curve: Adult's grid doubles to 64 cells at ε = 0.32."
    ),
    "roc": (
        "ROC curve of one custom model on the test records, with and without noise on the curve. Training and test "
        "records are different people, so each record spends ε once."
    ),
}


def costs(facts: GroupFacts, runs: Mapping[str, Any], best: Mapping[str, Any]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the privacy cost of all, each class and each group in points: names, and runs of shape (runs, rows)."""
    names = ["all", *map(str, facts.classes), *map(group_name, facts.groups)]
    private = np.column_stack([runs["accuracy"], runs["recall"], runs["groups"]])
    plain = np.concatenate([[best["accuracy"]], best["recall"], best["groups"]])
    return names, 100 * (plain - private)


def group_name(column: str) -> str:
    """Return a column of the encoding as a readable group name.

    >>> group_name("sex=female"), group_name("25<=age<35"), group_name("age>=75")
    ('sex: female', '25 ≤ age < 35', 'age ≥ 75')
    """
    if not set("<>") & set(column):
        return column.replace("=", ": ", 1)
    return " ".join(re.sub("(<=|>=|<|>)", r" \1 ", column).replace("<=", "≤").replace(">=", "≥").split())


def parts(mean: float, exact: float, best: float) -> tuple[float, float]:
    """Split a gap into noise and simpler method, in points: each from 0 to the gap.

    Examples
    --------
    >>> [round(part, 1) for part in parts(0.80, 0.83, 0.84)], [round(part, 1) for part in parts(0.80, 0.79, 0.84)]
    ([3.0, 1.0], [0.0, 4.0])
    """
    between = min(max(exact, mean), max(best, mean))
    return 100 * (between - mean), 100 * max(best - between, 0.0)


def headline(
    values: ExploreValues,
    facts: GroupFacts,
    runs: Mapping[str, NDArray[np.float64]] | None,
    exact: float | None,
    best: Mapping[str, Any] | None,
) -> str:
    """Return the privacy cost at the chosen ε as HTML: its parts, and the group that loses most."""
    title = f"<h2>Privacy cost at ε = {values.epsilon:g}</h2>"
    if runs is None or exact is None or best is None:
        return f"{title}<p>Computing…</p>"
    draws, plain = runs["accuracy"], float(best["accuracy"])
    mean = float(draws.mean())
    low, high = np.quantile(draws, [0.05, 0.95])
    cost = 100 * (plain - mean)
    shown = f"<b>{cost:.1f}</b> percentage points" if cost >= 0.05 else "<b>0</b> percentage points"
    noise, _simpler = parts(mean, exact, plain)
    # the parts that are shown add up to the cost that is shown
    simpler = max(round(cost, 1) - round(noise, 1), 0.0)
    why = f'<i class="noise"></i>{noise:.1f} noise <i class="simpler"></i>{simpler:.1f} simpler method'
    names, paid = costs(facts, runs, best)
    means = paid.mean(axis=0)
    most = int(np.argmax(means))
    kind = "class" if most <= len(facts.classes) else "group"
    who = f" The {kind} <b>{escape(names[most])}</b> loses most: {means[most]:.1f} points."
    return (
        f'{title}<p class="big">{shown}</p>'
        + (f'<p class="why">{why}</p>' if cost >= 0.05 else "")
        + f"<p>Accuracy <b>{percent(mean)}</b>, non-private {percent(plain)}. "
        f"90% of runs: {100 * low:.1f}–{percent(high)}.{who if most and means[most] >= 0.05 else ''}</p>"
    )


def custom_against_default(mean: float | None, default: float | None) -> str:
    """Compare the custom model with the default classifier, as HTML.

    >>> custom_against_default(0.813, 0.834)
    '<b>81.3%</b>: 2.1 points below the default.'
    """
    if mean is None or default is None:
        return "Computing…"
    points = 100 * (mean - default)
    beside = (
        "as accurate as the default"
        if abs(points) < 0.05
        else (f"{abs(points):.1f} points {'above' if points > 0 else 'below'} the default")
    )
    return f"<b>{percent(mean)}</b>: {beside}."


def pinned_numbers(draws: NDArray[np.float64], best: float, custom: NDArray[np.float64]) -> tuple[Number, ...]:
    """Return the numbers that pins compare."""
    low, high = (float(q) for q in np.quantile(draws, [0.05, 0.95]))
    cost = f"{100 * (best - high):.1f} to {100 * (best - low):.1f}"
    shown = [
        Number(what, percent(float(each.mean())), interval(each))
        for what, each in (("accuracy, default classifier", draws), ("accuracy, custom model", custom))
    ]
    return (
        *shown,
        Number("accuracy, non-private baseline", percent(best)),
        Number("privacy cost (percentage points)", f"{100 * (best - float(draws.mean())):.1f}", cost),
    )


def needed_text(interval: NeededEpsilon | None, most: float) -> str:
    """Return the ε that an accuracy needs, or the highest accuracy if no ε reaches it.

    >>> needed_text(NeededEpsilon(0.5, 0.4, np.inf), 0.9)
    '<b>ε = 0.5</b> (0.4 to more than 10)'
    >>> needed_text(NeededEpsilon(np.inf, np.inf, np.inf), 0.7489)
    'No ε up to 10 reaches it. The highest accuracy is 74.8%.'
    >>> needed_text(None, 0.7)
    'Loading…'
    """
    if interval is None:
        return "Loading…"
    if not np.isfinite(interval.epsilon):
        # rounded down, so that the accuracy is reached
        return f"No ε up to 10 reaches it. The highest accuracy is {np.floor(1000 * most) / 10:.1f}%."
    high = f"{interval.high:g}" if np.isfinite(interval.high) else "more than 10"
    return f"<b>ε = {interval.epsilon:g}</b> ({interval.low:g} to {high})"


def cost_by_group(values: ExploreValues, facts: GroupFacts, runs: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Return the privacy cost and recall of each class and group, with intervals."""
    names, paid = costs(facts, runs, best)
    # zero has no sign
    points = np.round([paid.mean(axis=0), *np.quantile(paid, [0.05, 0.95], axis=0)], 1) + 0.0
    each = [
        f"{escape(name)} " + minus(f"<b>{mean:.1f}</b> ({low:.1f} to {high:.1f})")
        for name, mean, low, high in zip(names, *points, strict=True)
    ]
    private, plain = np.asarray(runs["recall"]).mean(axis=0), np.asarray(best["recall"])
    classes = [
        f"{escape(str(name))} {percent(p)} (non-private {percent(w)})"
        for name, p, w in zip(facts.classes, private, plain, strict=True)
    ]
    return (
        f"Privacy cost at ε = {values.epsilon:g} in percentage points of accuracy (mean and 90% of runs): "
        f"{', '.join(each)}. Recall: {', '.join(classes)}."
    )


def roc_readout(curves: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the AUC of the exact curve and of the private curves."""
    low, high = np.quantile(curves["auc"], [0.05, 0.95])
    return (
        f"AUC: exact <b>{curves['exact_auc'][0]:.3f}</b>, private on average "
        f"<b>{curves['auc'].mean():.3f}</b> (90% of samples: {low:.3f} to {high:.3f})."
    )
