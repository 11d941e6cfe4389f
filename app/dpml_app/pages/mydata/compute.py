"""The state of an uploaded table, and what threads and workers compute of it."""

import codecs
import io
import math
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpml._validate import check_integer
from dpml.budget import Budget
from dpml.exceptions import DpmlError, FactWarning, InvalidParameter, InvalidSchema, TableTooLarge
from dpml.mechanisms.interruption import interruptible
from dpml.registry import method
from dpml.release import Plan
from dpml.release.forecast import Forecast
from dpml.schema import Feature, Schema
from dpml.schema.describe import bounds_around, different_texts, fewer
from dpml.studies import Advice, Signal, advice_of, estimated_advice, signal_of
from dpml.studies.comparison import study_measures
from dpml.tables import Limits, TableReading, TextFormat, read_table
from dpml.tables.cells import REASONS
from dpml.tables.reading import IGNORE, NUMBER, OF_RELEASE, SHARE, Question, as_numbers, merge_options
from dpml_app.data.measures import dataset

SEED = 0


# ---- cancelling ------------------------------------------------------------------------------------------------------


class Stopped(BaseException):
    """Something was cancelled. No exception of the library's: nothing on the way takes it for a fault of the data."""


class CancellationToken(threading.Event):
    """A wish to stop, set in one thread and obeyed in another at its next statistic or checkpoint.

    The rule for ε: what is charged stays charged, and a release charges all of its parts before its first draw. A
    refund would need a proof that nothing was learned from what was drawn: how long it took is seen.
    """

    def check(self) -> None:
        """Raise `Stopped` once the token is set."""
        if self.is_set():
            raise Stopped

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Return a context that ends at the next statistic or checkpoint once the token is set, without a result."""
        self.check()
        with interruptible(self.check):
            yield
        self.check()


# ---- reading a file --------------------------------------------------------------------------------------------------

WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# lines that need not be records: empty ones, and those before the names
SPARE = 10_000


def check_lines(name: str, content: bytes, limits: Limits) -> None:
    """Raise `TableTooLarge` where a file has more line ends than records are read, those in quotes included.

    Counting takes a fraction of a second, and reading minutes. A Parquet file has no lines.
    """
    most, codec = limits.rows + SPARE, WIDE.get(content[:2], "ascii")
    lines = max(content.count(end.encode(codec)) for end in "\n\r")
    if lines > most and not content.startswith(b"PAR1"):
        raise TableTooLarge(name, f"the file has more than {most:,} lines, the limit is {limits.rows:,} records")


# question and position of the chosen reading, by the question's kind and columns
Answers = Mapping[tuple[str, tuple[str, ...]], tuple[Question, int]]


def key_of(question: Question) -> tuple[str, tuple[str, ...]]:
    """Return the name under which the answer to a question is kept."""
    return question.kind, question.columns


def assumed(question: Question) -> int:
    """Return the position of the reading that the page takes until a person chooses: an identifier is left out."""
    kinds = [each.options.get("columns", {}).values() for each in question.readings]
    return next((place for place, each in enumerate(kinds) if IGNORE in each), 0)


# ---- a column --------------------------------------------------------------------------------------------------------

# what can be read off the data of a column, by its kind: what is left out is so by its kind
OF_KIND = {"numeric": ("lower", "upper"), "categorical": ("categories",), "binary": ("kind",), "ignored": ("kind",)}
# how a fact is known that no person has typed
MARKS = ("data_derived", "confirmed", "paid")
DERIVED, CONFIRMED, PAID = MARKS
NAMED = "name"


class Proposed(NamedTuple):
    """A fact that was read off the data; `column` is empty where it is one of the table."""

    column: str
    fact: str
    confirmed: bool


@dataclass(frozen=True)
class Column:
    """Facts of a column. Facts of other kinds are kept in case the kind changes back."""

    name: str
    kind: str
    lower: Any = None
    upper: Any = None
    categories: tuple = ()
    missing: Any = None
    levels: tuple | None = None
    whole_numbers: bool = False
    # by fact, one of `MARKS`, or `NAMED`
    marks: Mapping[str, str] = field(default_factory=dict)
    # why it is proposed to be left out; and what became missing when a person called it one of numbers
    reason: str = ""
    note: str = ""

    def mark(self, mark: str, *facts: str) -> "Column":
        """Return a column with facts that are known in a way of `MARKS`; an empty mark: that a person has stated."""
        rest = {fact: each for fact, each in self.marks.items() if fact not in facts}
        return replace(self, marks={**rest, **dict.fromkeys(facts, mark)} if mark else rest)

    def marked(self, *marks: str) -> tuple[str, ...]:
        """Return the facts of its kind that have one of these marks."""
        return tuple(fact for fact in OF_KIND[self.kind] if self.marks.get(fact) in marks)

    @property
    def read_off(self) -> tuple[str, ...]:
        """The facts of its kind that were read off the data."""
        return self.marked(DERIVED, CONFIRMED)

    @property
    def feature(self) -> Feature:
        """The feature; `InvalidSchema` where a fact is missing or wrong."""
        facts: dict[str, Any] = {mark: self.marked(mark) for mark in MARKS}
        facts |= {"missing": self.missing, "levels": self.levels}
        if self.kind == "numeric":
            if None in (self.lower, self.upper):
                wanted = "two numbers. State both, or leave the column out"
                raise InvalidSchema(f"bounds of {self.name!r}", "missing", wanted)
            facts |= {"lower": self.lower, "upper": self.upper, "whole": self.whole_numbers}
        if self.kind == "categorical":
            facts["categories"] = self.categories
        return Feature(self.name, self.kind, **facts)

    @property
    def fault(self) -> str:
        """What is missing or wrong; empty where nothing is."""
        try:
            _ = self.feature
        except InvalidParameter as error:
            return f"{str(error.name).partition(' of ')[0]} must be {error.allowed}"
        return ""

    @property
    def description(self) -> str:
        """All that a release would publish of its domain, or what is missing."""
        if self.kind == "ignored":
            return f"left out: {self.reason}" if self.reason else "left out"
        if self.fault:
            return self.fault
        domain = self.feature.facts(OF_KIND[self.kind])
        return domain if self.missing is None else f"{domain}, missing values are replaced by {self.missing}"


# ---- a table ---------------------------------------------------------------------------------------------------------

# a column of more labels is not guessed to be the label, and so many are proposed of one that a person chooses
MOST_GUESSED, MOST_CLASSES = 20, 100
OF_SCHEMA = ("classes", "row_bound", "n_lower")
OF_TABLE = (*OF_SCHEMA, "format")
# of a column's different texts, those that are proposed as its categories
MOST_CATEGORIES = 1000


class Draft:
    """A table and what is said of it, until it is a schema.

    A fact that is read off the data is marked until the person states another, or confirms this one by itself. Proposed
    bounds and numbers of records are nobody's: they are rounded, and far from the exact ones.

    `content`: the file, from which a release reads each record by itself.
    `stated`: what a person has said of the file's format; what else differs from the usual one is marked.
    `kinds`: the kinds of columns with which the file was read.
    `answers`: the questions about the file that were answered, each with the position of the chosen reading.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        file: str,
        content: bytes | None = None,
        reading: TableReading | None = None,
        stated: Mapping[str, Any] | None = None,
        kinds: Mapping[str, str] | None = None,
        answers: Answers | None = None,
    ):
        self.frame, self.file, self.content = frame, file, content
        self.reading = TableReading(frame) if reading is None else reading
        self.stated, self.kinds, self.answers = dict(stated or {}), dict(kinds or {}), dict(answers or {})
        # the columns of texts that a person has called numbers: as they were read
        self._texts: dict[str, pd.Series] = {}
        self.label = ""
        self.columns: dict[str, Column] = {}
        self.classes: tuple = ()
        self.n_lower: Any = 1
        self.row_bound: int | None = None
        # of the facts of the whole table, those that were read off the data: `DERIVED` or `CONFIRMED`
        self.marks: dict[str, str] = {}
        likely = Schema.describe(frame.iloc[:0]).label
        few = [name for name in frame if 2 <= frame[name].nunique() <= MOST_GUESSED]
        self.say_label(likely or (few[-1] if few else str(frame.columns[-1])))
        self.say_records(fewer(len(frame)), proposed=True)
        form, usual = self.reading.format, TextFormat()
        names = ("encoding", "decimal", "thousands", "header", "names", "missing")
        # a release would not take them without being told
        unusual = set() if form is None else {name for name in names if getattr(form, name) != getattr(usual, name)}
        if unusual - set(self.stated):
            self.marks["format"] = DERIVED

    def records(self, schema: Schema | None = None) -> pd.DataFrame:
        """Return the table as a release reads it: no record changes how another one is read.

        The categories and classes of `schema` are values, which no missing-value code takes away.
        """
        if self.content is None:
            return self.frame
        limits = Limits(bytes=max(len(self.content), 1))
        options: dict[str, Any] = {}
        if self.reading.format is not None:
            of_file = [each.name for each in self.reading.columns if each.name in self.columns]
            numeric = [name for name in of_file if self.columns[name].kind == "numeric"]
            numbers = {name: NUMBER for name in numeric if self.kinds.get(name) != SHARE}
            options = {"columns": {**self.kinds, **numbers}, "schema": schema, **asdict(self.reading.format)}
        return read_table(self.content, name=self.file, limits=limits, release=True, **options)

    def release_records(self, schema: Schema) -> pd.DataFrame:
        """Return the columns that a schema and the label need, as a release reads them."""
        return self.records(schema)[[*schema.feature_names, self.label]]

    @property
    def stated_format(self) -> dict[str, Any]:
        """Options of `read_table` that the person has chosen."""
        kinds = {**self.kinds, **dict.fromkeys(self._texts, "number")}
        return {**self.stated, "columns": kinds} if kinds else self.stated

    @property
    def open_questions(self) -> list[Question]:
        """The questions about the file that a release cannot leave open."""
        return [question for question in self.reading.questions if question.kind in OF_RELEASE]

    def answered(self, choices: list[tuple[Question, int]]) -> tuple[dict[str, Any], dict[str, str], Answers]:
        """Return the options, the kinds of columns and the answers after some more choices.

        The answer to a question about the whole file can change the columns, so what was stated of them is asked again.
        """
        options: dict[str, Any] = {**self.stated, "columns": dict(self.kinds)}
        answers = dict(self.answers)
        for question, position in choices:
            before = answers.get(key_of(question))
            if not question.columns:
                if before is not None:
                    options = {k: v for k, v in options.items() if k not in before[0].readings[before[1]].options}
                if position:
                    options["columns"] = {}
                    options.pop("missing", None)
                    answers = {key: answer for key, answer in answers.items() if not key[1]}
            options = merge_options(options, question.readings[position].options)
            answers[key_of(question)] = question, position
        kinds = options.pop("columns")
        return options, kinds, answers

    # ---- what a person says ------------------------------------------------------------------------------------------

    def say_label(self, name: str) -> None:
        """Choose the column with the labels; its labels are proposed, and the other columns keep what was said."""
        self.label = name
        proposal = Schema.describe(self.frame, label=name, peek=True)
        known = {f.name: f for f in proposal.features}
        for n in proposal.columns:
            self.columns.setdefault(n, self._proposed(n, known.get(n), proposal.reasons.get(n)))
        self.columns = {n: self.columns[n] for n in proposal.columns}
        for n in proposal.reasons:
            if n in self.kinds and self.columns[n].kind == "ignored":  # a person has said that it is no identifier
                self.say(n, kind="numeric" if pd.api.types.is_numeric_dtype(self.frame[n].dtype) else "categorical")
        values = self.frame[name].dropna().unique()
        labels = sorted(values.tolist(), key=str) if len(values) <= MOST_CLASSES else []
        self.say_classes([int(v) if isinstance(v, float) and v.is_integer() else v for v in labels], proposed=True)

    def _proposed(self, name: str, f: Feature | None, identifier: str | None = None) -> Column:
        if f is None:
            # by its name, or because of what is in it
            reason = REASONS[identifier] if identifier else self._reason(name)
            return Column(name, "ignored", marks={"kind": NAMED if identifier == "name" else DERIVED}, reason=reason)
        marks = dict.fromkeys(OF_KIND[f.kind], NAMED)
        marks |= {fact: mark for mark in MARKS for fact in getattr(f, mark)}
        return Column(name, f.kind, f.lower, f.upper, f.categories or (), f.missing, f.levels, f.whole, marks)

    def _reason(self, name: str) -> str:
        """Return why no domain is proposed for a column."""
        different = self.frame[name].nunique()
        if different < 2:
            return "one value" if different else "no value"
        if pd.api.types.is_numeric_dtype(self.frame[name].dtype):
            return "the range of its numbers is too small or too large"
        read = next((each for each in self.reading.columns if each.name == name), None)
        return ", ".join(filter(None, (f"{different:,} different texts", read.words if read else "")))

    def _turn(self, name: str, numbers: bool) -> str:
        """Read a column of texts as numbers, or take the texts back; return what became missing."""
        if not numbers:
            self.frame = self.frame.assign(**{name: self._texts.pop(name, self.frame[name])})
            return ""
        if name in self._texts or pd.api.types.is_numeric_dtype(self.frame[name].dtype):
            return ""
        self._texts[name] = self.frame[name]
        values, reading = as_numbers(name, self.frame[name], self.reading.format or TextFormat())
        self.frame = self.frame.assign(**{name: values})
        return reading.words

    def say(self, name: str, **facts: Any) -> None:
        """Say what a column is; what a person says was not read off the data, unless it stays as it was proposed."""
        before = self.columns[name]
        now = replace(before, **facts)
        changed = {fact for fact in facts if getattr(now, fact) != getattr(before, fact)}
        # which value stands for a missing cell is a rule, no fact of the data
        if changed - {"missing"}:
            now = replace(now.mark("", *changed), levels=None)
        if "kind" in changed:
            now = replace(now, note=self._turn(name, now.kind == "numeric"), missing=None)
        if "categories" in changed and now.missing not in now.categories:
            now = replace(now, missing=None)
        if now.kind == "categorical" and not now.categories:
            texts = different_texts(self.frame[name])[:MOST_CATEGORIES]
            now = replace(now, categories=texts).mark(DERIVED, "categories")
        if now.kind == "numeric" and now.lower is None and now.upper is None:
            bounds = bounds_around(self.frame[name])
            if bounds is not None:
                whole = pd.api.types.is_integer_dtype(self.frame[name].dtype)
                now = replace(now, lower=bounds[0], upper=bounds[1], whole_numbers=whole).mark(
                    DERIVED, "lower", "upper"
                )
        self.columns[name] = now

    def confirm(self, column: str, fact: str, sure: bool = True) -> None:
        """Say of one proposed fact that it is true for everybody, and public; or that this is not said after all."""
        mark = CONFIRMED if sure else DERIVED
        if not column and fact in self.marks:
            self.marks[fact] = mark
        elif column and fact in self.columns[column].read_off:
            self.columns[column] = self.columns[column].mark(mark, fact)

    def say_classes(self, classes: Sequence, *, proposed: bool = False) -> None:
        """Say which labels a record can have. Text that spells a number is one where the column has numbers."""
        numbers = pd.api.types.is_numeric_dtype(self.frame[self.label].dtype)
        self._state("classes", tuple(_number(label) if numbers else label for label in classes), proposed)

    def say_records(self, n_lower: Any, *, proposed: bool = False) -> None:
        """Say how many records the table has at least, as far as everybody may know."""
        self._state("n_lower", n_lower, proposed)

    def _state(self, fact: str, value: Any, proposed: bool) -> None:
        """Take a fact of the table: what a person repeats of a proposal stays marked."""
        if proposed:
            self.marks[fact] = DERIVED
        elif value != getattr(self, fact):
            self.marks.pop(fact, None)
        setattr(self, fact, value)

    # ---- what follows ------------------------------------------------------------------------------------------------

    @property
    def proposed(self) -> list[Proposed]:
        """Every fact that was read off the data, whether it is confirmed or not."""
        marks = [(n, fact, column.marks[fact]) for n, column in self.columns.items() for fact in column.read_off]
        marks += [("", fact, self.marks[fact]) for fact in OF_TABLE if fact in self.marks]
        return [Proposed(column, fact, mark == CONFIRMED) for column, fact, mark in marks]

    @property
    def unconfirmed(self) -> list[Proposed]:
        """Facts that were read from the data and are not confirmed. A release refuses them."""
        return [each for each in self.proposed if not each.confirmed]

    def schema(self) -> Schema:
        """Return the schema; `InvalidSchema` names what is missing or wrong."""
        kept = [column for column in self.columns.values() if column.kind != "ignored"]
        if not kept:
            raise InvalidSchema("columns", "all left out", "at least one column that is used")
        check_integer(self.n_lower, "number of records", 1)
        if self.n_lower > len(self.frame):
            wanted = f"at most {len(self.frame):,}, the number of records in the table"
            raise InvalidSchema("number of records", self.n_lower, wanted)
        ignored = tuple(name for name, column in self.columns.items() if column.kind == "ignored")
        features = tuple(column.feature for column in kept)
        marks = {fact: mark for fact, mark in self.marks.items() if fact in OF_SCHEMA}
        left_out = [self.columns[name].marks[fact] for name in ignored for fact in self.columns[name].read_off]
        if left_out:
            marks["ignored"] = DERIVED if DERIVED in left_out else CONFIRMED
        facts: dict[str, Any] = {"row_bound": self.row_bound, "n_lower": self.n_lower, "ignored": ignored}
        facts |= {of: tuple(fact for fact, mark in marks.items() if mark == of) for of in (DERIVED, CONFIRMED)}
        return Schema(features, self.classes, **facts)

    def says(self, schema: Schema) -> bool:
        """Return whether the draft still says what a schema does."""
        try:
            return self.schema() == schema
        except DpmlError:
            return False

    def take(self, schema: Schema) -> None:
        """Take all facts from a schema; its columns must be the table's."""
        names = {str(name) for name in self.frame.columns}
        for name in (*schema.feature_names, *schema.ignored):
            if name not in names:
                raise InvalidSchema("feature", name, "a column of the table")
        columns = {f.name: self._proposed(f.name, f) for f in schema.features}
        columns = {name: column.mark("", *column.marked(NAMED)) for name, column in columns.items()}
        rest = [str(name) for name in self.frame.columns if name not in columns and name not in schema.ignored]
        if not rest:
            raise InvalidSchema("features", "every column", "all columns except the label")
        self.say_label(self.label if self.label in rest else rest[0])
        marks = {fact: mark for mark in (DERIVED, CONFIRMED) for fact in getattr(schema, mark)}
        left_out = Column("", "ignored").mark(marks.get("ignored", ""), "kind")
        self.columns = {name: columns.get(name) or replace(left_out, name=name) for name in self.columns}
        self.classes, self.n_lower = schema.classes, schema.n_lower
        self.row_bound = schema.row_bound if schema.is_binary else None
        of_file = {fact: mark for fact, mark in self.marks.items() if fact == "format"}
        self.marks = {fact: marks[fact] for fact in OF_SCHEMA if fact in marks} | of_file


