"""Public metadata of a table, each fact checked against the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from dpml._validate import check_integer
from dpml.exceptions import InvalidSchema
from dpml.schema.facts import OF_TABLE, check_marks
from dpml.schema.feature import Feature
from dpml.schema.stated import MOST_WHOLE, label_array, stated_values
from dpml.schema.tables import few, ignored_names
from dpml.schema.untrusted import equal_values


@dataclass(frozen=True)
class TableFacts:
    """The facts of a `Schema`, which describes them, without its checks of records."""

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
        set_("ignored", ignored_names(self.ignored, self._position))
        marks = {"data_derived": self.data_derived, "confirmed": self.confirmed}
        for name, marked in check_marks(marks, OF_TABLE).items():
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
                allowed = (
                    "a fact of the table that is in data_derived. For a column, name the column and then its facts"
                )
                raise InvalidSchema("fact", name, allowed)
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


def _moved(holder: Any, facts: tuple[str, ...]) -> dict[str, Any]:
    left = tuple(fact for fact in holder.data_derived if fact not in facts)
    return {"data_derived": left, "confirmed": (*holder.confirmed, *facts)}
