"""What one session has of a class: what its browser asks for, as teacher or as visitor, and what it shows.

A browser may send a word of `ACTS`, a code, a secret or a seat, a lesson's name and whole numbers, and nothing else.
None of it is shown to another session: of a guess the class has the place of an option.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bokeh.document import Document
from bokeh.models import ColumnDataSource
from panel.io.state import set_curdoc

from dpml_app.core.page import one_message
from dpml_app.lessons.classrooms import CLASSROOMS, Place, View, step_at
from dpml_app.serving.clients import client_of_session, route_of_session
from dpml_app.serving.limits import CLASSES, ServerFull, most

ACTS = ("open", "claim", "join", "move", "answer", "reveal", "end")
NOTHING = {"act": "", "code": "", "key": "", "lesson": "", "step": 0, "option": -1, "serial": 0}
LONGEST = 60
ENDED = "The class has ended."


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
