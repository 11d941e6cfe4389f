"""Top-k with δ over a limited domain: the features with the best scores are candidates, and the selection may stop."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_integer, check_number
from dpml.budget.conversion import zcdp_delta, zcdp_rho
from dpml.budget.shares import equal_share
from dpml.mechanisms import boundary
from dpml.mechanisms.choice import range_of_change

ROUNDING = 1e-6


def default_limit(n_features: int, n_total: int) -> int:
    """Return the number of candidates for T of D features: 10T, and fewer than D. A public rule."""
    return min(10 * n_features, n_total - 1)


def limited_domain(
    epsilon: float, delta: float, n_features: int, n_total: int, *, limit: int | None = None, draws: int = 1
) -> "LimitedDomain":
    """Return the mechanism for T of D features under (ε, δ) per draw (Durfee and Rogers 2019, Algorithm 1).

    Its constants are derived here (`LimitedDomain`): δ_b = δ where T selections get ε/T each, and δ/2 where their
    composition has the other half (`dpml.mechanisms.choice_epsilon`). The larger share of a selection is used.
    """
    T = check_integer(n_features, "n_features", 1, n_total - 1)
    # less by what the rounding of scores may cost
    delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True) * (1 - ROUNDING)
    k = default_limit(T, n_total) if limit is None else check_integer(limit, "limit", T, n_total - 1)
    ways = [(epsilon / (2 * T), min(math.expm1(epsilon / (2 * T)), delta))]  # where T·δ is more than ε
    if (left := epsilon - T * math.log1p(delta)) > 0:
        ways.append((equal_share(left, T), delta))
    if (left := epsilon - T * math.log1p(delta / 2)) > 0:
        ways.append((math.sqrt(8 * zcdp_rho(left, delta / 2) / T), delta / 2))
    each, stopping = max(ways)
    return LimitedDomain(T, k, each, stopping, draws)


@dataclass(frozen=True)
class LimitedDomain:
    """At most T of the k features with the best scores, by Gumbel noise, up to where a threshold is passed.

    Scores are in noise scales: `each` is the most that their changes between two neighbours differ, which is ε' of one
    selection. τ is the largest score that is no candidate. The threshold is τ + ε' + log(m/δ_b) with m = min(k, D - k).
    Candidates and threshold get Gumbel noise. The T largest are released, but for those below the threshold.

    Privacy: (ε, δ), with δ_b a part of it. Derivation (the mechanism is Durfee and Rogers', the constants are ours): a
    common shift of all scores changes nothing, so let each rise by an amount in [0, ε'] from h to h'. Then τ <= τ' <= τ
    + ε'. A feature that is a candidate for h alone has h'_i <= τ', so h_i <= τ + ε'. One that is a candidate for h'
    alone has h_i <= τ, so h'_i <= τ' + ε'. There are at most m of either kind, each in its table at least log(m/δ_b)
    below the threshold, whose noise it beats with probability at most δ_b/m. (1) So one of them is released with
    probability at most δ_b. (2) All other outcomes are sequences of common candidates, possibly ended by the threshold.
    Each selection is an exponential mechanism among the common candidates and the threshold, whose scores change by an
    amount in [0, ε'], times at most 1 and at least 1/(1 + δ_b): all the others together weigh at most δ_b times the
    threshold, which is there until the end. So the T selections cost as much as T selections of bounded range ε', and
    T·log(1 + δ_b).
    """

    n_features: int
    limit: int
    each: float
    stopping: float
    draws: int = 1

    def candidates(self, scores: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the candidates, best first, and their scores above the threshold's."""
        order = np.argsort(-scores, kind="stable")
        m = min(self.limit, scores.size - self.limit)
        threshold = scores[order[self.limit]] + self.each + math.log(m / self.stopping)
        return order[: self.limit], scores[order[: self.limit]] - threshold

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        kept, lead = self.candidates(statistic)
        noisy = lead + rng.gumbel(size=(self.draws, self.limit))
        nth = -np.partition(-noisy, self.n_features - 1, axis=1)[:, self.n_features - 1 : self.n_features]
        masks = np.zeros((self.draws, statistic.size), dtype=bool)
        masks[:, kept] = (noisy >= nth) & (noisy > rng.gumbel(size=(self.draws, 1)))
        return masks

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        change, choices = float(range_of_change(statistic, other_statistic)), self.draws * self.n_features
        if change == 0.0:
            return boundary.NOTHING
        # as above with what the scores change by, where the threshold allows for `each`
        stopping = min(self.stopping * math.exp(min(change - self.each, 700.0)), 1.0)

        def profile(epsilon: float) -> float:
            left = epsilon - choices * math.log1p(stopping)
            composed = (
                1.0 if left <= 0 else 0.0 if left >= choices * change else zcdp_delta(choices * change**2 / 8, left)
            )
            return min(self.draws * stopping + composed, 1.0)

        return boundary.Loss(profiles=(profile,))
