"""Tables that need not fit in memory: records in Parquet files or in parts, read and checked batch by batch.

A batch passes the same functions as a table in memory (`dpml.counts.contingency`, `dpml.encoding.share_rows`), and its
counts are added up. Counts are whole numbers, and shares of records multiples of 1/1024. Both add up exactly in floats.
So the statistics equal those in memory bit for bit, in all batches, and so do all releases from them.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._validate import ON_INVALID, check_choice, check_integer
from dpml.counts import Contingency, contingency
from dpml.encoding import columns_of, share_rows
from dpml.exceptions import DataNotFound, InvalidData, InvalidParameter, MissingExtra
from dpml.mechanisms.private import Private, statistic
from dpml.schema import Schema
from dpml.schema.cells import read_frame

__all__ = ["BatchTable", "ParquetTable"]

MEMORY = 256 * 2**20
# a record's numbers in a batch: as read, as floats, and twice where it is shared among its ones
COPIES = 4
LEAST_ROWS, MOST_ROWS = 256, 1 << 17


class BatchedTable:
    """Base of tables that are read in batches: their checked records, counts and classes.

    A subclass is a dataclass with the fields below. `_batches` yields its batches, and `_split` the features and the
    labels of one. `_ones` may return a checked binary batch.
    """

    label: str
    schema: Schema | None
    on_invalid: str
    memory: int
    private: bool

    def __post_init__(self):
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        check_integer(self.memory, "memory", 1)

    @property
    def facts(self) -> Schema:
        """The schema."""
        assert self.schema is not None
        return self.schema

    def _check_label(self) -> None:
        if self.label in self.facts.feature_names:
            raise InvalidParameter("label", self.label, "a column that is no feature of the schema")

    def stating(self, schema: Schema, on_invalid: str, private: bool = False) -> Self:
        """Return the table with other facts."""
        return replace(self, schema=schema, on_invalid=on_invalid, private=private)  # type: ignore[type-var]

    @property
    def n_rows(self) -> int:
        """The number of records. It is private unless the schema states it."""
        raise NotImplementedError

    def _batches(self) -> Iterator[Any]:
        raise NotImplementedError

    def _split(self, batch: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _ones(self, batch: Any) -> NDArray[np.float64] | None:
        return None

    @property
    def _rows_of_batch(self) -> int:
        bytes_of_row = 8 * (COPIES * self.facts.n_features + self.facts.n_classes)
        return min(max(self.memory // bytes_of_row, LEAST_ROWS), MOST_ROWS)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of records, which is private as `n_rows` is, and of features."""
        return self.n_rows, self.facts.n_features

    # ---- statistics -----------------------------------------------------------------------------------------------

    def counts(self, *, on_invalid: str | None = None) -> Contingency:
        """Return the exact counts. They are private: give them to a release only.

        Parameters
        ----------
        on_invalid : {"raise", "clip"}, optional
            Treatment of invalid values. By default it is that of the table.

        Returns
        -------
        Contingency
            Exact counts.
        """
        return self._added_up(lambda X: X, on_invalid)

    def shared_counts(
        self, row_bound: int, mask: NDArray[np.bool_] | None = None, *, on_invalid: str | None = None
    ) -> Contingency:
        """Return the exact counts of records that share `row_bound` among their ones.

        Parameters
        ----------
        row_bound : int
            Contribution bound, the largest sum of a record.
        mask : ndarray of bool of shape (D,), optional
            True for each column to count. By default all are.
        on_invalid : {"raise", "clip"}, optional
            Treatment of invalid values. By default it is that of the table.

        Returns
        -------
        Contingency
            Exact counts, which are private.
        """
        row_bound = check_integer(row_bound, "row_bound", 1)
        return self._added_up(lambda X: share_rows(X if mask is None else columns_of(X, mask), row_bound), on_invalid)

    def _added_up(self, transform: Callable[[Any], Any], on_invalid: str | None) -> Contingency:
        if not self.facts.is_binary:
            other = next(f.name for f in self.facts.features if f.kind != "binary")
            raise InvalidParameter("schema", f"feature {other!r} that is not binary", "binary in every feature")
        on: Any = 0.0
        n: Any = 0.0
        for batch in self._parts(on_invalid):
            X, codes = map(Private, batch) if self.private else batch
            part = contingency(transform(X), codes, self.facts.n_classes)
            on, n = _sum(on, part.on), _sum(n, part.n)
        return Contingency(on, n)

    def batches(self, *, on_invalid: str | None = None) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Yield the records and their classes as 0, ..., C-1, checked against the schema, batch by batch.

        Parameters
        ----------
        on_invalid : {"raise", "clip"}, optional
            Treatment of invalid values. By default it is that of the table.

        Yields
        ------
        tuple of array and ndarray of int
            The records and the classes of a batch.
        """
        handling = self.on_invalid if on_invalid is None else on_invalid
        for batch in self._batches():
            yield self._checked(batch, handling)

    def _parts(self, on_invalid: str | None = None) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Yield a batch without records, so that there is at least one, and then `batches`."""
        nothing = pd.DataFrame(np.zeros((0, self.facts.n_features)), columns=self.facts.feature_names)
        return chain([self.facts.check_table(nothing, np.zeros(0))[:2]], self.batches(on_invalid=on_invalid))

    def read_again(self) -> None:
        """Check that another pass gives the same records in the same order, where that is not certain."""

    def codes(self) -> NDArray[np.intp]:
        """Check all records, and return their classes as 0, ..., C-1. They are private.

        Returns
        -------
        ndarray of int of shape (n,)
            The class of each record whose label is a class.
        """
        return np.concatenate([codes for _, codes in self._parts()])

    def violations(self) -> dict[str, int]:
        """Count the values outside each feature's domain, and the labels that are no class. They are private.

        Returns
        -------
        dict of str to int
            The numbers that `dpml.schema.Schema.violations` returns for the same records in memory.
        """
        total: Counter[str] = Counter()
        for batch in self._batches():
            X, labels = self._split(batch)
            total.update(self.facts.violations(read_frame(X), labels))
        return {name: total[name] for name in dict.fromkeys([*self.facts.feature_names, "label"]) if total[name]}

    def _checked(self, batch: Any, on_invalid: str) -> tuple[Any, NDArray[np.intp]]:
        schema, X = self.facts, self._ones(batch)
        features, labels = self._split(batch)
        if X is None:  # the schema names the column, the value and the domain, or clips
            return schema.check_table(read_frame(features), labels, on_invalid)[:2]
        return schema.without_unknown(X, schema.check_labels(labels, on_invalid), on_invalid)