def _number(label: Any) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(label) if isinstance(label, str) else label
    return label


# ---- advice: first an estimate, then what workers measure ------------------------------------------------------------

ADVICE_EPSILONS = (0.1, 0.5, 2.0)
# runs of each method at each ε
ADVICE_DRAWS = 20
# two runs share the default classifier's grid, whose choice takes longer than all else
GRIDS = ADVICE_DRAWS // 2


def estimate(name: str, relation: str) -> dict[float, Advice]:
    """Return a first advice at each ε, in two seconds."""
    first = estimated_advice(dataset(name), ADVICE_EPSILONS, relation=relation, rng=np.random.default_rng(SEED))
    return dict(zip(ADVICE_EPSILONS, first, strict=True))


def signal(name: str) -> Signal:
    """Return what a fit without privacy reaches."""
    return signal_of(dataset(name))


def advice_runs(name: str, key: str, relation: str, epsilon: float) -> np.ndarray:
    """Return the accuracies and AUCs of the runs of a method, shape (2, draws)."""
    study = method(key).study_of(dataset(name), relation=relation)
    return study_measures(study, epsilon, ADVICE_DRAWS, np.random.default_rng(SEED), GRIDS)


def measured(name: str, epsilon: float, runs: Mapping[str, np.ndarray], fit: Signal) -> Advice:
    """Return the advice of all runs at one ε."""
    return advice_of(dataset(name), epsilon, runs, fit, rng=np.random.default_rng(SEED))


