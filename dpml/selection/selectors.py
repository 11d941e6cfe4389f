"""Algorithm 5 of Antonova (2016), with the published weights and with tight ones."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dpml._validate import check_choice, check_epsilon, check_integer
from dpml.claims import claim
from dpml.schema import Schema
from dpml.selection._base import PrivateSelector, PublicFacts
from dpml.selection.masks import sample_masks
from dpml.selection.scores import sensitivity, weighted

CALIBRATIONS = ("range", "published", "per-feature")


def published_mask_weight(kind: str, relation: str, epsilon: float, n_features: int, *, n_rows: int | None = None):
    """Return the log weight of Antonova (2016), ε/(2·T·Δq), which is private but smaller than necessary.

    Parameters
    ----------
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.
    epsilon : float
        Privacy parameter ε of one draw, above 0.
    n_features : int
        Number T of features to select, 1 to D.
    n_rows : int, optional
        Public number of records (replace-one), or a public lower bound on it (add/remove). Mutual information needs it.

    Returns
    -------
    float
        Log weight of one unit of score, where Δq is the sensitivity of one score.

    See Also
    --------
    mask_weight : Log weight that is as large as the proof allows.
    MaskSelector : Select T features by the exponential mechanism over masks.

    Notes
    -----
    Privacy: no data is read.

    References
    ----------
    Antonova (2016), eq. 3.26 and 3.30.

    Examples
    --------
    >>> published_mask_weight("count", "add-remove", 1.0, n_features=5)
    0.1
    """
    T = check_integer(n_features, "n_features", 1)
    return check_epsilon(epsilon) / (2 * T * sensitivity(kind, relation, n_rows=n_rows))


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
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values select the
        best features more often.
    n_features : int
        Number T of features to keep, 1 to D. It is public: choose it without looking at the records. With more
        features, up to D/2, each gets a smaller part of ε.
    score : {"count", "mutual_information", "total_count", "difference_count"}, default "count"
        Utility of a feature (`dpml.selection.scores`). "total_count" measures the frequency of a feature, the others
        its association with the class.
    calibration : {"range", "published", "per-feature"}, default "range"
        Weight w of a score. "range" uses the largest weight that costs ε. "published" uses the weight of Antonova
        (2016), which selects less accurately and is charged with ε. "per-feature" uses the weight of one feature, which
        costs more than ε.

    See Also
    --------
    TopSelector : Select T features one at a time or jointly.
    NoisyCountSelector : Select T features from noisy counts.
    dpml.tuning.BestSelector : Select the number of features for a classifier.

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
    Antonova (2016), Algorithm 5.

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
        """Return the ε that one fit charges.

        Parameters
        ----------
        schema : Schema
            Public metadata of the table: columns, domains and classes.

        Returns
        -------
        float
            `epsilon`, or for ``calibration="per-feature"`` the cost of its weight.
        """
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
