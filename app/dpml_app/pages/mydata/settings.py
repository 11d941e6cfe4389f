"""The settings of the page My data: none, for nothing of a session's table may be in a link."""

from __future__ import annotations

from dpml_app.settings import Shared

__all__ = ["MyDataSettings"]


class MyDataSettings(Shared):
    """Every control of the page that a link can name."""

    @classmethod
    def mydata_names(cls) -> list[str]:
        """Return the names of what a link says of this page."""
        return []
