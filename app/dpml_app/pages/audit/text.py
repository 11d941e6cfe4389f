"""Texts and numbers of the page Audit."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.audit.cases import AuditedClaim, Case
from dpml.audit.cases.typed import FEATURES
from dpml_app.pages.audit.compute import CHECKED_AT, LADDER, AuditValues, Claim, ceiling
from dpml_app.text.phrases import certainty, factor, minus, percent

RELATION_SHORT = {"add-remove": "add or remove one", "replace-one": "replace one"}
CAPTIONS = {
    "bound": (
        f"Lower bounds on the actual ε. All {len(LADDER)} hold together at the chosen confidence, so you may stop at "
        "any time, but not try seeds until one refutes the claim. A bound below the claim proves nothing. Dotted: the "
        "highest possible bound."
    ),
    "output": (
        "Share of each output. A green line is the claim's maximum for the larger bar of a pair: e^ε times the other. "
        "An excess is above that maximum by more than the confidence intervals (thin lines)."
    ),
    "neighbours": "",
    "claims": (
        "Every claim in the library on the worst known neighbours, at its own ε. On the line, the actual ε equals the "
        "claim. Crosses above it violate their claim. Triangles are lower bounds from samples. The ring marks the "
        "chosen claim."
    ),
}


def number(value: float) -> str:
    """Return an ε to three digits, infinity as a sign.

    >>> number(1.0), number(1.4899), number(math.inf)
    ('1', '1.49', '∞')
    """
    return "∞" if math.isinf(value) else f"{value:.3g}"


def meaning(epsilon: float, *, at_least: bool = False) -> str:
    """Return the effect of an ε on an observer of the output; `at_least`: the ε is a lower bound."""
    if epsilon > 14:
        power = int(epsilon / math.log(10))
        return f"raise the odds of D against D′ by a factor of more than 10<sup>{power}</sup> (practical certainty)"
    sure, times = certainty(epsilon, at_least=at_least), factor(epsilon, at_least=at_least)
    return f"raise the odds of D against D′ by a factor of {times} (from 50% to {sure} certainty)"


def verdict(
    entry: AuditedClaim, values: AuditValues, exact: Mapping[str, Any], step: Mapping[str, Any] | None
) -> tuple[str, str]:
    """Return ("stands" or "broken" or "open", HTML): the claim, the evidence, and the catalogue."""
    claim, confidence = values.audit_epsilon, values.audit_confidence
    sentence = (
        f"<b>{escape(entry.title)}</b> claims ε = {claim:g}" + (f" at δ = {entry.delta:g}" if entry.delta else "") + "."
    )
    lower = step["lower"] if step else 0.0
    shown = f"{step['draws']:,} samples per side" if step else "No samples yet"
    known = exact.get("epsilon")
    sampled = f"{shown} show, with {100 * confidence:g}% confidence, that the actual ε is at least {number(lower)}."
    if known is not None and math.isinf(known):
        state, head = "broken", "Claim violated: not private at any ε."
        text = (
            "An output that is possible with one of the two tables is impossible with the other. It reveals which "
            "table was used, at any claimed ε."
        )
        text += f" {sampled} No number of samples can show infinity." if step else ""
    elif known is not None and not exact["passed"]:
        state, head = "broken", f"Claim violated: the actual ε on these neighbours is {number(known)}."
        text = f"An observer can {meaning(known)}, not {factor(claim)} as claimed. " + (sampled if step else "")
    elif lower > claim:
        state = "broken"
        head = f"Claim violated: the actual ε is at least {number(lower)} ({100 * confidence:g}% confidence)."
        can = meaning(lower, at_least=True)
        text = f"An observer can {can}, not {factor(claim)} as claimed. This took {shown}."
    elif known is not None:
        state = "stands"
        head = f"Claim holds on these neighbours: the actual ε is {number(known)}."
        text = "One pair of neighbours can refute a claim, not prove it, because a proof covers all pairs."
        text += f" {sampled} An output that decides the actual ε may be too rare to be sampled." if step else ""
    else:
        state, head = "open", "Not refuted by these samples."
        only = (
            "The formula is being computed."
            if exact.get("pending")
            else "No formula is known, so only samples can show the actual ε."
        )
        text = f"{sampled if step else ''} {only} One pair of neighbours can refute a claim, not prove it."
        most = ceiling(step["draws"], confidence, entry.delta) if step else 0.0
        if step and most < claim:
            text += f" This number of samples can show at most {number(most)}."
    why = f"<p>{text}</p>{_catalogue_text(entry, values, state)}"
    return state, f"<p>{sentence}</p><h2>{head}</h2><details><summary>Why?</summary>{why}</details>"


def _catalogue_text(entry: AuditedClaim, values: AuditValues, state: str) -> str:
    private = "private" if entry.private else "<b>not private</b>"
    true = entry.true_epsilon(values.audit_epsilon)
    if entry.private and math.isfinite(true) and true > values.audit_epsilon:
        private = f"private at ε = {number(true)} only"
    text = f"Catalogue: {private}. Claimed: {escape(entry.claim)}. Actual ε: {escape(entry.cost)}. "
    text += f"Source: {escape(entry.citation)}."
    if state != "broken" and not entry.holds(CHECKED_AT):
        text += " These neighbours do not show the violation" + (
            ", the worst known ones do."
            if values.audit_neighbours == "table"
            else " yet. Increase the number of samples."
        )
    return f'<p class="catalogue">{text}</p>'


def data_text(data: Any) -> str:
    """Return a small data set as numbers, a large one by its size.

    >>> data_text(np.array([0.0, 1.5])), data_text((np.zeros((9, 4)), np.zeros(9)))
    ('(0, 1.5)', '9 records')
    """
    if isinstance(data, tuple) and data and np.ndim(data[0]) >= 1:
        return f"{len(data[0])} records"
    array = np.asarray(data, dtype=float)
    if array.ndim == 0:
        return minus(f"{array:g}")
    if array.size > 12 or array.ndim > 1:
        return f"{len(array)} {'numbers' if array.ndim == 1 else 'records'}"
    return minus("(" + ", ".join(f"{v:.4g}" for v in array) + ")")


def neighbours_readout(entry: AuditedClaim, values: AuditValues, case: Case) -> str:
    """Return the two data sets in words."""
    if values.audit_neighbours == "table":
        seen = f"The attacker sees: {escape(case.seen)}."
        return f"<p>D is the table, D′ its neighbour. Click a cell to change it. {seen}</p>"
    text = f"<p>Worst known neighbours of this method: <b>{escape(case.words)}</b>.</p>"
    first, second = data_text(case.data), data_text(case.neighbour)
    text += f"<p>D: {first}<br>D′: {second}</p>"
    return text


# ---- outputs -------------------------------------------------------------------------------------------------------


def _set_label(code: int) -> str:
    return " ".join(f for i, f in enumerate(FEATURES) if code >> i & 1) or "none"


def _score_axis(attacker: str) -> str:
    words = attacker.split()
    if "coordinate" not in words:
        return "attacker's score of the output"
    number = f"number {int(words[-1]) + 1} of the output"
    return number if words[0] == "coordinate" else f"distance of {number} from the middle"


def picture_labels(
    entry: AuditedClaim, step: dict[str, Any], exact: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str], str, list[tuple[float, float]] | None]:
    """Return a step with all outputs that are known, their labels, the label of the axis, and exact probabilities."""
    picture = step["picture"]
    if picture["kind"] == "histogram":
        axis = _score_axis(step["event"]["attacker"])
        return step, [f"{a:.3g} to {b:.3g}" for a, b in zip(picture["left"], picture["right"], strict=True)], axis, None
    codes = [tuple(map(float, row)) for row in picture["outputs"]]
    if picture["kind"] == "score":
        return step, [f"{c[0]:.3g}" for c in codes], _score_axis(step["event"]["attacker"]), None
    known = None
    possible = exact.get("outputs")
    if possible and set(codes) <= set(possible):
        picture = _filled(picture, codes, sorted(possible))
        codes = sorted(possible)
        known = [possible[c] for c in codes]
        step = {**step, "picture": picture}
    if entry.family == "selection" and len(codes[0]) == 1:
        return step, [_set_label(int(c[0])) for c in codes], "chosen features", known
    if len(codes[0]) == 1:
        return step, [f"{c[0]:g}" for c in codes], "output", known
    return step, [" ".join(f"{v:g}" for v in c) for c in codes], "output", known


def _filled(picture: dict[str, Any], codes: list, wanted: list) -> dict[str, Any]:
    place = np.arange(len(wanted), dtype=float)
    result = {"kind": "output", "outputs": np.array(wanted), "left": place - 0.5, "right": place + 0.5}
    at = [wanted.index(c) for c in codes]
    for name in ("first", "second", "event"):
        column: NDArray = np.zeros(len(wanted), dtype=picture[name].dtype)
        column[at] = picture[name]
        result[name] = column
    return result


def output_readout(step: Mapping[str, Any], labels: list[str], axis: str) -> str:
    """Return the event in words, with how often it happened."""
    event, picture = step["event"], step["picture"]
    axis = axis if axis.startswith("number") else f"the {axis}"
    if picture["kind"] == "histogram":
        what = f"{axis} is {'at least' if event['above'] else 'below'} {event['threshold']:.3g}"
    else:
        chosen = [label for label, inside in zip(labels, picture["event"], strict=True) if inside]
        what = (
            f"the output is {' or '.join(chosen)}" if len(chosen) <= 4 else f"the output is one of {len(chosen)} marked"
        )
        if picture["kind"] == "score":
            what = f"{axis} is {'at least' if event['above'] else 'below'} {event['threshold']:.3g}"
    bet, other = ("D", "D′") if event["for_first"] else ("D′", "D")
    hits, misses = step["rates"]
    if hits == misses:
        return "In these samples the attacker has found no event that is more likely on one side."
    return (
        f"The attacker guesses <b>{bet}</b> when {escape(what)}: in <b>{percent(hits, 2)}</b> of the samples from "
        f"{bet} and <b>{percent(misses, 2)}</b> of those from {other}."
    )


def bound_readout(steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
    """Return the latest bound beside claim and exact value."""
    last = steps[-1]
    text = f"Actual ε after {last['draws']:,} samples: at least <b>{number(last['lower'])}</b>, "
    if exact.get("pending"):
        text += "formula being computed"
    else:
        text += f"exactly <b>{number(exact['epsilon'])}</b>" if exact["known"] else "no formula known"
    return f"{text}. Claim: {values.audit_epsilon:g}."


# ---- all claims -----------------------------------------------------------------------------------------------------


def claims_readout(claims: Sequence[Claim]) -> str:
    """Return the numbers of claims that hold and that are violated."""
    broken, methods = sum(claim.broken for claim in claims), len({claim.method for claim in claims})
    drawn = sum(claim.drawn for claim in claims)
    return (
        f"{len(claims)} claims of {methods} methods: <b>{len(claims) - broken}</b> hold, <b>{broken}</b> are violated. "
        f"{len(claims) - drawn} are checked by formula, {drawn} by sampling."
    )
