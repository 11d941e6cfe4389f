"""Colours that stand together are told apart by people who lack one kind of cone, as far as a simulation can say."""

import itertools

import numpy as np
import pytest
from bokeh.models import CustomJS, Line, Text
from contrast import contrast, linear
from dpml_app.drawing.styles import (
    BLUE,
    COST,
    EXACT,
    INKS,
    PALETTE,
    REFERENCE,
    SPARE,
    STYLES,
    VERMILION,
    Style,
    all_styles,
    style_of,
)
from dpml_app.pages.explore.figures import CostFigure
from dpml_app.pages.train.compute import TrainSettings
from dpml_app.text.phrases import PEOPLE_STYLE
from shown_together import ON_ONE_PLOT

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency", IEEE
# Transactions on Visualization and Computer Graphics 15, 2009, table 1, severity 1; they apply to linear RGB
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# sRGB to CIE XYZ (IEC 61966-2-1), whose white is the sum of the columns
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
# in CIE 1976 L*a*b*; about 2 is the least that is seen side by side
LEAST = 15.0
# the grounds of the app's two themes, and the least that words and lines need on them (WCAG 2.2, 1.4.3 and 1.4.11)
GROUNDS = {"light": "#ffffff", "dark": "#121212"}
WORDS, LINES = 4.5, 3.0


def lab(rgb):
    """Return L*, a* and b* of a linear RGB."""
    ratio = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a, b, eyes):
    """Return how far apart two colours are for these eyes."""
    return float(np.linalg.norm(lab(SEEN[eyes] @ linear(a)) - lab(SEEN[eyes] @ linear(b))))


def inks_of(plot, name):
    """Return what the browser turns a figure's words into, on either ground."""
    found = plot.js_property_callbacks[f"change:{name}"]
    return [callback.args for callback in found if isinstance(callback, CustomJS)]


def test_the_contrast_is_what_it_is_known_for():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("#000000", "#ffffff", alpha=0.5) == pytest.approx(contrast("#808080", "#ffffff"), abs=0.05)


@pytest.mark.parametrize("theme", GROUNDS)
def test_words_in_the_colour_of_a_line_are_read_on_either_ground(theme):
    inks = {colour: INKS[colour][theme == "dark"] for colour in (*PALETTE, REFERENCE, EXACT, COST)}
    low = {pair for pair in INKS.values() if contrast(pair[theme == "dark"], GROUNDS[theme]) < WORDS}
    assert low == set()
    # and they are still of that colour, for who sees it: nearer to their own than to any other's
    hue = lambda colour: lab(linear(colour))[1:]  # noqa: E731
    for colour, ink in inks.items():
        assert min(inks, key=lambda other: np.linalg.norm(hue(ink) - hue(other))) == colour


def test_every_word_on_the_cost_of_epsilon_follows_the_ground():
    plot = CostFigure().plot
    words = [r.glyph for r in plot.renderers if isinstance(r.glyph, Text)]
    told = inks_of(plot, "background_fill_color")
    assert len(words) == len(told) == 1
    for glyph, arguments in zip(words, told, strict=True):
        assert arguments["target"] is glyph
        assert arguments["light"] in (INKS[COST][0], INKS[REFERENCE][0])
        assert getattr(glyph, arguments["name"]) == arguments["light"]
        inks = zip(np.atleast_1d(arguments["light"]), np.atleast_1d(arguments["dark"]), strict=True)
        assert all(contrast(a, GROUNDS["light"]) >= WORDS <= contrast(b, GROUNDS["dark"]) for a, b in inks)


def test_lines_are_seen_in_the_dark():
    colours = {style.color for style in all_styles()} | {REFERENCE, EXACT, COST}
    assert {c for c in colours if contrast(c, GROUNDS["dark"]) < LINES} == set()
    lines = [r.glyph for r in CostFigure().plot.renderers if isinstance(r.glyph, Line)]
    assert lines
    for line in lines:
        colour = line.line_color if line.line_color[0] == "#" else BLUE
        assert contrast(colour, GROUNDS["dark"], line.line_alpha) >= LINES


def test_the_simulation_is_what_it_is_known_for():
    assert lab(linear("#FFFFFF")) == pytest.approx([100, 0, 0], abs=0.02)
    assert lab(linear("#FF0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    # grey is grey to all eyes; red and green of one lightness are alike without either cone
    for eyes in SEEN:
        assert distance("#808080", "#8A8A8A", eyes) == pytest.approx(
            distance("#808080", "#8A8A8A", "all cones"), abs=0.1
        )
    assert distance("#B45F5F", "#6E8250", "deuteranopia") < 0.4 * distance("#B45F5F", "#6E8250", "all cones")
    assert distance("#B45F5F", "#6E8250", "tritanopia") > 30


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("name", ON_ONE_PLOT)
def test_methods_on_one_plot_are_told_apart_without_a_cone(name, eyes):
    for (a, first), (b, second) in itertools.combinations(ON_ONE_PLOT[name].items(), 2):
        if distance(first.color, second.color, eyes) < LEAST:
            # then by both of what else a line has
            assert first.marker != second.marker, (a, b)
            assert first.dash != second.dash, (a, b)


def test_no_colour_and_no_marker_of_a_classifier_stands_twice():
    looks = [style_of(key) for key in STYLES["classifier"]]
    spare = [Style("", color, marker) for color, marker in SPARE]
    assert len({look.color for look in (*looks, *spare)}) == len(looks) + len(spare)
    assert len({look.marker for look in looks}) == len(looks)
    faint = {
        (look.color, ground)
        for look in (*looks, *spare)
        for ground in GROUNDS.values()
        if contrast(look.color, ground) < LINES
    }
    assert faint == set()


@pytest.mark.parametrize("eyes", SEEN)
def test_the_methods_that_the_train_page_opens_with_are_told_apart_by_colour_alone(eyes):
    settings = TrainSettings()
    looks = [style_of(key) for key in settings.train_methods]
    assert min(distance(a.color, b.color, eyes) for a, b in itertools.combinations(looks, 2)) >= LEAST


@pytest.mark.parametrize("eyes", SEEN)
def test_each_pair_of_the_palette_and_what_is_exact_are_told_apart(eyes):
    together = [*itertools.combinations(PALETTE, 2), *((EXACT, colour) for colour in PALETTE)]
    # what is exact and a level, the cost with its curve and its level, two sides of a lesson, the hundred cases
    together += [(EXACT, REFERENCE), (COST, BLUE), (COST, REFERENCE), (BLUE, VERMILION), ("#808a94", "#8a4bc0")]
    near = {pair: distance(*pair, eyes) for pair in together if distance(*pair, eyes) < LEAST}
    assert near == {}
    assert "#808a94" in PEOPLE_STYLE
    assert "#8a4bc0" in PEOPLE_STYLE
