"""The classes that are open on this server: where each teacher is, who is there, and how many guess what.

All of it is in memory and goes when the class ends. Of guesses there is a count for each option and each client, and a
set of seats: nothing says which seat guessed what. A seat is a random text that says nothing of who has it.
A browser may send a word of `ACTS`, a code, a secret or a seat, a lesson's name and whole numbers, and nothing else.
None of it is shown to another session: of a guess the class has the place of an option.
Sessions and timers run in the one loop of the server, so nothing is locked.
"""

import asyncio
import json
import math
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bokeh.document import Document
from bokeh.models import ColumnDataSource
from panel.io.state import set_curdoc

from dpml_app.core.sending import one_message
from dpml_app.lessons.read import Step, lessons
from dpml_app.serving.clients import client_of_session, route_of_session
from dpml_app.serving.limits import CLASS_CLIENT_VISITORS, CLASS_VISITORS, CLASSES, ServerFull, most

# seconds that a teacher's browser may take to come back; a server forgets a session after some 20
GRACE = 120.0
# without letters and digits that are easily confused
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
CODE_LENGTH = 8
ACTS = ("open", "claim", "join", "move", "answer", "reveal", "end")
NOTHING = {"act": "", "code": "", "key": "", "lesson": "", "step": 0, "option": -1, "serial": 0}
LONGEST = 60
ENDED = "The class has ended."
# a lesson's name, and a step counted from 1
Place = tuple[str, int]


def step_at(place: Place) -> Step | None:
    """Return the step at a place, None where there is none."""
    lesson = lessons().get(place[0])
    return lesson.steps[place[1] - 1] if lesson is not None and 1 <= place[1] <= len(lesson.steps) else None


@dataclass
class Guesses:
    """What is kept of the guesses at one step."""

    counts: list[int]
    seats: set[str] = field(default_factory=set)
    # a seat is given anew to who leaves, so what one client guesses is limited, too
    clients: Counter[str] = field(default_factory=Counter)
    revealed: bool = False


@dataclass(eq=False)
class Classroom:
    """One class: its code, the secret by which its teacher is known, and the seats of its visitors."""

    code: str
    secret: str
    place: Place
    teacher: "ClassSession | None"
    # the one that opened it
    client: str
    seats: dict["ClassSession", str] = field(default_factory=dict)
    guesses: dict[Place, Guesses] = field(default_factory=dict)
    timer: asyncio.TimerHandle | None = None

    @property
    def now(self) -> Guesses:
        """The guesses at the teacher's step."""
        step = step_at(self.place)
        assert step is not None
        return self.guesses.setdefault(self.place, Guesses([0] * len(step.options)))

    def tell(self, *, all_sessions: bool = False) -> None:
        """Tell the teacher of a change, or all sessions."""
        for session in (self.teacher, *(self.seats if all_sessions else ())):
            if session is not None:
                session.tell()

    def join(self, session: "ClassSession", seat: str) -> None:
        """Give a seat, the one from before where it is known.

        Raises `ServerFull` where all are taken, or as many as one client may have.
        """
        taken, allowed = set(self.seats.values()), int(most(CLASS_VISITORS))
        of_client = {each for one, each in self.seats.items() if one.client == session.client}
        if seat not in taken:
            if len(taken) >= allowed:
                raise ServerFull(f"The class is full: {CLASS_VISITORS.name} allows {allowed} visitors.")
            if len(of_client) >= (allowed := int(most(CLASS_CLIENT_VISITORS))):
                raise ServerFull(f"{CLASS_CLIENT_VISITORS.name} allows {allowed} visitors from one address.")
            # who comes back has guessed, and guesses only once
            if not any(seat in guesses.seats for guesses in self.guesses.values()):
                seat = secrets.token_urlsafe(9)
        self.seats[session] = seat
        self.tell()

    def answer(self, session: "ClassSession", place: Place, option: int) -> None:
        """Count a guess: one of each seat at the teacher's step, before its reveal."""
        seat, guesses = self.seats[session], self.now
        if place != self.place or guesses.revealed or seat in guesses.seats or option not in range(len(guesses.counts)):
            return
        if guesses.clients[session.client] >= most(CLASS_CLIENT_VISITORS):
            return
        guesses.counts[option] += 1
        guesses.clients[session.client] += 1
        guesses.seats.add(seat)
        self.tell()

    def lead(self, act: str, place: Place) -> None:
        """Go to another step with all visitors, show the answer of the step, or end the class."""
        if act == "move" and step_at(place) is not None:
            self.place = place
        elif act == "reveal":
            self.now.revealed = True
        elif act == "end":
            self.end()
        self.tell(all_sessions=True)

    def leave(self, session: "ClassSession") -> None:
        """Free the seat of a session. A class without its teacher ends after `GRACE`."""
        self.seats.pop(session, None)
        if self.teacher is session:
            self.teacher = None
            self.timer = asyncio.get_running_loop().call_later(GRACE, self.end)
        self.tell()

    def end(self) -> None:
        """Forget the class, and tell all who are there."""
        OPEN.pop(self.code, None)
        self.tell(all_sessions=True)
        self.teacher = None
        self.seats.clear()


