"""Public facts about a table: its possible columns, classes and records. The user states them; no data are read.

A method that needs a domain, a bound, the classes or the number of records takes it from the schema. Data that
contradict the schema raise an error in a demonstration (``on_invalid="raise"``) and are clipped in a release
(``on_invalid="clip"``), because an exception would reveal something about the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml._validate import ON_INVALID, check_choice, check_integer
from dpml.exceptions import InvalidData, InvalidSchema, shown
from dpml.schema import facts
from dpml.schema.feature import Feature
from dpml.schema.stated import MOST_WHOLE, label_array, stated_values
from dpml.schema.tables import (
    checked_column,
    checked_dense,
    checked_labels,
    checked_sparse,
    counts_outside,
    few,
    ignored_names,
    rows_of,
)
from dpml.schema.untrusted import frame_of, null_rows, plain_features, read_frame

if TYPE_CHECKING:
    from dpml.schema.describe import Proposal

# what an error adds where no schema was given
ASSUMED = "No schema was given, so every column must be 0 or 1 and the classes are 0 and 1: state a dpml.schema.Schema"


@dataclass(frozen=True)
class Schema:
    """All public facts about a table.

    Parameters
    ----------
    features : sequence of Feature
        The columns in order; names are unique.
    classes : tuple
        All labels that a record can have, at least two: texts, truth values and numbers between -2^53 and 2^53. Which
        of them occur is private.
    row_bound : int, optional
        The largest number of ones that a record of binary features can have. Default: the number of one-hot blocks
        plus the number of binary features outside any block.
    n_rows : int, optional
        The number of records, if it is public (replace-one); at most 2^53.
    n_lower : int, optional
        A public lower bound on the number of records. Default: `n_rows`, else 1. The sensitivity of mutual
        information under add/remove is taken at this number.
    ignored : sequence of str
        Columns that a table may have and that are left out, an identifier for example. Any other column that is no
        feature is refused.
    data_derived, confirmed : sequence of {"classes", "row_bound", "n_rows", "n_lower", "ignored"}
        Facts of the whole table that were read off the data: those that nobody has confirmed, which a release refuses,
        as it refuses such facts of a feature, and those that a person has (`confirm`).

    Raises
    ------
    InvalidSchema, InvalidParameter
        A fact is missing or contradicts another, or a label is one that a container may read as another value, such as
        None and NaN.

    Examples
    --------
    >>> schema = Schema.binary(3, row_bound=2)
    >>> schema.n_features, schema.classes, schema.row_bound
    (3, (0, 1), 2)
    """

    features: tuple[Feature, ...]
    classes: tuple = (0, 1)
    row_bound: int = None  # type: ignore[assignment]  # an int once made
    n_rows: int | None = None
    n_lower: int = None  # type: ignore[assignment]
    ignored: tuple[str, ...] = ()
    data_derived: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    _position: dict = field(default_factory=dict, init=False, repr=False, compare=False)
    _assumed: bool = field(default=False, init=False, repr=False, compare=False)

    def __deepcopy__(self, memo: dict) -> Schema:
        """Return the schema itself. It is immutable, and a copy for each cloned estimator would be slow."""
        return self

    def __post_init__(self):
        set_ = partial(object.__setattr__, self)  # frozen dataclass
        set_("features", tuple(self.features))
        set_("classes", stated_values(self.classes, "classes", 2))
        if not self.features:
            raise InvalidSchema("features", (), "at least one feature")
        set_("_position", {f.name: i for i, f in enumerate(self.features)})
        if len(self._position) < len(self.features):
            seen = [f.name for f in self.features]
            twice = next(name for name in seen if seen.count(name) > 1)
            raise InvalidSchema("feature name", twice, "given to one feature only")
        set_("ignored", ignored_names(self.ignored, self._position))
        marks = {"data_derived": self.data_derived, "confirmed": self.confirmed}
        for name, marked in facts.check_marks(marks, facts.OF_TABLE).items():
            set_(name, marked)
        most = self._most_ones()
        if self.row_bound is None:
            set_("row_bound", most)
        else:
            set_("row_bound", min(check_integer(self.row_bound, "row_bound", 1), most))
        if self.n_rows is not None:
            set_("n_rows", check_integer(self.n_rows, "n_rows", 1, MOST_WHOLE))
        lower = self.n_lower if self.n_lower is not None else (self.n_rows or 1)
        set_("n_lower", check_integer(lower, "n_lower", 1, self.n_rows or MOST_WHOLE))

    def _most_ones(self) -> int:
        binary = [f for f in self.features if f.kind == "binary"]
        return max(len({f.block for f in binary if f.block}) + sum(f.block is None for f in binary), 1)

    @classmethod
    def binary(
        cls,
        n_features: int,
        names: Sequence[str] | None = None,
        *,
        classes: Sequence = (0, 1),
        row_bound: int | None = None,
        n_rows: int | None = None,
        n_lower: int | None = None,
    ) -> Schema:
        """Return the canonical binary schema: values {0, 1}, classes (0, 1), row bound D."""
        n_features = check_integer(n_features, "n_features", 1)
        names = [f"x{i}" for i in range(n_features)] if names is None else list(names)
        if len(names) != n_features:
            raise InvalidSchema("names", f"{len(names)} names", f"{n_features}, one for each feature")
        features = tuple(Feature(str(name)) for name in names)
        return cls(features, tuple(classes), row_bound, n_rows, n_lower)  # type: ignore[arg-type]

    @property
    def n_features(self) -> int:
        """Number of features, D."""
        return len(self.features)

    @property
    def n_classes(self) -> int:
        """Number of classes, C."""
        return len(self.classes)

    @property
    def class_labels(self) -> np.ndarray:
        """The classes as an array, each as it is stated; position c is the label of class c."""
        return label_array(self.classes)

    @property
    def feature_names(self) -> list[str]:
        """Column names in order."""
        return [f.name for f in self.features]

    @property
    def is_binary(self) -> bool:
        """Whether every feature is binary."""
        return all(f.kind == "binary" for f in self.features)

    @property
    def blocks(self) -> list[str | None]:
        """The attribute of each one-hot column; None for a column outside any block."""
        return [f.block for f in self.features]

    @property
    def attributes(self) -> dict[str, list[int]]:
        """The columns of each one-hot attribute, for attributes whose columns cover all values."""
        columns: dict[str, list[int]] = {}
        for i, f in enumerate(self.features):
            if f.block is not None:
                columns.setdefault(f.block, []).append(i)
        return {block: where for block, where in columns.items() if all(self.features[i].exhaustive for i in where)}

    def subset(self, columns: Iterable[str | int]) -> Schema:
        """Return the schema of some columns, given by name, by position or by a boolean mask, in that order."""
        wanted = np.asarray(list(columns))
        if wanted.dtype == bool and wanted.shape == (self.n_features,):
            wanted = np.flatnonzero(wanted)
        if wanted.dtype.kind in "iu" and wanted.size:
            for position in wanted:
                check_integer(position, "column", 0, self.n_features - 1)
            chosen = wanted.tolist()
        else:
            unknown = [c for c in wanted.tolist() if c not in self._position]
            if unknown:
                raise InvalidSchema("column", unknown[0], f"one of {few(self.feature_names)}")
            chosen = [self._position[c] for c in wanted.tolist()]
        features = [self.features[i] for i in chosen]
        whole = {block for block, columns in self.attributes.items() if set(columns) <= set(chosen)}
        # an attribute that loses a column no longer covers all its values
        features = [replace(f, exhaustive=False) if f.exhaustive and f.block not in whole else f for f in features]
        return replace(self, features=tuple(features))

    # ---- checks of data against the schema --------------------------------------------------------------------

    def without_ignored(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a table without the columns that the schema leaves out by name."""
        if not self.ignored:
            return X
        kept = [str(c) not in self.ignored for c in X.columns]
        return X if all(kept) else X.loc[:, kept]

    def check_features(self, X: Any, on_invalid: str = "raise") -> tuple[Any, Schema]:
        """Check a table against the schema.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, D)
            A DataFrame's columns are looked up by name, so it may have only some of the features.
        on_invalid : {"raise", "clip"}
            What to do with a value outside its domain.

        Returns
        -------
        X : ndarray of float, csr_array or (if a feature is not binary) DataFrame
            The values inside their domains.
        schema : Schema
            The schema of the columns that X has.

        Raises
        ------
        InvalidData
            With ``on_invalid="raise"``, if a value is outside its domain; the message names the column, the value and
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
                    f"column {shown(unknown[0])} is not in the schema; it has {few(self.feature_names)}. "
                    f"Schema(..., ignored=[...]) leaves out columns that it names"
                )
            names = [str(c) for c in X.columns]
            if names != self.feature_names:
                schema = self.subset(names)
        elif not sparse.issparse(X):
            X = np.asarray(X)
            if X.ndim != 2:
                raise InvalidData(f"X has {X.ndim} dimensions: it must have 2, records and features")
        if X.shape[1] != schema.n_features:
            raise InvalidData(f"X has {X.shape[1]} columns: the schema has {schema.n_features} features")
        if not schema.is_binary:
            if sparse.issparse(X):
                X = X.toarray()
            columns = X if isinstance(X, pd.DataFrame) else frame_of(X, schema.feature_names)
            clean = {f.name: checked_column(f, columns.iloc[:, i], on_invalid) for i, f in enumerate(schema.features)}
            return pd.DataFrame(clean, index=columns.index), schema
        check = checked_sparse if sparse.issparse(X) else checked_dense
        return check(schema.features, X, on_invalid), schema

    def check_labels(self, y: Any, on_invalid: str = "raise") -> np.ndarray:
        """Return class positions 0..C-1, and -1 for a label that is not a class (``on_invalid="clip"`` only)."""
        check_choice(on_invalid, "on_invalid", ON_INVALID)
        return checked_labels(self.classes, y, on_invalid, f". {ASSUMED}" if self._assumed else "")

    def violations(self, X: Any, y: Any) -> dict[str, int]:
        """Count the values outside each feature's domain, and the labels that are no class. Exact: private.

        For study: it says what clipping changes. Only what does not fit is named; a sparse table is not looked at.

        Examples
        --------
        >>> schema = Schema((Feature("job", "categorical", ("cook", "clerk")),), ("no", "yes"))
        >>> schema.violations(pd.DataFrame({"job": ["cook", "cok", "clerk"]}), ["no", "yes", "Yes"])
        {'job': 1, 'label': 1}
        """
        counts = counts_outside(self.features, X)
        counts["label"] = int((self.check_labels(y, "clip") < 0).sum())
        return {name: count for name, count in counts.items() if count}

    def public_count(self, X: Any, relation: str) -> int | None:
        """Return the number of records if it is public: `n_rows`, or under replace-one the number in X. Else None.

        A record that is dropped later still counts: it becomes a null record, which adds nothing to any statistic.
        """
        if self.n_rows is not None or relation != "replace-one":
            return self.n_rows
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)

    def check_table(self, X: Any, y: Any, on_invalid: str = "raise") -> tuple[Any, np.ndarray, Schema]:
        """Check records and labels together. Clipping drops a record whose label is not a class, or that is none.

        The number of remaining records is private, also under replace-one; use `public_count` instead.
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
        """Return the schema as JSON text that `from_json` reads back."""
        from dpml.schema.written import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read a schema written by `to_json`."""
        from dpml.schema.written import from_json

        return from_json(text, cls)

    def to_yaml(self) -> str:
        """Return the schema as YAML, to be kept and reviewed; `from_yaml` reads it back."""
        from dpml.schema.written import to_yaml

        return to_yaml(self)

    @classmethod
    def from_yaml(cls, text: str) -> Schema:
        """Read a schema from YAML, of `to_yaml` or written by a person; a fault in it raises `InvalidSchema`.

        The values are those of YAML 1.2: ``no`` and ``2020-01-01`` are texts.
        """
        from dpml.schema.written import schema_of

        return schema_of(text, cls)

    # ---- a proposal -------------------------------------------------------------------------------------------

    @classmethod
    def describe(cls, frame: Any, *, label: str | None = None, peek: bool = False, **paying: Any) -> Proposal:
        """Propose a schema for a table from the names and types of its columns; see `dpml.schema.describe`.

        With an `epsilon` bounds are paid for, and with a `delta` categories.
        """
        from dpml.schema.describe import describe

        return describe(frame, cls, label=label, peek=peek, **paying)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """The facts that were read off the data and that nobody has confirmed. A release refuses them."""
        return facts.unconfirmed(self)

    def confirm(self, name: str, *facts_of_column: str) -> Schema:
        """Return the schema with facts that a person has read, and says are true for everybody and public.

        Parameters
        ----------
        name, *facts_of_column : str
            A fact of the table, such as "n_lower"; or a column and each of its facts, "lower", "upper" or "categories".

        Raises
        ------
        InvalidSchema
            A fact that was not read off the data, or is confirmed already.

        Examples
        --------
        >>> paid = Feature("paid", "numeric", lower=-40, upper=200, data_derived=("lower", "upper"))
        >>> Schema((paid,), n_lower=300, data_derived=("n_lower",)).confirm("paid", "upper").unconfirmed
        ("lower of 'paid'", 'n_lower')
        """
        return facts.confirm(self, name, facts_of_column)
