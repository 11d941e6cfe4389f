"""A setting of several names, with dots between them in the link: Panel writes a list there in two ways."""

from __future__ import annotations

from typing import Any

import param

NONE = "none"


class MultiSelect(param.ListSelector):
    """Some of the names that are offered.

    Examples
    --------
    >>> MultiSelect.serialize(["joint", "exact"]), MultiSelect.serialize([])
    ('joint.exact', 'none')
    >>> MultiSelect.deserialize("joint.exact"), MultiSelect.deserialize("none")
    (['joint', 'exact'], [])
    """

    @classmethod
    def serialize(cls, value: list[str]) -> str:
        """Return the names as the link has them."""
        return ".".join(value) or NONE

    @classmethod
    def deserialize(cls, value: Any) -> Any:
        """Return the names that a link has."""
        if not isinstance(value, str):
            return value
        return [] if value == NONE else value.split(".")
