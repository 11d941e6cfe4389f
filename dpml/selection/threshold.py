"""SparseVectorSelector: select features above a threshold; only the selected ones cost privacy.

It repairs Stoddard et al.'s private threshold testing and NoisyCut.
"""

from dataclasses import dataclass

import numpy as np

from dpml._validate import check_integer, check_number
from dpml.mechanisms import boundary
from dpml.mechanisms.sparse_vector import ABOVE, SparseVector
from dpml.schema import Schema
from dpml.selection._base import PrivateSelector, PublicFacts
from dpml.selection.scores import scores_of


@dataclass(eq=False, repr=False)
class SparseVectorSelector(PrivateSelector):
    """Test the features in random order and keep those above a threshold, until `cutoff` are kept.

    Released: for each tested feature, whether its noisy score exceeds the noisy threshold. The order is independent of
    the data.

    Privacy: ε per fit, for `relation`, by the sparse vector technique (`dpml.mechanisms.SparseVector`) with the
    sensitivity of one score. Total counts are monotone under add/remove, which halves the noise on the scores. The
    methods of Stoddard et al. omit the noise on the scores (private threshold testing) or the cut-off (NoisyCut), and
    neither is private at its claimed ε (docs/explanation/errata.md).

    Parameters
    ----------
    threshold : float
        τ, in the score's units, a public number.
    cutoff : int
        c, the largest number of features to keep.
    score : {"total_count", "difference_count", "count", "mutual_information"}

    Examples
    --------
    >>> X, y = np.eye(4, dtype=int)[[0] * 300 + [1] * 200 + [2] * 20 + [3] * 10], [0, 1] * 265
    >>> SparseVectorSelector(1.0, threshold=100, cutoff=2, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [0, 1]
    """

    threshold: float
    cutoff: int = 10
    score: str = "total_count"

    def _check(self, facts):
        check_number(self.threshold, "threshold")
        check_integer(self.cutoff, "cutoff", 1)

    def technique(self, schema: Schema) -> SparseVector:
        """Return the sparse vector mechanism with its noise scales."""
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
