"""The classes that are open on this server: where each teacher is, who is there, and how many guess what.

All of it is in memory and goes when the class ends. Of guesses there is a count for each option, and a set of seats
that have guessed: nothing says which seat guessed what. A seat is a random text that says nothing of who has it. While
a visitor is there, the class counts the seats of their address. It forgets the address when the session ends.
A browser may send a word of `ACTS`, a code, a secret or a seat, a lesson's name and whole numbers, and nothing else.
None of it is shown to another session: of a guess the class has the place of an option.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bokeh.document import Document
from bokeh.models import ColumnDataSource
from panel.io.state import set_curdoc

from dpml_app.core.page import one_message
from dpml_app.lessons.read import Step, lessons
from dpml_app.serving.clients import NOBODY, client_of_session, route_of_session
from dpml_app.serving.limits import CLASS_CLIENT_VISITORS, CLASS_HOURS, CLASS_VISITORS, CLASSES, ServerFull, most

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


class ClassFull(ServerFull):
    """A visitor comes to a class that has as many as it may have, in all or from one address."""


def new_code(route: str) -> str:
    """Return a new code of a class; a proxy sends every link to the class where it sends the route before the dash."""
    code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    return f"{route}-{code}" if route else code


def step_at(place: Place) -> Step | None:
    """Return the step at a place, None where there is none."""
    lesson = lessons().get(place[0])
    return lesson.steps[place[1] - 1] if lesson is not None and 1 <= place[1] <= len(lesson.steps) else None


@dataclass
class Guesses:
    """What is kept of the guesses at one step."""

    counts: list[int]
    seats: set[str] = field(default_factory=set)
    revealed: bool = False


@dataclass(frozen=True)
class View:
    """A class as one of its sessions may see it; the counts are empty before the reveal."""

    place: Place
    here: int
    answered: int
    revealed: bool
    counts: tuple[int, ...]


@dataclass(eq=False)
class _Class:
    """One class; `watchers` has what tells each session of a change, with its seat and its client."""

    secret: str
    until: float
    place: Place
    teacher: Callable[[], None] | None
    watchers: dict[Callable[[], None], tuple[str, str]] = field(default_factory=dict)
    guesses: dict[Place, Guesses] = field(default_factory=dict)
    timer: threading.Timer | None = None

    def here(self) -> Guesses:
        """Return the guesses at the teacher's step."""
        step = step_at(self.place)
        assert step is not None
        return self.guesses.setdefault(self.place, Guesses([0] * len(step.options)))

    def seats(self, client: str | None = None) -> set[str]:
        """Return the seats that are taken, all or those of one client."""
        return {seat for seat, who in self.watchers.values() if client in (None, who)}


