"""How each method and each kind of mark looks, and what it is called, on every plot.

Colours are Okabe and Ito's, which colour-blind people tell apart. They have too few for all methods, so methods on one
plot differ in colour, or else in both marker and dash; no two methods of the app share colour and marker. A test
simulates how each colour is seen without one kind of cone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from dpml.methods import method, of_family

# black would be lost on the dark theme, and a line of yellow on the light one
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILION, PURPLE, SKY, YELLOW = "#D55E00", "#CC79A7", "#56B4E9", "#F0E442"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY)

# no method's: what stands for no privacy or a guess, what is exact, where one stands
REFERENCE = "#808080"
EXACT = "#A52DFF"
HERE = "#FF3B30"
# what privacy costs
COST = "#D9530F"
# a word in the colour of a line is read on a light ground by the first of these, on a dark one by the second
INKS = {
    BLUE: (BLUE, "#4AA8E8"),
    ORANGE: ("#946200", ORANGE),
    GREEN: ("#007A5A", "#00B587"),
    PURPLE: ("#A8447C", PURPLE),
    VERMILION: ("#B84F00", "#F07A1A"),
    SKY: ("#1F6FA0", SKY),
    REFERENCE: ("#666666", "#A0A0A0"),
    EXACT: (EXACT, "#C27AFF"),
    COST: ("#C24A0C", "#F0713A"),
}
# of what belongs to the previous setting
STALE = 0.3
# how dense a band is, and those of the methods that the pointer is not on
BAND_ALPHA, FAINT_BAND_ALPHA = 0.16, 0.04
# what moves with a slider is on a layer of its own: axes, bands and legend are not painted again (measured: 10 ms less)
OVERLAY: Final = "overlay"

LONG, LONGEST = "16 4", "40 4"
# for methods that do not keep what they claim, and for those that need a δ
NOT_PRIVATE_DASH, DELTA_DASH = "dashed", "dashdot"


@dataclass(frozen=True)
class Style:
    """How a method looks, and is called, on every plot."""

    label: str
    color: str
    marker: str
    dash: str = "solid"

    @property
    def line(self) -> dict[str, Any]:
        """What Bokeh and HoloViews take for a line."""
        return {"line_color": self.color, "line_dash": self.dash, "line_width": 2.5}

    @property
    def band(self) -> dict[str, Any]:
        """The same for the band around it."""
        return {"fill_color": self.color, "fill_alpha": BAND_ALPHA}

    @property
    def dot(self) -> dict[str, Any]:
        """The same for a marker."""
        return {"marker": self.marker, "fill_color": self.color, "line_color": self.color}


# of the methods of `dpml.methods`, which says what they are called: colour, marker and dash
STYLES: dict[str, dict[str, tuple[str, ...]]] = {
    "classifier": {
        # naive Bayes
        "row-bounded": (GREEN, "diamond"),
        "algorithm-1": (BLUE, "circle"),
        "binned": (VERMILION, "square"),
        "global": (ORANGE, "hex"),
        "smooth": (PURPLE, "square_pin"),
        "bun-steinke": (SKY, "hex", "dotted"),
        "partitioned": (SKY, "star"),
        "vaidya": (VERMILION, "plus"),
        "published": (ORANGE, "cross"),
        # linear models
        "rule": (PURPLE, "star", LONG),
        "l1": (GREEN, "square", LONG),
        "objective": (BLUE, "triangle", LONG),
        "output": (VERMILION, "inverted_triangle", LONG),
        "functional": (ORANGE, "triangle_pin", LONG),
        "svm": (BLUE, "diamond", "dotted"),
        "local": (PURPLE, "inverted_triangle", "dotted"),
        "genetic": (SKY, "plus", LONG),
        "descent": (GREEN, "cross", DELTA_DASH),
        # the default classifier, and peers' models as they were recorded
        "auto": (BLUE, "square_x", LONGEST),
        "peer-descent": (ORANGE, "square_pin", DELTA_DASH),
        "peer-boosting": (SKY, "triangle_dot", DELTA_DASH),
        "peer-logistic": (GREEN, "square_x", "dotted"),
    },
    "selector": {
        "mask-count": (ORANGE, "square"),
        "mask-mi": (PURPLE, "triangle"),
        "joint": (BLUE, "square"),
        "one-shot": (GREEN, "inverted_triangle", LONG),
        "noisy-scores": (SKY, "square"),
        "noisy-counts": (VERMILION, "star"),
        "best-selector": (BLUE, "star", LONG),
        "iterative": (VERMILION, "x"),
        "exact": (ORANGE, "x"),
        "perturbation": (BLUE, "inverted_triangle"),
        "noisy-clusters": (GREEN, "circle"),
        "sparse-vector": (ORANGE, "triangle"),
        "mask": (PURPLE, "diamond", "dotted"),
        "threshold-testing": (VERMILION, "cross"),
        "noisy-cut": (PURPLE, "cross"),
        "clusters": (SKY, "asterisk"),
    },
    "publisher": {
        "privpfc": (BLUE, "diamond_dot"),
        "privpfc-cells": (GREEN, "diamond_dot"),
        "privpfc-selnf": (ORANGE, "diamond_cross"),
        "privbayes": (GREEN, "star_dot"),
        "diffgen": (VERMILION, "diamond_dot"),
        "pph": (PURPLE, "diamond_dot"),
        "uniform": (SKY, "diamond_dot"),
        "uniform-ug": (SKY, "square_x", "dotted"),
        "privbayes-struct": (GREEN, "diamond_cross"),
        "diffgen-struct": (VERMILION, "diamond_cross"),
        "diffpc45": (ORANGE, "diamond_dot", LONG),
        "mst": (ORANGE, "hex_dot"),
        "aim": (ORANGE, "star_dot", "dotted"),
        "output": (VERMILION, "square_dot", "dashed"),
        "moments": (GREEN, "square_dot"),
    },
    "curve": {
        "histogram": (GREEN, "hex"),
        "recursive-medians": (BLUE, "circle_dot", "dashed"),
        "recursive-medians-exact": (SKY, "circle_dot"),
        "fixed-space": (ORANGE, "square_dot"),
        "fixed-space-exact": (ORANGE, "circle_dot"),
        "laplace": (VERMILION, "triangle_dot"),
        "laplace-exact": (PURPLE, "circle_dot"),
    },
    "noise": {
        "laplace": (BLUE, "plus"),
        "geometric": (GREEN, "square_pin", "dashed"),
        "staircase": (VERMILION, "triangle", "dotdash"),
        "gaussian": (PURPLE, "circle", "dotted"),
        "exponential": (BLUE, "x", "dashed"),
        "flip": (GREEN, "x"),
        "noisy-max": (VERMILION, "hex", "dotted"),
        "exact": (GREEN, "plus"),
        "algorithm-1": (ORANGE, "plus", "dashed"),
        "theorem-2": (VERMILION, "circle", "dotted"),
    },
}
# the ε that a method pays where it is not the one it states
VAIDYA_TRUE = Style("Vaidya, ε it pays", VERMILION, "asterisk", "dotted")
# ways to choose a parameter
SEARCHES = {
    "best in hindsight": Style("Best in hindsight, not private", VERMILION, "circle_x", NOT_PRIVATE_DASH),
    "disjoint": Style("On disjoint parts", ORANGE, "star"),
    "shared, retrained": Style("One after another", BLUE, "hex"),
    "stability": Style("Stability", GREEN, "triangle"),
    "random stopping 0": Style("Random stopping, η = 0", SKY, "triangle"),
    "random stopping 1": Style("Random stopping, η = 1", VERMILION, "diamond", "dotted"),
}
# of methods that have no style of their own; no row of the tables above has this colour and one of these markers
SPARE = ("circle_x", "circle_y", "circle_cross", "square_cross", "triangle_pin", "hex_dot", "star_dot")


def style_of(key: str, family: str = "classifier") -> Style:
    """Return the look of a method of `dpml.methods`: its own, or where the app has none, one by its place.

    What does not keep its claim is dashed, and its label says so; what a classifier keeps depends on the table, so the
    Train page says it.

    Examples
    --------
    >>> style_of("binned").marker, style_of("noisy-cut", "selector").label
    ('square', 'NoisyCut: not private')
    """
    # the claims of all methods take longer to import than what draws them, and colours alone do not need them
    from dpml.catalogue import standing

    entry, own, held = method(key, family), STYLES[family], standing(key, family)
    if key in own:
        style = Style(entry.label, *own[key])
    else:
        place = [each.key for each in of_family(family) if each.key not in own].index(key)
        style = Style(entry.label, PURPLE, SPARE[place % len(SPARE)], LONGEST)
    if family == "classifier":
        return replace(style, dash=NOT_PRIVATE_DASH) if entry.target and not held.holds else style
    return style if held.private else replace(style, label=f"{entry.label}: {entry.flaw}", dash=NOT_PRIVATE_DASH)


def styles_of(family: str, group: str | None = None) -> dict[str, Style]:
    """Return the looks of a family's methods, or of one of its groups, by key."""
    return {each.key: style_of(each.key, family) for each in of_family(family, group)}


def all_styles() -> list[Style]:
    """Return the look of everything that has one here."""
    return [VAIDYA_TRUE, *SEARCHES.values(), *(style_of(key, family) for family, own in STYLES.items() for key in own)]