@dataclass(frozen=True)
class ParquetTable(BatchedTable):
    """Read records in Parquet files, in batches.

    Classifiers that accept it are fitted with ``fit(table)``: `dpml.classifiers.AutoClassifier` for any schema,
    `dpml.classifiers.LinearClassifier` for binary features and numbers, and `dpml.classifiers.BernoulliNB` for binary
    features.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder with files that end in ``.parquet``, or files. They have the same columns.
    label : str
        The column with the classes.
    schema : Schema, optional
        Public metadata. Every feature is looked up by its name. Counts need binary features. By default it is the
        canonical binary schema of all other columns, with classes (0, 1).
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its domain or a label that is not a class, as for an estimator.
    memory : int, default=268435456
        Approximate limit of the bytes of a batch.
    private : bool, default=False
        Whether counts are `dpml.mechanisms.private.Private`, which only a release can use, as in a fit. Otherwise they
        are arrays.

    Raises
    ------
    InvalidParameter
        If a parameter is not allowed.
    InvalidData
        If the files do not fit the schema.
    DataNotFound
        If there is no file.
    MissingExtra
        If pyarrow is not installed.

    See Also
    --------
    dpml.counts.contingency : Counts the records of a table in memory.
    dpml.counts.release_row_bounded : Releases counts.

    Examples
    --------
    A selection and a classifier need no more than the counts:

    >>> import pandas as pd, tempfile
    >>> frame = pd.DataFrame({"a": [0, 1, 1, 1], "b": [0, 0, 1, 0], "y": [0, 0, 1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(f"{folder}/table.parquet")
    ...     counts = ParquetTable(folder, "y").counts()
    >>> counts.on.tolist(), counts.n.tolist()
    ([[1.0, 0.0], [2.0, 1.0]], [2.0, 2.0])
    """

    path: str | os.PathLike | Sequence[str | os.PathLike]
    label: str
    schema: Schema | None = None
    on_invalid: str = "raise"
    memory: int = MEMORY
    private: bool = False

    def __post_init__(self):
        super().__post_init__()
        if self.label not in self._columns:
            raise InvalidParameter("label", self.label, f"a column of {self.files[0]}: {_few(self._columns)}")
        self._check_columns(self.files[0], [self.label])
        self._check_columns(self.files[0], self.facts.feature_names)
        self._check_label()

    @cached_property
    def files(self) -> list[Path]:
        """The files, in the order in which they are read."""
        given = self.path if isinstance(self.path, (list, tuple)) else [self.path]
        files: list[Path] = []
        for stated in given:
            if not isinstance(stated, (str, os.PathLike)):
                raise InvalidParameter("path", stated, "a file, a folder, or a sequence of at least one")
            each = Path(stated)
            paths = sorted(each.glob("*.parquet")) if each.is_dir() else [each] if each.is_file() else []
            if not paths:
                raise DataNotFound(f"there is no Parquet file at {str(each)!r}")
            files += paths
        if not files:
            raise InvalidParameter("path", self.path, "a file, a folder, or a sequence of at least one")
        return files

    @cached_property
    def facts(self) -> Schema:
        """The schema, or the canonical one."""
        if self.schema is not None:
            return self.schema
        names = [name for name in self._columns if name != self.label]
        return Schema.binary(len(names), names)

    @cached_property
    def _columns(self) -> list[str]:
        return list(_reader(self.files[0]).schema_arrow.names)

    def _check_columns(self, path: Path, wanted: Sequence[str]) -> None:
        """Check that a file has each of these columns once; files of one table may differ."""
        check_once(_reader(path).schema_arrow.names, wanted, path)

    @property
    def n_rows(self) -> int:
        """The number of records. It is private unless the schema states it."""
        return sum(_reader(path).metadata.num_rows for path in self.files)

    def _batches(self) -> Iterator[Any]:
        """Yield the records as batches of Arrow, none of them empty."""
        wanted = [*self.facts.feature_names, self.label]
        for path in self.files:
            self._check_columns(path, wanted)
            yield from filter(len, _batches(path, self._rows_of_batch, wanted))

    def _split(self, batch: Any) -> tuple[Any, Any]:
        return batch.select(self.facts.feature_names), batch.column(self.label)

    def _ones(self, batch: Any) -> NDArray[np.float64] | None:
        return _binary(batch, self.facts.feature_names) if self.facts.is_binary else None


