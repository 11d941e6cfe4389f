"""Sessions of a class without a browser: a teacher's and visitors', what each is told, and what is refused."""

import json

import pytest
from bokeh.document import Document
from dpml_app.lessons import ClassSession, position_of
from dpml_app.lessons.classrooms import ACTS, CLASSROOMS, ENDED, LONGEST, NOTHING, read

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
    assert CLASSROOMS._classes == {}


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


def test_a_server_without_classes_offers_none(arrive, monkeypatch):
    monkeypatch.delenv("DPML_CLASSES")
    one = arrive()
    assert one.state == {"role": "", "may": False, "said": ""}
    one.send("open", lesson=LESSON, step=1)
    assert (one.state["role"], one.state["said"]) == ("", "0 classes are open: DPML_CLASSES allows 0.")


def test_a_class_that_is_full_is_said(taught, arrive, monkeypatch):
    monkeypatch.setenv("DPML_CLASS_VISITORS", "2")
    late = arrive()
    late.send("join", code=taught[0].state["code"])
    assert (late.state["role"], late.state["said"]) == ("", "The class is full: DPML_CLASS_VISITORS allows 2 visitors.")


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
