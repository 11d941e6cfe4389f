"""Base of what a page depends on at one moment: frozen values of its settings, a field each, named as the setting.

A field declares its setting, unless pages share it: `declared_by` gives a page's class of settings those of its values.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar

import param

from dpml_app import uploaded_table

S = TypeVar("S", bound=param.Parameterized)


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
        """Return the values of the moment; what is chosen of several stands in the order of the choice."""
        read = {name: getattr(settings, name) for name in cls.names()}
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
    >>> file_name("noise", "draws", {"noise_epsilon": 1.0})
    'dpml-noise-draws-epsilon-1'
    """
    data = values.get("dataset")
    parts = ["dpml", page, card, *([] if data is None else ["my-table" if uploaded_table.is_uploaded(data) else data])]
    epsilon = values.get("epsilon", values.get(f"{page}_epsilon"))
    return re.sub(r"[^\w.-]+", "-", "-".join(parts + ([] if epsilon is None else ["epsilon", f"{epsilon:g}"])))