@dataclass(frozen=True)
class BatchTable(BatchedTable):
    """Read records from a Dask DataFrame by partitions, or from DataFrames that a function yields.

    Classifiers accept it as they accept a `ParquetTable`. One partition is in memory at a time.

    Parameters
    ----------
    source : Dask DataFrame, or callable
        A Dask DataFrame with a column of labels, or a function without arguments that returns an iterable of pandas
        DataFrames. Each pass over the table computes the partitions or calls the function, and must give the same
        records in the same order. A fit reads twice before it charges its budget, and compares all passes.
    label : str
        The column with the classes.
    schema : Schema
        Public metadata. Every feature is looked up by its name.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its domain or a label that is not a class, as for an estimator.
    memory : int, default=268435456
        Approximate limit of the bytes of a batch. Larger partitions are divided.
    private : bool, default=False
        Whether counts are `dpml.mechanisms.private.Private`, which only a release can use, as in a fit.

    Raises
    ------
    InvalidParameter
        If a parameter is not allowed.
    InvalidData
        If a column is missing, a partition cannot be computed, or a pass gives other records than the first one.

    See Also
    --------
    ParquetTable : Reads the files themselves, which is faster for several passes.

    Notes
    -----
    An error of Dask while it computes a partition stops a fit, in a release too. It may depend on a record, for example
    where Dask gives a column of text files a type. Read such files with types of text.

    Examples
    --------
    >>> from dpml.classifiers import BernoulliNB
    >>> parts = [pd.DataFrame({"a": [0, 1], "y": [0, 1]})] * 500
    >>> table = BatchTable(lambda: parts, "y", Schema.binary(1, ["a"], n_lower=1000))
    >>> BernoulliNB(1.0, random_state=0).fit(table).predict(pd.DataFrame({"a": [1]}))
    array([1])
    """

    source: Any
    label: str
    schema: Schema
    on_invalid: str = "raise"
    memory: int = MEMORY
    private: bool = False
    # of the columns that a pass reads: the digest of their first pass
    _first: dict[tuple[str, ...], int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self):
        super().__post_init__()
        if not (callable(self.source) or hasattr(self.source, "npartitions")):
            allowed = "a Dask DataFrame, or a function that returns an iterable of DataFrames"
            raise InvalidParameter("source", type(self.source).__name__, allowed)
        if not isinstance(self.schema, Schema):
            raise InvalidParameter("schema", type(self.schema).__name__, "the Schema of the features")
        self._check_label()

    @property
    def n_rows(self) -> int:
        """The number of records. It is private unless the schema states it."""
        return sum(map(len, self._frames()))

    def read_again(self) -> None:
        """Check that another pass gives the same records in the same order, with a first one if there was none."""
        for _ in range(1 if self._wanted in self._first else 2):
            for _ in self._frames():
                pass

    @property
    def _wanted(self) -> tuple[str, ...]:
        """Columns that a pass reads."""
        return *self.facts.feature_names, self.label

    def _frames(self) -> Iterator[pd.DataFrame]:
        n, digest = 0, 0
        for frame in self._read(list(self._wanted)):
            digest = (digest + _digest(frame, n)) % 2**64
            n += len(frame)
            yield frame
        if self._first.setdefault(self._wanted, digest) != digest:
            raise InvalidData(
                "`source` gave other records, or another order, when it was read again. Sort it, or write it to "
                "Parquet files once and pass a ParquetTable"
            )

    def _read(self, wanted: list[str]) -> Iterator[pd.DataFrame]:
        if not hasattr(self.source, "npartitions"):
            parts = self.source()
            for part in parts if isinstance(parts, Iterable) else [parts]:
                frame = read_frame(part) if hasattr(part, "columns") else part
                if not isinstance(frame, pd.DataFrame):
                    raise InvalidData(f"`source` yields {type(part).__name__}: it must yield DataFrames")
                check_once(frame.columns, wanted, "a batch")
                yield frame[wanted]
            return
        check_once(self.source.columns, wanted, "the Dask DataFrame")
        parts = self.source[wanted]
        for k in range(parts.npartitions):
            try:
                frame = parts.get_partition(k).compute()
            except Exception as error:  # of any reader or step that Dask runs
                raise InvalidData(f"partition {k} of the Dask DataFrame cannot be computed") from error
            yield frame

    def _batches(self) -> Iterator[pd.DataFrame]:
        for frame in self._frames():
            for start in range(0, len(frame), self._rows_of_batch):
                yield frame.iloc[start : start + self._rows_of_batch]

    def _split(self, batch: Any) -> tuple[Any, Any]:
        return batch[self.facts.feature_names], batch[self.label]


