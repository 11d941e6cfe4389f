"""Texts and numbers of the page Audit."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dpml.audit import largest_bound
from dpml.audit.cases import AuditedClaim
from dpml_app.pages.audit.compute import CHECKED_AT, CONFIDENCE, AuditValues, Claim
from dpml_app.text.phrases import certainty, factor, percent

# names of the features or queries that an output is about
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
CAPTIONS = {
    "output": (
        "Share of each output. A green line is the claim's maximum for the larger bar of a pair: e^ε times the other. "
        "An excess is above that maximum by more than the confidence intervals (thin lines). They hold for one "
        "seed and number of samples."
    ),
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
    entry: AuditedClaim, values: AuditValues, exact: Mapping[str, Any], sample: Mapping[str, Any] | None
) -> tuple[str, str]:
    """Return ("stands" or "broken" or "open", HTML): the claim, the evidence, and the catalogue."""
    claim = values.audit_epsilon
    sentence = (
        f"<b>{escape(entry.title)}</b> claims ε = {claim:g}" + (f" at δ = {entry.delta:g}" if entry.delta else "") + "."
    )
    lower = sample["lower"] if sample else 0.0
    shown = f"{sample['draws']:,} samples per side" if sample else "No samples yet"
    known = exact.get("epsilon")
    sampled = f"{shown} show, with {CONFIDENCE:.0%} confidence, that the actual ε is at least {number(lower)}."
    if known is not None and math.isinf(known):
        state, head = "broken", "Claim violated: not private at any ε."
        text = (
            "An output that is possible with one of the two tables is impossible with the other. It reveals which "
            "table was used, at any claimed ε."
        )
        text += f" {sampled} No number of samples can show infinity." if sample else ""
    elif known is not None and not exact["passed"]:
        state, head = "broken", f"Claim violated: the actual ε on these neighbours is {number(known)}."
        text = f"An observer can {meaning(known)}, not {factor(claim)} as claimed. " + (sampled if sample else "")
    elif known is not None:
        state = "stands"
        head = f"Claim holds on these neighbours: the actual ε is {number(known)}."
        text = "One pair of neighbours can refute a claim, not prove it, because a proof covers all pairs."
        text += f" {sampled} An output that decides the actual ε may be too rare to be sampled." if sample else ""
    elif lower > claim:
        state = "broken"
        head = f"Claim violated: the actual ε is at least {number(lower)} ({CONFIDENCE:.0%} confidence)."
        can = meaning(lower, at_least=True)
        text = f"An observer can {can}, not {factor(claim)} as claimed. This took {shown}."
    else:
        state, head = "open", "Not refuted by these samples."
        only = (
            "The formula is being computed."
            if exact.get("pending")
            else "No formula is known, so only samples can show the actual ε."
        )
        text = f"{sampled if sample else ''} {only} One pair of neighbours can refute a claim, not prove it."
        most = largest_bound(sample["draws"], CONFIDENCE, entry.delta) if sample else 0.0
        if sample and most < claim:
            text += f" This number of samples can show at most {number(most)}."
    if "words" in exact:
        text += f" Worst known neighbours: {escape(exact['words'])}."
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
        text += " These neighbours do not show the violation yet. Increase the number of samples."
    return f'<p class="catalogue">{text}</p>'


# ---- outputs -------------------------------------------------------------------------------------------------------


def output_name(family: str, output: Sequence[float]) -> str:
    """Return an output in words: chosen features, answers that are yes, or its numbers.

    >>> output_name("selection", (5.0,)), output_name("mechanism", (0.0, 1.0, -1.0)), output_name("mechanism", (2.0,))
    ('first and third', 'second', '2')
    """
    on = [v == 1 for v in output]
    if family == "selection" and len(output) == 1:
        on = [int(output[0]) >> i & 1 == 1 for i in range(len(PLACES))]
    elif len(output) == 1 or not set(output) <= {-1, 0, 1}:
        return " ".join(f"{v:g}" for v in output)
    return " and ".join(name for name, yes in zip(PLACES, on, strict=False) if yes) or "none"


def picture_labels(family: str, sample: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return the labels of the outputs of samples, and of their axis."""
    picture, axis = sample["picture"], "attacker's score of the output"
    if picture["kind"] == "histogram":
        return [f"{a:.3g} to {b:.3g}" for a, b in zip(picture["left"], picture["right"], strict=True)], axis
    outputs = [tuple(map(float, row)) for row in picture["outputs"]]
    if picture["kind"] == "score":
        return [f"{output[0]:.3g}" for output in outputs], axis
    return [output_name(family, output) for output in outputs], "output"


def output_readout(sample: Mapping[str, Any], labels: list[str], axis: str) -> str:
    """Return the event in words, with how often it happened."""
    event, picture = sample["event"], sample["picture"]
    if picture["kind"] == "output":
        chosen = [label for label, inside in zip(labels, picture["event"], strict=True) if inside]
        what = f"the output is {' or '.join(chosen) if len(chosen) <= 4 else f'one of {len(chosen)} outputs'}"
    else:
        what = f"the {axis} is {'at least' if event['above'] else 'below'} {event['threshold']:.3g}"
    bet, other = ("D", "D′") if event["for_first"] else ("D′", "D")
    hits, misses = sample["rates"]
    if hits == misses:
        return "In these samples the attacker has found no event that is more likely on one side."
    return (
        f"The attacker guesses <b>{bet}</b> when {escape(what)}: in <b>{percent(hits, 2)}</b> of the samples from "
        f"{bet} and <b>{percent(misses, 2)}</b> of those from {other}."
    )


# ---- all claims -----------------------------------------------------------------------------------------------------


def claims_readout(claims: Sequence[Claim]) -> str:
    """Return the numbers of claims that hold and that are violated."""
    broken, methods = sum(claim.broken for claim in claims), len({claim.method for claim in claims})
    drawn = sum(claim.drawn for claim in claims)
    return (
        f"{len(claims)} claims of {methods} methods: <b>{len(claims) - broken}</b> hold, <b>{broken}</b> are violated. "
        f"{len(claims) - drawn} are checked by formula, {drawn} by sampling."
    )
