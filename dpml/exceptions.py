"""Named errors. Each message carries the offending name, its value and what is allowed.

Every public function and class raises `InvalidParameter` for a parameter that is not allowed, and `InvalidData` for
records that do not fit their description. It raises `BudgetExceeded` or `RelationMismatch` if its budget cannot be
charged (nothing is drawn then), and `MissingExtra` if it needs a package that is not installed. A docstring names other
errors.
"""

import re
from functools import partial

__all__ = [
    "BudgetExceeded",
    "ConcentratedWeights",
    "CrowdedBins",
    "DataDamaged",
    "DataNotFound",
    "DpmlError",
    "FactWarning",
    "InvalidData",
    "InvalidParameter",
    "InvalidSchema",
    "InvalidTable",
    "InvalidTaxonomy",
    "LedgerDamaged",
    "LedgerError",
    "LedgerOutdated",
    "LedgerUnavailable",
    "MissingExtra",
    "NoExactScore",
    "NoSecureSampler",
    "NotPrivate",
    "RelationMismatch",
    "StoreBusy",
    "StoreChanged",
    "StoreDamaged",
    "StoreError",
    "SweepCancelled",
    "TableAmbiguous",
    "TableEmpty",
    "TableNames",
    "TableRagged",
    "TableTooLarge",
    "TableUnreadable",
    "shown",
]

# the largest number of characters that a message shows of a value
LONGEST = 80


def shown(value: object) -> str:
    """Return a value as text of at most 80 characters for a message, even if its ``repr`` raises.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str
        The text, cut in the middle if it is longer.

    See Also
    --------
    InvalidParameter : Shows a value in its message.

    Examples
    --------
    >>> shown([1, 2]), len(shown("a" * 1000))
    ('[1, 2]', 80)
    """
    try:
        text = repr(value)
    except Exception:  # an integer with more digits than Python prints, or an object whose repr raises
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[:51]} ... {text[-24:]}"


class DpmlError(Exception):
    """Base class of all errors that dpml raises on purpose."""


class InvalidParameter(DpmlError, ValueError):
    """A parameter has a value that is not allowed.

    Parameters
    ----------
    name : str
        Name of the parameter as the caller wrote it.
    value : object
        The value that was given.
    allowed : str
        Description of the allowed values.
    """

    def __init__(self, name: str, value: object, allowed: str):
        self.name, self.value, self.allowed = name, value, allowed
        quoted = f"`{name}`" if re.fullmatch(r"\S+", name) else name  # such as: domain of 'age'
        super().__init__(f"{quoted} must be {allowed.rstrip('.')}. Got {shown(value)}.")

    def __reduce__(self):
        return type(self), (self.name, self.value, self.allowed)


class InvalidData(DpmlError, ValueError):
    """The data do not fit their schema. Only simulations raise it: release mode clips the data instead."""


class InvalidTable(InvalidData):
    """A table in a file cannot be read. The message names the file and the place in it.

    Parameters
    ----------
    file : str
        Name of the file.
    cause : str
        Description of the error and of the allowed values.
    line : int, optional
        The line in the file, from 1.
    column : str or int, optional
        The column's name, or its number from 1 if it has no name.
    """

    def __init__(self, file: str, cause: str, *, line: int | None = None, column: str | int | None = None):
        self.file, self.cause, self.line, self.column = file, cause, line, column
        place = "" if line is None else f", line {line:,}"
        place += "" if column is None else f", column {shown(column)}"
        super().__init__(f"{shown(file)}{place}: {cause}")

    def __reduce__(self):
        return _table_error, (type(self), self.file, self.cause, self.line, self.column)


def _table_error(kind: type[InvalidTable], file: str, cause: str, line: int | None, column: str | int | None):
    return kind(file, cause, line=line, column=column)


class TableTooLarge(InvalidTable):
    """The file, or a part of it, is larger than the stated limit."""


class TableUnreadable(InvalidTable):
    """The file is of another kind, in another encoding, damaged or packed."""


class TableRagged(InvalidTable):
    """A record has more or fewer fields than the table has columns."""


class TableNames(InvalidTable):
    """The columns have no names, the same name twice, or one that cannot be shown safely."""


class TableAmbiguous(InvalidTable):
    """The file can be read in two ways, and a release needs the option that chooses one.

    It is raised for a release alone, before anything is charged. It depends on the records, and is for the table's
    owner.

    Parameters
    ----------
    file : str
        Name of the file.
    cause : str
        Description of the error and of the allowed values.
    option : str
        The option of `dpml.tables.read_table` that chooses a reading.
    line : int, optional
        The line in the file, from 1.
    column : str or int, optional
        The column's name, or its number from 1 if it has no name.
    """

    def __init__(self, file: str, cause: str, *, option: str, line: int | None = None, column: str | int | None = None):
        super().__init__(file, cause, line=line, column=column)
        self.option = option

    def __reduce__(self):
        return partial(type(self), option=self.option, line=self.line, column=self.column), (self.file, self.cause)


