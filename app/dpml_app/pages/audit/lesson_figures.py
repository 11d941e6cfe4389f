"""Figures of audits, and of noise that a claim is about."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpml.auditing import recorded_releases
from dpml.mechanisms import Laplace
from dpml.publishing import release_answers
from dpml_app.core.lesson_figures import Figures
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.settings import AuditValues

figure = Figures()


def _audited(s: Any) -> dict[str, Any]:
    place = compute.LADDER.index(s.audit_draws)
    return compute.step(AuditValues.of(s).key(), s.audit_seed, s.audit_confidence, place)


@figure
def share_of_draws(s: Any) -> float:
    """Return in how many percent of draws the event came that the attacker bets on."""
    return 100 * float(_audited(s)["rates"][0])


@figure
def true_epsilon(s: Any) -> float:
    """Return the exact cost on the step's neighbours."""
    return compute.exact(AuditValues.of(s).key())["epsilon"]


@figure
def shown_by_draws(s: Any) -> float:
    """Return which ε the draws show."""
    return float(_audited(s)["lower"])


@figure
def confidence(s: Any) -> float:
    """Return the audit's confidence in percent."""
    return 100 * s.audit_confidence


@figure
def noise_of_each(s: Any, answers: str) -> float:
    """Return the scale of the noise on each of several counts that share ε."""
    table = np.zeros((int(answers), 3))

    def call(values: np.ndarray) -> object:
        return release_answers(values, s.audit_epsilon, rng=np.random.default_rng(0))

    [release] = recorded_releases(call, table, table)
    assert isinstance(release.mechanism, Laplace)
    return float(release.mechanism.scale)
