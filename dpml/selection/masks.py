"""Selection of a mask of T features at once, with probability proportional to exp(sum of its log weights).

A mask m with T ones has probability proportional to exp(w·m), where w_d is the log weight of feature d (Antonova 2016,
Algorithm 5). Take independent Bernoulli variables of probability p_d = 1/(1 + exp(-(w_d + c))) for any c. Given that
exactly T of them are 1, they have the mask distribution, so sums over masks are Poisson-binomial probabilities. c is
chosen so that the p_d add up to T, which makes this event likely. Then the forward pass F[d, t] = P(t of the first d
variables are 1) and the backward pass stay in the range of doubles, add only positive terms and need no logarithm in
the loop (docs/decisions/0001: this is faster and more accurate than the same recursion on log sums).
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_rng
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import is_private, statistic
from dpml.schema import Schema
from dpml.selection._base import PrivateSelector, PublicFacts
from dpml.selection.scores import mask_change_range, scores_to_choose, weighted

LARGEST_WEIGHT = 1e300


def _check_weights(log_weights: Any, n_features: Any) -> tuple[FloatArray, int]:
    w = np.asarray(log_weights, dtype=float)
    if w.ndim != 1 or not w.size:
        raise InvalidParameter("log_weights", f"array of shape {w.shape}", "one-dimensional and not empty")
    if not np.isfinite(w).all():
        raise InvalidParameter("log_weights", w[~np.isfinite(w)][0].item(), "finite numbers")
    return w, check_integer(n_features, "n_features", 0, w.size)


@statistic
def _finite(weights: Any) -> FloatArray:
    """Return weights that can be added up: what is not finite is as large as can be, so that no score raises."""
    return np.nan_to_num(weights, nan=0.0, posinf=LARGEST_WEIGHT, neginf=-LARGEST_WEIGHT)


def _tilt(w: FloatArray, T: int) -> float:
    """Return c such that the probabilities of the Bernoulli variables add up to T (0 < T < D), by bisection."""
    low, high = -w.max() - 50.0, -w.min() + 50.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if expit(w + middle).sum() < T:
            low = middle
        else:
            high = middle
    return high


def _forward(p: FloatArray, q: FloatArray, T: int) -> FloatArray:
    """Return F of shape (D + 1, T + 1): F[d, t] = P(t of the first d variables are 1)."""
    F = np.zeros((p.size + 1, T + 1))
    F[0, 0] = 1.0
    carry = np.empty(T)
    for d in range(p.size):
        row, nxt = F[d], F[d + 1]
        np.multiply(row, q[d], out=nxt)
        np.multiply(row[:-1], p[d], out=carry)
        nxt[1:] += carry
    return F


def inclusion_probabilities(log_weights: Any, n_features: int) -> FloatArray:
    """Return the probability that each feature is in the mask, exactly for the given weights. This is not a release.

    Parameters
    ----------
    log_weights : array of shape (D,)
        Log weight of each feature: `mask_weight(...)` times its score. Weights are finite.
    n_features : int
        Number T of ones in the mask, 0 to D.

    Returns
    -------
    ndarray of shape (D,)
        Inclusion probabilities, which add up to T. For T = 1 they are those of the exponential mechanism.

    Raises
    ------
    InvalidParameter
        For weights that are not finite or T outside 0..D.

    See Also
    --------
    sample_masks : Draw masks from this distribution.

    Notes
    -----
    The forward and the backward pass take D·T steps each.

    References
    ----------
    Antonova (2016), Algorithm 5, with line 26 corrected (docs/explanation/errata.md).

    Examples
    --------
    >>> inclusion_probabilities([0.0, 0.0, 0.0, 0.0], 2).round(12).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    w, T = _check_weights(log_weights, n_features)
    if T in (0, w.size):
        return np.full(w.size, float(T > 0))
    c = _tilt(w, T)
    p, q = expit(w + c), expit(-(w + c))
    F = _forward(p, q, T)
    B = _forward(p[::-1], q[::-1], T - 1)[::-1]
    # P(d on and T on in all) = p_d · sum over t of P(t on before d) · P(T - 1 - t on after d)
    joint = np.einsum("dt,dt->d", F[:-1, :T], B[1:, ::-1])
    return p * joint / F[-1, T]


