"""Card: the gain and the cost of private tuning."""

import numpy as np

from dpml_app.core.card import WORKER, ResultKey, Results
from dpml_app.drawing.styles import SEARCHES, Style, style_of
from dpml_app.pages.train.card import BandCard, share_over_epsilon
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.tuning_compute import MOST_TUNING_DRAWS, candidates, costs_of, tuning_measure
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.text.phrases import interval, minus, percent
from dpml_app.work.pool import Task

RULE = "public rule"
SCHEMES = {RULE: style_of("rule"), **SEARCHES}
# every third of those of the other curves: a point takes seconds
TUNING_EPSILONS = SWEEP_EPSILONS[2::3]


class TuningCard(BandCard):
    """Schemes that spend the same ε in all, over ε."""

    name, title = "tuning", "Gain and cost of tuning"
    families = ("linear",)
    controls = ("train_tune",)
    wide = True

    def __init__(self):
        super().__init__(
            share_over_epsilon("train-tuning", SCHEMES, {"majority": ("Majority-class baseline", "dotted")}, 1)
        )

    def shown(self, values: TrainValues) -> tuple[str, ...]:
        """Return the schemes that there are for what is tuned."""
        return tuple(name for name in SCHEMES if name != "stability" or values.train_tune == "reg_lambda")

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return {name: SCHEMES[name] for name in self.shown(values)}

    def at(self, values: TrainValues, facts: TrainFacts) -> float:
        return values.epsilon

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        tried = candidates(facts.name, values.train_tune)
        if len(tried) < 2:
            return "each record of this data set has at most one 1, so there is no contribution bound to tune."
        return ""

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(scheme: str, epsilon: float) -> Task:
            common = values.dataset, values.train_tune, values.relation, epsilon, scheme
            return Task(tuning_measure, (*common, min(values.draws, MOST_TUNING_DRAWS), values.seed))

        shown = self.shown(values)
        tasks: dict[ResultKey, Task] = {(scheme, WORKER): task(scheme, values.epsilon) for scheme in shown}
        return tasks | {(scheme, epsilon): task(scheme, epsilon) for epsilon in TUNING_EPSILONS for scheme in shown}

    def waits(self, result_key: ResultKey) -> bool:
        return True

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        shown = self.shown(values)
        draws = {s: results[s, WORKER]["accuracy"] for s in shown if (s, WORKER) in results}
        if len(draws) < len(shown):
            return "Computing…"
        tried, epsilon = candidates(facts.name, values.train_tune), values.epsilon
        rule = draws.pop(RULE)
        ranked = sorted(draws, key=lambda s: -draws[s].mean())
        others = ", ".join(f"{SCHEMES[s].label} <b>{difference(draws[s], rule)}</b>" for s in ranked)
        return (
            f"At ε = {epsilon:g} the public rule reaches <b>{percent(rule.mean())}</b> (90% of {len(rule)} runs: "
            f"{interval(rule)}). Gain of the others, with {len(tried)} values tried, in percentage points ± one "
            f"standard error: {others}. {costs_in_words(epsilon, len(tried), shown)}"
        )


def difference(draws: np.ndarray, others: np.ndarray) -> str:
    """Return the difference of two means in percentage points, with its standard error.

    >>> difference(np.array([0.8, 0.9]), np.array([0.7, 0.7]))
    '+15.0 ± 5.0'
    """
    error = np.sqrt(sum(a.var(ddof=1) / len(a) for a in (draws, others)))
    return minus(f"{100 * (draws.mean() - others.mean()):+.1f} ± {100 * error:.1f}")


def costs_in_words(epsilon: float, tried: int, shown: tuple[str, ...]) -> str:
    """Return the ε that each search spends on each step.

    >>> costs_in_words(1.0, 4, ("stability",))
    '<br><b>ε spent.</b> Stability: 0.5 to choose, 0.5 to train.'
    """
    parts = []
    if "disjoint" in shown:
        parts.append(f"Disjoint subsets: ε for each value, trained on 1/{tried} of the training records")
    if "shared, retrained" in shown:
        cost = costs_of("shared, retrained", epsilon, tried)
        parts.append(
            f"One after another: {cost['train']:.3g} to train each, {cost['select']:.3g} to choose, "
            f"{cost['retrain']:.3g} to train again"
        )
    if "stability" in shown:
        cost = costs_of("stability", epsilon, tried)
        parts.append(f"Stability: {cost['select']:.3g} to choose, {cost['retrain']:.3g} to train")
    runs = [(s[-1], costs_of(s, epsilon, tried)["train"]) for s in shown if s.startswith("random stopping")]
    if runs:
        each = ", ".join(f"{cost:.3g} with η = {eta}" for eta, cost in runs)
        parts.append(f"Random stopping: one run {each}, and the whole search of a random number of runs {epsilon:g}")
    return f"<br><b>ε spent.</b> {'. '.join(parts)}."
