"""Questions about a file that can be read in more than one way, each with its readings and the option that chooses one.

They are for the table's owner alone: a question quotes cells of the table. A simulation takes the first reading, and
the question is part of the `TableReading`. A release asks no question, so it refuses the file until the option is
given.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpml.exceptions import TableAmbiguous

# in the order in which they are asked: what a later one shows depends on the earlier ones
QUESTIONS = (
    "encoding",
    "delimiter",
    "comments",
    "names",
    "numbers",
    "units",
    "digits",
    "missing",
    "sentinels",
    "twins",
    "dates",
    "identifiers",
)
# those that change how cells of a release are read, or that the schema does not answer
OF_RELEASE = (*QUESTIONS[:6], "missing", "sentinels", "twins")


# a refusal quotes no record: it has these words instead of the question's
WITHOUT_CELLS = {
    "encoding": "The file is not in UTF-8, and its encoding is doubtful.",
    "numbers": "Numbers can be read in two ways.",
    "units": "Numbers with a unit are beside numbers without one.",
    "missing": "Frequent texts can be a missing value or a category.",
    "sentinels": "A frequent number far from the others can stand for a missing value.",
    "twins": "Texts differ in case, or in what cannot be seen.",
}
HEADER = "The first line must hold the names of the columns, and it looks like a record."


@dataclass(frozen=True)
class Reading:
    r"""Describe a possible reading of a file.

    Attributes
    ----------
    rule : str
        The reading in words, without a full stop and without a cell.
    options : dict
        Keyword arguments of `read_table` that choose it and answer the question. Merge a dict of columns (`columns`,
        `missing`) with earlier options by `merge_options`.
    cells : tuple of str
        Up to three cells in this reading, empty where none are shown. They are private.

    See Also
    --------
    Question : Has the possible readings.
    merge_options : Merges the options of readings.

    Examples
    --------
    >>> print(*Reading("decimal comma", {"decimal": ",", "columns": {"a b": "text"}}).arguments)
    --decimal , --column 'a b=text'
    """

    rule: str
    options: Mapping[str, Any]
    cells: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The rule with its cells. Private."""
        return f"{self.rule} ({', '.join(self.cells)})" if self.cells else self.rule

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same on the command line of ``python -m dpml release``, quoted for a shell."""
        return tuple(_arguments(self.options))


@dataclass(frozen=True)
class Question:
    """Describe a part of a file that can be read in more than one way. Private, as the table is.

    Attributes
    ----------
    kind : str
        One of `QUESTIONS`.
    columns : tuple of str
        Columns of the question, empty for the whole file.
    text : str
        The question and its cause, in one or two sentences.
    readings : tuple of Reading
        The possible readings, two or more. A simulation takes the first.
    option : str
        Name of the option of `read_table` that answers it.

    See Also
    --------
    examine_table : Returns the questions of a file.
    Reading : Describes a possible reading.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
    readings: tuple[Reading, ...]
    option: str

    @property
    def column(self) -> str | None:
        """The column of the question, or None for several or the whole file."""
        return self.columns[0] if len(self.columns) == 1 else None

    @property
    def answers(self) -> str:
        """All readings with the options that choose them. Private."""
        return "; ".join(f"{each.words}: {_call(each.options)} ({' '.join(each.arguments)})" for each in self.readings)


@dataclass
class Questions:
    """The questions of one file, in the order of `QUESTIONS`."""

    asked: list[Question] = field(default_factory=list)

    def ask(
        self, kind: str, columns: Sequence[str], text: str, readings: Sequence[Reading], option: str | None = None
    ) -> None:
        """Add a question. By default its option is that of its first reading."""
        option = next(iter(readings[0].options)) if option is None else option
        self.asked.append(Question(kind, tuple(columns), text, tuple(readings), option))

    def in_order(self) -> tuple[Question, ...]:
        """Return all questions, those about the whole file first."""
        return tuple(sorted(self.asked, key=lambda question: QUESTIONS.index(question.kind)))

    def refuse(self, file: str, *, line: int | None = None) -> None:
        """Raise the first question that a release cannot leave open."""
        for question in self.in_order():
            if question.kind in OF_RELEASE:
                raise refusal(question, file, line=line)


def refusal(question: Question, file: str, *, line: int | None = None) -> TableAmbiguous:
    """Return the error with which a release refuses a file because of a question.

    Of the records it shows nothing but a frequent text or number that can stand for a missing value.
    """
    text = HEADER if question.option == "header" and question.kind == "names" else question.text
    if question.kind in WITHOUT_CELLS:
        # the error names a single column itself
        about = "" if question.column else ", ".join(map(repr, question.columns[:3]))
        text = f"{about}: {WITHOUT_CELLS[question.kind]}" if about else WITHOUT_CELLS[question.kind]
    answers = "; ".join(
        f"{_call(each.options)} ({' '.join(each.arguments)}): {each.rule}" for each in question.readings
    )
    cause = f"{text} State `{question.option}` for a release. {answers}. `python -m dpml examine` shows the cells"
    return TableAmbiguous(file, cause, option=question.option, line=line, column=question.column)


def merge_options(stated: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return stated options of `read_table` with those of a reading.

    Parameters
    ----------
    stated : mapping of str to object
        Options that were stated before.
    chosen : mapping of str to object
        Options of a reading.

    Returns
    -------
    dict of str to object
        All options. Dicts of columns are joined, and other options of `stated` replaced.

    See Also
    --------
    Reading : Has the options of a reading.
    read_table : Reads a table with these options.

    Examples
    --------
    >>> merge_options({"decimal": ",", "columns": {"a": "text"}}, {"columns": {"b": "number"}})
    {'decimal': ',', 'columns': {'a': 'text', 'b': 'number'}}
    """
    merged = dict(stated)
    for name, value in chosen.items():
        before = merged.get(name)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[name] = {**before, **value} if both else value  # type: ignore[dict-item]
    return merged


def _call(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        flag = {"columns": "--column"}.get(name, f"--{name}")
        if isinstance(value, Mapping):
            for column, each in value.items():
                for one in (each,) if isinstance(each, str) else each or ("",):
                    yield f"{flag} {shlex.quote(f'{column}={one}')}"
        else:
            for one in (value,) if isinstance(value, str) or not isinstance(value, Sequence) else value or ("",):
                yield f"{flag} {shlex.quote(str(one))}"
