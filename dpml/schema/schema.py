"""Public metadata of a table: its possible columns, classes and records. The user states them, and no data are read.

A method that needs a domain, a bound, the classes or the number of records takes it from the schema. Data that
contradict the schema raise an error in a simulation (``on_invalid="raise"``) and are clipped in a release
(``on_invalid="clip"``), because an exception would reveal something about the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from dpml._validate import ON_INVALID, check_choice, check_integer
from dpml.exceptions import InvalidData, InvalidSchema, shown
from dpml.schema import written
from dpml.schema.cells import (
    ONE_COLUMN,
    equal_values,
    frame_of,
    null_rows,
    plain_cells,
    plain_features,
    plain_numbers,
    plain_positions,
    plain_rows,
    read_frame,
)
from dpml.schema.describe import Proposal, describe
from dpml.schema.feature import MOST_WHOLE, OF_TABLE, Feature, check_marks, show_value, stated_values


def checked_dense(features: Sequence[Feature], X: Any, on_invalid: str) -> np.ndarray:
    """Return a table of binary features as numbers, each inside its domain."""
    plain = isinstance(X, np.ndarray) or all(dtype.kind in "biuf" for dtype in X.dtypes)
    # columns that are not all numbers are read one by one: pandas turns a missing integer into -2^63
    cells = X.to_numpy() if plain and isinstance(X, pd.DataFrame) else X
    if plain and cells.dtype.kind in "biuf":
        values = cells.astype(float, copy=False)
    else:
        frame = X if isinstance(X, pd.DataFrame) else frame_of(X)
        columns = [f.clean(frame.iloc[:, i], on_invalid) for i, f in enumerate(features)]
        return np.column_stack(columns)
    if not values.size or not ((values == 0) | (values == 1)).all():
        bad = np.flatnonzero(~((values == 0) | (values == 1)).all(axis=0))
        values = values.copy()
        for i in bad:
            values[:, i] = features[int(i)].clean(values[:, i], on_invalid)
    return values


def checked_sparse(features: Sequence[Feature], X: Any, on_invalid: str) -> sparse.csr_array:
    """Return a sparse table of binary features without stored zeros, each value inside its domain."""
    if X.dtype.kind == "c":
        X = X.tocoo(copy=True)
        X.data = plain_numbers(X.data)  # as in a dense table, a value with an imaginary part becomes NaN
    values = sparse.csr_array(X, dtype=float, copy=False)
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    bad = (values.data != 1) & (values.data != 0)
    if bad.any():
        if on_invalid == "raise":
            first = int(values.indices[np.flatnonzero(bad)[0]])
            features[first].clean(values.data[bad][:1], "raise")
        # a missing value follows the rule of its column; other values go to the nearest of 0 and 1
        values = values.copy()
        for i in np.unique(values.indices[bad]):
            cells = bad & (values.indices == i)
            values.data[cells] = features[int(i)].clean(values.data[cells], on_invalid)
    if values.nnz and not values.data.all():
        values = values.copy()
        values.eliminate_zeros()
    return values


def rows_of(rows: Sequence, n_features: int, on_invalid: str = "raise") -> np.ndarray:
    """Return a list of records as an array, of numbers where all cells are: NumPy makes texts of all where one is."""
    try:
        array = np.asarray(rows)
    except Exception:  # some cells are sequences and others are not, or one raises anything
        return plain_rows(rows, n_features, on_invalid)
    numbers = array.dtype.kind in "biuf" and array.ndim == 2 and array.size
    if numbers and (on_invalid == "raise" or array.shape[1] == n_features):
        return array
    return plain_rows(rows, n_features, on_invalid)


def counts_outside(features: Sequence[Feature], X: Any) -> dict[str, int]:
    """Return the number of values of each feature outside its domain, without those of a sparse table."""
    X = read_frame(X)
    if sparse.issparse(X):
        return {}
    if isinstance(X, pd.DataFrame):
        columns = {str(c): X.iloc[:, i] for i, c in enumerate(X.columns)}
    else:
        cells = plain_rows(X, len(features), "clip") if isinstance(X, (list, tuple)) else np.asarray(X)
        columns = {f.name: cells[:, i] for i, f in enumerate(features)}
    return {f.name: f.count_outside(columns[f.name]) for f in features if f.name in columns}


def checked_labels(classes: tuple, y: Any, on_invalid: str, hint: str = "") -> np.ndarray:
    """Return the position of each label among the classes, or -1. The error's message ends with `hint`."""
    listed = y if on_invalid == "raise" and isinstance(y, (list, tuple)) else ()
    if any(isinstance(label, (list, tuple, np.ndarray)) for label in listed):
        raise InvalidData(ONE_COLUMN.format(2))
    if y is None:
        raise InvalidData("y is None: it must have the label of each record")
    codes = plain_positions(y, classes)
    if on_invalid == "raise" and (codes < 0).any():
        label = plain_cells(y)[int((codes < 0).argmax())]
        hint = hint or _encoding_hint(label, classes)
        raise InvalidData(f"y has the label {show_value(label)}: it must be one of {few(list(classes))}{hint}")
    return codes


