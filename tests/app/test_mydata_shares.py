"""Linked shares of one ε: whatever is moved, they add up to the whole, and what is locked stays."""

import math

import pytest
from dpml_app.pages.mydata.shares import PARTS, START, headroom, moved
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


def total(shares):
    return math.fsum(shares.values())


def test_the_first_shares_are_of_all_parts_and_the_whole():
    assert tuple(START) == PARTS
    assert total(START) == pytest.approx(1.0, abs=TINY)


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
        assert now[part] == pytest.approx(min(to, headroom(shares, part, locked)), abs=TINY)


@given(splits(), part_of, share, locks)
def test_those_that_follow_keep_their_proportion(shares, part, to, locked):
    now = moved(shares, part, to, locked)
    follow = [name for name in PARTS if name != part and name not in locked]
    for one in follow:
        for other in follow:
            assert now[one] * shares[other] == pytest.approx(now[other] * shares[one], abs=TINY)


@given(splits(), part_of, st.floats(0.0, 0.99), locks)
def test_moving_back_brings_the_others_back_unless_all_that_followed_went_to_nothing(shares, part, to, locked):
    there = moved(shares, part, to, locked)
    follow = [name for name in PARTS if name != part and name not in locked]
    left = math.fsum(there[name] for name in follow)
    if left < 1e-3 or math.fsum(shares[name] for name in follow) == 0:
        return  # no proportion to go back by
    back = moved(there, part, shares[part], locked)
    assert back == pytest.approx(shares, abs=1e-6)


@given(splits(), part_of, share, share, locks)
def test_two_moves_end_where_the_last_one_leads(shares, part, through, to, locked):
    between = moved(shares, part, min(through, 0.9 * headroom(shares, part, locked)), locked)
    assert moved(between, part, to, locked) == pytest.approx(moved(shares, part, to, locked), abs=1e-6)


def test_from_nothing_each_gets_the_same():
    alone = {"selection": 0.0, "training": 1.0, "evaluation": 0.0, "publishing": 0.0}
    now = moved(alone, "training", 0.4, {"evaluation"})
    assert now == pytest.approx({"selection": 0.3, "training": 0.4, "evaluation": 0.0, "publishing": 0.3})


def test_what_cannot_be_is_named():
    with pytest.raises(InvalidParameter, match=r"`part` must be .*Got 'luck'"):
        moved(START, "luck", 0.5)
    with pytest.raises(InvalidParameter, match=r"`share` must be .*Got 1\.5"):
        moved(START, "training", 1.5)
