"""The store of classes: its limits, what counts as a guess, its end, and many threads at once."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from dpml_app.lessons import classrooms
from dpml_app.lessons.classrooms import CODE_LENGTH, LETTERS, ClassFull, Classrooms, Guesses, new_code, step_at
from dpml_app.serving.limits import ServerFull

PLACE, NEXT = ("what-it-costs", 1), ("what-it-costs", 2)
OPTIONS = len(step_at(PLACE).options)
PATIENCE = 20


class Watcher:
    """What tells a session of a change; it counts how often."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1


@pytest.fixture
def rooms(monkeypatch):
    monkeypatch.setenv("DPML_CLASSES", "3")
    rooms = Classrooms()
    yield rooms
    for code in list(rooms._classes):
        rooms.end(code)


def joined(rooms, code, seat=""):
    watcher = Watcher()
    return watcher, rooms.join(code, seat, watcher)


def wait(holds):
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "it never held"
        time.sleep(0.01)


def test_none_is_open_unless_the_operator_allows_it_and_no_more_than_that(monkeypatch):
    rooms = Classrooms()
    monkeypatch.delenv("DPML_CLASSES", raising=False)
    with pytest.raises(ServerFull, match=r"0 classes are open: DPML_CLASSES allows 0\."):
        rooms.open(PLACE, Watcher())
    monkeypatch.setenv("DPML_CLASSES", "2")
    codes = [rooms.open(PLACE, Watcher())[0] for _ in range(2)]
    with pytest.raises(ServerFull, match="2 classes are open: DPML_CLASSES allows 2"):
        rooms.open(PLACE, Watcher())
    rooms.end(codes[0])
    codes.append(rooms.open(PLACE, Watcher())[0])
    assert len(set(codes)) == 3
    assert all(len(code) == CODE_LENGTH and set(code) <= set(LETTERS) for code in codes)
    for code in codes:
        rooms.end(code)


def test_a_code_begins_with_the_route_of_its_teacher(rooms):
    code, _ = rooms.open(PLACE, Watcher(), "0123abcd")
    route, _, rest = code.partition("-")
    assert (route, len(rest)) == ("0123abcd", CODE_LENGTH)
    assert "-" not in new_code("")