def _digest(frame: pd.DataFrame, start: int) -> int:
    """Return a sum over records of a hash of cells and position, the same in parts of any size."""
    rows = np.zeros(len(frame), dtype=np.uint64)
    for name in frame.columns:
        with suppress(Exception):  # a cell without a hash or a text. Other columns still show what changed
            rows = 31 * rows + pd.util.hash_pandas_object(frame[name], index=False).to_numpy()
    position = np.arange(start, start + len(frame), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return int(((rows ^ position) * np.uint64(0xBF58476D1CE4E5B9)).sum())


def check_once(columns: Iterable, wanted: Sequence[str], where: Any) -> None:
    """Check that each of the required columns occurs once."""
    times = Counter(columns)
    for name in wanted:
        if times[name] != 1:
            wrong = f"stands {times[name]} times" if times[name] else "is missing"
            raise InvalidData(f"the column {name!r} {wrong} in {where}")


def parts_of(X: Any, codes: Any = None) -> Iterable[tuple[Any, Any]]:
    """Return the checked batches of a `BatchedTable` and their classes, or a table in memory as one batch.

    Parameters
    ----------
    X : BatchedTable or table
        Checked records.
    codes : ndarray of int of shape (n,), optional
        Their classes, which a `BatchedTable` reads itself.

    Returns
    -------
    iterable of tuple of table and ndarray of int
        At least one batch, which may be empty.
    """
    return X._parts() if isinstance(X, BatchedTable) else [(X, codes)]


@statistic
def _sum(total: Any, part: Any) -> NDArray[np.float64]:
    return total + part


def _binary(batch: Any, names: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the columns as zeros and ones if all of them are that, or None. Column by column is fast in Parquet."""
    import pyarrow

    X = np.empty((len(names), batch.num_rows))
    for place, name in enumerate(names):
        column = batch.column(name)
        kind = column.type
        if column.null_count or not (pyarrow.types.is_boolean(kind) or pyarrow.types.is_integer(kind)):
            return None
        X[place] = column.to_numpy(zero_copy_only=False)
    if X.size and (X.min() < 0 or X.max() > 1):
        return None
    return X.T


def _reader(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("Reading a Parquet file", "pyarrow", "large") from error
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
        raise InvalidData(f"{str(path)!r} is not a Parquet file") from error


def _batches(path: Path, rows: int, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the batches of a file; one that is damaged beyond its first bytes is named as well."""
    from pyarrow import ArrowException

    batches = _reader(path).iter_batches(batch_size=rows, columns=columns)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except (OSError, ValueError, ArrowException) as error:
            raise InvalidData(f"{str(path)!r} is damaged: not all of its records can be read") from error
        yield batch


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
