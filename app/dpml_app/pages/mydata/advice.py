"""Advice for a session's table: computed by workers at three ε, and said in words."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from dpml.methods import method
from dpml.studies import Advice, advise, sensible
from dpml_app.data.measures import dataset
from dpml_app.text.phrases import factor, percent, right_of_hundred

EPSILONS = (0.1, 0.5, 2.0)
SEED = 0


def at(name: str, relation: str, epsilon: float) -> Advice:
    """Return the advice at one ε."""
    return advise(dataset(name), epsilon, relation=relation, rng=np.random.default_rng(SEED))


def advice_html(advice: Mapping[float, Advice]) -> str:
    """Return what is known so far, as HTML: a row for each ε, and the next sensible step."""
    rows = "".join(_row(epsilon, advice.get(epsilon)) for epsilon in EPSILONS)
    head = "".join(f"<th scope='col'>{title}</th>" for title in ("ε", "Best method", "Accuracy", "A person's risk"))
    table = f"<table><tr>{head}</tr>{rows}</table>"
    if len(advice) < len(EPSILONS):
        return f"{table}<p>Computing…</p>"
    whole = list(advice.values())
    test = percent(max(one.test_error for one in whole))
    about = (
        "<details><summary>How sure is that?</summary><p>Right: the mean of 10 runs that did not choose the method; in "
        f"brackets, where 90 % of 20 runs lie. A guess is right for {percent(whole[0].guess)}. The test part is small: "
        f"the standard error of each number is up to {test}. “Or n more”: other methods that are not clearly worse. It "
        "looks at your records, with noise for study: it is for you, not for publication. To publish the choice, pay "
        "for it.</p></details>"
    )
    return f"{table}<p>{_step(whole)}</p>{about}"


def _row(epsilon: float, one: Advice | None) -> str:
    if one is None:
        return f"<tr><th scope='row'>{epsilon:g}</th><td>…</td><td></td><td></td></tr>"
    others = f" (or {one.equal - 1} more)" if one.equal > 1 else ""
    name = f"{escape(method(one.method).phrase)}{others}" if one.enough else "<b>too few records</b>"
    right = f"<b>{percent(one.mean)}</b> ({percent(one.low)} to {percent(one.high)})"
    risk = f"odds × {factor(epsilon)}; an attacker is right {right_of_hundred(epsilon)} times in 100"
    return f"<tr><th scope='row'>{epsilon:g}</th><td>{name}</td><td>{right}</td><td>{risk}</td></tr>"


def _step(steps: list[Advice]) -> str:
    best = sensible(steps)
    if best is None:
        return (
            "<b>Too few records</b> at each of these ε: one run in twenty is no better than a guess. Leave out "
            "columns, merge categories, or collect more."
        )
    most = max(one.mean for one in steps)
    return (
        f"Next: try <b>ε = {best.epsilon:g}</b> with {escape(method(best.method).phrase)}: it is right for "
        f"{percent(best.mean)}, and no ε here gives more than {percent(most)}."
    )
