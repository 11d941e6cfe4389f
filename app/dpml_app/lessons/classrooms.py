"""The classes that are open on this server: where each teacher is, who is there, and how many guess what.

All of it is in memory and goes when the class ends. Of guesses there is a count for each option, and a set of seats
that have guessed: nothing says which seat guessed what. A seat is a random text that says nothing of who has it. While
a visitor is there, the class counts the seats of their address. It forgets the address when the session ends.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dpml_app.lessons.read import Step, lessons
from dpml_app.serving.clients import NOBODY
from dpml_app.serving.limits import CLASS_CLIENT_VISITORS, CLASS_HOURS, CLASS_VISITORS, CLASSES, ServerFull, most

# seconds that a teacher's browser may take to come back; a server forgets a session after some 20
GRACE = 120.0
# without letters and digits that are easily confused
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
CODE_LENGTH = 8
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
