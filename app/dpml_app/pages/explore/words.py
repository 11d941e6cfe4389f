"""Plain words beside the numbers of the Explore page. They claim what was computed and nothing more."""

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.studies import NeededEpsilon
from dpml_app.core.card import Number
from dpml_app.data.facts import GroupFacts
from dpml_app.pages.explore.settings import ExploreValues
from dpml_app.text.phrases import minus, percent, read_captions

SHORT_NAMES = {
    "row-bounded": "row-bounded",
    "published": "Algorithm 1 of Antonova (2016), all features",
    "count": "by counts",
    "mutual_information": "by mutual information",
    "logistic": "logistic regression",
}
CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"))


def costs(facts: GroupFacts, runs: Mapping[str, Any], best: Mapping[str, Any]) -> tuple[list[str], NDArray[np.float64]]:
    """Return what privacy costs all, each class and each group, in points: names, and draws of shape (draws, rows)."""
    names = ["all", *map(str, facts.classes), *map(group_name, facts.groups)]
    private = np.column_stack([runs["accuracy"], runs["recall"], runs["groups"]])
    plain = np.concatenate([[best["accuracy"]], best["recall"], best["groups"]])
    return names, 100 * (plain - private)


def group_name(column: str) -> str:
    """Return what a column of the encoding says of a person.

    >>> group_name("sex=female"), group_name("25<=age<35"), group_name("age>=75")
    ('sex: female', '25 ≤ age < 35', 'age ≥ 75')
    """
    if not set("<>") & set(column):
        return column.replace("=", ": ", 1)
    return " ".join(re.sub("(<=|>=|<|>)", r" \1 ", column).replace("<=", "≤").replace(">=", "≥").split())


def parts(mean: float, exact: float, best: float) -> tuple[float, float]:
    """Return the parts of a gap in points, noise and simpler method: neither below 0 or above the gap.

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
    """Return, as HTML, what privacy costs at the ε that is chosen, why, and who loses most."""
    title = f"<h2>Cost at ε = {values.epsilon:g}</h2>"
    if runs is None or exact is None or best is None:
        return f"{title}<p>Computing…</p>"
    draws, plain = runs["accuracy"], float(best["accuracy"])
    mean = float(draws.mean())
    low, high = np.quantile(draws, [0.05, 0.95])
    cost = 100 * (plain - mean)
    shown = f"<b>{cost:.1f}</b> points of accuracy" if cost >= 0.05 else "<b>0</b> points of accuracy"
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
        + f"<p><b>{percent(mean)}</b> right, the best {percent(plain)}. 90 % of runs: {100 * low:.1f}–{percent(high)}."
        f"{who if most and means[most] >= 0.05 else ''}</p>"
    )


def by_hand(mean: float | None, default: float | None, best: float | None) -> str:
    r"""Return, as HTML, how good the model by hand is beside the default, and the best of those that were tried.

    >>> by_hand(0.813, 0.834, None)
    '<b>81.3\xa0%</b>: 2.1 points below the default.'
    >>> by_hand(0.813, 0.834, 0.834)
    '<b>81.3\xa0%</b>: 2.1 points below the default; best by hand so far 83.4\xa0%.'
    """
    if mean is None or default is None:
        return "Computing…"
    points = 100 * (mean - default)
    beside = (
        "as good as the default"
        if abs(points) < 0.05
        else (f"{abs(points):.1f} points {'above' if points > 0 else 'below'} the default")
    )
    return f"<b>{percent(mean)}</b>: {beside}" + (f"; best by hand so far {percent(best)}." if best else ".")


def runs_by_hand(hand: NDArray[np.float64]) -> str:
    """Return how good the model by hand is, with 90 % of its runs."""
    low, high = (percent(float(q)) for q in np.quantile(hand, [0.05, 0.95]))
    return f"By hand <b>{percent(float(hand.mean()))}</b> are right ({low} to {high})."


def numbers(draws: NDArray[np.float64], best: float, hand: NDArray[np.float64]) -> tuple[Number, ...]:
    """Return the numbers of the headline, to be compared."""
    low, high = (float(q) for q in np.quantile(draws, [0.05, 0.95]))
    cost = f"{100 * (best - high):.1f} to {100 * (best - low):.1f}"
    shown = [
        Number(
            what, percent(float(each.mean())), " to ".join(percent(float(q)) for q in np.quantile(each, [0.05, 0.95]))
        )
        for what, each in (("right, default", draws), ("right, by hand", hand))
    ]
    return (
        *shown,
        Number("right, best without privacy", percent(best)),
        Number("cost in points", f"{100 * (best - float(draws.mean())):.1f}", cost),
    )


def needed(interval: NeededEpsilon | None, most: float) -> str:
    r"""Return which ε an accuracy needs, or that none reaches it, and the most that one does.

    >>> needed(NeededEpsilon(0.5, 0.4, np.inf), 0.9)
    '<b>ε = 0.5</b> (0.4 to more than 10)'
    >>> needed(NeededEpsilon(np.inf, np.inf, np.inf), 0.7489)
    'No ε up to 10 reaches it; the most is 74.8\xa0%.'
    >>> needed(None, 0.7)
    'Loading…'
    """
    if interval is None:
        return "Loading…"
    if not np.isfinite(interval.epsilon):
        # rounded down: what is said to be reached is
        return f"No ε up to 10 reaches it; the most is {np.floor(1000 * most) / 10:.1f}\N{NO-BREAK SPACE}%."
    high = f"{interval.high:g}" if np.isfinite(interval.high) else "more than 10"
    return f"<b>ε = {interval.epsilon:g}</b> ({interval.low:g} to {high})"


def goal(wanted: float, interval: NeededEpsilon | None) -> str:
    """Return what stands at the line of the goal.

    >>> goal(85.0, NeededEpsilon(0.488, 0.44, 0.538)), goal(85.5, None)
    ('goal 85 %: ε = 0.49', 'goal 85.5 %: loading')
    """
    if interval is None:
        needs = "loading"
    else:
        needs = f"ε = {interval.epsilon:.2g}" if np.isfinite(interval.epsilon) else "no ε up to 10"
    return f"goal {wanted:g} %: {needs}"


def who_pays(values: ExploreValues, facts: GroupFacts, runs: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Return what each class and each group loses, with its interval."""
    names, paid = costs(facts, runs, best)
    low, high = np.quantile(paid, [0.05, 0.95], axis=0)
    each = [
        f"{escape(name)} <b>{_one(mean)}</b> ({_one(least)} to {_one(most)})"
        for name, mean, least, most in zip(names, paid.mean(axis=0), low, high, strict=True)
    ]
    private, plain = np.asarray(runs["recall"]).mean(axis=0), np.asarray(best["recall"])
    classes = [
        f"{escape(str(name))} {percent(p)} (best without privacy: {percent(w)})"
        for name, p, w in zip(facts.classes, private, plain, strict=True)
    ]
    return (
        f"Privacy costs these points of accuracy at ε = {values.epsilon:g} (mean and 90 % of runs): "
        f"{', '.join(each)}. Share of each class that is found: {', '.join(classes)}."
    )


