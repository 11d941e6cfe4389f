"""MaskSelector: Antonova's Algorithm 5, with the published weights and with tight ones."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dpml._validate import check_choice, check_epsilon, check_integer
from dpml.schema import Schema
from dpml.selection._base import PrivateSelector, PublicFacts
from dpml.selection.masks import sample_masks
from dpml.selection.scores import sensitivity, weighted

CALIBRATIONS = ("range", "published", "per-feature")


def published_mask_weight(kind: str, relation: str, epsilon: float, n_features: int, *, n_rows: int | None = None):
    """Return the log weight of Antonova (2016), ε/(2·T·Δq) (eq. 3.26, 3.30). It is private, but smaller than necessary.

    Examples
    --------
    >>> published_mask_weight("count", "add-remove", 1.0, n_features=5)
    0.1
    """
    T = check_integer(n_features, "n_features", 1)
    return check_epsilon(epsilon) / (2 * T * sensitivity(kind, relation, n_rows=n_rows))


@dataclass(eq=False, repr=False)
class MaskSelector(PrivateSelector):
    """Select T features at once, by the exponential mechanism over masks (Antonova 2016, Algorithm 5).

    Released: the set of T selected features, drawn with probability proportional to exp(w · sum of their scores).

    Privacy: `cost` per fit, for `relation`. A weight w costs w·R, where R is the range of the change of a mask's score
    (`dpml.selection.mask_change_range` has the derivation). ``calibration="range"``: w = ε/R, which costs ε.
    ``"published"``: w = ε/(2TΔ) as in Antonova (2016), which costs w·R <= ε, usually about half of it; ε is charged.
    ``"per-feature"``: w = ε/(2Δ), as in Antonova's plots of single features. It costs w·R, up to min(T, D-T)·ε, which
    is charged.

    Parameters
    ----------
    n_features : int
        T, the number of features to keep, 1 to D. A public choice.
    score : {"count", "mutual_information", "total_count", "difference_count"}
        The utility of a feature; see `dpml.selection.scores`.
    calibration : {"range", "published", "per-feature"}

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
        """Return w, the log weight of one unit of score."""
        return self._weight(self._checked(schema))

    def cost(self, schema: Schema) -> float:
        """Return the ε that one fit charges."""
        facts = self._checked(schema)
        if self.calibration != "per-feature":
            return check_epsilon(self.epsilon)
        span = facts.mask_change_range(self.score, self.n_features)
        # if all features are kept there is only one mask, and the nominal ε is charged
        return self._weight(facts) * span or check_epsilon(self.epsilon)

    def _weight(self, facts: PublicFacts) -> float:
        if self.calibration == "range":
            return facts.mask_weight(self.score, self.epsilon, self.n_features)
        features = self.n_features if self.calibration == "published" else 1
        return published_mask_weight(self.score, facts.relation, self.epsilon, features, n_rows=facts.n_rows)

    def _masks(self, counts, facts, draws, rng):
        if self.n_features == facts.n_features:
            return np.ones((draws, facts.n_features), dtype=bool)
        weights = weighted(facts.scores(counts, self.score), self._weight(facts))
        return sample_masks(weights, self.n_features, draws, rng=rng)