class Classrooms:
    """Every class of a server, by its code; any thread may call.

    A session gives `tell`, which is called after a change without the lock: it must return at once.
    """

    def __init__(self) -> None:
        self._classes: dict[str, _Class] = {}
        self._lock = threading.Lock()

    # ---- the teacher ------------------------------------------------------------------------------------------------

    def open(self, place: Place, tell: Callable[[], None], route: str = "") -> tuple[str, str]:
        """Open a class at a step and return its code, and the secret by which its teacher is known.

        `route` is the teacher's route at a proxy.

        Raises `ServerFull` where as many are open as may be.
        """
        allowed, seconds = int(most(CLASSES)), 3600 * most(CLASS_HOURS)
        with self._lock:
            if len(self._classes) >= allowed:
                raise ServerFull(f"{len(self._classes)} classes are open: {CLASSES.name} allows {allowed}.")
            code = new_code(route)
            one = _Class(secrets.token_urlsafe(24), time.monotonic() + seconds, place, tell)
            self._classes[code] = one
            self._set_timer(code, one)
        return code, one.secret

    def claim(self, code: str, secret: str, tell: Callable[[], None]) -> bool:
        """Let the teacher come back after a reload; return whether the secret is right."""
        with self._lock:
            one = self._classes.get(code)
            if one is None or not secrets.compare_digest(one.secret.encode(), secret.encode()):
                return False
            one.teacher = tell
            self._set_timer(code, one)
        return True

    def move(self, code: str, place: Place) -> None:
        """Go to a step, with all who follow."""
        with self._lock:
            one = self._classes.get(code)
            if one is None or step_at(place) is None or place == one.place:
                return
            one.place = place
            affected = self._all(one)
        _tell(affected)

    def reveal(self, code: str) -> None:
        """Show the answer of the teacher's step, and count no guess at it any more."""
        with self._lock:
            one = self._classes.get(code)
            if one is None or one.here().revealed:
                return
            one.here().revealed = True
            affected = self._all(one)
        _tell(affected)

    def end(self, code: str) -> None:
        """Forget a class, and tell all who are there."""
        with self._lock:
            one = self._classes.pop(code, None)
            if one is None:
                return
            if one.timer is not None:
                one.timer.cancel()
            affected = self._all(one)
        _tell(affected)

    def leave(self, code: str, tell: Callable[[], None]) -> None:
        """Take a session away and free its seat; a class without its teacher ends after `GRACE`."""
        with self._lock:
            one = self._classes.get(code)
            if one is None:
                return
            one.watchers.pop(tell, None)
            if one.teacher == tell:
                one.teacher = None
                self._set_timer(code, one)
            affected = self._teacher(one)
        _tell(affected)

    # ---- visitors ---------------------------------------------------------------------------------------------------

    def place_of(self, code: str) -> Place | None:
        """Return where the teacher is, None where no such class is open."""
        with self._lock:
            one = self._classes.get(code)
            return None if one is None else one.place

    def join(self, code: str, seat: str, tell: Callable[[], None], client: str = NOBODY) -> str | None:
        """Take a seat, the one from before where it is known; None where no such class is open.

        Raises `ClassFull` where all seats are taken, or as many as one client may have.
        """
        allowed, allowed_client = int(most(CLASS_VISITORS)), int(most(CLASS_CLIENT_VISITORS))
        with self._lock:
            one = self._classes.get(code)
            if one is None:
                return None
            taken = one.seats()
            if seat not in taken:
                if len(taken) >= allowed:
                    raise ClassFull(f"The class is full: {CLASS_VISITORS.name} allows {allowed} visitors.")
                if len(one.seats(client)) >= allowed_client:
                    rule = f"{CLASS_CLIENT_VISITORS.name} allows {allowed_client} visitors from one address"
                    raise ClassFull(f"Your address has as many seats as it may have: {rule}. Close other windows.")
                # who comes back has guessed, and guesses only once
                if not any(seat in guesses.seats for guesses in one.guesses.values()):
                    seat = secrets.token_urlsafe(9)
            one.watchers[tell] = seat, client
            affected = self._teacher(one)
        _tell(affected)
        return seat

    def answer(self, code: str, tell: Callable[[], None], place: Place, option: int) -> bool:
        """Count a guess: one of each seat at the teacher's step, before its reveal; return whether it counts."""
        with self._lock:
            one = self._classes.get(code)
            seat, _client = (None, None) if one is None else one.watchers.get(tell, (None, None))
            if one is None or seat is None or place != one.place:
                return False
            guesses = one.here()
            if guesses.revealed or seat in guesses.seats or option not in range(len(guesses.counts)):
                return False
            guesses.counts[option] += 1
            guesses.seats.add(seat)
            affected = self._teacher(one)
        _tell(affected)
        return True

    def view(self, code: str) -> View | None:
        """Return what a session may see of a class, None where it is not open."""
        with self._lock:
            one = self._classes.get(code)
            if one is None:
                return None
            guesses = one.here()
            counts = tuple(guesses.counts) if guesses.revealed else ()
            return View(one.place, len(one.seats()), len(guesses.seats), guesses.revealed, counts)

    # ---- inside the lock --------------------------------------------------------------------------------------------

    def _set_timer(self, code: str, one: _Class) -> None:
        """Have the class end when its hours are over, or soon where its teacher is gone."""
        if one.timer is not None:
            one.timer.cancel()
        left = max(0.0, one.until - time.monotonic())
        one.timer = threading.Timer(left if one.teacher is not None else min(left, GRACE), self.end, (code,))
        one.timer.daemon = True
        one.timer.start()

    @staticmethod
    def _teacher(one: _Class) -> list[Callable[[], None]]:
        return [] if one.teacher is None else [one.teacher]

    def _all(self, one: _Class) -> list[Callable[[], None]]:
        return [*self._teacher(one), *one.watchers]


