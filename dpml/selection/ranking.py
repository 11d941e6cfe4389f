"""Selectors that add noise to counts or scores: they rank the features, or keep those above a threshold.

They are Antonova's Algorithms 2 and 3, Stoddard et al.'s score perturbation (section 3.2), a repair of their cluster
selection, and the sparse vector technique, which repairs their private threshold testing and NoisyCut.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_integer, check_number, check_rng
from dpml.claims import claim
from dpml.counts import Contingency, published_scale, release_published, release_row_bounded
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Laplace, boundary
from dpml.mechanisms.choice import ABOVE, SparseVector
from dpml.schema import Schema
from dpml.selection._base import PrivateSelector, PublicFacts, top_masks
from dpml.selection.scores import l1_sensitivity, scores_from_tables, scores_of

METHODS = ("row-bounded", "published")


def check_rule(n_features: Any, threshold: Any, facts: PublicFacts) -> None:
    """Check that exactly one of the two public rules is given: a number of features or a threshold on the score."""
    if (n_features is None) == (threshold is None):
        raise InvalidParameter(
            "n_features", n_features, f"given if and only if threshold is None (threshold = {threshold!r})"
        )
    if threshold is None:
        check_integer(n_features, "n_features", 1, facts.n_features)
    else:
        check_number(threshold, "threshold")


@claim(
    "score-perturbation",
    "Score perturbation, the T best features",
    "[stoddard2014], section 3.2, and [antonova2016], Algorithm 3 (cost up to a common shift derived here)",
    "ε for the set of features",
)
@claim(
    "score-perturbation-threshold",
    "Score perturbation, all features above a threshold",
    "[stoddard2014], section 3.2",
    "ε for the set of features",
)
@dataclass(eq=False, repr=False)
class NoisyScoreSelector(PrivateSelector):
    """Feature selector by noisy scores, which keeps the best T or all above a threshold.

    It adds Laplace noise to every score and releases the set of selected features.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    n_features : int, optional
        Number T of features to keep, 1 to D. It is public: choose it without looking at the records.
    score : {"count", "mutual_information", "total_count", "difference_count"}, default "count"
        Utility of a feature (`dpml.selection.scores`). The noise for "count" and "mutual_information" grows with the
        number of features, the noise for the others only with `row_bound`.
    threshold : float, optional
        Threshold τ, in the score's unit: features whose noisy score is at least τ are kept. It is public. Give exactly
        one of `n_features` and `threshold`.

    See Also
    --------
    MaskSelector : Select T features by the exponential mechanism, with less noise.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: the L1 sensitivity S of all scores
    (`dpml.selection.l1_sensitivity` has the derivation).

    The noise has scale S/ε. Under add/remove S is r for total and difference counts, which change only for features
    that are on in the record. For the count heuristic and mutual information S is D times the sensitivity. With
    `n_features` only the order of the scores matters, so S ignores a common shift.

    References
    ----------
    Stoddard et al. (2014), section 3.2. With mutual information and `n_features` this is Algorithm 3 of Antonova
    (2016).

    Examples
    --------
    >>> X, y = np.eye(4, dtype=int)[[0] * 300 + [1] * 200 + [2] * 20 + [3] * 10], [0, 1] * 265
    >>> chosen = NoisyScoreSelector(1.0, score="total_count", threshold=100, row_bound=1, random_state=0).fit(X, y)
    >>> chosen.get_support(indices=True).tolist()
    [0, 1]
    """

    n_features: int | None = None
    score: str = "count"
    _: KW_ONLY
    threshold: float | None = None

    def _check(self, facts):
        check_rule(self.n_features, self.threshold, facts)

    def noise(self, schema: Schema) -> Laplace:
        """Return the distribution of the noise on each score.

        Parameters
        ----------
        schema : Schema
            Public metadata of the table: columns, domains and classes.

        Returns
        -------
        Laplace
            The mechanism of one fit.
        """
        return self._noise(self._checked(schema))

    def _noise(self, facts: PublicFacts) -> Laplace:
        bounds: Any = {"n_rows": facts.n_rows, "n_classes": facts.n_classes, "up_to_shift": self.threshold is None}
        whole = l1_sensitivity(self.score, facts.relation, facts.n_features, facts.row_bound, **bounds)
        return Laplace(self.epsilon, whole)

    def _masks(self, counts, facts, draws, rng):
        if self.n_features == facts.n_features:
            return np.ones((draws, facts.n_features), dtype=bool)
        values = facts.scores(counts, self.score)
        if self.n_features is not None:
            scale = self._noise(facts).scale
            return boundary.release(_BestOfNoisy(self.n_features, draws, scale), values, check_rng(rng))
        noisy = self._noise(facts).release(values, draws=draws, rng=rng)
        assert self.threshold is not None  # one of the two rules is given
        return noisy >= self.threshold


@dataclass(frozen=True)
class _BestOfNoisy:
    """The T largest scores after Laplace noise; a common shift of all scores does not change them."""

    n_features: int
    draws: int
    scale: float

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> BoolArray:
        noise = rng.laplace(scale=self.scale, size=(self.draws, statistic.size))
        return top_masks(noise + statistic, self.n_features)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        change = np.subtract(statistic, other_statistic)
        # shifting by the median leaves the least L1 change
        return boundary.Loss(pure=self.draws * float(np.abs(change - np.median(change)).sum()) / self.scale)


@claim(
    "noisy-counts-selection",
    "Features by row-bounded counts",
    "derived here (docs/explanation/errata.md), with the row sampling of [stoddard2014]",
    "ε for the counts, and for the set of features that they give",
    options={"method": "row-bounded"},
)
@claim(
    "noisy-counts-selection-published",
    "Features by the counts of Algorithm 1",
    "[antonova2016], Algorithm 1",
    "ε for the counts, and for the set of features that they give",
    options={"method": "published"},
)
@dataclass(eq=False, repr=False)
class NoisyCountSelector(PrivateSelector):
    """Feature selector by noisy counts, which computes the scores from them and keeps the best T.

    It releases noisy counts of every feature in every class. The selection is post-processing of them.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    n_features : int
        Number T of features to keep, 1 to D. It is public, and the cost does not depend on it.
    score : {"mutual_information", "count", "total_count", "difference_count"}, default "mutual_information"
        Utility of a feature (`dpml.selection.scores`), computed from the noisy counts.
    method : {"row-bounded", "published"}, default "row-bounded"
        Noise that grows with `row_bound`, or as in Antonova (2016) with the number of features.

    See Also
    --------
    MaskSelector : Select T features by the exponential mechanism.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: in L1 norm, r for the on-counts and 1 for
    the class counts (row-bounded), D for the on-counts and off-counts (published), and twice these values under
    replace-one.

    ``method="row-bounded"`` is the release of `dpml.counts.release_row_bounded`. ``method="published"`` raises counts
    below the 65th percentile of the noise to it, as in Algorithm 1 of Antonova (2016).

    References
    ----------
    Antonova (2016), Algorithm 2.

    Examples
    --------
    >>> X, y = np.array([[1, 1, 0], [0, 1, 1]])[[1, 0] * 500], [0, 1] * 500
    >>> NoisyCountSelector(1.0, n_features=2, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [0, 2]
    """

    n_features: int
    score: str = "mutual_information"
    _: KW_ONLY
    method: str = "row-bounded"

    def _check(self, facts):
        check_choice(self.method, "method", METHODS)
        check_integer(self.n_features, "n_features", 1, facts.n_features)

    def _secure(self):
        return True

    def _masks(self, counts, facts, draws, rng):
        if self.method == "published":
            noise: Any = {"relation": facts.relation, "draws": draws, "rng": rng, "secure": rng is None}
            noisy = release_published(counts, self.epsilon, **noise)
            scale = published_scale(self.epsilon, facts.n_features, relation=facts.relation)
            floor = Laplace(1.0, scale).quantile(0.65)
            assert noisy.off is not None
            on, off = np.maximum(noisy.on, floor), np.maximum(noisy.off, floor)
        else:
            on, off = noisy_tables(counts, self.epsilon, facts, draws, rng)
        return top_masks(scores_from_tables(on, off, self.score), self.n_features)


def noisy_tables(
    counts: Contingency, epsilon: float, facts: PublicFacts, draws: int, rng: np.random.Generator | None
) -> tuple[FloatArray, FloatArray]:
    """Return on- and off-counts (draws, C, D) of the row-bounded release, clipped between 0 and their class count."""
    noise: Any = {"relation": facts.relation, "draws": draws, "rng": rng, "secure": rng is None}
    noisy = release_row_bounded(counts, epsilon, facts.row_bound, **noise)
    assert noisy.n is not None
    n = np.maximum(noisy.n, 0.0)[:, :, None]
    on = np.clip(noisy.on, 0.0, n)
    return on, n - on


@claim(
    "noisy-clusters-selection",
    "Clusters of row-bounded counts",
    "derived here (docs/explanation/errata.md), with the row sampling of [stoddard2014]",
    "ε for the counts, and for the set of features that they give",
)
@dataclass(eq=False, repr=False)
class NoisyClusterSelector(PrivateSelector):
    """Feature selector by clusters of noisy counts, which keeps whole clusters.

    It releases noisy counts of every feature in every class. Clusters and selection are post-processing of them.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    n_features : int, optional
        Number T of features: clusters are kept in the order of their centres' scores while they have at most T features
        together. The best features of the next cluster fill the remaining places.
    score : {"total_count", "difference_count", "count", "mutual_information"}, default "total_count"
        Score of a cluster's centre (`dpml.selection.scores`).
    threshold : float, optional
        Threshold τ, in the score's unit: clusters whose centre's score is at least τ are kept. It is public. Give
        exactly one of `n_features` and `threshold`.
    n_clusters : int, default 8
        Largest number of clusters, at least 2.

    See Also
    --------
    NoisyCountSelector : Select T features from the same noisy counts.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: in L1 norm, r for the on-counts and 1 for
    the class counts, and twice these values under replace-one.

    The noisy counts are those of `dpml.counts.release_row_bounded`. The paper clusters by exact counts, which is not
    private at any ε (docs/explanation/errata.md).

    References
    ----------
    Stoddard et al. (2014), Algorithm 1, repaired.

    Examples
    --------
    >>> X, y = np.array([[1, 1, 0], [0, 1, 1]])[[1, 0] * 500], [0, 1] * 500
    >>> selector = NoisyClusterSelector(1.0, 2, "difference_count", n_clusters=2, random_state=0)
    >>> selector.fit(X, y).get_support(indices=True).tolist()
    [0, 2]
    """

    n_features: int | None = None
    score: str = "total_count"
    _: KW_ONLY
    threshold: float | None = None
    n_clusters: int = 8

    def _check(self, facts):
        check_rule(self.n_features, self.threshold, facts)
        check_integer(self.n_clusters, "n_clusters", 2)

    def _secure(self):
        return True

    def _masks(self, counts, facts, draws, rng):
        on, off = noisy_tables(counts, self.epsilon, facts, draws, rng)
        return np.stack([self._kept(on[i], off[i]) for i in range(draws)])

    def _kept(self, on: FloatArray, off: FloatArray) -> BoolArray:
        """Return the mask of one draw from noisy counts (C, D). Post-processing."""
        from sklearn.cluster import KMeans  # slow, and only this needs it

        k = min(self.n_clusters, len(np.unique(on, axis=1).T))
        groups = KMeans(k, n_init=1, random_state=0).fit_predict(on.T)
        members = np.stack([groups == g for g in range(k)]).astype(float)
        centres = [values @ members.T / members.sum(axis=1) for values in (on, off)]
        of_centre = scores_from_tables(centres[0], centres[1], self.score)[groups]
        if self.threshold is not None:
            return np.asarray(of_centre >= self.threshold)
        # clusters are ordered by their centres' scores, features within a cluster by their own noisy scores
        order = np.lexsort((scores_from_tables(on, off, self.score), groups, of_centre))
        mask = np.zeros(on.shape[1], dtype=bool)
        mask[order[on.shape[1] - self.n_features :]] = True
        return mask


@claim(
    "sparse-vector-selection",
    "Sparse vector selection",
    "[lyu2017], Algorithm 1, which repairs the threshold testing in [stoddard2014]",
    "ε for any number of features, of which at most a stated number are selected",
)
@dataclass(eq=False, repr=False)
class SparseVectorSelector(PrivateSelector):
    """Feature selector by the sparse vector technique, which keeps features above a threshold.

    It tests the features in random order until `cutoff` are kept. It releases for each tested feature whether its noisy
    score exceeds the noisy threshold. The order is independent of the records.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    threshold : float
        Threshold τ, in the score's unit. It is public: choose it without looking at the records.
    cutoff : int, default 10
        Largest number c of features to keep. The noise on a score grows with it.
    score : {"total_count", "difference_count", "count", "mutual_information"}, default "total_count"
        Utility of a feature (`dpml.selection.scores`). Total counts need half the noise under add/remove.

    See Also
    --------
    NoisyScoreSelector : Select features above a threshold by noise on all scores.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: that of one score (`sensitivity`).

    The sparse vector technique is that of `dpml.mechanisms.SparseVector`. Total counts are monotone under add/remove,
    which halves the noise on the scores. The methods of Stoddard et al. omit the noise on the scores (private threshold
    testing) or the cut-off (NoisyCut), and neither is private at its claimed ε (docs/explanation/errata.md).

    References
    ----------
    Stoddard et al. (2014), Algorithm 2 and section 3.4, repaired.

    Examples
    --------
    >>> X, y = np.eye(4, dtype=int)[[0] * 300 + [1] * 200 + [2] * 20 + [3] * 10], [0, 1] * 265
    >>> SparseVectorSelector(1.0, threshold=100, cutoff=2, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [0, 1]
    """

    threshold: float
    cutoff: int = 10
    score: str = "total_count"
    _: KW_ONLY

    def _check(self, facts):
        check_number(self.threshold, "threshold")
        check_integer(self.cutoff, "cutoff", 1)

    def technique(self, schema: Schema) -> SparseVector:
        """Return the sparse vector mechanism with its noise scales.

        Parameters
        ----------
        schema : Schema
            Public metadata of the table: columns, domains and classes.

        Returns
        -------
        SparseVector
            The mechanism of one fit.
        """
        return self._technique(self._checked(schema))

    def _technique(self, facts: PublicFacts) -> SparseVector:
        monotone = self.score == "total_count" and facts.relation == "add-remove"
        return SparseVector(self.epsilon, self.cutoff, facts.sensitivity(self.score), monotone)

    def _masks(self, counts, facts, draws, rng):
        values = facts.scores(counts, self.score)
        technique = self._technique(facts)
        masks = np.zeros((draws, facts.n_features), dtype=bool)
        for mask in masks:
            order = boundary.public_randomness(rng, "permutation", facts.n_features)
            mask[order] = technique.release(scores_of(values, order), self.threshold, rng=rng) == ABOVE
        return masks
