"""Base of what a page depends on at one moment: frozen values of its settings, a field each, named as the setting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import param

from dpml_app import uploaded_table


@dataclass(frozen=True)
class PageValues:
    """Values of a page's settings, which stay as they are while the settings change."""

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
