"""The settings that pages share, with their checks and messages, and the values of a page's settings at one moment.

Each page declares its own settings in a class of `PageValues`, a field each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import param

from dpml.datasets import NAMES, missing
from dpml_app import uploaded_table

NONE = "none"
S = TypeVar("S", bound=param.Parameterized)


class MultiSelect(param.ListSelector):
    """Some of the names that are offered.

    >>> MultiSelect.serialize(["joint", "exact"]), MultiSelect.serialize([])
    ('joint.exact', 'none')
    >>> MultiSelect.deserialize("joint.exact"), MultiSelect.deserialize("none")
    (['joint', 'exact'], [])
    """

    @classmethod
    def serialize(cls, value: list[str]) -> str:
        """Return the names as the link has them."""
        return ".".join(map(str, value)) or NONE

    @classmethod
    def deserialize(cls, value: Any) -> Any:
        """Return the names that a link has."""
        if not isinstance(value, str):
            return value
        return [] if value == NONE else value.split(".")


# ten a decade, rounded to numbers that can be said aloud
_STEPS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)
EPSILONS = (*(float(f"{step * 10**decade:.3g}") for decade in (-2, -1, 0) for step in _STEPS), 10.0)
SWEEP_EPSILONS = EPSILONS[::2]
LAMBDAS = (*(float(f"{step * 10**decade:.3g}") for decade in range(-1, 4) for step in (1, 2, 5)), 10_000.0)
MOST_FEATURES = 100


RELATION_TITLES = {"add-remove": "Add or remove one record", "replace-one": "Replace one record"}


def choice(
    default: Any, objects: Mapping[Any, str] | Sequence[Any], label: str, kind: Callable[..., Any] = param.Selector
) -> Any:
    """Return a setting of one of several values, or of some; a mapping says how its widget calls each.

    Examples
    --------
    >>> choice("a", {"a": "Apples", "p": "Pears"}, "Fruit").names
    {'Apples': 'a', 'Pears': 'p'}
    """
    offered: Any = {title: value for value, title in objects.items()} if isinstance(objects, Mapping) else list(objects)
    return kind(default=default, objects=offered, label=label)


def number(default: float, bounds: tuple[float, float], label: str, step: float | None = None) -> Any:
    """Return a setting between bounds; it is a whole number where its default is."""
    kind: Any = param.Integer if isinstance(default, int) else param.Number
    return kind(default=default, bounds=bounds, step=step, label=label)


class MissingDataset(param.Parameterized):
    """The data set that was asked for last and whose files are not on this machine; empty if they are."""

    dataset = param.String("")


class UploadedTableParam(param.Parameterized):
    """The session's own table, None while there is none."""

    table = param.ClassSelector(class_=uploaded_table.UploadedTable, default=None, allow_None=True)


