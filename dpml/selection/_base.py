"""Base of the private feature selectors: their public metadata, and `fit` as one draw of a batch."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_relation, check_rng
from dpml.counts import Contingency, contingency
from dpml.encoding import columns_of, cut_rows
from dpml.estimators.base import CheckedTable, PrivateEstimator, check_binary
from dpml.exceptions import InvalidData
from dpml.mechanisms.private import for_study, is_private, number_of
from dpml.schema import Schema
from dpml.selection.scores import KINDS, change_range, scores_from_counts, sensitivity


def public_n_rows(schema: Schema, relation: str) -> int | None:
    """Return the number of records that mutual information is computed for.

    Parameters
    ----------
    schema : Schema
        Public metadata of the table: columns, domains and classes.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.

    Returns
    -------
    int or None
        The public number of records under replace-one. Otherwise the lower bound `n_lower`.

    See Also
    --------
    sensitivity : Sensitivity of a score, which for mutual information depends on this number.
    """
    return schema.n_rows if relation == "replace-one" and schema.n_rows else schema.n_lower


@dataclass(frozen=True)
class PublicFacts:
    """Public metadata that a selector uses.

    Attributes
    ----------
    n_features : int
        Number D of features.
    n_classes : int
        Number C of classes.
    row_bound : int
        Contribution bound: the most ones of a record after cutting. For one-hot columns it is the number of attributes.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.
    n_rows : int or None
        Number of records for mutual information, see `public_n_rows`.

    See Also
    --------
    PrivateSelector : Base of the private feature selectors.
    """

    n_features: int
    n_classes: int
    row_bound: int
    relation: str
    n_rows: int | None

    @classmethod
    def of(cls, schema: Schema, relation: str, row_bound: int | None = None) -> PublicFacts:
        """Return the metadata of a schema, for records cut to `row_bound` ones (None: not cut)."""
        bound = schema.row_bound
        assert bound is not None
        r = bound if row_bound is None else min(check_integer(row_bound, "row_bound", 1), bound)
        return cls(schema.n_features, schema.n_classes, r, check_relation(relation), public_n_rows(schema, relation))

    def scores(self, counts: Contingency, kind: str) -> Any:
        """Return the exact scores of a table, computed as if it had at least `n_rows` records.

        Parameters
        ----------
        counts : Contingency
            Exact counts of the records.
        kind : {"total_count", "difference_count", "count", "mutual_information"}
            Score of a feature.

        Returns
        -------
        ndarray of shape (D,), or Private
            One score for each feature.
        """
        return scores_from_counts(counts, kind, self.n_rows)

    def sensitivity(self, kind: str) -> float:
        """Return the sensitivity of one feature's score.

        Parameters
        ----------
        kind : {"total_count", "difference_count", "count", "mutual_information"}
            Score of a feature.

        Returns
        -------
        float
            Largest change between neighbours, in the score's unit.
        """
        return sensitivity(kind, self.relation, n_rows=self.n_rows)

    def change_range(self, kind: str) -> float:
        """Return the range of one feature's score, by `dpml.selection.change_range`.

        Parameters
        ----------
        kind : {"total_count", "difference_count", "count", "mutual_information"}
            Score of a feature.

        Returns
        -------
        float
            Length of the interval of changes between neighbours, in the score's unit.
        """
        options: Any = {"n_rows": self.n_rows, "n_classes": self.n_classes}
        return change_range(kind, self.relation, self.n_features, self.row_bound, **options)


class _Scored:
    """Mixin of what has a score, whose place among the parameters and default differ."""

    score: str


class SelectsColumns(SelectorMixin):
    """Mixin that selects columns of a table by a released mask."""

    _mask: BoolArray
    _schema: Schema

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._mask

    def transform(self, X: Any) -> Any:
        """Return the selected columns of a table. Values outside their domain are treated as in `fit`.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of float or csr_array, shape (n, T)
            The selected columns, in their order.
        """
        mask = self._get_support_mask()
        model: Any = self
        X, _ = self._schema.check_features(
            model._ordered(X, self._schema), "clip" if model.release else model.on_invalid
        )
        return columns_of(X, mask)

    def _model(self, mask: Any, table: CheckedTable) -> None:
        self._mask = mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSelector(SelectsColumns, _Scored, PrivateEstimator):
    """Base of the feature selectors with differential privacy.

    `fit` checks the records, cuts them to `row_bound` ones, counts them, charges the budget and makes one draw of
    `masks`. A simulation makes many draws from the same counts. Subclasses define their parameters and `_masks`.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    schema : Schema, optional
        Public metadata: columns, domains and classes. By default all columns are binary and the classes are 0 and 1.
        Mutual information needs a schema with `n_rows` or a good `n_lower`.
    row_bound : int, optional
        Contribution bound: every record is first cut to at most this many ones. By default the schema's bound is used.

    See Also
    --------
    MaskSelector : Select T features by the exponential mechanism over masks.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, unless a subclass states another cost. δ = 0, unless a subclass states another one.
    Relation: `relation`. Sensitivity: that of the score, as derived in `mask_change_range` and `l1_sensitivity`.
    """

    row_bound: int | None = None

    @abstractmethod
    def _masks(self, counts: Contingency, facts: PublicFacts, draws: int, rng: np.random.Generator | None) -> BoolArray:
        """Return (draws, D) masks of one table of exact counts; `rng` is None for secure noise."""

    def _check(self, facts: PublicFacts) -> None:
        """Check the subclass's own parameters."""

    def _secure(self) -> bool:
        """Return whether a release has a secure sampler at these settings."""
        return False

    def cost(self, schema: Schema) -> float:
        """Return the ε that one fit charges.

        Parameters
        ----------
        schema : Schema
            Public metadata of the table: columns, domains and classes.

        Returns
        -------
        float
            The ε of one fit.
        """
        return check_epsilon(self.epsilon)

    def _checked(self, schema: Schema) -> PublicFacts:
        check_epsilon(self.epsilon)
        check_choice(self.score, "score", KINDS)
        facts = PublicFacts.of(check_binary(schema), self.relation, self.row_bound)
        self._check(facts)
        return facts

    def masks(
        self, counts: Contingency, schema: Schema, *, draws: int = 1, rng: np.random.Generator | None = None
    ) -> BoolArray:
        """Release a batch of independent selections.

        Parameters
        ----------
        counts : Contingency
            Exact counts of records that are already cut to `row_bound` ones. If `on` has the shape (S, C, D), the draws
            use the S subsamples in turn. Private counts have the shape (C, D).
        schema : Schema
            Public metadata of the counted columns.
        draws : int, default 1
            Number of draws. Each costs `cost`.
        rng : numpy.random.Generator, optional
            Source of the noise, for simulations. A release draws secure noise without it.

        Returns
        -------
        ndarray of bool, shape (draws, D)
            One mask for each draw, True for the selected features.
        """
        facts = self._checked(schema)
        draws = check_integer(draws, "draws", 1)
        if rng is not None or not self.release:
            check_rng(rng)
        if is_private(counts.on) or counts.on.ndim == 2:
            return self._masks(counts, facts, draws, rng)
        masks = np.zeros((draws, facts.n_features), dtype=bool)
        for s, on in enumerate(counts.on[:draws]):
            turns = slice(s, None, len(counts.on))
            masks[turns] = self._masks(Contingency(on, counts.n), facts, len(range(*turns.indices(draws))), rng)
        return masks

    # ---- the steps of a fit -----------------------------------------------------------------------------------------

    def _no_sampler(self) -> str | None:
        return None if self._secure() else f"{type(self).__name__}: no secure sampler at these settings"

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        table = super()._check_table(X, y, schema)
        facts = self._checked(table.schema)
        # a table that contradicts its schema is an error in study only; `facts.scores` is safe without this check
        stated = facts.n_rows if self.score == "mutual_information" else None
        if stated is not None and stated > 1 and self.on_invalid == "raise" and not self.release:
            n = for_study(number_of(table.codes), self.release, "the number of records")
            if n < stated:
                raise InvalidData(f"the schema states at least {stated} records, the table has {n}")
        return table

    def _costs(self, schema: Schema) -> dict[str, float]:
        return {f"{type(self).__name__}, {self.score}": self.cost(schema)}

    def _statistics(self, table: CheckedTable) -> Contingency:
        # a release cuts with this generator too, because the privacy does not depend on the random numbers of cutting
        cut = cut_rows(table.X, self._checked(table.schema).row_bound, rng=table.rng)
        return contingency(cut, table.codes, table.schema.n_classes)

    def _release(self, counts: Contingency, table: CheckedTable) -> BoolArray:
        return self._masks(counts, self._checked(table.schema), 1, table.noise.get("rng"))[0]


def top_masks(scores: FloatArray, n_features: int) -> BoolArray:
    """Return masks (draws, D) of the T largest noisy scores of each draw."""
    scores = np.atleast_2d(scores)
    masks = np.zeros(scores.shape, dtype=bool)
    largest = np.argpartition(scores, scores.shape[-1] - n_features, axis=-1)[:, scores.shape[-1] - n_features :]
    np.put_along_axis(masks, largest, True, axis=-1)
    return masks