# the classes of this process by their codes
OPEN: dict[str, Classroom] = {}


def open_class(session: "ClassSession", place: Place, route: str) -> Classroom:
    """Open a class at a step; raise `ServerFull` where as many are open as may be, or half as many of one client.

    A proxy sends every link to the class where it sends the route before the dash of its code.
    """
    allowed = int(most(CLASSES))
    if len(OPEN) >= allowed:
        raise ServerFull(f"{len(OPEN)} classes are open: {CLASSES.name} allows {allowed}.")
    of_client = sum(room.client == session.client for room in OPEN.values())
    if of_client >= math.ceil(allowed / 2):
        raise ServerFull(f"Your address has {of_client} classes open: it may open half of {CLASSES.name} ({allowed}).")
    code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    room = Classroom(f"{route}-{code}" if route else code, secrets.token_urlsafe(24), place, session, session.client)
    OPEN[room.code] = room
    return room


def read(columns: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a browser has sent, None where it is not of the form that the page sends.

    >>> read({**{name: [value] for name, value in NOTHING.items()}, "act": ["answer"], "option": [2]})["option"]
    2
    >>> read({"act": ["answer"]}) is None
    True
    """
    try:
        sent = {name: columns[name][0] for name in NOTHING}
    except (KeyError, IndexError, TypeError):
        return None
    if any(type(sent[name]) is not type(usual) for name, usual in NOTHING.items()):
        return None
    if any(isinstance(value, str) and len(value) > LONGEST for value in sent.values()) or sent["act"] not in ACTS:
        return None
    return sent


class ClassSession:
    """A session's part in a class.

    Parameters
    ----------
    doc : Document or None
        The session's; None where there is none, as in a notebook.
    """

    def __init__(self, doc: Document | None):
        self._doc = doc
        context = getattr(doc, "session_context", None)
        self.client, self._route = client_of_session(context), route_of_session(context)
        self.request = ColumnDataSource({name: [value] for name, value in NOTHING.items()}, name="class_request")
        self.state = ColumnDataSource({"payload": ["{}"]}, name="class_state")
        # what the browser speaks through
        self.sources = self.request, self.state
        self._room: Classroom | None = None
        self._due = False
        self._write()
        self.request.on_change("data", self._on_request)

    def leave(self) -> None:
        """Leave the class, for the session has ended."""
        self._doc = None
        if self._room is not None:
            self._room.leave(self)

    def _on_request(self, _attribute: str, _old: Any, new: Mapping[str, Any]) -> None:
        request, room = read(new), self._room
        if request is None:
            return
        act, place = request["act"], (request["lesson"], request["step"])
        with set_curdoc(self._doc), one_message(self._doc):
            if room is None:
                try:
                    self._enter(act, place, OPEN.get(request["code"]), request["key"])
                except ServerFull as error:
                    self._write(str(error))
            elif room.teacher is self:
                room.lead(act, place)
            elif act == "answer" and self in room.seats:
                room.answer(self, place, request["option"])

    def _enter(self, act: str, place: Place, room: Classroom | None, key: str) -> None:
        """Open a class, come back to one as its teacher, or join one."""
        if act == "open" and step_at(place) is not None:
            self._room = open_class(self, place, self._route)
        elif act == "claim":
            if room is None or not secrets.compare_digest(room.secret.encode(), key.encode(errors="replace")):
                self._write(ENDED)
                return
            if room.timer is not None:
                room.timer.cancel()
            room.teacher, self._room = self, room
        elif act == "join" and room is not None:
            room.join(self, key)
            self._room = room
        self.tell()

    def tell(self) -> None:
        """Tell the browser of the class soon, once for all that changes until then."""
        if self._doc is not None and self._room is not None and not self._due:
            self._due = True
            self._doc.add_next_tick_callback(self._update)

    def _update(self) -> None:
        self._due = False  # before the class is read: what changes from now on is sent once more
        room = self._room
        if self._doc is None or room is None:
            return
        with set_curdoc(self._doc), one_message(self._doc):
            if room.teacher is self or self in room.seats:
                self._write()
            else:
                self._room = None
                # the last thing asked for may be a guess
                self.request.data = {name: [value] for name, value in NOTHING.items()}
                self._write(ENDED)

    def _write(self, sentence: str = "") -> None:
        """Write the class as this session may see it: no counts before the reveal."""
        room = self._room
        payload: dict[str, Any] = {"role": "", "may": most(CLASSES) >= 1, "said": sentence}
        if room is not None:
            guesses, teaches = room.now, room.teacher is self
            payload |= {"role": "teacher" if teaches else "visitor", "code": room.code}
            payload |= {"key": room.secret if teaches else room.seats[self]}
            payload |= {"lesson": room.place[0], "step": room.place[1], "revealed": guesses.revealed}
            payload |= {"counts": guesses.counts if guesses.revealed else []}
            if teaches:
                payload |= {"here": len(set(room.seats.values())), "answered": len(guesses.seats)}
        self.state.data = {"payload": [json.dumps(payload)]}
