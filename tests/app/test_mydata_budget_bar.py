"""The bar that divides ε among the parts of a release, and the colours of parts and modes."""

import re

import pytest
from contrast import channels, contrast
from dpml_app.pages.mydata.budget_bar import COLOURS, BudgetBar, drawn
from dpml_app.pages.mydata.shares import PARTS
from dpml_app.shell import STYLES


def total(bar):
    return sum(bar.shares.values())


def test_sliders_move_each_other_and_locked_ones_stay():
    changes = []
    bar = BudgetBar(0.5, lambda: changes.append(total(bar)))
    bar.sliders["training"].value = 70
    assert bar.sliders["selection"].value == pytest.approx(10)
    assert bar.sliders["publishing"].value == pytest.approx(10)
    bar.locks["training"].value = True
    assert bar.sliders["training"].disabled
    bar.sliders["selection"].value = 90
    # there is no more room, and the slider says so
    assert bar.sliders["selection"].value == pytest.approx(30)
    assert bar.shares["training"] == pytest.approx(0.7)
    assert bar.shares["publishing"] == 0.0
    bar.sliders["training"].value = 10
    assert bar.sliders["training"].value == pytest.approx(70)
    bar.locks["publishing"].value = bar.locks["evaluation"].value = True
    assert all(slider.disabled for slider in bar.sliders.values())
    assert changes == pytest.approx([1.0] * len(changes))
    assert len(changes) == 3


@pytest.mark.parametrize("junk", [None, -3.0, 1e300, float("nan"), float("inf")])
def test_what_a_browser_says_of_a_slider_is_not_trusted(junk):
    bar = BudgetBar(0.5, lambda: None)
    bar._move("training", junk)
    assert total(bar) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in bar.shares.values())


def test_the_bar_says_what_each_part_has_and_what_is_left_out():
    said = drawn(2.0, {"selection": 0.0, "training": 0.75, "evaluation": 0.0, "publishing": 0.25}, {"publishing"})
    assert "Selection left out" in said
    assert "Training <b>1.5</b>" in said
    assert "Publishing <b>0.5</b> (locked)" in said
    assert "width:75.000%" in said
    assert "Parts of ε = 2" in said


def test_each_slider_and_lock_has_a_name_of_its_own():
    bar = BudgetBar(0.5, lambda: None)
    named = [widget.label for widget in (*bar.sliders.values(), *bar.locks.values())]
    assert len(set(named)) == 2 * len(PARTS)


# ---- colours ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
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
