"""Selection of the T best features by mechanisms that depend only on differences of scores.

They are peeling, one-shot noise, permute-and-flip, the joint exponential mechanism over sequences, and top-k with δ
over a limited domain: the features with the best scores are candidates, and the selection may stop.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_rng
from dpml.budget.conversion import zcdp_delta, zcdp_rho
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.choice import choice_epsilon, range_of_change
from dpml.mechanisms.private import is_private, to_integers
from dpml.mechanisms.secure import noisy_max
from dpml.selection._base import PrivateSelector, top_masks
from dpml.selection.scores import scores_of, scores_to_choose, weighted

ROUNDING = 1e-6


def default_limit(n_features: int, n_total: int) -> int:
    """Return the number of candidates for T of D features: 10T, and fewer than D. A public rule."""
    return min(10 * n_features, n_total - 1)


def limited_domain(
    epsilon: float, delta: float, n_features: int, n_total: int, *, limit: int | None = None, draws: int = 1
) -> "LimitedDomain":
    """Return the mechanism for T of D features under (ε, δ) per draw (Durfee and Rogers 2019, Algorithm 1).

    Its constants are those of `LimitedDomain`: δ_b = δ where T selections get ε/T each, and δ/2 where their composition
    has the other half (`dpml.mechanisms.choice_epsilon`). The larger share of a selection is used.
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


METHODS = ("joint", "one-shot", "peeling", "permute-and-flip", "limited-domain")
# those that take a δ, the second of them only with one
WITH_DELTA = ("peeling", "limited-domain")


def _check(scores: Any, epsilon: Any, n_features: Any, change_range: Any, draws: Any) -> tuple[Any, float, int]:
    values = scores_to_choose(scores, n_features)
    if not is_private(values) and not np.isfinite(values).all():  # scores of counts always are
        raise InvalidParameter("scores", f"array of shape {values.shape}", "one-dimensional, not empty and finite")
    check_integer(draws, "draws", 1)
    return (
        values,
        check_epsilon(epsilon) / check_number(change_range, "change_range", 0.0, open_lower=True),
        int(n_features),
    )


def one_shot(
    scores: Any, epsilon: float, n_features: int, change_range: float, *, draws: int = 1, rng: np.random.Generator
) -> BoolArray:
    """Select T features by exponential noise that is added once to every score.

    Parameters
    ----------
    scores : array of shape (D,), or Private
        Exact score of each feature.
    epsilon : float
        Privacy parameter ε of one draw, above 0.
    n_features : int
        Number T of features to select, 1 to D.
    change_range : float
        Range R of the score, as `dpml.selection.change_range` returns it.
    draws : int, default 1
        Number of independent draws. Each costs ε.
    rng : numpy.random.Generator
        Source of the noise, for simulations.

    Returns
    -------
    ndarray of bool, shape (draws, D)
        One mask for each draw, True for the selected features.

    See Also
    --------
    peel : Select one feature at a time.

    Notes
    -----
    Privacy: ε = `epsilon` per draw. δ = 0. Relation: that of `change_range`. Sensitivity: a range of at most R =
    `change_range` of the scores' changes between neighbours.

    Derivation. A common shift of all scores changes no order, so assume that every score changes by an amount in [0,
    R], or every score by one in [-R, 0]. Fix the noise of all features outside a set S of T features. S is kept if each
    noise in S exceeds a common bound minus the feature's score, and this difference changes by at most R in either
    direction. The tail probability of exponential noise of scale T·R/ε then changes by a factor of at most e^(ε/T) for
    each of the T features. With T = 1 this is permute-and-flip. (Qiao, Su and Zhang 2021 use Laplace noise and
    two-sided sensitivities, which is twice the scale.)

    References
    ----------
    Qiao, Su and Zhang (2021), with the calibration derived here.

    Examples
    --------
    >>> one_shot([0.0, 900.0, 5.0, 800.0], 1.0, 2, 1.0, rng=np.random.default_rng(0)).tolist()
    [[False, True, False, True]]
    """
    values, weight, T = _check(scores, epsilon, n_features, change_range, draws)
    return boundary.release(OneShot(T, draws), weighted(values, weight / T), check_rng(rng))