def _tell(sessions: list[Callable[[], None]]) -> None:
    for tell in sessions:
        tell()


# of this process
CLASSROOMS = Classrooms()


# ---- one session's part in a class -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """What a browser asks for; `key` is a teacher's secret or a visitor's seat."""

    act: str
    code: str
    key: str
    place: Place
    option: int


def read(columns: Mapping[str, Any]) -> Request | None:
    """Return what a browser has sent, None where it is not of the form that the page sends.

    >>> read({**{name: [value] for name, value in NOTHING.items()}, "act": ["answer"], "option": [2]}).option
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
    return Request(sent["act"], sent["code"], sent["key"], (sent["lesson"], sent["step"]), sent["option"])


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
        self._client, self._route = client_of_session(context), route_of_session(context)
        self.request = ColumnDataSource({name: [value] for name, value in NOTHING.items()}, name="class_request")
        self.state = ColumnDataSource({"payload": ["{}"]}, name="class_state")
        self._role = self._code = self._key = ""
        self._due = False
        self._write(None)
        self.request.on_change("data", self._on_request)

    @property
    def sources(self) -> tuple[ColumnDataSource, ColumnDataSource]:
        """What the browser speaks through."""
        return self.request, self.state

    def leave(self) -> None:
        """Leave the class, for the session has ended."""
        self._doc = None
        CLASSROOMS.leave(self._code, self._tell)

    # ---- from the browser ---------------------------------------------------------------------------------------

    def _on_request(self, _attribute: str, _old: Any, new: Mapping[str, Any]) -> None:
        request = read(new)
        if request is None:
            return
        with set_curdoc(self._doc), one_message(self._doc):
            try:
                if self._role == "":
                    self._enter(request)
                elif self._role == "teacher":
                    self._lead(request)
                elif request.act == "answer":
                    CLASSROOMS.answer(self._code, self._tell, request.place, request.option)
            except ServerFull as error:
                self._write(None, str(error))

    def _enter(self, request: Request) -> None:
        """Open a class, come back to one as its teacher, or join one."""
        if request.act == "open" and step_at(request.place) is not None:
            self._code, self._key = CLASSROOMS.open(request.place, self._tell, self._route)
            self._role = "teacher"
        elif request.act == "claim":
            if CLASSROOMS.claim(request.code, request.key, self._tell):
                self._role, self._code, self._key = "teacher", request.code, request.key
            else:
                self._write(None, ENDED)
        elif request.act == "join":
            seat = CLASSROOMS.join(request.code, request.key, self._tell, self._client)
            if seat is not None:
                self._role, self._code, self._key = "visitor", request.code, seat
        self._tell()

    def _lead(self, request: Request) -> None:
        if request.act == "move":
            CLASSROOMS.move(self._code, request.place)
        elif request.act == "reveal":
            CLASSROOMS.reveal(self._code)
        elif request.act == "end":
            CLASSROOMS.end(self._code)

    # ---- to the browser -----------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Tell the browser of the class soon, once for all that changes until then; any thread may call."""
        doc = self._doc
        if doc is not None and self._role and not self._due:
            self._due = True
            doc.add_next_tick_callback(self._update)

    def _update(self) -> None:
        self._due = False  # before the class is read: what changes from now on is sent once more
        if self._doc is None or not self._role:
            return
        view = CLASSROOMS.view(self._code)
        with set_curdoc(self._doc), one_message(self._doc):
            if view is None:
                self._role = self._code = self._key = ""
                # the last thing asked for may be a guess
                self.request.data = {name: [value] for name, value in NOTHING.items()}
                self._write(None, ENDED)
            else:
                self._write(view)

    def _write(self, view: View | None, sentence: str = "") -> None:
        payload: dict[str, Any] = {"role": self._role, "may": most(CLASSES) >= 1, "said": sentence}
        if view is not None:
            payload |= {"code": self._code, "key": self._key, "lesson": view.place[0], "step": view.place[1]}
            payload |= {"revealed": view.revealed, "counts": view.counts}
            if self._role == "teacher":
                payload |= {"here": view.here, "answered": view.answered}
        self.state.data = {"payload": [json.dumps(payload)]}
