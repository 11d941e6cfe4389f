"""Plots without code of their own yet, each with the reason: their cards offer none."""

from __future__ import annotations

__all__ = ["LEFT_OUT"]

LEFT_OUT: dict[tuple[str, str], str] = {
    ("explore", "levers"): "it has no plot: controls alone",
    ("publish", "time"): "it measures seconds, which no script gives again",
    ("audit", "neighbours"): "it has no plot: two tables of records",
    ("audit", "claims"): "it has no plot: a table of every claim",
}
