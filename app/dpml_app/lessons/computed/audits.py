"""Figures of audits, and of noise that a claim is about."""

from __future__ import annotations

import math

import numpy as np

from dpml.auditing import recorded_releases
from dpml.mechanisms import Laplace
from dpml.publishing import release_answers
from dpml.publishing.weights.density_ratio import balanced_minimiser
from dpml_app.lessons.figures import figure
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.state import Settings


@figure
def chance_after(s: Settings, output: str) -> float:
    """Return in how many percent of draws from the second data set an output comes."""
    return 100 * compute.exact(AuditValues.of(s).key())["outputs"][(float(output),)][1]


@figure
def true_epsilon(s: Settings) -> float:
    """Return the exact cost on the step's neighbours."""
    return compute.exact(AuditValues.of(s).key())["epsilon"]


@figure
def shown_by_draws(s: Settings) -> float:
    """Return which ε the draws show."""
    place = compute.LADDER.index(s.audit_draws)
    return compute.step(AuditValues.of(s).key(), s.audit_seed, s.audit_confidence, place)["lower"]


@figure
def confidence(s: Settings) -> float:
    """Return the audit's confidence in percent."""
    return 100 * s.audit_confidence


@figure
def noise_of_each(s: Settings, answers: str) -> float:
    """Return the scale of the noise on each of several counts that share ε."""
    table = np.zeros((int(answers), 3))

    def call(values: np.ndarray) -> object:
        return release_answers(values, s.audit_epsilon, rng=np.random.default_rng(0))

    [release] = recorded_releases(call, table, table)
    assert isinstance(release.mechanism, Laplace)
    return float(release.mechanism.scale)


@figure
def cost_of_noise_for_the_length(s: Settings) -> float:
    """Return how far β moves between two tables, in units of what noise for the length of a record covers."""
    half, n, reg_lambda = 50, 2000, 0.06
    first, public = np.zeros((n, 2 * half)), np.eye(2 * half)
    second = first.copy()
    first[-1, :half], second[-1, half:] = 1, 1
    ends = [balanced_minimiser(table, public, reg_lambda) for table in (first, second)]
    return float(np.linalg.norm(ends[0] - ends[1])) * n * reg_lambda / math.sqrt(half)
