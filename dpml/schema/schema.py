"""Public metadata of a table: its possible columns, classes and records. The user states them, and no data are read.

A method that needs a domain, a bound, the classes or the number of records takes it from the schema. Data that
contradict the schema raise an error in a simulation (``on_invalid="raise"``) and are clipped in a release
(``on_invalid="clip"``), because an exception would reveal something about the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from dpml._validate import ON_INVALID, check_choice
from dpml.exceptions import InvalidData, shown
from dpml.schema import written
from dpml.schema.describe import Proposal, describe
from dpml.schema.table_facts import TableFacts
from dpml.schema.tables import (
    checked_column,
    checked_dense,
    checked_labels,
    checked_sparse,
    counts_outside,
    few,
    rows_of,
)
from dpml.schema.untrusted import frame_of, null_rows, plain_features, read_frame

# what an error adds where no schema was given
ASSUMED = "No schema was given, so every column must be 0 or 1 and the classes are 0 and 1: state a dpml.schema.Schema"


@dataclass(frozen=True)
class Schema(TableFacts):
    """State all public metadata of a table.

    Parameters
    ----------
    features : sequence of Feature
        The columns in order, with unique names.
    classes : tuple
        All labels that a record can have, at least two: texts, truth values and numbers between -2^53 and 2^53. A label
        is compared with them by value, as a category is (`Feature`). The classes that occur are private.
    row_bound : int, optional
        Contribution bound, the largest number of ones that a record of binary features can have. By default it is the
        number of one-hot blocks plus the number of binary features outside any block.
    n_rows : int, optional
        The number of records, if it is public (replace-one), at most 2^53.
    n_lower : int, optional
        A public lower bound on the number of records. By default it is `n_rows`, or else 1. The sensitivity of mutual
        information under add/remove is taken at this number.
    ignored : sequence of str
        Columns that a table may have and that are left out, an identifier for example. Any other column that is no
        feature is refused.
    data_derived : sequence of {"classes", "row_bound", "n_rows", "n_lower", "ignored"}
        Data-derived facts of the whole table that no person has confirmed. A release refuses them, as it refuses such
        facts of a feature.
    confirmed : sequence of {"classes", "row_bound", "n_rows", "n_lower", "ignored"}
        Data-derived facts of the whole table that a person has confirmed (`confirm`).

    Raises
    ------
    InvalidSchema
        A fact is missing or contradicts another, or a label is one that a container may read as another value, such as
        None and NaN.
    InvalidParameter
        A parameter has a value that is not allowed.

    See Also
    --------
    Feature : States the public domain of one column.
    Proposal : Holds a proposed schema and its open questions.
    resolve_schema : Returns a given schema or the canonical one.

    Notes
    -----
    The constructor reads no data: the user states the metadata.

    Examples
    --------
    >>> schema = Schema.binary(3, row_bound=2)
    >>> schema.n_features, schema.classes, schema.row_bound
    (3, (0, 1), 2)
    """

    # ---- checks of data against the schema --------------------------------------------------------------------

    def without_ignored(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a table without the columns that the schema leaves out by name.

        Parameters
        ----------
        X : DataFrame of shape (n, D)
            The table.

        Returns
        -------
        DataFrame
            The table without these columns.
        """
        if not self.ignored:
            return X
        kept = [str(c) not in self.ignored for c in X.columns]
        return X if all(kept) else X.loc[:, kept]

    def check_features(self, X: Any, on_invalid: str = "raise") -> tuple[Any, Schema]:
        """Check a table against the schema.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            The table. A DataFrame's columns are looked up by name, so it may have only some of the features.
        on_invalid : {"raise", "clip"}, default="raise"
            Treatment of a value outside its domain.

        Returns
        -------
        X : ndarray of float, csr_array or (if a feature is not binary) DataFrame
            The values inside their domains.
        schema : Schema
            The schema of the columns that X has.

        Raises
        ------
        InvalidData
            With ``on_invalid="raise"``, if a value is outside its domain. The message names the column, the value and
            the domain. Always if the shape or a column name is wrong, since these are public.
        """
        check_choice(on_invalid, "on_invalid", ON_INVALID)
        try:
            with np.errstate(over="ignore"):  # no warning says that a number is too large for a float
                return self._check_features(X, on_invalid)
        except InvalidData as error:
            if not self._assumed:
                raise
            raise InvalidData(f"{error}. {ASSUMED}") from None

    def _check_features(self, X: Any, on_invalid: str) -> tuple[Any, Schema]:
        schema: Schema = self
        X = read_frame(X)
        if on_invalid == "clip" and self.is_binary:
            X = plain_features(X, self.n_features, on_invalid)
        elif isinstance(X, (list, tuple)):
            X = rows_of(X, self.n_features, on_invalid)
        if isinstance(X, pd.DataFrame):
            X = self.without_ignored(X)
            unknown = [c for c in X.columns if str(c) not in self._position]
            if unknown:
                raise InvalidData(
                    f"column {shown(unknown[0])} is not in the schema, which has {few(self.feature_names)}. "
                    "To leave it out, name it in the schema's `ignored`"
                )
            names = [str(c) for c in X.columns]
            if names != self.feature_names:
                schema = self.subset(names)
        elif not sparse.issparse(X):
            X = np.asarray(X)
            if X.ndim != 2:
                raise InvalidData(f"X has {X.ndim} dimensions: it must have 2, records and features")
        if X.shape[1] != schema.n_features:
            raise InvalidData(
                f"X has {X.shape[1]} columns: the schema has {schema.n_features} features. "
                'After a selector in a Pipeline, set_output(transform="pandas") keeps their names'
            )
        if not schema.is_binary:
            if sparse.issparse(X):
                X = X.toarray()
            columns = X if isinstance(X, pd.DataFrame) else frame_of(X, schema.feature_names)
            clean = {f.name: checked_column(f, columns.iloc[:, i], on_invalid) for i, f in enumerate(schema.features)}
            return pd.DataFrame(clean, index=columns.index), schema
        check = checked_sparse if sparse.issparse(X) else checked_dense
        return check(schema.features, X, on_invalid), schema

    def check_labels(self, y: Any, on_invalid: str = "raise") -> np.ndarray:
        """Return the position of each label among the classes.

        Parameters
        ----------
        y : array-like of shape (n,)
            The labels.
        on_invalid : {"raise", "clip"}, default="raise"
            Treatment of a label that is not a class. "raise" raises `InvalidData`. "clip" gives it the position -1.

        Returns
        -------
        ndarray of int of shape (n,)
            Positions 0, ..., C-1, or -1.
        """
        check_choice(on_invalid, "on_invalid", ON_INVALID)
        return checked_labels(self.classes, y, on_invalid, f". {ASSUMED}" if self._assumed else "")

    def violations(self, X: Any, y: Any) -> dict[str, int]:
        """Count the values outside each feature's domain, and the labels that are no class.

        The numbers are exact and private. They are for simulations and show the effect of clipping.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            The table. The values of a sparse table are not counted.
        y : array-like of shape (n,)
            The labels.

        Returns
        -------
        dict of str to int
            Number of cells outside by feature, and of labels by "label". Features without one are left out.

        Examples
        --------
        >>> from dpml.schema import Feature
        >>> schema = Schema((Feature("job", "categorical", ("cook", "clerk")),), ("no", "yes"))
        >>> schema.violations(pd.DataFrame({"job": ["cook", "cok", "clerk"]}), ["no", "yes", "Yes"])
        {'job': 1, 'label': 1}
        """
        counts = counts_outside(self.features, X)
        counts["label"] = int((self.check_labels(y, "clip") < 0).sum())
        return {name: count for name, count in counts.items() if count}

    def public_count(self, X: Any, relation: str) -> int | None:
        """Return the number of records if it is public.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            The table.
        relation : {"add-remove", "replace-one"}
            The neighbouring relation.

        Returns
        -------
        int or None
            `n_rows`, or under replace-one the number in X, else None.

        Notes
        -----
        A record that is dropped later still counts: it becomes a null record, which adds nothing to any statistic.
        """
        if self.n_rows is not None or relation != "replace-one":
            return self.n_rows
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)

    def check_table(self, X: Any, y: Any, on_invalid: str = "raise") -> tuple[Any, np.ndarray, Schema]:
        """Check records and labels together.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            The records.
        y : array-like of shape (n,)
            Their labels.
        on_invalid : {"raise", "clip"}, default="raise"
            Treatment of invalid values. "raise" raises `InvalidData`. "clip" clips values, and drops an entry that is
            no record or whose label is not a class.

        Returns
        -------
        X : ndarray of float, csr_array or (if a feature is not binary) DataFrame
            The records inside their domains.
        codes : ndarray of int
            The position of each label among the classes.
        schema : Schema
            The schema of the columns that X has.

        Notes
        -----
        The number of remaining records is private, also under replace-one. Use `public_count` instead.
        """
        none = null_rows(X, self.n_features) if on_invalid == "clip" else None
        X, schema = self.check_features(X, on_invalid)
        codes = self.check_labels(y, on_invalid)
        if none is not None and len(none) == len(codes):
            codes[none] = -1
        return *self.without_unknown(X, codes, on_invalid), schema

    @staticmethod
    def without_unknown(X: Any, codes: np.ndarray, on_invalid: str) -> tuple[Any, np.ndarray]:
        """Return checked records and class positions without those whose position is -1."""
        if X.shape[0] != len(codes):
            if on_invalid == "clip":
                raise InvalidData("X and y must have the same number of records")
            raise InvalidData(f"X has {X.shape[0]} records and y has {len(codes)} labels: the numbers must be equal")
        known = codes >= 0
        return (X, codes) if known.all() else (X[known], codes[known])

    # ---- text form --------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the schema as JSON text that `from_json` reads back.

        Returns
        -------
        str
            JSON text of one object.
        """
        return written.to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a schema written by `to_json`.

        Parameters
        ----------
        text : str
            JSON text.

        Returns
        -------
        Schema
            The schema.
        """
        return written.from_json(text, cls)

    def to_yaml(self) -> str:
        """Return the schema as YAML text for review, which `from_yaml` reads back.

        Returns
        -------
        str
            YAML text.
        """
        return written.to_yaml(self)

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """Read a schema from YAML, of `to_yaml` or written by a person.

        The values are those of YAML 1.2: ``no`` and ``2020-01-01`` are texts.

        Parameters
        ----------
        text : str
            YAML text.

        Returns
        -------
        Schema
            The schema.

        Raises
        ------
        InvalidSchema
            If the text has an error.
        """
        return written.schema_of(text, cls)

    # ---- a proposal -------------------------------------------------------------------------------------------

    @classmethod
    def describe(cls, frame: Any, *, label: str | None = None, peek: bool = False, **paying: Any) -> Proposal[Self]:
        """Propose a schema for a table from the names and types of its columns.

        Without `epsilon` and `peek` no value is read. With an `epsilon` private bounds are released, and with a `delta`
        categories.

        Parameters
        ----------
        frame : DataFrame
            The table, which is private.
        label : str, optional
            The column with the labels. By default it is a column named label, target, class, y or outcome.
        peek : bool, default=False
            Whether to derive missing categories and bounds from the data, and mark them as `data_derived`.
        **paying
            Further arguments of `dpml.schema.describe.describe`: `epsilon`, `delta`, `kinds`, `budget`, `relation`,
            `rng` and `release`.

        Returns
        -------
        Proposal
            The known part of the schema, and the open questions.
        """
        return describe(frame, cls, label=label, peek=peek, **paying)
