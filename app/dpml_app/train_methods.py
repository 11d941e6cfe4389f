"""The private classifiers of the Train page: what they are called, how they look, and what they can be trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpml_app.plotting import Style

__all__ = ["METHODS", "Method", "feature_names", "options_of", "private", "styles", "why_not"]


@dataclass(frozen=True)
class Method:
    """A classifier. `table`: trained on the raw table, else on binary columns; `numbers`: about numbers only.

    `short` is for the legend, where a phone has little room.
    """

    title: str
    color: str
    marker: str
    table: bool
    options: tuple[str, ...] = ()
    numbers: bool = False
    claim_holds: bool = True
    short: str = ""


MOMENTS = ("train_weight", "train_likelihood")
SMOOTH = ("train_noise", "train_trim", *MOMENTS)
METHODS = {
    "binned": Method("Binned counts", "#009E73", "diamond", True, ("train_bins",)),
    "row-bounded": Method("Row-bounded counts", "#0072B2", "circle", False, short="Row-bounded"),
    "global": Method("Global sensitivity", "#E69F00", "square", True, MOMENTS),
    "smooth": Method("Smooth sensitivity", "#CC79A7", "triangle", True, SMOOTH, numbers=True),
    "bun-steinke": Method("Bun and Steinke", "#8C6D31", "hex", True, SMOOTH, numbers=True),
    "algorithm-1": Method("Algorithm 1 of 000", "#56B4E9", "inverted_triangle", False, ("threshold_percentile",)),
    "partitioned": Method("Partitioned, 000", "#5E4FA2", "star", False, ("threshold_percentile",)),
    "vaidya": Method(
        "Vaidya et al.", "#B2182B", "plus", True, ("train_likelihood",), claim_holds=False, short="Vaidya"
    ),
    "published": Method(
        "Algorithm 1 of 001",
        "#D55E00",
        "cross",
        True,
        ("train_trim", "train_likelihood"),
        claim_holds=False,
        short="001",
    ),
}


def options_of(method: str, values: Mapping[str, Any]) -> tuple:
    """Return the settings that a method depends on besides data, relation, ε, draws and seed, by name."""
    return tuple((name, values[name]) for name in METHODS[method].options)


def private(method: str, facts: Mapping[str, Any]) -> bool:
    """Return whether some ε holds for a method on such a table; that of Vaidya et al. is larger than the stated one."""
    return METHODS[method].claim_holds or (method == "vaidya" and not facts["numeric"])


def styles(names: tuple[str, ...], facts: Mapping[str, Any]) -> dict[str, Style]:
    """Return how methods look on such a table: solid if their claim holds, dashed and said so if not."""
    found = {}
    for name in names:
        method, note = METHODS[name], ""
        if not private(name, facts):
            note = ", not private"
        elif name == "vaidya":
            note = ", stated ε"
        dash = "solid" if method.claim_holds else "dashed"
        found[name] = Style((method.short or method.title) + note, method.color, method.marker, dash)
    return found


def why_not(method: str, facts: Mapping[str, Any]) -> str:
    """Return why a method is not drawn on a data set, or nothing.

    Examples
    --------
    >>> why_not("smooth", {"table": True, "numeric": 0})
    'Smooth sensitivity: without numbers it is the same as global sensitivity'
    """
    what = METHODS[method]
    if what.table and not facts["table"]:
        return f"{what.title}: needs a table, and this is text"
    if what.numbers and not facts["numeric"]:
        return f"{what.title}: without numbers it is the same as global sensitivity"
    return ""


def feature_names(method: str, facts: Mapping[str, Any]) -> list[str]:
    """Return the features that a method is trained on: those of the table, or its binary columns."""
    return list(facts["columns"] if METHODS[method].table else facts["binary_columns"])
