"""Sessions of a class without a browser: a teacher's and visitors', what each is told, and what is refused."""

import asyncio
import gc
import json
import weakref
from collections import Counter

import pytest
from bokeh.document import Document
from dpml_app.lessons import ClassSession, classrooms, position_of
from dpml_app.lessons.classrooms import (
    ACTS,
    CODE_LENGTH,
    ENDED,
    LETTERS,
    LONGEST,
    NOTHING,
    OPEN,
    Guesses,
    open_class,
    read,
)

LESSON = "what-it-costs"
SCRIPT = "<img src=x onerror=alert(1)>"


class One:
    """A session, and what its browser would do."""

    def __init__(self):
        self.doc = Document()
        self.session = ClassSession(self.doc)

    def send(self, act, **more):
        self.session.request.data = {name: [value] for name, value in {**NOTHING, "act": act, **more}.items()}

    @property
    def state(self):
        """What the browser is told, once what waits for the document has run."""
        for waiting in list(self.doc.session_callbacks):
            self.doc.remove_next_tick_callback(waiting)
            waiting.callback()
        return json.loads(self.session.state.data["payload"][0])


@pytest.fixture
def arrive(monkeypatch):
    """Return a function that makes a session; all leave at the end, and no class stays."""
    monkeypatch.setenv("DPML_CLASSES", "2")
    sessions = []

    def make():
        sessions.append(One())
        return sessions[-1]

    yield make
    for one in sessions:
        one.send("end")
        one.session.leave()
    assert OPEN == {}


@pytest.fixture
def taught(arrive):
    """Return a teacher and two visitors of a class."""
    teacher, *visitors = (arrive() for _ in range(3))
    teacher.send("open", lesson=LESSON, step=1)
    for visitor in visitors:
        visitor.send("join", code=teacher.state["code"])
    return teacher, *visitors


def test_visitors_are_told_the_teacher_s_step_and_the_counts_only_after_the_reveal(taught):
    teacher, one, two = taught
    assert (teacher.state["role"], teacher.state["here"], teacher.state["answered"]) == ("teacher", 2, 0)
    one.send("answer", lesson=LESSON, step=1, option=1)
    two.send("answer", lesson=LESSON, step=1, option=1)
    assert teacher.state["answered"] == 2
    assert teacher.state["counts"] == one.state["counts"] == []
    assert "answered" not in one.state, "how many have answered is the teacher's"
    teacher.send("reveal")
    for session in taught:
        assert (session.state["revealed"], session.state["counts"]) == (True, [0, 2, 0])
    teacher.send("move", lesson=LESSON, step=2)
    assert (one.state["lesson"], one.state["step"], one.state["revealed"]) == (LESSON, 2, False)
    # no session has another's seat or the teacher's secret
    assert len({session.state["key"] for session in taught}) == 3


def test_a_visitor_can_neither_lead_nor_answer_twice(taught):
    teacher, one, _ = taught
    one.send("answer", lesson=LESSON, step=1, option=0)
    for option in range(2000):
        one.send("answer", lesson=LESSON, step=1, option=option % 3, serial=option)
    for act in ("move", "reveal", "end", "open", "claim", "join"):
        one.send(act, lesson=LESSON, step=3, code=teacher.state["code"], key=one.state["key"])
    assert (teacher.state["answered"], teacher.state["step"], teacher.state["revealed"]) == (1, 1, False)
    teacher.send("answer", lesson=LESSON, step=1, option=0)
    assert teacher.state["answered"] == 1, "a teacher does not guess"
    teacher.send("reveal")
    taught[2].send("answer", lesson=LESSON, step=1, option=0)
    assert teacher.state["counts"] == [1, 0, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"act": ["shout"]}, {"act": [SCRIPT]}, {"act": [None]}, {"act": []}, {"act": "answer"}, {"act": [["answer"]]},
        {"option": ["1"]}, {"option": [1.0]}, {"option": [True]}, {"option": [None]}, {"option": [{"a": 1}]},
        {"step": ["1"]}, {"lesson": [SCRIPT * 20]}, {"lesson": [7]}, {"code": [b"x"]}, {"key": ["x" * (LONGEST + 1)]},
    ],
)  # fmt: skip
def test_what_a_page_would_not_send_is_passed_over(wrong, taught):
    teacher, one, _ = taught
    sent = {**{name: [value] for name, value in NOTHING.items()}, "act": ["answer"], "lesson": [LESSON]}
    whole = {**sent, "step": [1], "option": [1]}
    assert read(whole) is not None
    assert read({**whole, **wrong}) is None
    assert read({}) is None
    before = teacher.state
    one.session._on_request("data", None, {**whole, **wrong})
    assert teacher.state == before


