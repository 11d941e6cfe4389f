"""The figures of the page Audit in lessons."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpml.audit import recorded_releases
from dpml.mechanisms import Laplace
from dpml.publishing import release_answers
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.compute import AuditValues


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
