"""The bar that divides one ε among the parts of a release."""

import re

import pytest
from contrast import channels, contrast
from dpml_app.pages.mydata.compute import START, shares_of
from dpml_app.pages.mydata.figures import BudgetBar
from dpml_app.pages.mydata.text import COLOURS, budget_bar
from dpml_app.shell import STYLES


def test_shares_are_weights_of_their_sum():
    assert shares_of(START) == {part: weight / 100 for part, weight in START.items()}
    assert shares_of(dict.fromkeys(START, 0.0)) == dict.fromkeys(START, 0.0)


# ---- the bar ---------------------------------------------------------------------------------------------------------


def test_a_slider_changes_all_shares_and_the_bar():
    changes = []
    bar = BudgetBar(0.5, lambda: changes.append(bar.shares))
    bar.sliders["training"].value = 90
    assert changes == [{"selection": 20 / 150, "training": 0.6, "evaluation": 20 / 150, "publishing": 20 / 150}]
    assert "Training <b>0.3</b>" in bar.picture.object
    assert bar.touched
    bar.begin(selection=False)
    assert bar.shares == {"selection": 0.0, "training": 0.5, "evaluation": 0.25, "publishing": 0.25}
    assert (bar.sliders["selection"].disabled, bar.touched) == (True, False)


@pytest.mark.parametrize("junk", [None, -3.0, 1e300, float("nan"), float("inf")])
def test_what_a_browser_says_of_a_slider_is_not_trusted(junk):
    shares = shares_of({**START, "training": junk})
    assert shares["training"] == 0
    assert sum(shares.values()) == pytest.approx(1.0)


def test_the_bar_says_what_each_part_has_and_what_is_left_out():
    shares = {"selection": 0.0, "training": 0.75, "evaluation": 0.0, "publishing": 0.25}
    said = budget_bar(2.0, shares)
    assert "Selection left out" in said
    assert "Training <b>1.5</b>" in said
    assert "Publishing <b>0.5</b>" in said
    assert "width:75.000%" in said
    assert "Parts of ε = 2" in said


# ---- colours ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", START)
def test_a_part_is_read_in_its_colour_and_seen_on_both_pages(part):
    assert contrast("#ffffff", COLOURS[part]) >= 4.5
    for page in ("#ffffff", "#121212"):
        assert contrast(page, COLOURS[part]) >= 3


def test_the_strip_and_the_pages_of_both_modes_are_read_in_light_and_dark():
    strips = re.findall(r"#mode \{\s*display: block; background: [^#;]*(#\w{6})[^#;]*(#\w{6})?", STYLES)
    assert len(strips) == 2
    for colour in filter(None, (colour for strip in strips for colour in strip)):
        assert contrast("#ffffff", colour) >= 4.5
    mixed = re.findall(r"color-mix\(in srgb, var\(--panel-background-color, #f6f8fa\) (\d+)%, (#\w{6})\)", STYLES)
    assert len(mixed) == 2
    for share, tint in mixed:
        for page, written in (("#f6f8fa", "#16202c"), ("#121212", "#ffffff")):
            assert contrast(between(page, tint, int(share) / 100), written) >= 7


def between(one, other, share):
    """Return the colour that has a share of one and the rest of another."""
    mixed = share * channels(one) + (1 - share) * channels(other)
    return "#" + "".join(f"{round(v):02x}" for v in mixed)
