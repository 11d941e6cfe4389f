"""Validation score that is stable under a change of one training record (after Chaudhuri and Vinterbo 2013).

Statistics only: `stable_score_of`, and the range of its change, `stability_range`. The selection is made by
`dpml.mechanisms.PermuteAndFlip`.

The setting: candidates i are regularisers λ_i of a linear model on records in the unit ball. The models are trained
with fixed noise, which does not depend on the data. For fixed noise one record changes the weights by at most
(Δ + 2τ)/λ_i in L2 norm, by λ_i-strong convexity. This holds for output perturbation (the noise is an added constant)
and for objective perturbation (the noise is a linear term, equal for both neighbours, and λ' >= λ). Δ is 1 (add/remove)
or 2 (replace-one), the largest change of the sum of the gradients, and τ is the solver's tolerance. The margin z of a
validation record changes by at most as much, or twice that for more than two classes, where it is the difference of two
scores. The score of a candidate is the mean over validation records of a ramp, clip(½ + z/(2w_i), 0, 1), whose slope is
1/(2w_i).
"""

import math
from typing import Any

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_epsilon, check_integer, check_number, check_relation
from dpml.mechanisms.private import statistic


def default_reach(epsilon: float, *, relation: str = "add-remove", n_classes: int = 2) -> float:
    """Return the value of the public rule for `reach`, by which the noise of a selection at ε has scale 0.1/√(1 + ε).

    A larger reach means less noise, but less credit for correct predictions with small margins.
    """
    return 10 * _moves(relation, n_classes) * math.sqrt(1 + epsilon) / check_epsilon(epsilon)


def _moves(relation: str, n_classes: int) -> int:
    """Return fΔ: the largest change of a margin by a training record, in units of 1/λ."""
    changed = 1 if check_relation(relation) == "add-remove" else 2
    return changed * (1 if check_integer(n_classes, "n_classes", 2) == 2 else 2)


def solver_tolerance(
    epsilon: float,
    reg_lambda: float,
    dimension: int,
    *,
    n_classes: int,
    n_ones: int,
    curvature: float,
    tolerance: float,
) -> float:
    """Return a public bound, in units of 1/λ, on the distance of a margin from that of the exact minimiser.

    The solver of output perturbation stops at a gradient of norm `tolerance`. Objective perturbation raises this by a
    public rule (`dpml.classifiers.linear.perturbation.reachable`) to 2^-44·(D + 40)/β·max(4c, 1)/min(λ', 1). There the
    tight calibration has β at least a quarter of 0.999·ε/C, and λ' >= λ, in units in which records have a squared norm
    between 1/n_ones and 1. The returned bound covers both.
    """
    least_rate = 0.999 * check_epsilon(epsilon) / (1 if n_classes == 2 else n_classes) / 4
    rounding = 2.0**-44 * (dimension + 41) / least_rate * max(4 * curvature, 1.0) * n_ones / min(reg_lambda, 1.0)
    return max(tolerance, rounding) * math.sqrt(n_ones)


def margins_of(decision: Any, codes: IntArray, n_classes: int = 2) -> FloatArray:
    """Return the margin of each record's true class from decision values (..., n), or (..., n, C) for C > 2 classes."""
    decision = np.asarray(decision, dtype=float)
    if n_classes == 2:
        return decision * (2.0 * codes - 1.0)
    mine = np.broadcast_to(np.asarray(codes)[:, None], (*decision.shape[:-1], 1))
    others = decision.copy()
    np.put_along_axis(others, mine, -np.inf, axis=-1)
    return np.take_along_axis(decision, mine, axis=-1)[..., 0] - others.max(axis=-1)


def stable_score(margins: Any, width: float, validation_lower: int) -> FloatArray:
    """Return the mean ramp of margins (..., m) over the last axis. Exact: not private.

    The margins are those of the true classes, with the records in the unit ball. A margin of `width` or more counts 1,
    one of -`width` or less counts 0. The sum is divided by max(m, m₀), m₀ = `validation_lower`, a public number.
    """
    margins = np.asarray(margins, dtype=float)
    ramp = np.clip(0.5 + margins / (2 * width), 0.0, 1.0)
    return ramp.sum(axis=-1) / max(margins.shape[-1], validation_lower)


@statistic
def stable_score_of(model: Any, X: Any, codes: Any, *, n_classes: int, width: float, validation_lower: int) -> float:
    """Return the stable score of a trained linear model on validation records."""
    margins = margins_of(model.decision_function(X), codes, n_classes)
    return float(stable_score(margins, width, validation_lower))


@statistic
def mean_of(scores: list[float]) -> float:
    """Return the mean of the scores of several simulations, added up in their order."""
    total = 0.0
    for score in scores:
        total += score
    return total / len(scores)


def stability_range(
    reach: float,
    validation_lower: int,
    *,
    relation: str = "add-remove",
    n_classes: int = 2,
    tolerance: float = 0.0,
) -> float:
    """Return the range of the scores with ramps of width `reach`/λ_i, over all pairs of neighbours.

    The reach is in training records: a margin counts 1 if changing that many records could not reverse it. τ is the
    `tolerance`, from `solver_tolerance`. Derivation, with m >= 0 validation records, m₀ = `validation_lower` and all
    other records fixed:

    - *A training record* changes each margin by at most f(Δ + 2τ)/λ_i, with f = 1 for two classes and 2 for more. So it
      changes each ramp, and each score, by at most f(Δ + 2τ)/(2·reach), the same for all candidates. Scores can change
      in opposite directions: the range is twice that, f(Δ + 2τ)/reach.
    - *A validation record, add/remove.* From m >= m₀ to m + 1 records the mean S/m changes by (g - S/m)/(m + 1), g in
      [0, 1]: a range of 2/(m + 1) <= 2/(m₀ + 1). It is attained by two candidates of which one had all ramps 0 and the
      other all ramps 1, if the new record is the opposite for both. Below m₀ the score changes by g/m₀, a range of
      1/m₀, which is not more.
    - *A validation record, replace-one.* A score changes by at most 1/max(m, m₀) in either direction: a range of 2/m₀.

    A record is in one part only, so the range is the larger of the two. This holds for every value of the noise, so
    δ = 0. (The paper allows the condition to fail with probability δ, which an unbounded loss needs.)
    """
    reach = check_number(reach, "reach", 0.0, open_lower=True)
    least = check_integer(validation_lower, "validation_lower", 1)
    solver = 2 * check_number(tolerance, "tolerance", 0.0) * (1 if n_classes == 2 else 2)
    trained = (_moves(relation, n_classes) + solver) / reach
    validated = 2 / (least + 1) if relation == "add-remove" else 2 / least
    return max(trained, validated)
