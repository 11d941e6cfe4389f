"""The dpml app: pages over the library, served by Panel, and the same pages and cards in a notebook.

>>> import dpml_app
>>> dpml_app.cards_of()[:2]
['explore.cost', 'explore.levers']
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["card", "cards_of", "explore", "views"]

# modules that can be called, and the library of pictures: loaded when they are asked for
_MODULES = ("card", "explore", "views")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"dpml_app.{name}")
    if name == "cards_of":
        return importlib.import_module("dpml_app.notebook").cards_of
    raise AttributeError(f"module 'dpml_app' has no attribute {name!r}")