def sample_masks(log_weights: Any, n_features: int, draws: int, *, rng: np.random.Generator) -> BoolArray:
    """Draw masks of exactly T ones with probability proportional to exp(sum of their log weights).

    Parameters
    ----------
    log_weights : array of shape (D,), or Private
        Log weight of each feature: `mask_weight(...)` times its score.
    n_features : int
        Number T of ones in a mask, 0 to D, and from 1 for private weights.
    draws : int
        Number of masks.
    rng : numpy.random.Generator
        Source of the noise, for simulations.

    Returns
    -------
    ndarray of bool, shape (draws, D)
        One mask for each draw, True for the selected features.

    See Also
    --------
    inclusion_probabilities : Exact probability of each feature.

    Notes
    -----
    Backtrack sampling: the Bernoulli variables are drawn from the last to the first, each given the number of ones that
    remain.

    References
    ----------
    Antonova (2016), Algorithm 5.

    Examples
    --------
    >>> sample_masks([0.0, 5.0, 0.0], 1, 4, rng=np.random.default_rng(0)).sum(axis=1).tolist()
    [1, 1, 1, 1]
    """
    draws = check_integer(draws, "draws", 1)
    check_rng(rng)
    if is_private(log_weights):
        return boundary.release(_MaskDraw(n_features, draws), _finite(scores_to_choose(log_weights, n_features)), rng)
    w, T = _check_weights(log_weights, n_features)
    if T in (0, w.size):
        return np.full((draws, w.size), T > 0)
    return boundary.release(_MaskDraw(T, draws), w, rng)


@dataclass(frozen=True)
class _MaskDraw:
    """Masks of T ones, each with probability proportional to exp(sum of its log weights)."""

    n_features: int
    draws: int

    def _sample(self, w: FloatArray, rng: np.random.Generator) -> BoolArray:
        T, draws = self.n_features, self.draws
        c = _tilt(w, T)
        p = expit(w + c)
        F = _forward(p, expit(-(w + c)), T)
        masks = np.zeros((w.size, draws), dtype=bool)
        uniforms = rng.random((w.size, draws))
        left = np.full(draws, T)
        for d in range(w.size - 1, -1, -1):
            # probability that variable d is 1, for each number of remaining ones; a t with F[d+1, t] = 0 never occurs
            chance = np.zeros(T + 1)
            np.divide(p[d] * F[d, :-1], F[d + 1, 1:], out=chance[1:], where=F[d + 1, 1:] > 0)
            on = uniforms[d] < chance[left]
            # despite rounding, all variables are 1 if as many variables as ones remain
            on |= left == d + 1
            masks[d] = on
            left -= on
        return np.ascontiguousarray(masks.T)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # a mask's log ratio is its sum of weight changes minus the change of log Z; the T largest or least are extreme
        T = self.n_features
        change = np.sort(np.subtract(statistic, other_statistic))
        shift = log_normaliser(statistic, T) - log_normaliser(other_statistic, T)
        worst = max(abs(change[-T:].sum() - shift), abs(change[:T].sum() - shift))
        return boundary.Loss(pure=self.draws * float(worst))


def log_normaliser(log_weights: Any, n_features: int) -> float:
    """Return log Z, the log of the sum over masks of T ones of exp(w·m) (Antonova 2016, eq. 3.27)."""
    w, T = _check_weights(log_weights, n_features)
    if T in (0, w.size):
        return float(w.sum()) if T else 0.0
    c = _tilt(w, T)
    F = _forward(expit(w + c), expit(-(w + c)), T)
    return float(np.log(F[-1, T]) - c * T - log_expit(-(w + c)).sum())


def mask_log_probability(log_weights: Any, masks: Any) -> FloatArray:
    """Return the log probability of each mask. All masks must have the same number of ones.

    Parameters
    ----------
    log_weights : array of shape (D,)
        Log weight of each feature. Weights are finite.
    masks : array of bool, shape (..., D)
        Masks with the same number of ones.

    Returns
    -------
    ndarray of shape (...)
        Log probability of each mask.

    Raises
    ------
    InvalidParameter
        If the masks have different numbers of ones.

    See Also
    --------
    sample_masks : Draw masks from this distribution.
    """
    masks = np.asarray(masks, dtype=bool)
    ones = np.unique(masks.sum(axis=-1))
    if ones.size != 1:
        raise InvalidParameter("masks", f"masks with {ones.tolist()} ones", "all of the same number of ones")
    return masks @ np.asarray(log_weights, dtype=float) - log_normaliser(log_weights, int(ones[0]))


CALIBRATIONS = ("range", "published", "per-feature")


