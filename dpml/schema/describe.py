"""A proposal of a schema from a table's column names and types, and the questions that only a person can answer.

The values of the table are private. Without `peek` not one is read. With it, categories and bounds are read off the
data to save typing, and are marked as peeked: a release refuses them until a person confirms them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import scalable
from dpml.exceptions import InvalidData, InvalidSchema
from dpml.schema.feature import Feature
from dpml.schema.schema import Schema
from dpml.schema.stated import plain_value
from dpml.schema.untrusted import read_frame

__all__ = ["Proposal", "describe"]

IDENTIFIERS = re.compile(r"(^|[_\W])(id|uuid|guid|ssn|email|e-mail|phone|iban|url|rowid|index)$|^(name|address)$", re.I)
LABELS = ("label", "target", "class", "y", "outcome")
# bounds that a name implies for everybody, in the usual units
KNOWN: tuple[tuple[str, float, float], ...] = (
    (r"age(_?years)?", 0, 120),
    (r"hours?[-_ ]?per[-_ ]?week", 0, 168),
    (r"month", 1, 12),
    (r"day[-_ ]?of[-_ ]?(the[-_ ]?)?month", 1, 31),
    (r"hour", 0, 23),
    (r".*(percent|percentage|pct)", 0, 100),
)
# a text column with more values than this is proposed to be left out
MOST_CATEGORIES = 50


@dataclass(frozen=True)
class Proposal:
    """What is known of a table without a person, and what has to be asked.

    Attributes
    ----------
    features : tuple of Feature
        Columns whose domain is known, or peeked.
    questions : tuple of str
        What a person must say. Each begins with the column or the argument that it is about.
    ignored : tuple of str
        Columns that look like identifiers.
    label : str or None
        The column with the labels.
    columns : tuple of str
        All columns in order, without the label.
    """

    features: tuple[Feature, ...]
    questions: tuple[str, ...]
    ignored: tuple[str, ...]
    label: str | None
    columns: tuple[str, ...]
    _kinds: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        lines = [f"{f.name}: {f.kind}, {f.domain}" + (" (peeked)" if f.peeked else "") for f in self.features]
        lines += [f"{name}: left out" for name in self.ignored]
        return "\n".join([*lines, *(f"? {question}" for question in self.questions)])

    def complete(
        self,
        *,
        classes: Sequence,
        n_lower: int,
        domains: Mapping[str, Any] | None = None,
        confirm: Sequence[str] = (),
        ignored: Sequence[str] | None = None,
        missing: Mapping[str, Any] | None = None,
    ) -> Schema:
        """Return the schema with a person's answers.

        Parameters
        ----------
        classes : sequence
            All labels that a record can have.
        n_lower : int
            A public lower bound on the number of records.
        domains : mapping of str to (lower, upper) or to categories
            The domain of each column that was asked for, or that the proposal has wrong.
        confirm : sequence of str
            Peeked columns whose domain is right, and is public.
        ignored : sequence of str, optional
            Columns that are left out. Default: the proposal's.
        missing : mapping of str to object, optional
            What stands for a missing value of a column: a value of its domain.

        Raises
        ------
        InvalidSchema
            If a column has neither a domain nor is left out. The message names it.
        """
        said = dict(domains or {})
        left_out = tuple(self.ignored if ignored is None else ignored)
        known = {f.name: f for f in self.features}
        stands = dict(missing or {})
        for name in [*said, *confirm, *left_out, *stands]:
            if name not in self.columns:
                raise InvalidSchema("column", name, f"one of {', '.join(self.columns[:8])}")
        features = []
        for name in self.columns:
            if name in said:
                features.append(self._stated(name, said[name]))
            elif name in left_out:
                continue
            elif name in known:
                features.append(replace(known[name], peeked=False) if name in confirm else known[name])
            else:
                raise InvalidSchema(f"domain of {name!r}", None, "stated in `domains`, or the column in `ignored`")
        features = [replace(f, missing=stands[f.name]) if f.name in stands else f for f in features]
        left_out = tuple(name for name in left_out if name not in said)
        return Schema(tuple(features), tuple(classes), n_lower=n_lower, ignored=left_out)

    def _stated(self, name: str, domain: Any) -> Feature:
        values = tuple(plain_value(value) for value in domain)
        numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
        if len(values) == 2 and numbers and self._kinds.get(name) == "numeric":
            return Feature(name, "numeric", lower=values[0], upper=values[1])
        return Feature(name, "categorical", values)


def describe(frame: Any, *, label: str | None = None, peek: bool = False) -> Proposal:
    """Propose a schema from the names and types of a table's columns.

    Released: nothing, without `peek`. With it, categories, minima and maxima of the records: for study, and marked.

    Parameters
    ----------
    frame : DataFrame
    label : str, optional
        The column with the labels. Default: a column named label, target, class, y or outcome.
    peek : bool
        Read missing categories and bounds off the data, and mark them as peeked.

    Returns
    -------
    Proposal

    Examples
    --------
    >>> table = pd.DataFrame({"id": [7, 8], "age": [31, 58], "job": ["clerk", "cook"], "label": ["no", "yes"]})
    >>> proposal = Schema.describe(table)
    >>> print(proposal)
    age: numeric, a number from 0 to 120
    id: left out
    ? job: which categories can it have?
    ? classes: which labels can `label` have?
    ? n_lower: how many records does the table have at least, as far as everybody may know?
    >>> schema = proposal.complete(classes=("no", "yes"), n_lower=1, domains={"job": ("clerk", "cook", "other")})
    >>> schema.feature_names, schema.ignored
    (['age', 'job'], ('id',))
    >>> Schema.describe(table, peek=True).features[1].peeked
    True
    """
    frame = read_frame(frame)
    if not isinstance(frame, pd.DataFrame):
        raise InvalidData("the table has no column names: give a DataFrame")
    names = [str(c) for c in frame.columns]
    if label is None:
        label = next((name for name in names if name.lower() in LABELS), None)
    elif label not in names:
        raise InvalidSchema("label", label, f"a column of the table: {', '.join(names[:8])}")
    features: list[Feature] = []
    questions: list[str] = []
    ignored: list[str] = []
    kinds: dict[str, str] = {}
    for i, name in enumerate(names):
        if name == label:
            continue
        column = frame.iloc[:, i]
        kinds[name] = _kind(column)
        if IDENTIFIERS.search(name):
            ignored.append(name)
            continue
        feature = _by_name(name, kinds[name]) or (_peeked(name, kinds[name], column) if peek else None)
        if feature is not None:
            features.append(feature)
        if feature is None or feature.peeked:
            questions.append(_question(name, kinds[name], feature))
    questions.append(f"classes: which labels can {f'`{label}`' if label else 'a record'} have?")
    questions.append("n_lower: how many records does the table have at least, as far as everybody may know?")
    columns = tuple(name for name in names if name != label)
    return Proposal(tuple(features), tuple(questions), tuple(ignored), label, columns, kinds)


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "binary"
    return "numeric" if pd.api.types.is_numeric_dtype(column.dtype) else "categorical"


def _by_name(name: str, kind: str) -> Feature | None:
    if kind == "binary":
        return Feature(name)
    if kind == "numeric":
        for pattern, lower, upper in KNOWN:
            if re.fullmatch(pattern, name, re.I):
                return Feature(name, "numeric", lower=lower, upper=upper)
    return None


def _peeked(name: str, kind: str, column: pd.Series) -> Feature | None:
    if kind == "numeric":
        values = column.to_numpy(dtype=float, na_value=np.nan)
        values = values[np.isfinite(values)]
        if len(values) and scalable(values.min(), values.max()):
            return Feature(name, "numeric", lower=float(values.min()), upper=float(values.max()), peeked=True)
        return None
    values = sorted({str(value) for value in column.dropna()})
    return Feature(name, "categorical", tuple(values), peeked=True) if 0 < len(values) <= MOST_CATEGORIES else None


def _question(name: str, kind: str, feature: Feature | None) -> str:
    if feature is not None:
        return f"{name}: is it true for everybody, and public, that it is {feature.domain}? It was read off the data"
    if kind == "numeric":
        return f"{name}: between which bounds does it lie?"
    return f"{name}: which categories can it have?"
