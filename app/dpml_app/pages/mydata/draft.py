"""What is known of an uploaded table and what a person has said of it, until it is a schema.

Nothing here knows of Panel. A fact that is read off the data is marked until the person states another, or confirms
this one by itself. Proposed bounds and numbers of records are nobody's: they are rounded, and far from the exact ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from dpml._validate import check_integer
from dpml.exceptions import InvalidSchema
from dpml.mechanisms import PrivateBounds
from dpml.schema import Feature, Schema
from dpml.schema.describe import bounds_around, different_texts, fewer, readable_bounds
from dpml.tables import Limits, TableReading, TextFormat, read_table
from dpml.tables.cells import REASONS
from dpml.tables.reading import NUMBER, SHARE, as_numbers
from dpml_app.pages.mydata.column import OF_KIND, Column, Proposed, marked, unmarked

# a column of more labels is not guessed to be the label, and so many are proposed of one that a person chooses
MOST_GUESSED, MOST_CLASSES = 20, 100
OF_TABLE = ("classes", "row_bound", "n_lower", "format")
# the category that gaps get where they are a value of their own
GAP = "no value"
# of a column's different texts, those that are proposed as its categories
MOST_CATEGORIES = 1000


class Draft:
    """A table and what is said of it.

    `file`: the file's name, for messages.
    `content`: the file, from which a release reads each record by itself.
    `reading`: how the file was read.
    `stated`: what a person has said of the file's format; what else differs from the usual one is marked.
    `kinds`: the kinds of columns with which the file was read.
    `answers`: the questions about the file that were answered, each with the position of the chosen reading.

    >>> draft = Draft(pd.DataFrame({"age": [30, 40, 50], "left": ["no", "yes", "no"]}), "people.csv")
    >>> draft.label, draft.classes, draft.columns["age"].description
    ('left', ('no', 'yes'), 'a whole number from 0 to 120')
    >>> [each.words for each in draft.proposed]
    ['left is one of no, yes', 'there are at least 1 records']
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        file: str,
        content: bytes | None = None,
        reading: TableReading | None = None,
        stated: Mapping[str, Any] | None = None,
        kinds: Mapping[str, str] | None = None,
        answers: Mapping[Any, Any] | None = None,
    ):
        self.frame, self.file, self.content = frame, file, content
        self.reading = TableReading(frame) if reading is None else reading
        self.stated, self.kinds = dict(stated or {}), dict(kinds or {})
        self.answers = dict(answers or {})
        # the columns of texts that a person has called numbers: as they were read
        self._texts: dict[str, pd.Series] = {}
        self.label = ""
        self.columns: dict[str, Column] = {}
        self.classes: tuple = ()
        self.n_lower: Any = 1
        # of the facts of the whole table, those that were read off the data, and whether each is confirmed
        self.marks: dict[str, bool] = {}
        self.row_bound: int | None = None
        # what was paid for facts, as a release states it
        self.charges: list[dict[str, Any]] = []
        # how a fact is known that no mark calls proposed, where a person has not stated it
        self.sources: dict[tuple[str, str], str] = {("", "label"): "proposed"}
        self.say_label(self._likely_label())
        self.say_records(fewer(len(frame)), proposed=True)
        if self._unusual - set(self.stated):
            self._mark("format", True)

    @property
    def _unusual(self) -> set[str]:
        """The parts of the format that a release would not take without being told."""
        form, usual = self.reading.format, TextFormat()
        names = ("encoding", "decimal", "thousands", "header", "names", "missing")
        return set() if form is None else {name for name in names if getattr(form, name) != getattr(usual, name)}

    def records(self, schema: Schema | None = None) -> pd.DataFrame:
        """Return the table as a release reads it: no record changes how another one is read.

        The categories and classes of `schema` are values, which no missing-value code takes away.
        """
        if self.content is None:
            return self.frame
        limits = Limits(bytes=max(len(self.content), 1))
        form = self.reading.format
        if form is None:
            return read_table(self.content, name=self.file, limits=limits, release=True)
        of_file = {each.name for each in self.reading.columns}
        numeric = {n for n, column in self.columns.items() if column.kind == "numeric"}
        numbers = {n: NUMBER for n in numeric & of_file if self.kinds.get(n) != SHARE}
        options: dict[str, Any] = {"columns": {**self.kinds, **numbers}, "schema": schema, **asdict(form)}
        return read_table(self.content, name=self.file, limits=limits, release=True, **options)

    @property
    def stated_format(self) -> dict[str, Any]:
        """What a person has said of how the file is read, as `read_table` takes it."""
        kinds = {**self.kinds, **dict.fromkeys(self._texts, "number")}
        return {**self.stated, "columns": kinds} if kinds else self.stated

    def _likely_label(self) -> str:
        label = Schema.describe(self.frame.iloc[:0]).label
        few = [name for name in self.frame if 2 <= self.frame[name].nunique() <= MOST_GUESSED]
        return label or (few[-1] if few else str(self.frame.columns[-1]))

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

    def _proposed(self, name: str, feature: Feature | None, identifier: str | None = None) -> Column:
        if feature is None:
            # by its name, or because of what is in it
            by_name = identifier == "name"
            reason = REASONS[identifier] if identifier else self._reason(name)
            if by_name:
                self.sources[name, "kind"] = "name"
            return Column(name, "ignored", data_derived=() if by_name else ("kind",), reason=reason)
        f = feature
        read_off = (*f.data_derived, *f.confirmed, *f.paid)
        self.sources |= {(name, fact): "name" for fact in OF_KIND[f.kind] if fact not in read_off}
        facts = f.lower, f.upper, f.categories or (), f.missing, f.levels, f.data_derived, f.confirmed, f.whole
        return Column(name, f.kind, *facts, paid=f.paid)

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
        """Read a column of texts as numbers, or take the texts back; return what became gaps."""
        if not numbers:
            texts = self._texts.pop(name, None)
            self.frame = self.frame if texts is None else self.frame.assign(**{name: texts})
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
        if changed:
            now = replace(unmarked(now, *changed), levels=None)
        if "kind" in changed:
            now = replace(now, note=self._turn(name, now.kind == "numeric"))
        if now.kind != before.kind or (now.kind == "categorical" and now.missing not in now.categories):
            now = replace(now, missing=None)
        if now.kind == "categorical" and not now.categories:
            now = replace(now, categories=different_texts(self.frame[name])[:MOST_CATEGORIES])
            now = marked(now, "categories")
        if now.kind == "numeric" and now.lower is None and now.upper is None:
            bounds = bounds_around(self.frame[name])
            if bounds is not None:
                whole = pd.api.types.is_integer_dtype(self.frame[name].dtype)
                now = marked(replace(now, lower=bounds[0], upper=bounds[1], whole_numbers=whole), "lower", "upper")
        self.columns[name] = now
        for fact in changed:
            self.sources.pop((name, fact), None)

    def was_read_off(self, column: str, fact: str) -> bool:
        """Return whether a fact was read off the data, and no person has typed another."""
        if not column:
            return fact in self.marks or fact == "label"
        return fact in (*self.columns[column].data_derived, *self.columns[column].confirmed)

    def source(self, column: str, fact: str) -> str:
        """Return how a fact is known: "proposed", "paid" for, by its "name", "stated", or from a "code" book."""
        if column and fact in self.columns[column].paid:
            return "paid"
        proposed = not self.marks.get(fact, True) if not column else fact in self.columns[column].data_derived
        return "proposed" if proposed else self.sources.get((column, fact), "stated")

    def say_source(self, column: str, fact: str, source: str) -> None:
        """Say how one fact is known: whoever knows that of a proposed one confirms it."""
        self.confirm(column, fact, source != "proposed")
        if source != "proposed" or self.was_read_off(column, fact):
            self.sources[column, fact] = source

    def without_bounds(self) -> list[str]:
        """Return the columns of numbers of which a bound is missing, or was read off the data and not confirmed."""
        numbers = {name: column for name, column in self.columns.items() if column.kind == "numeric"}
        return [name for name, c in numbers.items() if None in (c.lower, c.upper) or c.marks["data_derived"]]

    def has_whole_numbers(self, name: str) -> bool:
        """Return whether a column of numbers is proposed to have whole ones: whoever pays for its bounds says so."""
        return self.columns[name].whole_numbers or pd.api.types.is_integer_dtype(self.frame[name].dtype)

    def take_bounds(self, paid: Mapping[str, PrivateBounds], charge: dict[str, Any], *, public: bool) -> None:
        """Take bounds that were paid for. Noise for study makes none public: they are proposed then."""
        self.charges.append(charge)
        for name, bounds in paid.items():
            before = self.columns[name]
            whole = self.has_whole_numbers(name)
            lower, upper = readable_bounds(bounds.lower, bounds.upper, whole=whole)
            mark: dict[str, Any] = {"paid" if public else "data_derived": ("lower", "upper")}
            left = replace(unmarked(before, "lower", "upper"), lower=lower, upper=upper, levels=None)
            self.columns[name] = replace(left, whole_numbers=whole, **mark)
            for end in ("lower", "upper"):
                self.sources.pop((name, end), None)

    def confirm(self, column: str, fact: str, sure: bool = True) -> None:
        """Say of one proposed fact that it is true for everybody, and public; or that this is not said after all."""
        if not column:
            if fact in self.marks:
                self.marks[fact] = sure
            return
        before = self.columns[column]
        if fact not in (*before.data_derived, *before.confirmed):
            return
        self.columns[column] = marked(before, fact, sure=sure)

    def say_gaps(self, name: str, value: Any) -> None:
        """Say which value of its domain a gap in a column counts as; `GAP` becomes a category of its own.

        With None a gap counts as the middle of the bounds, the first category, or 0. It is a rule, no fact of the data:
        what was read off the data stays marked.
        """
        column = self.columns[name]
        if column.kind == "categorical" and value == GAP and GAP not in column.categories:
            column = replace(column, categories=(*column.categories, GAP), levels=None)
        self.columns[name] = replace(column, missing=value)

    def say_classes(self, classes: Sequence, *, proposed: bool = False) -> None:
        """Say which labels a record can have. Text that spells a number is one where the column has numbers."""
        numbers = pd.api.types.is_numeric_dtype(self.frame[self.label].dtype)
        self.classes = tuple(_number(label) if numbers else label for label in classes)
        self._mark("classes", proposed)

    def say_records(self, n_lower: Any, *, proposed: bool = False) -> None:
        """Say how many records the table has at least, as far as everybody may know."""
        self.n_lower = n_lower
        self._mark("n_lower", proposed)

    def _mark(self, fact: str, proposed: bool) -> None:
        self.marks.pop(fact, None)
        if proposed:
            self.marks[fact] = False

    # ---- what follows ------------------------------------------------------------------------------------------------

    @property
    def proposed(self) -> list[Proposed]:
        """Every fact that was read off the data, whether it is confirmed or not."""
        words = {"classes": f"{self.label} is one of {', '.join(map(str, self.classes))}"}
        words["row_bound"] = f"a record has at most {self.row_bound} ones"
        words["n_lower"] = f"there are at least {self.n_lower} records"
        form = self.reading.format
        words["format"] = "" if form is None else f"the file format is {form.words}"
        of_table = [Proposed("", fact, words[fact], self.marks[fact]) for fact in OF_TABLE if fact in self.marks]
        return [*(each for column in self.columns.values() for each in column.proposed), *of_table]

    @property
    def unconfirmed(self) -> list[Proposed]:
        """The facts that were read off the data, and that nobody has confirmed: a release refuses them."""
        return [each for each in self.proposed if not each.confirmed]

    def schema(self) -> Schema:
        """Return the schema; `InvalidSchema` names what is missing or wrong."""
        kept = [column for column in self.columns.values() if column.kind != "ignored"]
        if not kept:
            raise InvalidSchema("columns", "all left out", "at least one column that is used")
        check_integer(self.n_lower, "number of records", 1)
        if self.n_lower > len(self.frame):
            raise InvalidSchema(
                "number of records", self.n_lower, f"at most {len(self.frame):,}, the number of records in the table"
            )
        ignored = tuple(name for name, column in self.columns.items() if column.kind == "ignored")
        features = tuple(column.feature for column in kept)
        facts: dict[str, Any] = {"row_bound": self.row_bound, "n_lower": self.n_lower, "ignored": ignored}
        marks = {fact: sure for fact, sure in self.marks.items() if fact != "format"}
        left_out = [each.confirmed for name in ignored for each in self.columns[name].proposed]
        if left_out:
            marks["ignored"] = all(left_out)
        facts["data_derived"] = tuple(fact for fact, sure in marks.items() if not sure)
        facts["confirmed"] = tuple(fact for fact, sure in marks.items() if sure)
        return Schema(features, self.classes, **facts)

    def take(self, schema: Schema) -> None:
        """Take all facts from a schema; its columns must be the table's."""
        names = {str(name) for name in self.frame.columns}
        for name in (*schema.feature_names, *schema.ignored):
            if name not in names:
                raise InvalidSchema("feature", name, "a column of the table")
        columns = {f.name: self._proposed(f.name, f) for f in schema.features}
        rest = [str(name) for name in self.frame.columns if name not in columns and name not in schema.ignored]
        label = self.label if self.label in rest else rest[0] if rest else ""
        if not label:
            raise InvalidSchema("features", "every column", "all columns except the label")
        self.say_label(label)
        left_out = Column("", "ignored")
        if "ignored" in (*schema.data_derived, *schema.confirmed):
            left_out = marked(left_out, "kind", sure="ignored" in schema.confirmed)
        self.columns = {name: columns.get(name) or replace(left_out, name=name) for name in self.columns}
        self.sources = {}
        self.classes = schema.classes
        self.n_lower = schema.n_lower
        self.row_bound = schema.row_bound if schema.is_binary else None
        read_off = (*schema.data_derived, *schema.confirmed)
        of_file = {fact: sure for fact, sure in self.marks.items() if fact == "format"}
        self.marks = {fact: fact in schema.confirmed for fact in OF_TABLE if fact in read_off} | of_file


def _number(label: Any) -> Any:
    for kind in (int, float):
        try:
            return kind(label) if isinstance(label, str) else label
        except ValueError:
            continue
    return label
