"""How each method and each kind of mark looks, and what it is called, on every plot.

The first colours are Okabe and Ito's, which colour-blind people tell apart. They have too few for all classifiers, of
which each has a colour and a marker of its own: those that the Train page opens with are told apart by all eyes, others
by eyes with all cones, or else by both marker and dash. Methods of other families on one plot differ in colour, or else
in both marker and dash; no two methods of the app share colour and marker. A test simulates how each colour is seen
without one kind of cone, and measures the contrast with either ground.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from dpml.registry import method, of_family, standing

# black would be lost on the dark theme, and a line of yellow on the light one
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILION, PURPLE, SKY = "#D55E00", "#CC79A7", "#56B4E9"
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
# how dense a band is: several over one another are told apart
BAND_ALPHA = 0.12
# what moves with a slider is on a layer of its own: axes, bands and legend are not painted again (measured: 10 ms less)
OVERLAY: Final = "overlay"

LONG, LONGEST = "16 4", "40 4"
# for methods without a style: no other has it, so that they are told from all others without colour
SPARE_DASH = "24 4 4 4"
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


# of the methods of `dpml.registry`, which says what they are called: colour, marker and dash
STYLES: dict[str, dict[str, tuple[str, ...]]] = {
    "classifier": {
        # naive Bayes
        "row-bounded": (GREEN, "diamond"),
        "algorithm-1": ("#9087F3", "circle"),
        "binned": (VERMILION, "square"),
        "global": ("#7E632D", "hex"),
        "smooth": (PURPLE, "square_pin"),
        "bun-steinke": ("#E17563", "hex_dot", "dotted"),
        "partitioned": ("#AB5ABD", "star"),
        "vaidya": ("#B41B87", "plus"),
        "published": ("#7548CF", "cross"),
        # linear models
        "rule": ("#BD2412", "star_dot", LONG),
        "l1": ("#A2906C", "circle_dot", LONG),
        "objective": ("#1BA2BD", "triangle", LONG),
        "output": ("#516C51", "inverted_triangle", LONG),
        "functional": ("#75A212", "triangle_pin", LONG),
        "svm": ("#FC00C6", "diamond_cross", "dotted"),
        "local": ("#FC1B7E", "circle_cross", "dotted"),
        "genetic": ("#FC2DFC", "asterisk", LONG),
        "descent": ("#007509", "x", DELTA_DASH),
        # the default classifier
        "auto": (BLUE, "square_x", LONGEST),
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
        "mst-delta": (PURPLE, "hex_dot", DELTA_DASH),
        "aim-delta": (SKY, "star_dot", DELTA_DASH),
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
# labels in a legend, where the title of the method is too long or belongs to a list
LABELS: dict[tuple[str, str], str] = {
    ("classifier", "row-bounded"): "Row-bounded",
    ("classifier", "vaidya"): "Vaidya",
    ("classifier", "published"): "Zafarani and Clifton",
    ("classifier", "rule"): "Public rule",
    ("classifier", "l1"): "Objective L1",
    ("classifier", "objective"): "Objective L2",
    ("classifier", "output"): "Logistic, output",
    ("classifier", "functional"): "Functional",
    ("classifier", "local"): "PrivLocal",
    ("classifier", "descent"): "Descent",
    ("classifier", "random-trees"): "Random trees",
    ("publisher", "diffpc45"): "DiffPC-4.5 (tree)",
    ("noise", "geometric"): "Geometric",
    ("noise", "gaussian"): "Gaussian",
}
# names within a sentence, where the label is too short
PHRASES = {
    "binned": "naive Bayes, binned counts",
    "row-bounded": "naive Bayes, row-bounded",
    "algorithm-1": "naive Bayes, Algorithm 1 (Antonova 2016)",
}
# of curves whose claim holds for no ε
FLAWS = {"fixed-space": "reveals n"}
# of methods that have no style of their own; no row of the tables above has one of these colours
SPARE = (
    ("#8748A2", "circle_x"),
    ("#486C3F", "circle_y"),
    ("#AB2499", "circle_cross"),
    ("#CF6C5A", "square_cross"),
    ("#755A7E", "triangle_pin"),
    ("#00AB3F", "hex_dot"),
    ("#E10048", "star_dot"),
)


def label_of(key: str, family: str = "classifier") -> str:
    """Return the label of a method in a legend.

    >>> label_of("objective"), label_of("pph", "publisher")
    ('Objective L2', 'PPH')
    """
    return LABELS.get((family, key)) or method(key, family).title


def phrase_of(key: str) -> str:
    """Return the name of a classifier within a sentence."""
    return PHRASES.get(key) or label_of(key)


def style_of(key: str, family: str = "classifier") -> Style:
    """Return the look of a method of `dpml.registry`: its own, or where the app has none, one by its place.

    What does not keep its claim is dashed, and its label says so; what a classifier keeps depends on the table, so the
    Train page says it.

    >>> style_of("binned").marker, style_of("noisy-cut", "selector").label
    ('square', 'NoisyCut: not private')
    """
    entry, own, held = method(key, family), STYLES[family], standing(key, family)
    if key in own:
        style = Style(label_of(key, family), *own[key])
    else:
        place = [each.key for each in of_family(family) if each.key not in own].index(key)
        style = Style(label_of(key, family), *SPARE[place % len(SPARE)], SPARE_DASH)
    if family == "classifier":
        return replace(style, dash=NOT_PRIVATE_DASH) if entry.target and not held.holds else style
    if held.private:
        return style
    return replace(style, label=f"{style.label}: {FLAWS.get(key, 'not private')}", dash=NOT_PRIVATE_DASH)


def styles_of(family: str, group: str | None = None) -> dict[str, Style]:
    """Return the looks of a family's methods, or of one of its groups, by key."""
    return {each.key: style_of(each.key, family) for each in of_family(family, group)}


def all_styles() -> list[Style]:
    """Return the look of everything that has one here."""
    return [style_of(key, family) for family, own in STYLES.items() for key in own]


# made when a plot first names a series: they need the claims of all methods, whose import takes longer than a plot's
@cache
def named_styles() -> dict[Any, Style]:
    """Return the looks of methods by label, key and study.

    A key of several families is the last one's. "exact" is rarely a choice of features. Of a study with several
    methods, one stands for it.
    """
    families = ("noise", "publisher", "selector", "classifier")
    styles = {style.label: style for style in all_styles()}
    styles |= {key: style_of(key, family) for family in families for key in STYLES[family] if key != "exact"}
    studies = {each.sweep: each.key for each in of_family() if each.sweep}
    studies |= {method(key).sweep: key for key in ("smooth", "objective")}
    return styles | {study: styles[key] for study, key in studies.items() if key in styles}
