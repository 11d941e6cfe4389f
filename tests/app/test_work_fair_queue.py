"""Ranks go in order, and within a priority the owners take turns."""

from dpml_app.work.fair_queue import IN_A_ROW, FairQueue, Priority


def filled(*items, priority=Priority.CURVES, turns=None):
    """Return turns in which each item waits for the owner that its first letter names."""
    turns = turns or FairQueue()
    for item in items:
        turns.put(item, owner=item[0], priority=priority)
    return turns


def taken(turns, wanted=lambda _item: True):
    found = []
    while (item := turns.take(wanted)) is not None:
        found.append(item)
    return found


def test_owners_take_turns_however_much_one_asks_for():
    turns = filled(*(f"f{i}" for i in range(100)), "a0", "b0", "a1")
    assert taken(turns)[:7] == ["f0", "a0", "b0", "f1", "a1", "f2", "f3"]


def test_one_that_comes_goes_before_one_that_has_just_had_a_turn():
    turns = filled("f0", "f1", "f2")
    assert turns.take() == "f0"
    filled("a0", turns=turns)
    assert taken(turns) == ["a0", "f1", "f2"]


def test_those_that_ask_for_one_thing_after_another_keep_nobody_out():
    turns, found = filled("f0", "f1", "f2", "a0", "b0", "c0"), []
    for i in range(1, 20):
        item = turns.take()
        found.append(item)
        if item[0] != "f":
            filled(f"{item[0]}{i}", turns=turns)
    assert [i for i, item in enumerate(found) if item[0] == "f"] == [0, 4, 8]


def test_an_owner_is_forgotten_once_nothing_waits_or_a_round_has_passed():
    turns = filled("a0", "b0", "b1")
    assert taken(turns) == ["a0", "b0", "b1"]
    assert not any(turns._next.values())
    filled("a0", "b0", "b1", "b2", turns=turns)
    assert [turns.take() for _ in range(3)] == ["a0", "b0", "b1"]
    assert set(turns._next[Priority.CURVES]) == {"b"}


def test_nothing_is_lost_and_the_order_of_an_owner_is_kept():
    items = [f"{'abc'[i % 3]}{i:02}" for i in range(30)]
    found = taken(filled(*items))
    assert sorted(found) == sorted(items)
    for owner in "abc":
        own = [item for item in found if item[0] == owner]
        assert own == sorted(own)


def test_answers_go_before_curves_and_curves_before_what_has_time():
    turns = filled("a0", "b0", priority=Priority.IDLE)
    filled("a1", "b1", turns=turns)
    filled("b2", priority=Priority.IMMEDIATE, turns=turns)
    assert taken(turns) == ["b2", "a1", "b1", "a0", "b0"]


def test_a_lower_rank_is_not_kept_waiting_for_ever():
    turns = filled(*(f"f{i}" for i in range(1000)), priority=Priority.IMMEDIATE)
    filled("a0", "a1", turns=turns)
    filled("b0", priority=Priority.IDLE, turns=turns)
    found = taken(turns)
    assert len(found) == 1003
    assert [found.index(item) for item in ("a0", "a1")] == [IN_A_ROW, 2 * IN_A_ROW + 1]
    assert found.index("b0") < 4 * IN_A_ROW


def test_what_is_not_wanted_any_more_costs_no_turn():
    turns = filled("f0", "f1", "f2", "a0", "a1")
    assert taken(turns, lambda item: item not in ("f0", "f1")) == ["f2", "a0", "a1"]
    turns = filled("f0", priority=Priority.IMMEDIATE)
    filled("a0", turns=turns)
    assert taken(turns, lambda item: item == "a0") == ["a0"]


def test_only_unwanted_ones_below_do_not_hide_what_waits_above():
    turns = filled(*(f"f{i}" for i in range(3 * IN_A_ROW)), priority=Priority.IMMEDIATE)
    filled("gone", priority=Priority.IDLE, turns=turns)
    assert len(taken(turns, lambda item: item != "gone")) == 3 * IN_A_ROW


def test_what_is_put_back_is_next():
    turns = filled("a0", "b0", "b1")
    item = turns.take()
    turns.put_back(item, owner="a", priority=Priority.CURVES)
    assert taken(turns) == ["a0", "b0", "b1"]