def test_no_text_of_one_session_comes_to_another(taught, arrive):
    teacher, one, two = taught
    for act in ACTS:
        one.send(act, code=SCRIPT, key=SCRIPT, lesson=SCRIPT, step=1, option=1)
    stranger = arrive()
    stranger.send("join", code=teacher.state["code"], key=SCRIPT)
    assert stranger.state["key"] != SCRIPT
    assert SCRIPT not in json.dumps([session.state for session in (teacher, two, stranger)])


def test_the_end_is_told_and_a_guess_is_gone_from_every_session(taught):
    teacher, one, two = taught
    one.send("answer", lesson=LESSON, step=1, option=2)
    teacher.send("end")
    for session in taught:
        assert session.state == {"role": "", "may": True, "said": ENDED}
        assert session.session.request.data == {name: [value] for name, value in NOTHING.items()}
    # a session can be a teacher's again
    two.send("open", lesson=LESSON, step=2)
    assert (two.state["role"], two.state["step"]) == ("teacher", 2)


def test_a_reload_keeps_the_class_by_the_secret_alone(taught, arrive):
    teacher, one, _ = taught
    known = {name: teacher.state[name] for name in ("code", "key")}
    thief, again = arrive(), arrive()
    thief.send("claim", code=known["code"], key=one.state["key"])
    assert (thief.state["role"], thief.state["said"]) == ("", ENDED)
    again.send("claim", **known)
    teacher.session.leave()
    one.send("answer", lesson=LESSON, step=1, option=2)
    assert (again.state["role"], again.state["answered"]) == ("teacher", 1)


def test_a_server_without_classes_offers_none_and_others_so_many(arrive, monkeypatch):
    monkeypatch.delenv("DPML_CLASSES")
    one = arrive()
    assert one.state == {"role": "", "may": False, "said": ""}
    one.send("open", lesson=LESSON, step=1)
    assert (one.state["role"], one.state["said"]) == ("", "0 classes are open: DPML_CLASSES allows 0.")
    monkeypatch.setenv("DPML_CLASSES", "2")
    teachers = [arrive() for _ in range(3)]
    for number, teacher in enumerate(teachers):
        teacher.session.client = f"192.0.2.{number}"
        teacher.send("open", lesson=LESSON, step=1, serial=number)
    assert teachers[2].state["said"] == "2 classes are open: DPML_CLASSES allows 2."
    codes = {teacher.state["code"] for teacher in teachers[:2]}
    assert len(codes) == 2
    assert all(len(code) == CODE_LENGTH and set(code) <= set(LETTERS) for code in codes)
    teachers[0].send("end")
    teachers[2].send("open", lesson=LESSON, step=1, serial=9)
    assert teachers[2].state["role"] == "teacher"


def test_one_client_opens_half_of_the_classes(arrive, monkeypatch):
    monkeypatch.setenv("DPML_CLASSES", "3")
    teachers = [arrive() for _ in range(4)]
    teachers[3].session.client = "192.0.2.7"
    for teacher in teachers:
        teacher.send("open", lesson=LESSON, step=1)
    assert [teacher.state["role"] for teacher in teachers] == ["teacher", "teacher", "", "teacher"]
    assert teachers[2].state["said"] == "Your address has 2 classes open: it may open half of DPML_CLASSES (3)."
    teachers[0].send("end")
    teachers[2].send("open", lesson=LESSON, step=1, serial=9)
    assert teachers[2].state["role"] == "teacher"


def test_a_code_begins_with_the_route_of_its_teacher(arrive):
    one = arrive()
    one.session._room = open_class(one.session, (LESSON, 1), "0123abcd")
    route, _, rest = one.session._room.code.partition("-")
    assert (route, len(rest)) == ("0123abcd", CODE_LENGTH)