def peel(
    scores: Any,
    epsilon: float,
    n_features: int,
    change_range: float,
    *,
    noise: str = "gumbel",
    delta: float = 0.0,
    draws: int = 1,
    rng: np.random.Generator,
) -> BoolArray:
    """Select T features, one at a time among the remaining ones, each at an equal share of the cost.

    Parameters
    ----------
    scores : array of shape (D,), or Private
        Exact score of each feature.
    epsilon : float
        Privacy parameter ε of one draw, above 0.
    n_features : int
        Number T of features to select, 1 to D.
    change_range : float
        Range R of the score, as `dpml.selection.change_range` returns it.
    noise : {"gumbel", "exponential"}, default "gumbel"
        Gumbel noise makes each selection the exponential mechanism, exponential noise makes it permute-and-flip.
    delta : float, default 0.0
        Privacy parameter δ of one draw, for Gumbel noise. If it is above 0, many selections need less noise.
    draws : int, default 1
        Number of independent draws. Each costs ε.
    rng : numpy.random.Generator
        Source of the noise, for simulations.

    Returns
    -------
    ndarray of bool, shape (draws, D)
        One mask for each draw, True for the selected features.

    See Also
    --------
    one_shot : Select all features by noise that is added once.

    Notes
    -----
    Privacy: ε = `epsilon` per draw by composition. δ = `delta`. Relation: that of `change_range`. Sensitivity: a range
    of at most R = `change_range` of the scores' changes between neighbours.

    With Gumbel noise each selection is the exponential mechanism, and noise drawn once gives the same distribution of
    sequences. With exponential noise each selection is permute-and-flip with fresh noise. With δ, Gumbel noise costs
    (ε, δ) per draw: selections of bounded range compose at ε'²/8-zCDP each (`dpml.mechanisms.choice_epsilon`), so that
    each gets about ε/√(7T) at δ = 1e-6 in place of ε/T.

    References
    ----------
    Durfee and Rogers (2019), Lemma 4.2.
    """
    values, _, T = _check(scores, epsilon, n_features, change_range, draws)
    gumbel = check_choice(noise, "noise", ("gumbel", "exponential")) == "gumbel"
    if delta and not gumbel:
        raise InvalidParameter("delta", delta, "0 for exponential noise, whose choices are not of bounded range")
    each = choice_epsilon(epsilon, T, delta)
    mechanism = PeelByGumbel(T, draws, bool(delta)) if gumbel else Peel(T, draws)
    return boundary.release(mechanism, weighted(values, each / change_range), check_rng(rng))


@dataclass(frozen=True)
class _TopDraw:
    """T features selected from scores in noise scales. By the proofs above this costs as much as T selections."""

    n_features: int
    draws: int

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        return boundary.Loss(pure=self.draws * self.n_features * float(range_of_change(statistic, other_statistic)))


@dataclass(frozen=True)
class OneShot(_TopDraw):
    """Exponential noise on each score."""

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        noise = rng.standard_exponential((self.draws, statistic.size))
        return top_masks(statistic + noise, self.n_features)


@dataclass(frozen=True)
class PeelByGumbel(_TopDraw):
    """Gumbel noise on each score. With `approximate` the cost is that of selections of bounded range under (ε, δ)."""

    approximate: bool = False

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        if not self.approximate:
            return super()._compare(statistic, other, other_statistic)
        each, choices = float(range_of_change(statistic, other_statistic)), self.draws * self.n_features

        def profile(epsilon: float) -> float:
            return 0.0 if epsilon >= choices * each else zcdp_delta(choices * each**2 / 8, epsilon)

        return boundary.Loss(profiles=(profile,))

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        return top_masks(statistic + rng.gumbel(size=(self.draws, statistic.size)), self.n_features)


@dataclass(frozen=True)
class Peel(_TopDraw):
    """Exponential noise, drawn anew for each of T choices."""

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        shape = self.draws, statistic.size
        chosen = np.zeros(shape, dtype=bool)
        for _ in range(self.n_features):
            noisy = np.where(chosen, -np.inf, statistic + rng.standard_exponential(shape))
            chosen[np.arange(self.draws), noisy.argmax(axis=1)] = True
        return chosen


