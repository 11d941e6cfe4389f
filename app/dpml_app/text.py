"""Numbers and privacy in words, as every page says them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

__all__ = ["RELATION_WORDS", "certainty", "dataset_note", "factor", "percent", "points"]

RELATION_WORDS = {
    "add-remove": ("add or remove one record", "whether any one person is in the data"),
    "replace-one": ("replace one record", "which of two records any one person has in the data"),
}


def percent(value: float, digits: int = 1) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> percent(0.8974).split()
    ['89.7', '%']
    """
    return f"{100 * value:.{digits}f}\N{NO-BREAK SPACE}%"


def points(value: float) -> str:
    """Return a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.025), points(0.01)
    ('2.5 points', '1.0 points')
    """
    return f"{100 * value:.1f} points"


def factor(epsilon: float) -> str:
    """Return e^ε to three digits.

    Examples
    --------
    >>> factor(0.1), factor(10)
    ('1.11', '22,000')
    """
    value = math.exp(epsilon)
    if value < 100:
        return f"{value:.3g}"
    return f"{float(f'{value:.2g}'):,.0f}"


def certainty(epsilon: float) -> str:
    """Return how sure someone can become who thought it a coin toss."""
    p = 1 / (1 + math.exp(-epsilon))
    return percent(p) if p < 0.999 else percent(p, 3)


def dataset_note(facts: Mapping[str, Any]) -> str:
    """Return one line about the data set."""
    classes = " or ".join(escape(str(c)) for c in facts["classes"])
    most = f", at most {facts['row_bound']} ones in a record" if facts["row_bound"] else ""
    return (
        f"{facts['n_train']:,} training and {facts['n_test']:,} test records, {facts['n_features']:,} binary "
        f"features{most}; to tell: {classes}."
    )


def number(value: float) -> str:
    """Return a number to three digits.

    Examples
    --------
    >>> number(9.9035), number(0.00012345), number(12345.6), number(0.0)
    ('9.9', '0.000123', '12,300', '0')
    """
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 1000:
        return f"{rounded:,.0f}"
    if abs(rounded) < 1e-4:
        return f"{rounded:.2e}"
    return f"{rounded:.6f}".rstrip("0").rstrip(".")
