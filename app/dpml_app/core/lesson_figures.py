"""What lessons may name in braces, a table of functions for each page."""

from collections.abc import Callable
from typing import Any

__all__ = ["Figures"]


class Figures(dict[str, Callable[..., Any]]):
    """Functions by the names that lessons give them; each takes the settings of a step and the words behind its name.

    Examples
    --------
    >>> figure = Figures()
    >>> @figure
    ... def most_of_all(settings):
    ...     return 1.0
    >>> list(figure)
    ['most-of-all']
    """

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Let lessons name a function."""
        self[function.__name__.replace("_", "-")] = function
        return function