def who_pays_most(values: ExploreValues, facts: GroupFacts, runs: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Return who loses most and least, beside all."""
    names, paid = costs(facts, runs, best)
    means, (low, high) = paid.mean(axis=0), np.quantile(paid, [0.05, 0.95], axis=0)

    def cost_of(row: int) -> str:
        return f"{escape(names[row])} <b>{_one(means[row])}</b> ({_one(low[row])} to {_one(high[row])})"

    order = 1 + np.argsort(means[1:], kind="stable")
    return (
        f"Points lost at ε = {values.epsilon:g}: {cost_of(0)}. Most: {cost_of(order[-1])}. Least: {cost_of(order[0])}."
    )


def _one(points: float) -> str:
    """Return points with one digit, and no sign before a zero."""
    return minus(f"{round(points, 1) + 0.0:.1f}")


def _listed(accuracies: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the mean of each method, best first."""
    means = sorted(((float(draws.mean()), method) for method, draws in accuracies.items()), reverse=True)
    return ", ".join(f"{SHORT_NAMES[method]} <b>{percent(mean)}</b>" for mean, method in means)


def accuracy_readout(epsilon: float, accuracies: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the mean of each method at the ε that is chosen, best first."""
    return f"At ε = {epsilon:g}, mean over draws: {_listed(accuracies)}."


def map_readout(values: ExploreValues, best: Mapping[str, Any], now: NDArray[np.float64]) -> str:
    """Return the best feature count at the ε that is chosen, or at the one of the map that is nearest to it."""
    at = int(np.argmin(np.abs(np.log(np.asarray(best["epsilon"]) / values.epsilon))))
    where = f"ε = {best['epsilon'][at]:g}"
    least, most = best["least"][at], best["most"][at]
    as_good = f", and as good are some from {least} to {most}" if least < most else ""
    return (
        f"At {where} the best of the counts tried is <b>T = {best['n_features'][at]}</b> with "
        f"{percent(best['accuracy'][at])} (± {100 * best['error'][at]:.1f}, one standard error){as_good}. Your "
        f"T = {values.n_features} has {percent(float(now.mean()))} at ε = {values.epsilon:g}."
    )


def roc_readout(curves: Mapping[str, NDArray[np.float64]]) -> str:
    """Return both areas under the curve, the private one with its spread."""
    low, high = np.quantile(curves["auc"], [0.05, 0.95])
    return (
        f"Area under the curve: exact <b>{curves['exact_auc'][0]:.3f}</b>; private, mean over draws "
        f"<b>{curves['auc'].mean():.3f}</b> (90 % of draws: {low:.3f} to {high:.3f})."
    )
