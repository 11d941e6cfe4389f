"""Advice for a session's table at three ε: first an estimate, then what workers measure run by run; and its words."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from dpml.registry import method
from dpml.studies import Advice, Signal, advice_of, advised, estimated_advice, sensible, signal_of
from dpml.studies.comparison import study_measures
from dpml_app.data.measures import dataset
from dpml_app.drawing.styles import phrase_of
from dpml_app.jobs import Task, kept
from dpml_app.text.phrases import factor, percent, right_of_hundred

EPSILONS = (0.1, 0.5, 2.0)
SEED = 0
# the runs of each method at each ε come in so many tasks of so many runs: a cancelled measurement ends with its task
PARTS, DRAWS = 5, 4
# two runs share the default classifier's grid, whose choice takes longer than all else
GRIDS = 2


def estimate(name: str, relation: str) -> dict[float, Advice]:
    """Return a first advice at each ε, in two seconds."""
    first = estimated_advice(dataset(name), EPSILONS, relation=relation, rng=np.random.default_rng(SEED))
    return dict(zip(EPSILONS, first, strict=True))


def signal(name: str) -> Signal:
    """Return what a fit without privacy reaches."""
    return signal_of(dataset(name))


@kept(8)
def _study(name: str, key: str, relation: str) -> Any:
    return method(key).study_of(dataset(name), relation=relation)


def runs(name: str, key: str, relation: str, epsilon: float, part: int) -> np.ndarray:
    """Return the accuracies and AUCs of some runs of a method, shape (2, draws)."""
    rng = np.random.default_rng([SEED, part])
    return study_measures(_study(name, key, relation), epsilon, DRAWS, rng, GRIDS)


def tasks(name: str, relation: str, epsilon: float) -> dict[str, list[Task]]:
    """Return what is measured at one ε, by method."""
    return {key: [Task(runs, (name, key, relation, epsilon, part)) for part in range(PARTS)] for key in advised()}


def measured(name: str, epsilon: float, parts: Mapping[str, list[np.ndarray]], fit: Signal) -> Advice:
    """Return the advice of all runs at one ε."""
    every = {key: np.concatenate(each, axis=-1) for key, each in parts.items()}
    return advice_of(dataset(name), epsilon, every, fit, rng=np.random.default_rng(SEED))


# ---- in words ------------------------------------------------------------------------------------------------------


def advice_html(advice: Mapping[float, Advice]) -> str:
    """Return what is known so far, as HTML: the next sensible step, and a row for each ε."""
    whole = [advice[epsilon] for epsilon in EPSILONS if epsilon in advice]
    if len(whole) < len(EPSILONS):
        return "<p>Estimating…</p>"
    rows = "".join(_row(one) for one in whole)
    head = "".join(f"<th scope='col'>{title}</th>" for title in ("ε", "Best method", "Accuracy", "Privacy risk"))
    first = any(one.estimated for one in whole)
    part = "<p>≈ marks a first estimate from part of the records.</p>" if first else ""
    test = percent(max(one.test_error for one in whole))
    about = (
        "<details><summary>How certain is this?</summary><p>Accuracy is the mean of runs that were not used to choose "
        "the method. The brackets contain 90% of the runs. An AUC (area under the ROC curve) of 0.5 is chance. The "
        f"finite test set adds a standard error of up to {test}. “Or n more” counts methods not clearly worse. "
        "This simulation uses your exact records. Do not publish it.</p></details>"
    )
    return f"<p>{_step(whole)}</p><table><tr>{head}</tr>{rows}</table>{part}{about}"


VERDICTS = {
    "enough": "",
    "no signal": "no signal",
    "guess": "no better than the majority-class baseline",
    "too few records": "too few records",
}


def _row(one: Advice) -> str:
    others = f" (or {one.equal - 1} more)" if one.equal > 1 else ""
    about = "≈ " if one.estimated else ""
    right = f"{about}<b>{percent(one.mean)}</b> ({percent(one.low)} to {percent(one.high)})"
    if one.auc == one.auc:
        right += f", AUC {one.auc:.2f}"
    verdict = f"<br><b>{VERDICTS[one.verdict]}</b>" if VERDICTS[one.verdict] else ""
    risk = f"odds × {factor(one.epsilon)}, attack accuracy up to {right_of_hundred(one.epsilon)}%"
    name = f"{escape(phrase_of(one.method))}{others}"
    return f"<tr><th scope='row'>{one.epsilon:g}</th><td>{name}</td><td>{right}{verdict}</td><td>{risk}</td></tr>"


def _step(steps: list[Advice]) -> str:
    fit, best = steps[-1].signal, sensible(steps)
    if best is not None:
        most = max(one.mean for one in steps)
        without = f" Non-private baseline: {percent(fit.accuracy)}." if fit else ""
        return (
            f"Start with <b>ε = {best.epsilon:g}</b> and {escape(phrase_of(best.method))}: accuracy "
            f"{percent(best.mean)}. The highest accuracy at any ε in this table is {percent(most)}.{without}"
        )
    levels = f" has {percent(fit.accuracy)} accuracy, the majority-class baseline {percent(fit.guess)}" if fit else ""
    verdict = steps[-1].verdict
    if verdict == "no signal":
        return (
            f"<b>No signal</b>: a non-private fit{levels}. The columns do not predict the label, and more records "
            "would not help. Check the choice of the label column, or add columns."
        )
    if verdict == "guess":
        return (
            f"<b>No better than the majority-class baseline</b>: a non-private fit{levels}. The columns change the "
            "probability of each label, but not the most probable label. Judge a model by its AUC."
        )
    return (
        "<b>Too few records</b> at each of these ε: one run in twenty does not beat the majority-class baseline. A "
        f"non-private fit{levels}, so the columns do predict the label. Collect more records, leave out columns, or "
        "merge categories."
    )