# ---- shares of one ε -------------------------------------------------------------------------------------------------

# the parts of a release, in the order in which they are charged, with their weights at the start
START = {"selection": 20.0, "training": 40.0, "evaluation": 20.0, "publishing": 20.0}
MOST_WEIGHT = 100.0


def shares_of(weights: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of ε of each part, its weight divided by all weights; an invalid weight counts as 0.

    >>> shares_of({"training": 30.0, "evaluation": 10.0, "publishing": float("nan")})
    {'training': 0.75, 'evaluation': 0.25, 'publishing': 0.0}
    """
    known = {part: weight if weight and 0 <= weight <= MOST_WEIGHT else 0.0 for part, weight in weights.items()}
    whole = math.fsum(known.values())
    return {part: weight / whole if whole else 0.0 for part, weight in known.items()}


# ---- a release -------------------------------------------------------------------------------------------------------


class Planned(NamedTuple):
    """A plan, the charges that it will make, and what stands against it."""

    plan: Plan | None
    preview: pd.DataFrame | None
    problems: tuple[BaseException, ...]


@dataclass(frozen=True, eq=False)
class Done:
    """A release that was made, and the archive of its files."""

    name: str
    seconds: float
    evaluation: pd.DataFrame | None
    content: bytes

    def __repr__(self) -> str:
        return "<a release of a session>"


def planned(schema: Callable[[], Schema], epsilon: float, shares: dict[str, float], secure: bool) -> Planned:
    """Return the plan of a release, tried out on no records. `schema` makes the schema, or raises what is wrong."""
    plan = Plan(schema(), epsilon, shares=shares)
    return Planned(plan, plan.preview(secure), plan.problems(secure))


def forecast(plan: Plan, draft: Draft) -> Forecast:
    """Return the forecast of a plan on the exact records, for the table's owner alone."""
    return plan.forecast(draft.release_records(plan.schema), draft.label)


def run(plan: Plan, draft: Draft, budget: Budget, secure: bool, number: int, who: str, stop: CancellationToken) -> Done:
    """Carry out a plan on a table, charged to the session's budget, and return its files; `Stopped` if it is cancelled.

    `who` says that the facts are public, and is named in the statement alone. No disk is needed, so none can be full.
    """
    begun = time.monotonic()
    table = draft.release_records(plan.schema)
    with stop.cancellable(), warnings.catch_warnings():
        # how many cells do not fit is a number from the data, and warnings end in the server's log
        warnings.simplefilter("ignore", FactWarning)
        released = plan.run(table, draft.label, secure=secure, budget=budget)
    name, every = f"{'release' if secure else 'simulation'}-{number}", io.BytesIO()
    with zipfile.ZipFile(every, "w", zipfile.ZIP_DEFLATED) as file:
        for each, content in sorted(released.files(stated_by=who or None).items()):
            file.writestr(f"{name}/{each}", content)
    return Done(name, time.monotonic() - begun, released.evaluation, every.getvalue())
