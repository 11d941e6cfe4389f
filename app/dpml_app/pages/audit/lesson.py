"""The plot and the figures of the page Audit in lessons."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpml.audit import recorded_releases
from dpml.audit.cases import AUDITED
from dpml.mechanisms import Laplace
from dpml.publishing import release_answers
from dpml_app.drawing.styles import EXACT, REFERENCE, Style
from dpml_app.drawing.sweep import Bars, Line, Sweep
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.compute import AUDIT_EPSILONS, AuditSettings, AuditValues
from dpml_app.pages.audit.text import output_name


def lesson_plot(settings: AuditSettings, card: str, named: Sequence[str]) -> Sweep | Bars:
    """Return the probabilities of outputs with two neighbours, or what they cost."""
    key = AuditValues.of(settings).key()
    # a file for every step of the page's slider would be large
    epsilons = sorted({*AUDIT_EPSILONS[::4], settings.audit_epsilon})
    whole = [compute.exact((key[0], epsilon, key[2])) for epsilon in epsilons]
    if any(one["outputs"] is None for one in whole):  # there are too many to show: the cost instead
        lines = [
            Line(Style("Actual ε", EXACT, "dot", "solid"), [one["epsilon"] for one in whole]),
            Line(Style("Claimed ε", REFERENCE, "dot", "dashed"), epsilons),
        ]
        return Sweep("Actual ε on these neighbours", "ε", epsilons, settings.audit_epsilon, lines, percent=False)
    pairs = [one["outputs"] for one in whole]
    # an output that has probability 0 at one ε may be left out there
    outputs = sorted(set().union(*pairs))
    first, second = ([[100 * at.get(o, (0.0, 0.0))[side] for o in outputs] for at in pairs] for side in (0, 1))
    named = [output_name(AUDITED[settings.audit_method].family, output) for output in outputs]
    title = "Samples with each output (%)"
    return Bars(title, epsilons, settings.audit_epsilon, named, first, second)


def _sampled(s: Any) -> dict[str, Any]:
    return compute.sample(AuditValues.of(s).key(), s.audit_seed, s.audit_draws)


def true_epsilon(s: Any) -> float:
    """Return the exact cost on the step's neighbours."""
    return compute.exact(AuditValues.of(s).key())["epsilon"]


def noise_of_each(s: Any, answers: str) -> float:
    """Return the scale of the noise on each of several counts that share ε."""
    table = np.zeros((int(answers), 3))

    def call(values: np.ndarray) -> object:
        return release_answers(values, s.audit_epsilon, rng=np.random.default_rng(0))

    [release] = recorded_releases(call, table, table)
    assert isinstance(release.mechanism, Laplace)
    return float(release.mechanism.scale)


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (true_epsilon, noise_of_each)},
    # in how many percent of draws the event came that the attacker bets on
    "share_of_draws": lambda s: 100 * float(_sampled(s)["rates"][0]),
    # which ε the draws show
    "shown_by_draws": lambda s: float(_sampled(s)["lower"]),
    # the audit's confidence in percent
    "confidence": lambda s: 100 * compute.CONFIDENCE,
}
