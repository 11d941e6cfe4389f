"""What a step of an exported lesson plots: its figures at every value of the control that the step is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.naive_bayes import default_row_bound
from dpml.evaluation import attack_bound, best_attack_success
from dpml.mechanisms import cauchy_scale, smooth_sensitivity
from dpml.mechanisms.smooth import global_sensitivity
from dpml_app.data import measures
from dpml_app.drawing.looks import EXACT, LOOKS, REFERENCE, Style
from dpml_app.lessons.read import Step
from dpml_app.pages.audit import compute as audit
from dpml_app.pages.audit.settings import AUDIT_EPSILONS
from dpml_app.pages.evaluate import compute as evaluate
from dpml_app.pages.explore.settings import ExploreSettings
from dpml_app.pages.noise import compute as noise
from dpml_app.pages.noise.controls import points_of
from dpml_app.pages.noise.models import model
from dpml_app.pages.noise.points import LOWER, UPPER
from dpml_app.pages.noise.settings import BETA_SHARES, NOISE_EPSILONS
from dpml_app.pages.publish import compute as compute_tables
from dpml_app.pages.publish import shipped
from dpml_app.pages.publish.figures import STYLES
from dpml_app.pages.select import compute as select
from dpml_app.pages.train.card import trained
from dpml_app.pages.train.chunks import measured
from dpml_app.pages.train.compute import nb_facts
from dpml_app.pages.train.methods import styles
from dpml_app.settings import EPSILONS, LAMBDAS, SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.work.pool import Chunk

__all__ = ["PAGES", "Bars", "Line", "Sweep", "sweep_of"]

PERCENTILES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 99)
PLAIN = 1e9  # an ε at which noise cannot be seen
Floats = NDArray[np.float64]
PLAIN_LOOK = Style("The same without noise", REFERENCE, "dot", "dotted")


@dataclass(frozen=True)
class Line:
    """One curve over the control, with the ends of its band where it has one."""

    look: Style
    middle: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Sweep:
    """A plot over a control: its values, lines, and whether they are percentages or numbers on a log axis."""

    title: str
    control: str
    values: Sequence[float]
    chosen: float
    lines: Sequence[Line]
    percent: bool
    log: bool = True


@dataclass(frozen=True)
class Bars:
    """Probabilities of outputs with two neighbours, at every claimed ε."""

    title: str
    values: Sequence[float]
    chosen: float
    outputs: Sequence[str]
    first: Sequence[Sequence[float]]
    second: Sequence[Sequence[float]]


def _line(look: Style, draws: Sequence[Floats]) -> Line:
    low, high = np.quantile(draws, [0.05, 0.95], axis=1)
    return Line(look, np.mean(draws, axis=1).tolist(), low.tolist(), high.tolist())


def _level(label: str, value: float, number: int, color: str = REFERENCE) -> Line:
    return Line(Style(label, color, "dot", "dashed"), [value] * number)


# ---- accuracy ------------------------------------------------------------------------------------------------------


def _accuracies(settings: Settings, method: str, epsilon: float, **changes: Any) -> Floats:
    values = {**settings.explore_values(), **changes}
    return 100 * measures.accuracy(*ExploreSettings.accuracy_key(values, method, epsilon))


def _explore(step: Step, settings: Settings) -> Sweep:
    known = measures.facts(settings.dataset)
    guess = 100 * known["majority"]
    title = f"{known['title']}: percent of test records that are classified rightly"
    # the control that the step's link names last
    name = next((n for n in reversed(list(step.state)) if n in ("reg_lambda", "threshold_percentile")), "epsilon")
    if name == "reg_lambda":
        values: Sequence[float] = LAMBDAS
        noisy = [_accuracies(settings, "logistic", settings.epsilon, reg_lambda=v) for v in values]
        plain = [float(_accuracies(settings, "logistic", PLAIN, reg_lambda=v, draws=1).mean()) for v in values]
        lines = [_line(LOOKS["output"], noisy), Line(PLAIN_LOOK, plain)]
        lines.append(_level("A guess", guess, len(values)))
        return Sweep(title, "λ", values, settings.reg_lambda, lines, percent=True)
    if name == "threshold_percentile":
        noisy = [_accuracies(settings, "published", settings.epsilon, threshold_percentile=v) for v in PERCENTILES]
        lines = [_line(LOOKS["algorithm-1"], noisy), _level("A guess", guess, len(PERCENTILES))]
        return Sweep(
            title,
            "Threshold percentile",
            PERCENTILES,
            settings.threshold_percentile,
            lines,
            percent=True,
            log=False,
        )
    schema = measures.dataset(settings.dataset).schema
    bound = settings.row_bound or default_row_bound(schema, settings.epsilon)
    own = float(_accuracies(settings, "row-bounded", PLAIN, row_bound=bound, draws=1).mean())
    lines = [
        _line(LOOKS["algorithm-1"], [_accuracies(settings, "published", e) for e in EPSILONS]),
        _line(LOOKS["row-bounded"], [_accuracies(settings, "row-bounded", e) for e in EPSILONS]),
        _level("Algorithm 1 without noise", 100 * known["non_private"], len(EPSILONS)),
        _level("Row-bounded without noise", own, len(EPSILONS), EXACT),
        _level("A guess", guess, len(EPSILONS)),
    ]
    return Sweep(title, "ε", EPSILONS, settings.epsilon, lines, percent=True)


def _select(step: Step, settings: Settings) -> Sweep:
    kinds = {"mask-count": "count", "mask-mi": "mutual_information"}
    if step.card == "accuracy":
        values = tuple(sorted({*EPSILONS[::3], settings.epsilon}))
        lines = []
        for selector in kinds:
            draws = []
            for epsilon in values:
                key = settings.accuracy_key_of(
                    {**settings.select_values(), "epsilon": epsilon}, selector, settings.n_features
                )
                draws.append(100 * select.accuracy(*key))
            lines.append(_line(LOOKS[selector], draws))
        title = f"Percent classified rightly with {settings.n_features} features that are chosen privately"
        return Sweep(title, "ε", values, settings.epsilon, lines, percent=True)
    best = measures.facts(settings.dataset)["mutual_information"]
    lines = []
    for selector, kind in kinds.items():
        found = []
        for epsilon in EPSILONS:
            paid = epsilon * settings.selection_share
            key = settings.dataset, kind, settings.select_calibration, settings.relation, paid, settings.n_features
            found.append(100 * select.expected_best(best, select.inclusion(*key), settings.n_features))
        lines.append(Line(LOOKS[selector], [v / settings.n_features for v in found]))
    title = f"Percent of the {settings.n_features} best features by mutual information that are chosen"
    return Sweep(title, "ε", EPSILONS, settings.epsilon, lines, percent=True)


# ---- noise, curves and audits --------------------------------------------------------------------------------------


def _noise(step: Step, settings: Settings) -> Sweep:
    s, values, share = settings, NOISE_EPSILONS, BETA_SHARES[settings.noise_beta]
    if step.card == "calibrations":
        costs = noise.calibrations(share)
        looks = {name: LOOKS[f"cauchy-{name}"] for name in costs}
        lines = [Line(looks[name], cost.tolist()) for name, (_, cost) in costs.items()]
        lines.append(Line(Style("What is claimed", REFERENCE, "dot", "dashed"), values))
        return Sweep("The ε that is truly paid", "ε that is claimed", values, s.noise_epsilon, lines, percent=False)
    if step.card == "smooth":
        x = points_of(s)
        worst = global_sensitivity(s.noise_statistic, LOWER, UPPER, len(x), s.noise_relation)
        smooth = [
            smooth_sensitivity(s.noise_statistic, x, LOWER, UPPER, share * e, s.noise_relation)
            * cauchy_scale(e, share * e)
            for e in values
        ]
        lines = [
            Line(Style("Cauchy, by smooth sensitivity", LOOKS["cauchy-exact"].color, "plus"), smooth),
            Line(Style("Laplace, for the worst case", LOOKS["laplace"].color, "plus"), [worst / e for e in values]),
        ]
        title = f"Width of the noise for the {s.noise_statistic} of these {len(x)} points, which lie between 0 and 100"
        return Sweep(title, "ε", values, s.noise_epsilon, lines, percent=False)
    sizes = [model(s.noise_mechanism, e, s.noise_sensitivity, s.noise_delta, share).mean_size for e in values]
    return Sweep("Mean size of the noise", "ε", values, s.noise_epsilon, [Line(LOOKS["laplace"], sizes)], percent=False)


def _evaluate(step: Step, settings: Settings) -> Sweep:
    s = settings
    if step.card in ("attack", "success"):
        exact = _level("From the exact curve", 100.0, len(EPSILONS), EXACT)
        bound = Style("Bound at ε", REFERENCE, "dot", "dashed")
        best = Style("Best attack on the release", LOOKS["roc-histogram"].color, "circle")
        lines = [
            exact,
            Line(bound, [100 * attack_bound(e) for e in EPSILONS]),
            Line(best, [100 * best_attack_success(e, s.relation) for e in EPSILONS]),
        ]
        return Sweep("Percent of labels that are guessed rightly", "ε", EPSILONS, s.epsilon, lines, percent=True)
    values = tuple(sorted({*EPSILONS[::3], s.epsilon}))
    lines = []
    for method in ("histogram", "fixed-space"):
        draws = []
        for epsilon in values:
            key = s.curve_key(s.evaluate_values(), method, evaluate.draws_of(method, s.draws), epsilon)
            draws.append(evaluate.errors(*key))
        low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95], axis=1)
        lines.append(Line(LOOKS[f"roc-{method}"], middle.tolist(), low.tolist(), high.tolist()))
    return Sweep("Area between the private and the true curve", "ε", values, s.epsilon, lines, percent=False)


def _publish(step: Step, settings: Settings) -> Sweep:
    values, known = settings.publish_values(), shipped.results(settings.dataset)

    def result(chunk: Chunk) -> Any:
        return known[chunk] if chunk in known else chunk.function(*chunk.arguments)

    at = tuple(sorted({*EPSILONS[::3], settings.epsilon}))
    every = [shipped.chunks(values, epsilon) for epsilon in at]
    lines = [_line(look, [100 * result(of[series]) for of in every]) for series, look in STYLES.items()]
    lines.append(_level("The true table", 100 * result(shipped.true_chunk(values)), len(at), EXACT))
    lines.append(_level("A guess", 100 * compute_tables.facts(settings.dataset)["majority"], len(at)))
    title = "Percent of test records that are classified rightly"
    return Sweep(title, "ε", at, settings.epsilon, lines, percent=True)


def _train(step: Step, settings: Settings) -> Sweep:
    values, known = settings.train_values(), nb_facts(settings.dataset)
    shown = trained(values, known)
    chunks = {m: [measured(m, values, epsilon) for epsilon in SWEEP_EPSILONS] for m in shown}
    lines = [
        _line(look, [100 * chunk.function(*chunk.arguments)["accuracy"] for chunk in chunks[method]])
        for method, look in styles(shown, known).items()
    ]
    lines.append(_level("A guess", 100 * known["accuracy"]["majority"], len(SWEEP_EPSILONS)))
    title = f"{known['title']}: percent of test records that are classified rightly"
    return Sweep(title, "ε", SWEEP_EPSILONS, settings.epsilon, lines, percent=True)


def _audit(step: Step, settings: Settings) -> Sweep | Bars:
    key = settings.audit_key(settings.audit_values())
    whole = [audit.exact((key[0], epsilon, *key[2:])) for epsilon in AUDIT_EPSILONS]
    if any(one["outputs"] is None for one in whole):  # there are too many to show: the cost instead
        lines = [
            Line(Style("True cost", EXACT, "dot", "solid"), [one["epsilon"] for one in whole]),
            Line(Style("As claimed", REFERENCE, "dot", "dashed"), AUDIT_EPSILONS),
        ]
        return Sweep("Cost on these neighbours", "ε", AUDIT_EPSILONS, settings.audit_epsilon, lines, percent=False)
    found = [one["outputs"] for one in whole]
    # an output that has probability 0 at one ε may be left out there
    outputs = sorted(set().union(*found))
    first, second = ([[100 * at.get(o, (0.0, 0.0))[side] for o in outputs] for at in found] for side in (0, 1))
    named = [_called(output, settings) for output in outputs]
    title = "Percent of draws with each output"
    return Bars(title, AUDIT_EPSILONS, settings.audit_epsilon, named, first, second)


def _called(output: tuple[float, ...], settings: Settings) -> str:
    places = ("first", "second", "third", "fourth")
    if len(output) > 1:
        chosen = [name for name, v in zip(places, output, strict=False) if v == 1]
        return " and ".join(chosen) if chosen else "none"
    names = "abcd" if settings.audit_neighbours == "table" else places
    chosen = [name for i, name in enumerate(names) if int(output[0]) >> i & 1]
    return " and ".join(chosen) if chosen else "none"


_MADE: dict[str, Callable[[Step, Settings], Sweep | Bars]] = {
    "explore": _explore,
    "audit": _audit,
    "noise": _noise,
    "select": _select,
    "publish": _publish,
    "train": _train,
    "evaluate": _evaluate,
}
PAGES = tuple(_MADE)


def sweep_of(step: Step, settings: Settings) -> Sweep | Bars:
    """Return what a step of one of `PAGES` plots; `settings` are those of its state."""
    return _MADE[step.page](step, settings)
