"""How each method and each kind of mark looks, and what it is called, on every plot.

Colours are Okabe and Ito's, which colour-blind people tell apart. They have too few for all methods, so methods on one
plot differ in colour, or else in both marker and dash; no two methods of the app share colour and marker. A test
simulates how each colour is seen without one kind of cone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpml.methods import METHODS

__all__ = [
    "BLUE",
    "COST",
    "DELTA_DASH",
    "EXACT",
    "GREEN",
    "HERE",
    "INKS",
    "LONG",
    "LOOKS",
    "NOT_PRIVATE_DASH",
    "ORANGE",
    "OVERLAY",
    "PALETTE",
    "PURPLE",
    "REFERENCE",
    "SKY",
    "STALE",
    "VERMILION",
    "YELLOW",
    "Style",
    "look_of",
]

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


# of the classifiers of `dpml.methods`, which says what they are called: colour, marker and dash
CLASSIFIERS: dict[str, tuple[str, ...]] = {
    # naive Bayes
    "row-bounded": (GREEN, "diamond"),
    "algorithm-1": (BLUE, "circle"),
    "binned": (VERMILION, "square"),
    "global": (ORANGE, "hex"),
    "smooth": (PURPLE, "square_pin"),
    "bun-steinke": (SKY, "hex", "dotted"),
    "partitioned": (SKY, "star"),
    "vaidya": (VERMILION, "plus", NOT_PRIVATE_DASH),
    "published": (ORANGE, "cross", NOT_PRIVATE_DASH),
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
    # to begin with, and peers' models as they were recorded
    "auto": (BLUE, "square_x", LONGEST),
    "peer-descent": (ORANGE, "square_pin", DELTA_DASH),
    "peer-boosting": (SKY, "triangle_dot", DELTA_DASH),
    "peer-logistic": (GREEN, "square_x", "dotted"),
}
LOOKS = {
    **{key: Style(METHODS[key].label, *look) for key, look in CLASSIFIERS.items()},
    "vaidya-true": Style("Vaidya, ε it pays", VERMILION, "asterisk", "dotted"),
    # searches over a parameter
    "tune-hindsight": Style("Best in hindsight, not private", VERMILION, "circle_x", NOT_PRIVATE_DASH),
    "tune-disjoint": Style("On disjoint parts", ORANGE, "star"),
    "tune-shared": Style("One after another", BLUE, "hex"),
    "tune-stability": Style("Stability", GREEN, "triangle"),
    "tune-random-0": Style("Random stopping, η = 0", SKY, "triangle"),
    "tune-random-1": Style("Random stopping, η = 1", VERMILION, "diamond", "dotted"),
    # selectors of T features
    "mask-count": Style("Masks, by counts", ORANGE, "square"),
    "mask-mi": Style("Masks, by mutual information", PURPLE, "triangle"),
    "joint": Style("Joint mechanism, by counts", BLUE, "square"),
    "one-shot": Style("One shot of noise, by counts", GREEN, "inverted_triangle", LONG),
    "noisy-scores": Style("Noisy scores, by mutual information", SKY, "square"),
    "noisy-counts": Style("Noisy counts of r ones", VERMILION, "star"),
    "best-selector": Style("BestSelector", BLUE, "star", LONG),
    "iterative": Style("Iterative sampling: not private", VERMILION, "x", NOT_PRIVATE_DASH),
    "exact-choice": Style("Exact choice: not private", ORANGE, "x", NOT_PRIVATE_DASH),
    # selectors of all features above a threshold
    "perturbation": Style("Noisy scores", BLUE, "inverted_triangle"),
    "noisy-clusters": Style("Noisy clusters", GREEN, "circle"),
    "sparse-vector": Style("Sparse vector", ORANGE, "triangle"),
    "mask-true-number": Style("Masks of the true number", PURPLE, "diamond", "dotted"),
    "threshold-testing": Style("Threshold testing: not private", VERMILION, "cross", NOT_PRIVATE_DASH),
    "noisy-cut": Style("NoisyCut: not private", PURPLE, "cross", NOT_PRIVATE_DASH),
    "clusters": Style("Clusters: not private", SKY, "asterisk", NOT_PRIVATE_DASH),
    # publishers of tables, and the model of a publisher's cells
    "privpfc": Style("PrivPfC", BLUE, "diamond_dot"),
    "privpfc-cells": Style("PrivPfCClassifier", GREEN, "diamond_dot"),
    "privpfc-selnf": Style("PrivPfC, best grid: not private", ORANGE, "diamond_cross", NOT_PRIVATE_DASH),
    "privbayes": Style("PrivBayes", GREEN, "star_dot"),
    "diffgen": Style("DiffGen", VERMILION, "diamond_dot"),
    "pph": Style("PPH", PURPLE, "diamond_dot"),
    "uniform": Style("Uniform grid, EUG", SKY, "diamond_dot"),
    "uniform-ug": Style("Uniform grid, UG", SKY, "square_x", "dotted"),
    "privbayes-struct": Style("PrivBayes, exact choice: not private", GREEN, "diamond_cross", NOT_PRIVATE_DASH),
    "diffgen-struct": Style("DiffGen, exact choice: not private", VERMILION, "diamond_cross", NOT_PRIVATE_DASH),
    "diffpc45": Style("DiffPC-4.5, its own", ORANGE, "diamond_dot", LONG),
    "mst": Style("MST, recorded", ORANGE, "hex_dot"),
    "aim": Style("AIM, recorded", ORANGE, "star_dot", "dotted"),
    # importance weights of a public table
    "weights-output": Style("Ji and Elkan", VERMILION, "square_dot", "dashed"),
    "weights-moments": Style("Noisy moments (ours)", GREEN, "square_dot"),
    # ROC curves
    "roc-histogram": Style("16 noisy bins", GREEN, "hex"),
    "roc-medians": Style("RecursiveMedians", BLUE, "circle_dot", "dashed"),
    "roc-medians-exact": Style("RecursiveMedians, all of ε used", SKY, "circle_dot"),
    "roc-fixed-space": Style("FixedSpace: publishes n", ORANGE, "square_dot", "dashed"),
    "roc-fixed-space-exact": Style("FixedSpace, all of ε used", ORANGE, "circle_dot"),
    "roc-laplace": Style("Laplace: not private", VERMILION, "triangle_dot", NOT_PRIVATE_DASH),
    "roc-laplace-exact": Style("Laplace, public thresholds", PURPLE, "circle_dot"),
    # noise of one number
    "laplace": Style("Laplace", BLUE, "plus"),
    "geometric": Style("Geometric", GREEN, "square_pin", "dashed"),
    "staircase": Style("Staircase", VERMILION, "triangle", "dotdash"),
    "gaussian": Style("Gaussian", PURPLE, "circle", "dotted"),
    # choices of one candidate
    "exponential": Style("Exponential", BLUE, "x", "dashed"),
    "permute-and-flip": Style("Permute-and-flip", GREEN, "x"),
    "noisy-max": Style("Noisy max", VERMILION, "hex", "dotted"),
    # Cauchy noise for a smooth sensitivity
    "cauchy-exact": Style("Exact", GREEN, "plus"),
    "cauchy-algorithm-1": Style("√2/ε, Algorithm 1", ORANGE, "plus", "dashed"),
    "cauchy-theorem-2": Style("6/ε, Theorem 2", VERMILION, "circle", "dotted"),
}

# of methods that have no look of their own; no row of the table above has this colour and one of these markers
SPARE = ("circle_x", "circle_y", "circle_cross", "square_cross", "triangle_pin", "hex_dot", "star_dot")


def look_of(key: str) -> Style:
    """Return the look of a method of `dpml.methods`: its own, or where the app has none, one by its place.

    Examples
    --------
    >>> look_of("binned").marker
    'square'
    """
    if key in LOOKS:
        return LOOKS[key]
    place = [each for each in METHODS if each not in LOOKS].index(key)
    return Style(METHODS[key].label, PURPLE, SPARE[place % len(SPARE)], LONGEST)