@claim(
    "mask-total_count",
    "Mask sampling by total counts",
    "[antonova2016], Algorithm 5, with weights by the range of the score change (docs/explanation/errata.md)",
    "ε for the whole set of features",
    options={"score": "total_count", "calibration": "range"},
)
@claim(
    "mask-difference_count",
    "Mask sampling by difference counts",
    "[antonova2016], Algorithm 5, with weights by the range of the score change (docs/explanation/errata.md)",
    "ε for the whole set of features",
    options={"score": "difference_count", "calibration": "range"},
)
@claim(
    "mask-count",
    "Mask sampling by the count heuristic",
    "[antonova2016], Algorithm 5, with weights by the range of the score change (docs/explanation/errata.md)",
    "ε for the whole set of features",
    options={"score": "count", "calibration": "range"},
)
@claim(
    "mask-mutual_information",
    "Mask sampling by mutual information",
    "[antonova2016], Algorithm 5, with weights by the range of the score change (docs/explanation/errata.md)",
    "ε for the whole set of features",
    options={"score": "mutual_information", "calibration": "range"},
)
@claim(
    "mask-published",
    "Mask sampling with the weights of Antonova 2016",
    "[antonova2016], Algorithm 5, eq. 3.26 and 3.30",
    "ε for the whole set of features",
    cost="at most ε, half of it with the count heuristic under add/remove",
    options={"calibration": "published"},
)
@claim(
    "mask-per-feature",
    "Mask sampling with a weight of ε/(2Δ) for each feature",
    "[antonova2016], section 3.5.3, Fig. 3.11, 3.12, 3.18, which state ε for each feature, audited with T = 4 of 8",
    "ε for each feature",
    cost="up to min(T, D - T)·ε for the set, half of it with the count heuristic: 2ε for 4 of 8",
    true_epsilon=lambda epsilon: 2 * epsilon,
    options={"calibration": "per-feature"},
)
@dataclass(eq=False, repr=False)
class MaskSelector(PrivateSelector):
    """Feature selector by the exponential mechanism over masks, which selects T features at once.

    It releases the set of T selected features, drawn with probability proportional to exp(w · sum of their scores).

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    n_features : int
        Public number T of features to keep, 1 to D: choose it without looking at the records.
    score : {"count", "mutual_information", "total_count", "difference_count"}, default "count"
        Utility of a feature (`dpml.selection.scores`).
    calibration : {"range", "published", "per-feature"}, default "range"
        Weight w of a score. "range" uses the largest weight that costs ε. "published" uses the weight of Antonova
        (2016), which selects less accurately and is charged with ε. "per-feature" uses the weight of one feature, which
        costs more than ε.

    See Also
    --------
    TopSelector : Select T features one at a time or jointly.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, or `cost` for "per-feature". δ = 0. Relation: `relation`. Sensitivity: the range R
    of a mask's score (`dpml.selection.mask_change_range` has the derivation).

    A weight w costs w·R:

    - ``calibration="range"``: w = ε/R, which costs ε.
    - ``"published"``: w = ε/(2TΔ) as in Antonova (2016). It costs w·R <= ε, usually about half of it, and ε is charged.
    - ``"per-feature"``: w = ε/(2Δ), as in the plots of single features there. It costs w·R, up to min(T, D-T)·ε, which
      is charged.

    References
    ----------
    Antonova (2016), Algorithm 5, eq. 3.26 and 3.30.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> X = (rng.random((2000, 6)) < 0.5).astype(int)
    >>> X[:, 2] = y
    >>> MaskSelector(1.0, n_features=1, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [2]
    """

    n_features: int
    score: str = "count"
    _: KW_ONLY
    calibration: str = "range"

    def _check(self, facts: PublicFacts) -> None:
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        check_integer(self.n_features, "n_features", 1, facts.n_features)

    def weight(self, schema: Schema) -> float:
        """Return w, the log weight of one unit of score.

        Parameters
        ----------
        schema : Schema
            Public metadata of the table: columns, domains and classes.

        Returns
        -------
        float
            Log weight.
        """
        return self._weight(self._checked(schema))

    def cost(self, schema: Schema) -> float:
        """Return the ε that one fit charges: `epsilon`, or for ``calibration="per-feature"`` the cost of its weight.

        Parameters
        ----------
        schema : Schema
            Public metadata of the table: columns, domains and classes.

        Returns
        -------
        float
            The ε of one fit.
        """
        facts = self._checked(schema)
        if self.calibration != "per-feature":
            return check_epsilon(self.epsilon)
        # if all features are kept there is only one mask, and the nominal ε is charged
        return self._weight(facts) * self._span(facts) or check_epsilon(self.epsilon)

    def _span(self, facts: PublicFacts) -> float:
        options: Any = {"n_rows": facts.n_rows, "n_classes": facts.n_classes}
        return mask_change_range(
            self.score, facts.relation, self.n_features, facts.n_features, facts.row_bound, **options
        )

    def _weight(self, facts: PublicFacts) -> float:
        if self.calibration == "range":
            span = self._span(facts)
            return check_epsilon(self.epsilon) / span if span else 0.0
        features = self.n_features if self.calibration == "published" else 1
        return check_epsilon(self.epsilon) / (2 * features * facts.sensitivity(self.score))

    def _masks(self, counts, facts, draws, rng):
        if self.n_features == facts.n_features:
            return np.ones((draws, facts.n_features), dtype=bool)
        weights = weighted(facts.scores(counts, self.score), self._weight(facts))
        return sample_masks(weights, self.n_features, draws, rng=rng)