class TableEmpty(InvalidTable):
    """The table has no columns, no records, or no values."""


class InvalidSchema(InvalidParameter):
    """Public metadata in a schema is missing or contradicts itself."""


class InvalidTaxonomy(InvalidSchema):
    """A level of a taxonomy does not cover the feature's domain, or does not refine the level above."""


class FactWarning(UserWarning):
    """Public metadata is missing, which costs accuracy, or records of a simulation do not fit the stated metadata."""


class CrowdedBins(FactWarning):
    """Released counts show that nearly all records of a column lie in one bin, so that a model cannot see it."""


class ConcentratedWeights(UserWarning):
    """A few records of a public table carry most of its weight, so that answers rest on these few."""


class BudgetExceeded(DpmlError):
    """A charge would exceed the budget. Nothing was released and nothing was charged."""


class LedgerError(DpmlError):
    """A budget's ledger cannot be read or written. Nothing was released and nothing was charged.

    Parameters
    ----------
    path : str
        Path of the ledger's file.
    cause : str
        Description of the error.
    """

    def __init__(self, path: str, cause: str):
        self.path, self.cause = path, cause
        super().__init__(f"the ledger path = {path!r} {cause}")

    def __reduce__(self):
        return type(self), (self.path, self.cause)


class LedgerDamaged(LedgerError):
    """The file of a ledger was cut, changed or removed, or is not a ledger."""


class LedgerOutdated(LedgerError):
    """The file is a ledger in an earlier format, which has no checksums."""


class LedgerUnavailable(LedgerError):
    """The file of a ledger cannot be found, opened, locked or written."""


class RelationMismatch(DpmlError, ValueError):
    """A mechanism and its budget disagree about the neighbouring relation."""


class NotPrivate(DpmlError):
    """A release was requested from a method whose published privacy claim is false."""


class NoExactScore(NotPrivate, AttributeError, TypeError):
    """A released model has no exact `score`: the attribute is absent."""


class NoSecureSampler(DpmlError, NotImplementedError):
    """Release mode was requested for a method whose noise cannot be sampled securely."""


DISTRIBUTION = "dpml-explorer"


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this distribution.

    Parameters
    ----------
    extra : str
        The name of the extra in ``pyproject.toml``.

    Returns
    -------
    str
        A shell command.

    See Also
    --------
    MissingExtra : Ends its message with this command.

    Examples
    --------
    >>> install_command("release")
    'pip install "dpml-explorer[release]"'
    """
    return f'pip install "{DISTRIBUTION}[{extra}]"'


class MissingExtra(DpmlError, ImportError):
    """An optional dependency is not installed. The message ends with the command that installs its extra.

    Parameters
    ----------
    task : str
        The task that needs the dependency, as the subject of a sentence.
    package : str
        The package that is missing.
    extra : str
        The extra of this distribution that installs it.

    Examples
    --------
    >>> print(MissingExtra("Reading a Parquet file", "pyarrow", "large"))
    Reading a Parquet file needs pyarrow. Run: pip install "dpml-explorer[large]"
    """

    def __init__(self, task: str, package: str, extra: str):
        self.task, self.package, self.extra = task, package, extra
        super().__init__(f"{task} needs {package}. Run: {install_command(extra)}")

    def __reduce__(self) -> tuple:
        """Keep the three parts when the error is pickled."""
        return type(self), (self.task, self.package, self.extra)


class DataNotFound(DpmlError, FileNotFoundError):
    """A data file is not on this machine and cannot be downloaded."""


class DataDamaged(DpmlError, ValueError):
    """A data file differs from the published file."""


class StoreError(DpmlError):
    """The folder of a sweep cannot be used. Nothing in it was changed.

    Parameters
    ----------
    path : str
        Path of the folder or file.
    cause : str
        Description of the error.
    """

    def __init__(self, path: str, cause: str):
        self.path, self.cause = path, cause
        super().__init__(f"the store path = {path!r} {cause}")

    def __reduce__(self):
        return type(self), (self.path, self.cause)


class StoreChanged(StoreError):
    """The folder holds results of another sweep, or of the same one by another version."""


class StoreDamaged(StoreError):
    """A file of a sweep's folder was cut, changed or removed, or the folder holds other files."""


class StoreBusy(StoreError):
    """Another process writes to the folder."""


class SweepCancelled(DpmlError):
    """A sweep was cancelled before all of its cells were computed.

    Parameters
    ----------
    done : int
        Number of cells that are done. They stay in the sweep's folder, if it has one.
    total : int
        Number of all cells.
    """

    def __init__(self, done: int, total: int):
        self.done, self.total = done, total
        super().__init__(f"the sweep was cancelled: {done:,} of {total:,} cells are done")

    def __reduce__(self):
        return type(self), (self.done, self.total)