def _encoding_hint(label: Any, classes: tuple) -> str:
    """Return the way on for a label that may be a code, put in place of a class before the fit; else nothing."""
    whole = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
    if not whole or not 0 <= label < len(classes):
        return ""
    codes = tuple(range(len(classes)))
    rest = "" if len(classes) == 2 else ", or (0, 1) where each fit sees two classes"
    return (
        ". VotingClassifier, OneVsRestClassifier, cross_val_predict and others of scikit-learn fit to codes of the "
        f"labels, from 0: for them, pass schema=dataclasses.replace(schema, classes={codes}){rest}"
    )


def few(values: list) -> str:
    """Return the first of these, as an error shows them."""
    text = ", ".join(map(shown, values[:6]))
    return text + (f", ... ({len(values)} in all)" if len(values) > 6 else "")


# what an error adds where no schema was given
ASSUMED = "No schema was given, so every column must be 0 or 1 and the classes are 0 and 1: state a dpml.schema.Schema"
ASSUMED += " (after an encoding, its encoded_schema)"


@dataclass(frozen=True)
class Schema:
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

    def __deepcopy__(self, memo: dict) -> Self:
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
        if isinstance(self.ignored, str) or not all(isinstance(name, str) for name in self.ignored):
            raise InvalidSchema("ignored", self.ignored, "a sequence of column names")
        if both := [name for name in self.ignored if name in self._position]:
            raise InvalidSchema("ignored", both[0], "no feature of the schema")
        set_("ignored", tuple(self.ignored))
        marks = {"data_derived": self.data_derived, "confirmed": self.confirmed}
        for name, marked in check_marks(marks, OF_TABLE).items():
            set_(name, marked)
        binary = [f for f in self.features if f.kind == "binary"]
        most = max(len({f.block for f in binary if f.block}) + sum(f.block is None for f in binary), 1)
        if self.row_bound is None:
            set_("row_bound", most)
        else:
            set_("row_bound", min(check_integer(self.row_bound, "row_bound", 1), most))
        if self.n_rows is not None:
            set_("n_rows", check_integer(self.n_rows, "n_rows", 1, MOST_WHOLE))
        lower = self.n_lower if self.n_lower is not None else (self.n_rows or 1)
        set_("n_lower", check_integer(lower, "n_lower", 1, self.n_rows or MOST_WHOLE))

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
    ) -> Self:
        """Return the canonical binary schema: values {0, 1}, classes (0, 1), contribution bound D.

        Parameters
        ----------
        n_features : int
            Number of features D.
        names : sequence of str, optional
            Names of the features.
        classes : sequence, default=(0, 1)
            All labels that a record can have.
        row_bound : int, optional
            Contribution bound. By default it is D.
        n_rows : int, optional
            The number of records, if it is public.
        n_lower : int, optional
            A public lower bound on the number of records.

        Returns
        -------
        Schema
            The schema.
        """
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
        """The classes as an array, each as it is stated. Position c is the label of class c."""
        array = np.asarray(self.classes)
        if array.tolist() == list(self.classes):
            return array
        labels = np.empty(len(self.classes), dtype=object)  # NumPy makes texts of all labels where one is a text
        labels[:] = self.classes
        return labels

    @property
    def feature_names(self) -> list[str]:
        """Column names in order."""
        return [f.name for f in self.features]

    @property
    def is_binary(self) -> bool:
        """True if all features are binary."""
        return all(f.kind == "binary" for f in self.features)

    @property
    def blocks(self) -> list[str | None]:
        """The attribute of each one-hot column, or None for a column outside any block."""
        return [f.block for f in self.features]

    @property
    def attributes(self) -> dict[str, list[int]]:
        """The columns of each one-hot attribute, for attributes whose columns cover all values."""
        columns: dict[str, list[int]] = {}
        for i, f in enumerate(self.features):
            if f.block is not None:
                columns.setdefault(f.block, []).append(i)
        return {block: where for block, where in columns.items() if all(self.features[i].exhaustive for i in where)}

    def subset(self, columns: Iterable[str | int]) -> Self:
        """Return the schema of some columns, in their order.

        Parameters
        ----------
        columns : iterable of str or int
            Columns by name, by position or by a boolean mask.

        Returns
        -------
        Schema
            The schema of these columns.
        """
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

    def for_folds(self, n_folds: int) -> Self:
        """Return the schema of a training set of cross-validation, which has all folds but one.

        Parameters
        ----------
        n_folds : int
            Number of folds K, from 2.

        Returns
        -------
        Schema
            The schema with `n_lower` less ⌈n_lower/K⌉, at least 1, and no `n_rows`.

        Notes
        -----
        `n_lower` stays public, because it follows from public numbers alone. Let a table have n ≥ n_lower records. The
        largest fold of `KFold`, `StratifiedKFold` and their repetitions in scikit-learn has ⌈n/K⌉ of them. The others
        have n - ⌈n/K⌉, which never falls when n grows. Folds of groups may be larger: state `n_lower` for them.

        Examples
        --------
        >>> from dpml.schema import Schema
        >>> Schema.binary(3, n_lower=1001).for_folds(5).n_lower
        800
        """
        n_folds = check_integer(n_folds, "n_folds", 2)
        return replace(self, n_rows=None, n_lower=max(self.n_lower - -(-self.n_lower // n_folds), 1))

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Data-derived facts that no person has confirmed. A release refuses them."""
        return (*(f"{fact} of {f.name!r}" for f in self.features for fact in f.data_derived), *self.data_derived)

    @property
    def ambiguities(self) -> tuple[InvalidSchema, ...]:
        """An error for each list of categories or classes of which two have the same value. A release refuses them."""
        stated = {f"categories of {f.name!r}": f.categories or () for f in self.features}
        pairs = {name: equal_values(values) for name, values in {**stated, "classes": self.classes}.items()}
        allowed = "different values, however a file spells them. Keep one of the two"
        return tuple(InvalidSchema(name, pair, allowed) for name, pair in pairs.items() if pair)

    def confirm(self, name: str, *facts_of_column: str) -> Self:
        """Return the schema with facts that a person has read, and declares true and public.

        Parameters
        ----------
        name : str
            A fact of the table, such as "n_lower", or a column.
        *facts_of_column : str
            Facts of the column, "lower", "upper" or "categories".

        Returns
        -------
        Schema
            The schema with these facts as `confirmed`.

        Raises
        ------
        InvalidSchema
            A fact that is not data-derived, or is confirmed already.

        Examples
        --------
        >>> from dpml.schema import Schema
        >>> paid = Feature("paid", "numeric", lower=-40, upper=200, data_derived=("lower", "upper"))
        >>> Schema((paid,), n_lower=300, data_derived=("n_lower",)).confirm("paid", "upper").unconfirmed
        ("lower of 'paid'", 'n_lower')
        """
        if not facts_of_column:
            if name not in self.data_derived:
                rule = "a fact of the table that is in data_derived. For a column, name the column and then its facts"
                raise InvalidSchema("fact", name, rule)
            return replace(self, **_moved(self, (name,)))
        features = {f.name: f for f in self.features}
        if name not in features:
            raise InvalidSchema("column", name, "a feature of the schema")
        for fact in facts_of_column:
            if fact not in features[name].data_derived:
                marked = ", ".join(features[name].data_derived) or "none"
                raise InvalidSchema(f"fact of {name!r}", fact, f"a data-derived fact that is not confirmed: {marked}")
        features[name] = replace(features[name], **_moved(features[name], facts_of_column))
        return replace(self, features=tuple(features.values()))

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
            clean: dict[str, Any] = {}
            for i, f in enumerate(schema.features):
                if f.kind == "categorical":  # each category is looked up once
                    codes = f.positions(columns.iloc[:, i], on_invalid)
                    clean[f.name] = pd.Categorical.from_codes(codes, list(f.categories or ()))
                else:
                    clean[f.name] = f.clean(columns.iloc[:, i], on_invalid)
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


def _moved(holder: Any, facts: tuple[str, ...]) -> dict[str, Any]:
    left = tuple(fact for fact in holder.data_derived if fact not in facts)
    return {"data_derived": left, "confirmed": (*holder.confirmed, *facts)}


def resolve_schema(schema: Schema | None, X: Any) -> Schema:
    """Return the given schema, or else the canonical binary schema for the columns of a table.

    Parameters
    ----------
    schema : Schema or None
        The given schema. None takes the canonical binary schema.
    X : array, sparse matrix or DataFrame of shape (n, D)
        The table. Only its number of columns and their names are used, which are public.

    Returns
    -------
    Schema
        Public metadata of the table.

    See Also
    --------
    Schema : States public metadata of a table.
    """
    if schema is not None:
        if not isinstance(schema, Schema):
            remedy = ". The `complete` of a proposal returns one" if isinstance(schema, Proposal) else ""
            raise InvalidSchema("schema", type(schema).__name__, f"a dpml.schema.Schema or None{remedy}")
        return schema
    X = read_frame(X)
    names: list[str] | None = None
    if isinstance(X, pd.DataFrame):
        names = [str(c) for c in X.columns]
        shape: tuple[int, ...] = X.shape
    elif isinstance(X, (list, tuple)):
        # without numpy, which fails at cells that are sequences, or makes a table of them
        first = len(X[0]) if len(X) and isinstance(X[0], (list, tuple, np.ndarray, pd.Series)) else None
        if first is None:
            raise InvalidData("X is a list whose first entry is no record: state a schema, or give records in an array")
        shape = (len(X), first)
    else:
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise InvalidData(f"X has {len(shape)} dimensions: it must have 2, records and features")
    if shape[1] < 1:
        raise InvalidData("X has 0 columns: it must have at least 1")
    assumed = Schema.binary(shape[1], names)
    object.__setattr__(assumed, "_assumed", True)
    return assumed
