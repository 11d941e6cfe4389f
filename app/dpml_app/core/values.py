"""Base of what a page depends on at one moment: frozen values of its settings, a field each, named as the setting."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import param

__all__ = ["DatasetValues", "PageValues"]


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