class Shared(param.Parameterized):
    """The settings that pages share; a parameter's name is its name in the link. Those of a page inherit from it.

    `missing_dataset`: the data set that was asked for and is not here, for the control that downloads it.
    `uploaded`: the session's own table.
    """

    dataset: Any = choice("census", NAMES, "Data set")
    relation: Any = choice("add-remove", RELATION_TITLES, "Neighbouring relation")
    epsilon: Any = choice(0.1, EPSILONS, "ε")
    threshold_percentile: Any = number(65, (50, 99), "Threshold percentile")
    n_features: Any = number(20, (1, MOST_FEATURES), "Number of features")
    selection_share: Any = number(0.5, (0.05, 0.95), "Budget share for selection", 0.05)
    draws: Any = number(50, (10, 200), "Runs", 10)
    seed: Any = number(0, (0, 2**31 - 1), "Seed")

    if TYPE_CHECKING:  # a page's own are declared by its values

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.missing_dataset = MissingDataset()
        self.uploaded = UploadedTableParam()

    def hold(self, table: uploaded_table.UploadedTable | None) -> None:
        """Offer a table to the pages of this session, instead of the one before; None: offer none."""
        parameter = self.param["dataset"]  # this session's: another one's choices stay
        published = [name for name in parameter.objects if not uploaded_table.is_uploaded(name)]
        if uploaded_table.is_uploaded(self.dataset):
            self.dataset = "census"
        parameter.objects = published if table is None else [*published, table.name]
        self.uploaded.table = table

    @classmethod
    def allowed(cls, name: str) -> str:
        """Return in words which values a setting can have."""
        parameter = cls.param[name]
        if isinstance(parameter, param.Selector):
            values = list(parameter.objects)
            if isinstance(parameter, param.ListSelector):
                return f"some of {', '.join(values)}, separated by dots"
            if len(values) > 12 and isinstance(values[0], str):
                return f"one of {', '.join(values[:3])}, ... {values[-1]}"
            if len(values) > 12:
                return f"one of {values[0]:g}, {values[1]:g}, {values[2]:g}, ... {values[-1]:g}"
            return "one of " + ", ".join(str(v) for v in values)
        low, high = parameter.bounds
        kind = "a whole number" if isinstance(parameter, param.Integer) else "a number"
        return f"{kind} from {low} to {high}"

    def assign(self, values: dict[str, Any]) -> list[str]:
        """Set each value that is allowed and return a sentence for each that is not.

        >>> settings = Shared()
        >>> settings.assign({"epsilon": -1, "draws": 100})
        ['epsilon = -1 is not allowed: it must be one of 0.01, 0.0125, 0.016, ... 10. It stays at 0.1.']
        >>> settings.draws
        100
        """
        problems = []
        for name, value in values.items():
            try:
                if isinstance(value, bool):
                    raise ValueError("a bool is not a number")
                if isinstance(self.param[name], param.Selector):
                    # 1 in a link is the 1.0 of the list
                    value = next((v for v in self.param[name].objects if v == value), value)
                if name == "dataset" and value in self.param[name].objects:
                    self.missing_dataset.dataset = (
                        value if not uploaded_table.is_uploaded(value) and missing(value) else ""
                    )
                    if self.missing_dataset.dataset:
                        problems.append(
                            f"{value} is not on this machine yet. Press Download to get it. The page "
                            f"shows {self.dataset}."
                        )
                        continue
                setattr(self, name, value)
            except (ValueError, TypeError):
                stays = getattr(self, name)
                shown = f"{stays:g}" if isinstance(stays, float) else stays
                # some of several names, as the link has them
                said, shown = (MultiSelect.serialize(v) if isinstance(v, list) else v for v in (value, shown))
                problems.append(
                    f"{name} = {said} is not allowed: it must be {self.allowed(name)}. It stays at {shown}."
                )
        return problems

    def fit(self, n_features: int) -> str:
        """Lower the number of features to that of a data set; return a sentence if a person has chosen another one.

        A person who brings a small table has not chosen 20 features.

        >>> settings = Shared()
        >>> settings.fit(18), settings.n_features
        ('', 18)
        >>> settings.n_features = 25
        >>> settings.fit(18)
        'n_features = 25 lowered to 18: census has 18 features.'
        """
        most, chosen = min(n_features, MOST_FEATURES), self.n_features
        if chosen <= most:
            return ""
        self.n_features = most
        if chosen == self.param["n_features"].default:
            return ""
        title = uploaded_table.display_name(self.dataset)
        return f"n_features = {chosen} lowered to {most}: {title} has {most} features."


# ---- their values at one moment -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PageValues:
    """Values of a page's settings, which stay as they are while the settings change."""

    # the settings that the fields declare
    parameters: ClassVar[dict[str, param.Parameter]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.parameters = {name: each for name, each in vars(cls).items() if isinstance(each, param.Parameter)}
        for name in cls.parameters:
            delattr(cls, name)  # a value has no default: the setting has

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the settings that the page depends on."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        """Return the current values of the settings. Multiple choices keep the order in which they were chosen."""
        read = {field.name: getattr(settings, field.name) for field in fields(cls)}
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in read.items()})

    def as_dict(self) -> dict[str, Any]:
        """Return the values by the names of their settings."""
        return {name: getattr(self, name) for name in self.names()}


def declared_by(values: type[PageValues]) -> Callable[[type[S]], type[S]]:
    """Give a class of settings those that values declare."""

    def declare(settings: type[S]) -> type[S]:
        for name, parameter in values.parameters.items():
            settings.param.add_parameter(name, parameter)
        return settings

    return declare


@dataclass(frozen=True)
class DatasetValues(PageValues):
    """What pages about a data set share."""

    dataset: str
    relation: str
    epsilon: float
    seed: int


def file_name(page: str, card: str, values: Mapping[str, Any]) -> str:
    """Return what a plot's files are called: page, card, data set and ε.

    Examples
    --------
    >>> file_name("explore", "cost", {"dataset": "census", "epsilon": 0.1})
    'dpml-explore-cost-census-epsilon-0.1'
    >>> file_name("explore", "cost", {"dataset": "own-1f", "epsilon": 0.1})
    'dpml-explore-cost-my-table-epsilon-0.1'
    >>> file_name("noise", "count", {"noise_epsilon": 1.0})
    'dpml-noise-count-epsilon-1'
    """
    data = values.get("dataset")
    parts = ["dpml", page, card, *([] if data is None else ["my-table" if uploaded_table.is_uploaded(data) else data])]
    epsilon = values.get("epsilon", values.get(f"{page}_epsilon"))
    return re.sub(r"[^\w.-]+", "-", "-".join(parts + ([] if epsilon is None else ["epsilon", f"{epsilon:g}"])))
