"""A proposal of a schema from a table's column names and types, and the questions that only a person can answer.

The values of the table are private. Without `peek` none is read. With it, categories, round bounds that hold all
values, and columns that identify a record are data-derived to save typing. They are marked as `data_derived`: a release
refuses them until a person states them, or confirms each by its name (`Schema.confirm`). With `epsilon` they are
released instead (`dpml.mechanisms.private_bounds`, `private_categories`). With ``release=True`` they are public then,
and marked as `paid`. Noise for a simulation makes nothing public, and leaves them marked as `data_derived`. The types
of columns depend on all cells, so in a release a person states the kind of each column (`kinds`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from dpml._validate import check_choice
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema
from dpml.schema.facts import OF_KIND
from dpml.schema.feature import Feature
from dpml.schema.proposed_bounds import bounds_around, finite_numbers, holds, known_bounds, readable_bounds
from dpml.schema.stated import plain_value
from dpml.schema.table_facts import TableFacts
from dpml.schema.untrusted import read_frame
from dpml.tables.identifiers import REASONS, identifier_reason, identifies

Stated = TypeVar("Stated", bound=TableFacts)
LABELS = ("label", "target", "class", "y", "outcome")
# what a column can be stated to be: a column of whole numbers is numeric
KINDS = ("binary", "numeric", "whole", "categorical")
# what is said of a fact that is marked
MARK = "proposed from the data"
PAID = "charged to ε"
# a text column with more values than this is proposed to be left out
MOST_CATEGORIES = 50


@dataclass(frozen=True)
class Proposal(Generic[Stated]):
    """Hold the part of a schema that a table determines, and the questions that a person has to answer.

    Attributes
    ----------
    features : tuple of Feature
        Columns whose domain is known, or data-derived.
    questions : tuple of str
        Questions to a person. Each begins with the column or the argument that it is about.
    ignored : tuple of str
        Columns that look like identifiers.
    reasons : mapping of str to {"name", "pattern", "unique"}
        Reason for each of them. All reasons but the name are data-derived.
    label : str or None
        The column with the labels.
    columns : tuple of str
        All columns in order, without the label.

    See Also
    --------
    Schema : Proposes a schema by its method `describe`.
    Feature : States the domain of one column.
    """

    features: tuple[Feature, ...]
    questions: tuple[str, ...]
    ignored: tuple[str, ...]
    label: str | None
    columns: tuple[str, ...]
    _schema: type[Stated] = field(repr=False)
    reasons: Mapping[str, str] = field(default_factory=dict)
    _kinds: Mapping[str, str] = field(default_factory=dict, repr=False)
    _whole: frozenset[str] = field(default=frozenset(), repr=False)

    def __str__(self) -> str:
        ends = [f" ({MARK})" if f.data_derived else f" ({PAID})" if f.paid else "" for f in self.features]
        lines = [f"{f.name}: {f.kind}, {f.domain}{end}" for f, end in zip(self.features, ends, strict=True)]
        lines += [f"{name}: left out" for name in self.ignored]
        return "\n".join([*lines, *(f"? {question}" for question in self.questions)])

    def complete(
        self,
        *,
        classes: Sequence,
        n_lower: int,
        domains: Mapping[str, Any] | None = None,
        ignored: Sequence[str] | None = None,
        missing: Mapping[str, Any] | None = None,
    ) -> Stated:
        """Return the schema with a person's answers.

        Facts that are data-derived stay marked (see `Schema.confirm`).

        Parameters
        ----------
        classes : sequence
            All labels that a record can have.
        n_lower : int
            A public lower bound on the number of records.
        domains : mapping of str to (lower, upper) or to categories
            The domain of each column that was asked for, or that the proposal has wrong.
        ignored : sequence of str, optional
            Columns that are left out. By default they are the proposal's.
        missing : mapping of str to object, optional
            Replacement of a missing value of a column, which is a value of its domain.

        Returns
        -------
        Schema
            The complete schema.

        Raises
        ------
        InvalidSchema
            If a column has neither a domain nor is left out. The message names it.
        """
        answers = dict(domains or {})
        left_out = tuple(self.ignored if ignored is None else ignored)
        known = {f.name: f for f in self.features}
        stands = dict(missing or {})
        for name in [*answers, *left_out, *stands]:
            if name not in self.columns:
                raise InvalidSchema("column", name, f"one of {', '.join(self.columns[:8])}")
        features = []
        for name in self.columns:
            if name in answers:
                features.append(self._stated(name, answers[name]))
            elif name in left_out:
                continue
            elif name in known:
                features.append(known[name])
            else:
                raise InvalidSchema(f"domain of {name!r}", None, "stated in `domains`, or the column in `ignored`")
        features = [replace(f, missing=stands[f.name]) if f.name in stands else f for f in features]
        left_out = tuple(name for name in left_out if name not in answers)
        # columns that no person has named may be left out because of their values
        by_values = ignored is None and any(self.reasons.get(name, "name") != "name" for name in left_out)
        facts: dict[str, Any] = {"n_lower": n_lower, "ignored": left_out, "data_derived": ("ignored",) * by_values}
        return self._schema(tuple(features), tuple(classes), **facts)

    def _stated(self, name: str, domain: Any) -> Feature:
        values = tuple(plain_value(value) for value in domain)
        numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
        if len(values) == 2 and numbers and not self._kinds.get(name):
            raise InvalidSchema(f"kind of {name!r}", None, "stated in `kinds` of `describe`")
        if len(values) == 2 and numbers and self._kinds.get(name) == "numeric":
            return Feature(name, "numeric", lower=values[0], upper=values[1], whole=name in self._whole)
        return Feature(name, "categorical", values)


def describe(
    frame: Any,
    schema: type[Stated],
    *,
    label: str | None = None,
    peek: bool = False,
    epsilon: float | None = None,
    delta: float = 0.0,
    kinds: Mapping[str, str] | None = None,
    budget: Any = None,
    relation: str | None = None,
    rng: np.random.Generator | None = None,
    release: bool = False,
) -> Proposal[Stated]:
    """Propose a schema from the names and types of a table's columns.

    Without `peek` and `epsilon` nothing is released. With `peek` the proposal has categories of the records and numbers
    near their extremes. They are for simulations, and marked. With `epsilon` it has noisy bounds near the 1% and 99%
    points of each column whose name does not give them, or with `delta` the categories above a noisy threshold.

    Parameters
    ----------
    frame : DataFrame
        The table, which is private.
    schema : type
        The class of the schema that the proposal is completed to.
    label : str, optional
        The column with the labels. By default it is a column named label, target, class, y or outcome.
    peek : bool, default=False
        Whether to derive missing categories and bounds from the data, and mark them as `data_derived`, and leave out
        columns whose values identify a record. Bounds are round, hold all values, and are at most twice as far apart as
        the values. They are not negative where no value is, and whole where all values are. A column of one value has
        none.
    epsilon : float, optional
        Privacy parameter ε of the bounds and categories. Facts that the noise hides stay questions.
    delta : float, default=0.0
        Privacy parameter δ in [0, ½). With 0 categories stay questions.
    kinds : mapping of str to {"binary", "numeric", "whole", "categorical"}, optional
        Kinds of columns, which replace their types. "whole" is numeric with whole numbers.
    budget : Budget, optional
        Privacy budget that is charged with both before noise is drawn.
    relation : {"add-remove", "replace-one"}, optional
        The neighbouring relation. By default it is the budget's, or "add-remove".
    rng : numpy.random.Generator, optional
        Source of the noise with `epsilon`, forbidden with ``release=True``.
    release : bool, default=False
        Whether to draw secure noise, without a seed. Only facts from such noise are public, and marked as `paid`.

    Returns
    -------
    Proposal
        The known part of the schema, and the open questions.

    Notes
    -----
    Privacy: ε = epsilon for all columns together, or 0 without `epsilon` and `peek`. δ = delta for all columns
    together. Relation: `relation`. Sensitivity: 1 (add/remove-one) or 2 (replace-one) in L1 norm, for each column.

    By composition each column has the same share of ε, and each column of texts the same share of δ. `peek` has no ε.

    One odd cell may change the type that a reader infers for a column. So with ``release=True`` no type is read, and a
    column that is not in `kinds` stays a question. In a simulation the types of all others count as public.

    Examples
    --------
    >>> from dpml.schema import Schema
    >>> table = pd.DataFrame({"id": [7, 8], "age": [31, 58], "job": ["clerk", "cook"], "label": ["no", "yes"]})
    >>> proposal = Schema.describe(table)
    >>> print(proposal)
    age: numeric, a whole number from 0 to 120
    id: left out
    ? job: which categories can it have?
    ? classes: which labels can `label` have?
    ? n_lower: how many records does the table have at least, as far as everybody may know?
    >>> schema = proposal.complete(classes=("no", "yes"), n_lower=1, domains={"job": ("clerk", "cook", "other")})
    >>> schema.feature_names, schema.ignored
    (['age', 'job'], ('id',))
    >>> Schema.describe(table, peek=True).features[1].data_derived
    ('categories',)
    >>> rng = np.random.default_rng(0)
    >>> wages = pd.DataFrame({"wage": rng.lognormal(8, 0.5, 3_000), "label": 0})
    >>> print(Schema.describe(wages, epsilon=0.5, rng=rng).features[0].domain)
    a number from 857 to 13100
    """
    if peek and epsilon is not None:
        raise InvalidParameter("peek", peek, "False where ε is given: the bounds are then charged to ε")
    frame = read_frame(frame)
    if not isinstance(frame, pd.DataFrame):
        raise InvalidData("the table has no column names: give a DataFrame")
    names = [str(c) for c in frame.columns]
    if label is None:
        label = next((name for name in names if name.lower() in LABELS), None)
    elif label not in names:
        raise InvalidSchema("label", label, f"a column of the table: {', '.join(names[:8])}")
    columns = [i for i, name in enumerate(names) if name != label]
    stated = _checked_kinds(kinds, [names[i] for i in columns])
    # what a column is, empty where nobody has stated it in a release
    typed = epsilon is None or not release
    kind_of = {names[i]: stated.get(names[i], _kind(frame.iloc[:, i]) if typed else "") for i in columns}
    domains = {name: _by_name(name, kind, name in stated) for name, kind in kind_of.items()}
    reasons = {n: "name" for n, kind in kind_of.items() if kind != "binary" and identifies(n)}
    if peek:
        unnamed = [i for i in columns if domains[names[i]] is None]
        read_off = {names[i]: identifier_reason(names[i], frame.iloc[:, i]) for i in unnamed}
        reasons = {n: reason for n, reason in read_off.items() if reason == "name" or (reason and n not in stated)}
    private = [i for i in columns if names[i] not in reasons]
    paid: dict[str, Feature] = {}
    if epsilon is not None:
        unknown = [i for i in private if kind_of[names[i]] and domains[names[i]] is None]
        how = {"relation": relation or ("add-remove" if budget is None else budget.relation), "budget": budget}
        paid = _paid_for(frame.iloc[:, unknown], kind_of, epsilon, delta, rng=rng, release=release, **how)
    features: list[Feature] = []
    questions: list[str] = []
    for i in private:
        name = names[i]
        feature = domains[name] or paid.get(name)
        if peek and (feature is None or feature.kind == "numeric"):
            feature = _read_off(name, kind_of[name], frame.iloc[:, i], feature, name in stated)
        if feature is not None:
            features.append(feature)
        if feature is None or feature.data_derived:
            questions.append(_question(name, kind_of[name], feature))
    seen = {n: REASONS[reason] for n, reason in reasons.items() if reason != "name"}
    questions += [
        f"{n}: is it public that it is left out? The proposal is data-derived: {why}" for n, why in seen.items()
    ]
    questions.append(f"classes: which labels can {f'`{label}`' if label else 'a record'} have?")
    questions.append("n_lower: how many records does the table have at least, as far as everybody may know?")
    ignored = tuple(names[i] for i in columns if i not in private)
    whole = frozenset(name for name, kind in kind_of.items() if kind == "whole")
    numeric = {name: "numeric" if kind == "whole" else kind for name, kind in kind_of.items()}
    asked = tuple(names[i] for i in columns)
    return Proposal(tuple(features), tuple(questions), ignored, label, asked, schema, reasons, numeric, whole)


def _checked_kinds(kinds: Mapping[str, str] | None, names: list[str]) -> dict[str, str]:
    for name, kind in (kinds or {}).items():
        if name not in names:
            raise InvalidSchema("column in kinds", name, f"a feature of the table: {', '.join(names[:8])}")
        check_choice(kind, f"kind of {name!r}", KINDS)
    return dict(kinds or {})


def _kind(column: pd.Series) -> str:
    """Return what a column is by its type."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return "binary"
    if pd.api.types.is_integer_dtype(column.dtype):
        return "whole"
    return "numeric" if pd.api.types.is_numeric_dtype(column.dtype) else "categorical"


