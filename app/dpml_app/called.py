"""Modules that can be called: `dpml_app.explore(X, y, schema)` is a public name, and `explore` is a page's folder."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__all__ = ["Called", "let_call"]


class Called(ModuleType):
    """A module whose call is that of the function of its name in `dpml_app.notebook`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        function = getattr(importlib.import_module("dpml_app.notebook"), self.__name__.rpartition(".")[2])
        return function(*arguments, **options)


def let_call(name: str) -> None:
    """Let a module be called."""
    sys.modules[name].__class__ = Called
