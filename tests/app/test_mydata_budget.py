"""The bar that divides one ε among the parts of a release."""

import math
import re

import pytest
from contrast import channels, contrast
from dpml_app.pages.mydata.compute import PARTS, START, moved
from dpml_app.pages.mydata.figures import BudgetBar
from dpml_app.pages.mydata.text import COLOURS, budget_bar
from dpml_app.shell import STYLES
from hypothesis import given
from hypothesis import strategies as st

from dpml.exceptions import InvalidParameter

TINY = 1e-9


@st.composite
def splits(draw):
    """Shares of the four parts that add up to 1; some may be 0."""
    weights = draw(st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any))
    return {part: weight / sum(weights) for part, weight in zip(PARTS, weights, strict=True)}


locks = st.sets(st.sampled_from(PARTS))
part_of = st.sampled_from(PARTS)
share = st.floats(0.0, 1.0)


def room(shares, part, locked):
    return 1 - math.fsum(shares[name] for name in locked - {part})


def total(shares):
    return math.fsum(shares.values())


@given(splits(), st.lists(st.tuples(part_of, share, locks), max_size=12))
def test_the_sum_stays_locked_ones_stay_and_none_is_negative_however_often_one_is_moved(shares, moves):
    for part, to, locked in moves:
        now = moved(shares, part, to, locked)
        assert list(now) == list(shares)
        assert total(now) == pytest.approx(1.0, abs=TINY)
        assert all(0.0 <= value <= 1.0 for value in now.values())
        assert {name: now[name] for name in locked} == {name: shares[name] for name in locked}
        shares = now


@given(splits(), part_of, share, locks)
def test_a_part_goes_where_it_is_moved_or_as_far_as_there_is_room(shares, part, to, locked):
    now = moved(shares, part, to, locked)
    if part in locked or set(PARTS) <= locked | {part}:
        assert now == shares
    else:
        assert now[part] == pytest.approx(min(to, room(shares, part, locked)), abs=TINY)


@given(splits(), part_of, share, locks)
def test_those_that_follow_keep_their_proportion(shares, part, to, locked):
    now = moved(shares, part, to, locked)
    follow = [name for name in PARTS if name != part and name not in locked]
    for one in follow:
        for other in follow:
            assert now[one] * shares[other] == pytest.approx(now[other] * shares[one], abs=TINY)


def test_from_nothing_each_gets_the_same():
    alone = {"selection": 0.0, "training": 1.0, "evaluation": 0.0, "publishing": 0.0}
    now = moved(alone, "training", 0.4, {"evaluation"})
    assert now == pytest.approx({"selection": 0.3, "training": 0.4, "evaluation": 0.0, "publishing": 0.3})


def test_what_cannot_be_is_named():
    with pytest.raises(InvalidParameter, match=r"`part` must be .*Got 'luck'"):
        moved(START, "luck", 0.5)
    with pytest.raises(InvalidParameter, match=r"`share` must be .*Got 1\.5"):
        moved(START, "training", 1.5)


# ---- the bar ---------------------------------------------------------------------------------------------------------


def test_sliders_move_each_other_and_locked_ones_stay():
    changes = []
    bar = BudgetBar(0.5, lambda: changes.append(total(bar.shares)))
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
    assert total(bar.shares) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in bar.shares.values())


def test_the_bar_says_what_each_part_has_and_what_is_left_out():
    shares = {"selection": 0.0, "training": 0.75, "evaluation": 0.0, "publishing": 0.25}
    said = budget_bar(2.0, shares, {"publishing"})
    assert "Selection left out" in said
    assert "Training <b>1.5</b>" in said
    assert "Publishing <b>0.5</b> (locked)" in said
    assert "width:75.000%" in said
    assert "Parts of ε = 2" in said


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