def _paid_for(
    frame: pd.DataFrame, kinds: Mapping[str, str], epsilon: float, delta: float, **how: Any
) -> dict[str, Feature]:
    """Return the columns whose domain the noise lets be seen."""
    # that package reads cells as this one does, and so stands above it
    from dpml.mechanisms.columns.categories import PrivateBounds, private_facts

    columns = {str(name): frame.iloc[:, i] for i, name in enumerate(frame.columns)}
    numbers = {name: column for name, column in columns.items() if kinds[name] in ("numeric", "whole")}
    texts = {name: column for name, column in columns.items() if name not in numbers and delta}
    if not numbers and not texts:
        return {}
    features = {}
    # whoever knows the seed of a study can subtract its noise
    mark = "paid" if how["release"] else "data_derived"
    marked: dict[str, Any] = {kind: {mark: facts} for kind, facts in OF_KIND.items()}
    for name, fact in private_facts(numbers, texts, epsilon, delta, **how).items():
        if not isinstance(fact, PrivateBounds):
            if fact.categories:
                features[name] = Feature(name, "categorical", fact.categories, **marked["categorical"])
        elif fact.found and not fact.only_zero:
            whole = kinds[name] == "whole"
            lower, upper = readable_bounds(fact.lower, fact.upper, whole=whole)
            features[name] = Feature(name, "numeric", lower=lower, upper=upper, whole=whole, **marked["numeric"])
    return features


