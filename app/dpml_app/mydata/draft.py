"""What is known of an uploaded table and what a person has said of it, until it is a schema.

Nothing here knows of Panel. What is taken from the data is marked as peeked until the person says that it is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import check_integer
from dpml.datasets._cards import row_facts
from dpml.exceptions import DpmlError, InvalidSchema
from dpml.schema import Feature, Schema

__all__ = ["GAP", "KINDS", "Column", "Draft"]

KINDS = {"numeric": "Number", "categorical": "Categories", "binary": "0 or 1", "ignored": "Left out"}
# a column of more labels is taken for no label
MOST_CLASSES = 20
LABEL, RECORDS = "the labels", "the number of records"
# what a schema calls them
FACTS = {"classes": LABEL, "n_lower": RECORDS}
# the category that gaps get where they are a value of their own
GAP = "no value"


@dataclass(frozen=True)
class Column:
    """What a column is; of a kind's facts, those of the others are kept for whoever changes their mind."""

    name: str
    kind: str
    lower: Any = None
    upper: Any = None
    categories: tuple = ()
    peeked: bool = False
    missing: Any = None
    levels: tuple | None = None

    @property
    def feature(self) -> Feature:
        """The feature; `InvalidSchema` where a fact is missing or wrong."""
        more: dict[str, Any] = {"missing": self.missing, "levels": self.levels}
        if self.kind == "numeric":
            return Feature(self.name, "numeric", lower=self.lower, upper=self.upper, peeked=self.peeked, **more)
        if self.kind == "categorical":
            return Feature(self.name, "categorical", self.categories, peeked=self.peeked, **more)
        return Feature(self.name, **more)

    @property
    def told(self) -> str:
        """Its domain in words, or what is missing."""
        if self.kind == "ignored":
            return "left out"
        try:
            return self.feature.domain
        except DpmlError:
            if self.kind == "numeric" and None not in (self.lower, self.upper) and self.missing is not None:
                return "what a gap counts as is out of bounds"
            return "bounds are missing" if self.kind == "numeric" else "categories are missing"