def joint_gaps(scores: Any, n_features: int) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Count the sequences of T features by their gap, the maximum over i of c_i - score of s_i, for sorted scores c.

    The pair (i, j) stands for feature j of the sorted list in place i, and opens at the gap c_i - c_j. A feature that
    is open in a place is open in all later ones. So the number of sequences up to a gap is the product over places of
    t_i - (i-1), with t_i features open in place i, and each pair that opens changes one factor (Gillenwater et al.
    2022, section 4).

    Returns for each pair, in order of its gap: the gap, the log of the number of sequences that it makes newly
    possible, and its place and rank from 0. The first, -1 and -1, stands for the pairs that are open from the start.
    """
    c = -np.sort(-np.asarray(scores, dtype=float), kind="stable")
    T, D = check_integer(n_features, "n_features", 1, c.size), c.size
    i, j = np.divmod(np.arange(T * D), D)
    gap = c[i] - c[j]
    closed = gap > 0
    opened = D - closed.reshape(T, D).sum(axis=1)
    start = np.log(opened - np.arange(T)).sum()
    i, j, gap = i[closed], j[closed], gap[closed]
    # at equal gaps later places come first, so that a feature open in a place is open in all later ones
    order = np.lexsort((j, -i, gap))
    i, j, gap = i[order], j[order], gap[order]
    with np.errstate(divide="ignore"):
        step = np.log(j + 1.0 - i) - np.log(j + 0.0 - i)
    before = start + np.concatenate([[0.0], np.cumsum(step)[:-1]])
    # N_after - N_before = N_before·(e^step - 1), and e^step - 1 = 1 / (j - i)
    added = before - np.log(j + 0.0 - i)
    head = np.array([-1], dtype=np.intp)
    return (
        np.concatenate([[0.0], gap]),
        np.concatenate([[start], added]),
        np.concatenate([head, i]),
        np.concatenate([head, j]),
    )


def sample_joint(
    scores: Any, epsilon: float, n_features: int, change_range: float, *, draws: int = 1, rng: np.random.Generator
) -> BoolArray:
    """Select T features by the joint exponential mechanism over sequences.

    Parameters
    ----------
    scores : array of shape (D,), or Private
        Exact score of each feature.
    epsilon : float
        Privacy parameter ε of one draw, above 0.
    n_features : int
        Number T of features to select, 1 to D.
    change_range : float
        Range R of the score, as `dpml.selection.change_range` returns it.
    draws : int, default 1
        Number of independent draws. Each costs ε.
    rng : numpy.random.Generator
        Source of the noise, for simulations.

    Returns
    -------
    ndarray of bool, shape (draws, D)
        One mask for each draw, True for the selected features.

    See Also
    --------
    one_shot : Select all features by noise that is added once.

    Notes
    -----
    Privacy: ε = `epsilon` per draw. δ = 0. Relation: that of `change_range`. Sensitivity: a range of at most R =
    `change_range` of the scores' changes between neighbours, and of 2R for the gap.

    It releases a sequence of T features, drawn with probability proportional to exp(-ε/(2R)·gap). The gap is the
    largest shortfall of a place from the best sequence. The returned mask omits the order.

    Derivation. The change of the i-th largest score lies in the same interval of length R as the changes of all scores.
    So a difference c_i - score of s_i changes by at most R in either direction, and so does their maximum: the range of
    the gap is 2R. For total counts under add/remove R = 1, which is the paper's sensitivity 1. The count heuristic has
    R = 1 there too, because its common part cancels (docs/explanation/errata.md).

    D·T gaps are sorted once (`joint_gaps`). Each draw then selects the pair that has its largest gap, and fills the
    other places in order.

    References
    ----------
    Gillenwater et al. (2022), Algorithm 1.

    Examples
    --------
    >>> sample_joint([0.0, 900.0, 5.0, 800.0], 1.0, 2, 1.0, rng=np.random.default_rng(0)).tolist()
    [[False, True, False, True]]
    """
    values, weight, T = _check(scores, epsilon, n_features, change_range, draws)
    return boundary.release(JointDraw(T, draws, weight), values, check_rng(rng))


@dataclass(frozen=True)
class JointDraw:
    """Sequences of T features with probability proportional to exp(-weight/2 · gap)."""

    n_features: int
    draws: int
    weight: float

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        T, draws, D = self.n_features, self.draws, statistic.size
        gaps, log_counts, place, rank = joint_gaps(statistic, T)
        log_p = log_counts - self.weight / 2 * gaps
        cumulative = np.cumsum(np.exp(log_p - log_p.max()))
        event = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1], side="right")
        event = np.minimum(event, len(gaps) - 1)
        # number of open features of each place when the draw's pair opens: open from the start, or opened since
        order = np.argsort(-statistic, kind="stable")
        c = statistic[order]
        open_first = (c[:T, None] - c <= 0).sum(axis=1)
        by_place = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[by_place], np.arange(T + 1))
        picks = np.empty((draws, T), dtype=np.intp)
        for i in range(T):
            opened = open_first[i] + np.searchsorted(by_place[ends[i] : ends[i + 1]], event, side="right")
            # a uniform choice among the open features that no earlier place has
            pick = np.floor(rng.random(draws) * (opened - i)).astype(np.intp)
            for taken in np.sort(picks[:, :i], axis=1).T:
                pick += taken <= pick
            picks[:, i] = np.where(place[event] == i, rank[event], pick)
        masks = np.zeros((draws, D), dtype=bool)
        np.put_along_axis(masks, order[picks], True, axis=1)
        return masks

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # a gap changes by at most the range of the scores' change in either direction
        return boundary.Loss(pure=self.draws * self.weight * float(range_of_change(statistic, other_statistic)))


@claim(
    "top-joint",
    "Joint exponential mechanism",
    "[gillenwater2022], Algorithm 1 (range derived here)",
    "ε for the set of the T best features",
    options={"method": "joint"},
)
@claim(
    "top-one-shot",
    "One shot of exponential noise",
    "derived here, [qiao2021] with Laplace noise",
    "ε for the set of the T best features",
    options={"method": "one-shot"},
)
@claim(
    "top-peeling",
    "Peeling",
    "[durfee-rogers2019], Lemma 4.2",
    "ε for the set of the T best features",
    options={"method": "peeling"},
)
@claim(
    "top-permute-and-flip",
    "Peeling by permute-and-flip",
    "[mckenna-sheldon2020]",
    "ε for the set of the T best features",
    options={"method": "permute-and-flip"},
)
@claim(
    "top-peeling-delta",
    "Peeling under (ε, δ)",
    "[dong2020], with the conversion of [canonne2020], audited with T = 8 of 16 at δ = 1e-5",
    "(ε, δ) for the set of the T best features",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    delta=1e-5,
    options={"method": "peeling"},
)
@claim(
    "top-limited-domain",
    "Top-k over a limited domain",
    "[durfee-rogers2019], Algorithm 1 (constants derived here), audited with T = 2 of 8 at δ = 1e-5",
    "(ε, δ) for the set of at most T features",
    delta=1e-5,
    options={"method": "limited-domain"},
)
@dataclass(eq=False, repr=False)
class TopSelector(PrivateSelector):
    """Feature selector by mechanisms that depend only on differences of scores, which keeps the T best features.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    release : bool, default False
        Use the secure noisy maximum (`dpml.mechanisms.secure`, the extra ``release``), for
        ``method="permute-and-flip"`` and scores that are counts.
    n_features : int
        Public number T of features to keep, 1 to D. For ``method="limited-domain"`` it is the largest number.
    score : {"count", "mutual_information", "total_count", "difference_count"}, default "count"
        Utility of a feature (`dpml.selection.scores`).
    method : {"joint", "one-shot", "peeling", "permute-and-flip", "limited-domain"}, default "joint"
        Mechanism of the selection, as in the notes. Only "permute-and-flip" has a release. "limited-domain" needs δ.
    delta : float, default 0.0
        Privacy parameter δ of one fit, above 0 for "limited-domain", possible for "peeling", and 0 for the others.

    See Also
    --------
    MaskSelector : Select T features by the exponential mechanism over masks.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = `delta`. Relation: `relation`. Sensitivity: the range R of one score
    (`dpml.selection.change_range`).

    - ``method="joint"``: the joint exponential mechanism over sequences, `sample_joint`.
    - ``"one-shot"``: exponential noise of scale T·R/ε added once to every score, `one_shot`.
    - ``"peeling"``: T exponential mechanisms at ε/T, `peel`. With `delta` the fit costs (ε, δ), and each of many
      selections gets more than ε/T.
    - ``"permute-and-flip"``: T times permute-and-flip at ε/T.
    - ``"limited-domain"``: (ε, δ), at most T among the 10T best features,
      `dpml.selection.top.LimitedDomain`. It may keep none.

    If D - T < T, "one-shot", "peeling" and "permute-and-flip" select the D - T worst features and drop them. With T = 1
    one-shot equals permute-and-flip, and peeling equals `MaskSelector`.

    References
    ----------
    Gillenwater et al. (2022), Algorithm 1. Qiao, Su and Zhang (2021). Durfee and Rogers (2019), Lemma 4.2 and Algorithm
    1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> X = (rng.random((2000, 6)) < 0.5).astype(int)
    >>> X[:, 2] = y
    >>> TopSelector(1.0, n_features=1, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [2]
    """

    n_features: int
    score: str = "count"
    _: KW_ONLY
    method: str = "joint"
    delta: float = 0.0

    def _check(self, facts):
        check_choice(self.method, "method", METHODS)
        if check_number(self.delta, "delta", 0.0, 1.0, open_upper=True) and self.method not in WITH_DELTA:
            raise InvalidParameter("delta", self.delta, f"0 for method = {self.method!r}. For δ > 0, use 'peeling'")
        if not self.delta and self.method == "limited-domain":
            raise InvalidParameter("delta", self.delta, "above 0 for method = 'limited-domain'")
        check_integer(self.n_features, "n_features", 1, facts.n_features)

    def _secure(self):
        # the sensitivity of mutual information needs a number of records, and a release may drop records
        return self.method == "permute-and-flip" and self.score != "mutual_information"

    def _masks(self, counts, facts, draws, rng):
        T, D = self.n_features, facts.n_features
        if T == D:
            return np.ones((draws, D), dtype=bool)
        values, span = facts.scores(counts, self.score), facts.change_range(self.score)
        if self.method == "joint":
            return sample_joint(values, self.epsilon, T, span, draws=draws, rng=rng)
        if self.method == "limited-domain":
            limited = limited_domain(self.epsilon, self.delta, T, D, draws=draws)
            return boundary.release(limited, weighted(values, limited.each / span), check_rng(rng))
        # keeping the T best means dropping the D - T worst; fewer choices need less noise
        drop = T > D - T
        few, signed = (D - T, weighted(values, -1.0)) if drop else (T, values)
        if rng is None:
            chosen = np.stack([_secure_peel(signed, D, self.epsilon, few, span) for _ in range(draws)])
        elif self.method == "one-shot":
            chosen = one_shot(signed, self.epsilon, few, span, draws=draws, rng=rng)
        else:
            noise = "gumbel" if self.method == "peeling" else "exponential"
            chosen = peel(signed, self.epsilon, few, span, noise=noise, delta=self.delta, draws=draws, rng=rng)
        return ~chosen if drop else chosen

    def _costs(self, schema):
        return {label: {"epsilon": cost, "delta": self.delta} for label, cost in super()._costs(schema).items()}


def _secure_peel(scores: Any, n_total: int, epsilon: float, n_features: int, change_range: float) -> BoolArray:
    whole, left = to_integers(scores), np.arange(n_total)
    share = equal_share(epsilon, n_features)
    for _ in range(n_features):
        left = np.delete(left, noisy_max(scores_of(whole, left), share, change_range))
    mask = np.ones(n_total, dtype=bool)
    mask[left] = False
    return mask