def _by_name(name: str, kind: str, stated: bool) -> Feature | None:
    """Return a column whose domain its name says; whether its numbers are whole, too, unless a person has stated it."""
    if kind == "binary":
        return Feature(name)
    known = known_bounds(name) if kind in ("numeric", "whole") else None
    if known is None:
        return None
    lower, upper, whole = known
    return Feature(name, "numeric", lower=lower, upper=upper, whole=kind == "whole" if stated else whole)


def _read_off(name: str, kind: str, column: pd.Series, known: Feature | None, stated: bool) -> Feature | None:
    """Return a column with a domain that is read off its cells, and marked; what its name says, if its cells agree."""
    if kind in ("numeric", "whole"):
        values = finite_numbers(column)
        whole = kind == "whole" or (not stated and bool((values == np.trunc(values)).all()))
        bounds: Any = None if known is None else (known.lower, known.upper)
        if known is not None and holds(bounds, values):
            if whole or not known.whole:
                return known
        elif pd.api.types.is_numeric_dtype(column.dtype) and values.tolist() == [0, 1]:
            return Feature(name, data_derived=OF_KIND["binary"])
        else:
            bounds = bounds_around(column)
        if bounds is None:
            return None
        marked: dict[str, Any] = {"data_derived": OF_KIND["numeric"], "whole": whole}
        try:
            return Feature(name, "numeric", lower=bounds[0], upper=bounds[1], **marked)
        except InvalidSchema:  # too close together, or too far apart, for a domain
            return None
    texts = different_texts(column)
    if not 0 < len(texts) <= MOST_CATEGORIES:
        return None
    return Feature(name, "categorical", texts, data_derived=OF_KIND["categorical"])


def different_texts(column: pd.Series) -> tuple[str, ...]:
    """Return the different cells of a column as texts. Exact: private."""
    return tuple(sorted({str(value) for value in _different(column.dropna())}))


def _different(column: pd.Series) -> Any:
    """Return the different cells of a column of a type, which are fewer; any object may have no hash."""
    return column if column.dtype == object else column.unique()


def fewer(n: int) -> int:
    """Return a proposed lower bound on a number of records: half of it or less, one digit. Private."""
    half = max(n // 2, 1)
    unit = 10 ** (len(str(half)) - 1)
    return half // unit * unit


def _question(name: str, kind: str, feature: Feature | None) -> str:
    if feature is not None:
        facts = feature.facts(feature.data_derived)
        return f"{name}: is it true for everybody, and public, that it is {facts}? The proposal is data-derived"
    if not kind:
        return f"{name}: what kind of column is it? State it in `kinds`"
    if kind in ("numeric", "whole"):
        return f"{name}: between which bounds does it lie?"
    return f"{name}: which categories can it have?"