class Draft:
    """A table and what is said of it.

    Parameters
    ----------
    frame : DataFrame
    file : str
        The file's name, for messages.

    Examples
    --------
    >>> draft = Draft(pd.DataFrame({"age": [30, 40, 50], "left": ["no", "yes", "no"]}), "people.csv")
    >>> draft.label, draft.classes, draft.columns["age"].told
    ('left', ('no', 'yes'), 'a number from 0 to 120')
    >>> sorted(draft.peeked)
    ['the labels', 'the number of records']
    """

    def __init__(self, frame: pd.DataFrame, file: str):
        self.frame, self.file = frame, file
        self.label = ""
        self.columns: dict[str, Column] = {}
        self.classes: tuple = ()
        self.n_lower: Any = 1
        self.peeked: set[str] = set()
        self.row_bound: int | None = None
        self.say_label(self._likely_label())
        self.say_records(row_facts(len(frame))["n_lower"], peeked=True)

    def _likely_label(self) -> str:
        found = Schema.describe(self.frame.iloc[:0]).label
        few = [name for name in self.frame if 2 <= self.frame[name].nunique() <= MOST_CLASSES]
        return found or (few[-1] if few else str(self.frame.columns[-1]))

    # ---- what a person says ------------------------------------------------------------------------------------------

    def say_label(self, name: str) -> None:
        """Choose the column with the labels; its labels are proposed, and the other columns keep what was said."""
        self.label = name
        proposal = Schema.describe(self.frame, label=name, peek=True)
        known = {f.name: f for f in proposal.features}
        self.columns = {n: self.columns.get(n) or self._proposed(n, known.get(n)) for n in proposal.columns}
        values = self.frame[name].dropna().unique()
        labels = sorted(values.tolist(), key=str) if len(values) <= MOST_CLASSES else []
        self.say_classes([int(v) if isinstance(v, float) and v.is_integer() else v for v in labels], peeked=True)

    def _proposed(self, name: str, feature: Feature | None) -> Column:
        if feature is None:
            return Column(name, "ignored")
        facts = feature.lower, feature.upper, feature.categories or (), feature.peeked, feature.missing, feature.levels
        return Column(name, feature.kind, *facts)

    def say(self, name: str, **facts: Any) -> None:
        """Say what a column is; what a person says is not peeked, unless it stays as it was proposed."""
        before = self.columns[name]
        now = replace(before, **facts)
        if now != before:
            now = replace(now, peeked=facts.get("peeked", False), levels=None)
        if now.kind != before.kind or (now.kind == "categorical" and now.missing not in now.categories):
            now = replace(now, missing=None)
        if now.kind == "categorical" and not now.categories:
            now = replace(now, **self._peek_categories(name))
        if now.kind == "numeric" and now.lower is None and now.upper is None:
            now = replace(now, **self._peek_bounds(name))
        self.columns[name] = now

    def say_gaps(self, name: str, value: Any) -> None:
        """Say which value of its domain a gap in a column counts as; `GAP` becomes a category of its own.

        With None a gap counts as the middle of the bounds, the first category, or 0. It is a rule, no fact of the data:
        what is peeked stays so.
        """
        column = self.columns[name]
        if column.kind == "categorical" and value == GAP and GAP not in column.categories:
            column = replace(column, categories=(*column.categories, GAP), levels=None)
        self.columns[name] = replace(column, missing=value)

    def _peek_categories(self, name: str) -> dict[str, Any]:
        values = sorted({str(value) for value in self.frame[name].dropna()})
        return {"categories": tuple(values[:1000]), "peeked": True}

    def _peek_bounds(self, name: str) -> dict[str, Any]:
        values = pd.to_numeric(self.frame[name].astype(object), errors="coerce").to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        return {"lower": float(values.min()), "upper": float(values.max()), "peeked": True} if len(values) else {}

    def say_classes(self, classes: Sequence, *, peeked: bool = False) -> None:
        """Say which labels a record can have. Text that spells a number is one where the column has numbers."""
        numbers = pd.api.types.is_numeric_dtype(self.frame[self.label].dtype)
        self.classes = tuple(_number(label) if numbers else label for label in classes)
        self._mark(LABEL, peeked)

    def say_records(self, n_lower: Any, *, peeked: bool = False) -> None:
        """Say how many records the table has at least, as far as everybody may know."""
        self.n_lower = n_lower
        self._mark(RECORDS, peeked)

    def _mark(self, fact: str, peeked: bool) -> None:
        (self.peeked.add if peeked else self.peeked.discard)(fact)

    def confirm(self) -> None:
        """Say that all that was taken from the data is true for everybody, and public."""
        self.peeked.clear()
        self.columns = {name: replace(column, peeked=False) for name, column in self.columns.items()}

    # ---- what follows ------------------------------------------------------------------------------------------------

    @property
    def taken(self) -> list[str]:
        """The facts that are taken from the data and not confirmed."""
        marked = [n for n, column in self.columns.items() if column.peeked and column.kind not in ("ignored", "binary")]
        return [*marked, *sorted(self.peeked)]

    def schema(self) -> Schema:
        """Return the schema; `InvalidSchema` names what is missing or wrong."""
        kept = [column for column in self.columns.values() if column.kind != "ignored"]
        if not kept:
            raise InvalidSchema("columns", "all left out", "at least one that is used")
        check_integer(self.n_lower, "number of records", 1)
        if self.n_lower > len(self.frame):
            raise InvalidSchema(
                "number of records", self.n_lower, f"at most the {len(self.frame):,} records that the table has"
            )
        ignored = tuple(name for name, column in self.columns.items() if column.kind == "ignored")
        features = tuple(column.feature for column in kept)
        marked = tuple(name for name, fact in FACTS.items() if fact in self.peeked)
        facts: dict[str, Any] = {"row_bound": self.row_bound, "n_lower": self.n_lower, "ignored": ignored}
        return Schema(features, self.classes, **facts, peeked_facts=marked)

    def take(self, schema: Schema) -> None:
        """Take all facts from a schema; its columns must be the table's."""
        names = {str(name) for name in self.frame.columns}
        for name in (*schema.feature_names, *schema.ignored):
            if name not in names:
                raise InvalidSchema("feature", name, "a column of the table")
        said = {f.name: self._proposed(f.name, f) for f in schema.features}
        rest = [str(name) for name in self.frame.columns if name not in said and name not in schema.ignored]
        label = self.label if self.label in rest else rest[0] if rest else ""
        if not label:
            raise InvalidSchema("features", "every column", "without the column that has the labels")
        self.say_label(label)
        self.columns = {name: said.get(name) or Column(name, "ignored") for name in self.columns}
        self.classes = schema.classes
        self.n_lower = schema.n_lower
        self.row_bound = schema.row_bound if schema.is_binary else None
        self.peeked = {fact for name, fact in FACTS.items() if name in schema.peeked_facts}


def _number(label: Any) -> Any:
    for kind in (int, float):
        try:
            return kind(label) if isinstance(label, str) else label
        except ValueError:
            continue
    return label
