"""Private feature selectors with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from dpml._validate import ON_INVALID, as_generator, check_choice, check_epsilon, check_integer, check_relation
from dpml.budget import Budget, charge
from dpml.counts import contingency
from dpml.encoding import cut_rows
from dpml.exceptions import InvalidData, NoSecureSampler
from dpml.schema import Schema, resolve_schema
from dpml.selection.masks import sample_masks
from dpml.selection.scores import KINDS, mask_weight, scores_from_counts, sensitivity

__all__ = ["CALIBRATIONS", "MaskSelector", "published_mask_weight"]

CALIBRATIONS = ("range", "published")


def published_mask_weight(kind: str, relation: str, epsilon: float, n_features: int, *, n_rows: int | None = None):
    """Return the log weight as 000 states it, ε/(2·T·Δq) (eq. 3.26 with 3.30): private, but wasteful.

    Examples
    --------
    >>> published_mask_weight("count", "add-remove", 1.0, n_features=5)
    0.1
    """
    T = check_integer(n_features, "n_features", 1)
    return check_epsilon(epsilon) / (2 * T * sensitivity(kind, relation, n_rows=n_rows))


def public_n_rows(schema: Schema, relation: str) -> int | None:
    """Return the number of records that mutual information may count on: N if public, else the lower bound."""
    return schema.n_rows if relation == "replace-one" and schema.n_rows else schema.n_lower


class MaskSelector(SelectorMixin, BaseEstimator):
    """Select T features at once, by the exponential mechanism over masks (000, Algorithm 5).

    Released: the set of T selected features, drawn with probability proportional to exp(w · sum of their scores).

    Privacy: ε per fit, for `relation`. ``calibration="range"``: w = ε divided by the range of the change of a mask's
    score (`dpml.selection.mask_change_range` has the derivation). ``calibration="published"``: w = ε/(2TΔ) as in 000;
    it costs at most ε and usually about half of it.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of one fit, finite and > 0.
    n_features : int
        T, the number of features to keep, 1 to D. A public choice.
    score : {"count", "mutual_information", "total_count", "difference_count"}
        How useful a feature is; see `dpml.selection.scores`.
    calibration : {"range", "published"}
    row_bound : int, optional
        Cut every record down to this many ones first; None: the schema's bound.
    relation : {"add-remove", "replace-one"}
    schema : Schema, optional
        None: the canonical binary schema. Mutual information needs `n_rows` or a good `n_lower` in it.
    budget : Budget, optional
        Charged ε before the mask is drawn.
    on_invalid : {"raise", "clip"}
    release : bool
        Use secure noise; not offered for masks.
    random_state : int, Generator or None

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table was a DataFrame.

    Raises
    ------
    InvalidParameter, InvalidData, BudgetExceeded, RelationMismatch, NoSecureSampler

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> X = (rng.random((2000, 6)) < 0.5).astype(int)
    >>> X[:, 2] = y
    >>> MaskSelector(1.0, n_features=1, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [2]
    """

    def __init__(
        self,
        epsilon: float,
        n_features: int,
        score: str = "count",
        *,
        calibration: str = "range",
        row_bound: int | None = None,
        relation: str = "add-remove",
        schema: Schema | None = None,
        budget: Budget | None = None,
        on_invalid: str = "raise",
        release: bool = False,
        random_state: Any = None,
    ):
        self.epsilon = epsilon
        self.n_features = n_features
        self.score = score
        self.calibration = calibration
        self.row_bound = row_bound
        self.relation = relation
        self.schema = schema
        self.budget = budget
        self.on_invalid = on_invalid
        self.release = release
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> MaskSelector:
        """Select features of private records; X and y as for a classifier."""
        epsilon = check_epsilon(self.epsilon)
        check_choice(self.score, "score", KINDS)
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        relation = check_relation(self.relation)
        if self.release:
            raise NoSecureSampler("there is no secure sampler for masks; use release=False for study")
        schema = resolve_schema(self.schema, X)
        rng = as_generator(self.random_state)
        named = isinstance(X, pd.DataFrame)
        X, codes, schema = schema.check_table(X, y, self.on_invalid)
        D = schema.n_features
        T = check_integer(self.n_features, "n_features", 1, D)
        r = schema.row_bound if self.row_bound is None else check_integer(self.row_bound, "row_bound", 1)
        n_rows = public_n_rows(schema, relation) if self.score == "mutual_information" else None
        if n_rows is not None and self.on_invalid == "raise" and len(codes) < n_rows:
            raise InvalidData(f"the schema states at least {n_rows} records, the table has {len(codes)}")
        if self.calibration == "published":
            weight = published_mask_weight(self.score, relation, epsilon, T, n_rows=n_rows)
        else:
            weight = mask_weight(self.score, relation, epsilon, T, D, r, n_rows=n_rows, n_classes=schema.n_classes)
        exact = scores_from_counts(contingency(cut_rows(X, r, rng=rng), codes, schema.n_classes), self.score)
        charge(self.budget, relation, epsilon, label=f"MaskSelector, {self.score}")
        self._mask = sample_masks(weight * exact, T, 1, rng=rng)[0]
        self.n_features_in_ = D
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