def test_a_class_has_so_many_seats_and_frees_them(rooms, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_VISITORS", "2")
    code, _ = rooms.open(PLACE, Watcher())
    first, seat = joined(rooms, code)
    second, _ = joined(rooms, code)
    with pytest.raises(ClassFull, match="The class is full: DPML_CLASS_VISITORS allows 2 visitors"):
        joined(rooms, code)
    # a second page of the same browser has the same seat
    other, same = joined(rooms, code, seat)
    assert (same, rooms.view(code).here) == (seat, 2)
    # who has guessed is known again, so that leaving and coming back gives no second guess
    assert rooms.answer(code, first, PLACE, 0)
    assert not rooms.answer(code, other, PLACE, 0)
    for watcher in (first, other, second):
        rooms.leave(code, watcher)
    assert rooms.view(code).here == 0
    _, new = joined(rooms, code, "made up")
    assert new not in ("made up", seat)
    back, again = joined(rooms, code, seat)
    assert again == seat
    with pytest.raises(ClassFull):
        joined(rooms, code)
    assert not rooms.answer(code, back, PLACE, 1), "it has guessed before"
    assert rooms.view(code).answered == 1


def test_who_guesses_and_leaves_takes_no_seat(rooms, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_VISITORS", "2")
    code, _ = rooms.open(PLACE, Watcher())
    for _ in range(5):
        watcher, _ = joined(rooms, code)
        assert rooms.answer(code, watcher, PLACE, 0)
        rooms.leave(code, watcher)
    assert len({joined(rooms, code)[1], joined(rooms, code)[1]}) == 2


def test_one_client_has_so_many_seats(rooms, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_CLIENT_VISITORS", "2")
    code, _ = rooms.open(PLACE, Watcher())
    watchers = [Watcher() for _ in range(3)]
    seats = [rooms.join(code, "", watcher, "one") for watcher in watchers[:2]]
    with pytest.raises(ClassFull, match=r"DPML_CLASS_CLIENT_VISITORS allows 2 visitors from one address\. Close other"):
        rooms.join(code, "", watchers[2], "one")
    # a second window of a seat is no other seat, and another address has seats of its own
    assert rooms.join(code, seats[0], watchers[2], "one") == seats[0]
    assert rooms.join(code, "", Watcher(), "other")
    rooms.leave(code, watchers[1])
    assert rooms.join(code, "", Watcher(), "one")


def test_no_address_stays_of_a_visitor_who_left(rooms):
    code, _ = rooms.open(PLACE, Watcher())
    watcher = Watcher()
    rooms.join(code, "", watcher, "192.0.2.1")
    rooms.answer(code, watcher, PLACE, 0)
    rooms.leave(code, watcher)
    assert "192.0.2.1" not in repr(vars(rooms._classes[code]))


def test_a_guess_counts_once_at_the_teacher_s_step_before_the_reveal_and_is_an_option(rooms):
    teacher = Watcher()
    code, _ = rooms.open(PLACE, teacher)
    one, _ = joined(rooms, code)
    two, _ = joined(rooms, code)
    late, _ = joined(rooms, code)
    for option in (-1, OPTIONS, 10**9):
        assert not rooms.answer(code, one, PLACE, option)
    assert not rooms.answer(code, one, NEXT, 0), "the class is not there"
    assert not rooms.answer("another", one, PLACE, 0)
    assert not rooms.answer(code, Watcher(), PLACE, 0), "who has no seat"
    assert rooms.answer(code, one, PLACE, 2)
    assert not any(rooms.answer(code, one, PLACE, n % OPTIONS) for n in range(10_000))
    assert rooms.answer(code, two, PLACE, 2)
    assert rooms.view(code).counts == (), "nobody sees a count before the reveal"
    assert (rooms.view(code).answered, rooms.view(code).here) == (2, 3)
    before = one.times
    rooms.reveal(code)
    assert rooms.view(code).counts == (0, 0, 2)
    assert one.times == before + 1
    assert not rooms.answer(code, late, PLACE, 0)
    # another step asks anew, and the one before keeps its dots
    rooms.move(code, NEXT)
    assert (rooms.place_of(code), rooms.view(code).revealed) == (NEXT, False)
    assert rooms.answer(code, one, NEXT, 0)
    rooms.move(code, PLACE)
    assert rooms.view(code).counts == (0, 0, 2)
    for place in (("alchemy", 1), ("what-it-costs", 0), ("what-it-costs", 99)):
        rooms.move(code, place)
        assert rooms.place_of(code) == PLACE


def test_what_is_kept_does_not_say_who_guessed_what(rooms):
    code, _ = rooms.open(PLACE, Watcher())
    for option in (0, 1, 1):
        watcher, _ = joined(rooms, code)
        rooms.answer(code, watcher, PLACE, option)
    [guesses] = rooms._classes[code].guesses.values()
    assert set(vars(guesses)) == {"counts", "seats", "revealed"}
    assert guesses == Guesses([1, 2, 0], rooms._classes[code].seats())
    assert isinstance(guesses.seats, set), "a list would have the order in which they came"


def test_a_class_that_has_ended_is_told_and_nothing_stays_of_it(rooms):
    teacher = Watcher()
    code, secret = rooms.open(PLACE, teacher)
    visitor, seat = joined(rooms, code)
    rooms.answer(code, visitor, PLACE, 1)
    kept = weakref.ref(rooms._classes[code])
    timer = weakref.ref(rooms._classes[code].timer)
    rooms.end(code)
    assert (visitor.times, teacher.times) == (1, 3), "of the visitor, the guess and the end"
    assert (rooms.view(code), rooms.place_of(code), rooms.join(code, seat, visitor)) == (None, None, None)
    assert not rooms.claim(code, secret, teacher)
    for nothing in (rooms.end, rooms.reveal):
        nothing(code)
    rooms.move(code, NEXT)
    rooms.leave(code, visitor)

    def gone():
        gc.collect()
        return kept() is None and timer() is None

    wait(gone)


def test_a_class_ends_when_its_hours_are_over(rooms, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_HOURS", str(0.2 / 3600))
    code, secret = rooms.open(PLACE, Watcher())
    visitor, _ = joined(rooms, code)
    # a teacher who comes back has no more hours than before
    rooms.claim(code, secret, Watcher())
    wait(lambda: rooms.view(code) is None)
    assert visitor.times == 1


def test_a_teacher_who_leaves_ends_the_class_and_may_come_back_before(rooms, monkeypatch):
    monkeypatch.setattr(classrooms, "GRACE", 0.3)
    teacher, again = Watcher(), Watcher()
    code, secret = rooms.open(PLACE, teacher)
    assert not rooms.claim(code, "", again)
    assert not rooms.claim(code, secret + "x", again)
    assert not rooms.claim(code, "é", again)
    assert rooms.claim(code, secret, again)
    rooms.leave(code, teacher)  # the session before the reload ends later
    time.sleep(0.5)
    assert rooms.view(code) is not None
    rooms.leave(code, again)
    assert rooms.view(code) is not None
    assert rooms.claim(code, secret, teacher)
    time.sleep(0.5)
    assert rooms.view(code) is not None
    rooms.leave(code, teacher)
    wait(lambda: rooms.view(code) is None)


def test_many_threads_count_each_seat_once(rooms, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_VISITORS", "60")
    monkeypatch.setenv("DPML_CLASS_CLIENT_VISITORS", "60")
    code, _ = rooms.open(PLACE, Watcher())
    watchers, full = [], []
    together = threading.Barrier(8)

    def visit(number):
        together.wait(PATIENCE)
        for _ in range(10):
            watcher = Watcher()
            try:
                rooms.join(code, "", watcher)
            except ClassFull:
                full.append(number)
            else:
                watchers.append(watcher)

    def guess(number):
        together.wait(PATIENCE)
        return sum(rooms.answer(code, watcher, PLACE, number % OPTIONS) for watcher in watchers)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(visit, range(8)))
        assert (len(watchers), len(full)) == (60, 20)
        counted = list(threads.map(guess, range(8)))
    rooms.reveal(code)
    assert sum(counted) == sum(rooms.view(code).counts) == rooms.view(code).answered == 60