def test_a_full_class_is_said_and_a_seat_is_freed_and_known_again(taught, arrive, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_VISITORS", "2")
    teacher, one, two = taught
    code, seat = teacher.state["code"], one.state["key"]
    late, again = arrive(), arrive()
    late.send("join", code=code)
    assert (late.state["role"], late.state["said"]) == ("", "The class is full: DPML_CLASS_VISITORS allows 2 visitors.")
    # a second page of the same browser has the same seat
    again.send("join", code=code, key=seat)
    assert (again.state["key"], teacher.state["here"]) == (seat, 2)
    one.send("answer", lesson=LESSON, step=1, option=0)
    again.send("answer", lesson=LESSON, step=1, option=1)
    assert teacher.state["answered"] == 1
    for session in (one, again, two):
        session.session.leave()
    assert teacher.state["here"] == 0
    # who leaves and comes back gives no second guess, and nobody chooses a seat
    back = arrive()
    back.send("join", code=code, key=seat)
    back.send("answer", lesson=LESSON, step=1, option=1)
    late.send("join", code=code, key="made up")
    assert back.state["key"] == seat
    assert late.state["key"] not in ("made up", seat)
    assert (teacher.state["here"], teacher.state["answered"]) == (2, 1)


def test_guesses_of_each_step_count_once_before_the_reveal_and_are_options(taught):
    teacher, one, two = taught
    for option in (-1, 3, 10**9):
        one.send("answer", lesson=LESSON, step=1, option=option)
    one.send("answer", lesson=LESSON, step=2, option=0)
    assert teacher.state["answered"] == 0
    one.send("answer", lesson=LESSON, step=1, option=2)
    teacher.send("reveal")
    two.send("answer", lesson=LESSON, step=1, option=2)
    # another step asks anew, and the one before keeps its dots
    teacher.send("move", lesson=LESSON, step=2)
    one.send("answer", lesson=LESSON, step=2, option=0)
    assert (teacher.state["revealed"], teacher.state["answered"]) == (False, 1)
    teacher.send("move", lesson=LESSON, step=1)
    assert two.state["counts"] == [0, 0, 1]
    for lesson, step in (("alchemy", 1), (LESSON, 0), (LESSON, 99)):
        teacher.send("move", lesson=lesson, step=step)
        assert (teacher.state["lesson"], teacher.state["step"]) == (LESSON, 1)


def test_what_is_kept_does_not_say_who_guessed_what_and_goes_with_the_class(taught):
    teacher, one, two = taught
    for option, session in enumerate((one, two)):
        session.send("answer", lesson=LESSON, step=1, option=option)
    [room] = OPEN.values()
    [guesses] = room.guesses.values()
    assert guesses == Guesses([1, 1, 0], set(room.seats.values()), Counter({"": 2}))
    assert isinstance(guesses.seats, set), "a list would have the order in which they came"
    teacher.send("end")
    for session in taught:
        assert session.state["role"] == ""
    kept = weakref.ref(room)
    del room, guesses
    gc.collect()
    assert kept() is None


def test_a_teacher_who_leaves_ends_the_class_and_may_come_back_before(arrive, monkeypatch):
    monkeypatch.setattr(classrooms, "GRACE", 0.1)

    async def run():
        teacher, again, visitor = (arrive() for _ in range(3))
        teacher.send("open", lesson=LESSON, step=1)
        known = {name: teacher.state[name] for name in ("code", "key")}
        visitor.send("join", code=known["code"])
        teacher.session.leave()
        again.send("claim", **{**known, "key": "é\ud800"})
        assert again.state["said"] == ENDED
        again.send("claim", **known, serial=1)
        await asyncio.sleep(0.3)
        assert (visitor.state["role"], again.state["role"]) == ("visitor", "teacher")
        again.session.leave()
        await asyncio.sleep(0.3)
        assert visitor.state["said"] == ENDED

    asyncio.run(run())


def test_a_class_link_leads_to_the_teacher_s_step_and_after_the_end_to_the_lesson(taught):
    teacher, *_ = taught
    code = teacher.state["code"]
    teacher.send("move", lesson=LESSON, step=3)
    position, settings, faults = position_of({"lesson": LESSON, "class": code})
    assert (dict(position.query), faults) == ({"class": code, "lesson": LESSON, "step": "3"}, [])
    assert settings["epsilon"] == "1"
    # a reader who has gone elsewhere stays there
    assert position_of({"lesson": LESSON, "step": "2", "class": code})[0].query["step"] == "2"
    teacher.send("end")
    for given in (code, SCRIPT, ""):
        position, _, [fault] = position_of({"lesson": LESSON, "class": given})
        assert dict(position.query) == {"lesson": LESSON, "step": "1"}
        assert fault == f"class = {given} is not open: it has ended, or there was none."


def test_one_client_has_so_many_seats_and_others_have_theirs(arrive, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_CLIENT_VISITORS", "1")
    teacher, one, same, other = (arrive() for _ in range(4))
    teacher.send("open", lesson=LESSON, step=1)
    code = teacher.state["code"]
    other.session.client = "192.0.2.7"
    for each in (one, same, other):
        each.send("join", code=code)
    assert [each.state["role"] for each in (one, same, other)] == ["visitor", "", "visitor"]
    assert same.state["said"] == "DPML_CLASS_CLIENT_VISITORS allows 1 visitors from one address."
    # nor more guesses by leaving and coming back as somebody else
    for each in (one, same, other):
        each.send("join", code=code, serial=1)
        each.send("answer", lesson=LESSON, step=1, option=0)
        each.session.leave()
    assert teacher.state["answered"] == 2
