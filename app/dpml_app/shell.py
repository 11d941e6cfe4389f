"""The app around its pages: the frame, the link that carries every setting, and which page is shown.

Every page has an empty place in the document from the start. It is filled at the first visit and hidden by CSS later:
what is not shown is not laid out, and nothing that is shown is rendered again.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import segno
from bokeh.core.properties import Int, String
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.model import DataModel, Model
from bokeh.models import CustomJS, Plot
from jinja2 import Environment, FileSystemLoader
from panel.io.state import set_curdoc

from dpml_app import compat, uploaded_table
from dpml_app.code.payload import payload
from dpml_app.core import link
from dpml_app.core.base_page import BasePage
from dpml_app.core.frame import Frame, Places
from dpml_app.core.sending import MESSAGES, adding_models, one_message
from dpml_app.data import real_data
from dpml_app.drawing.figure import script
from dpml_app.jobs import pool
from dpml_app.lessons import NOWHERE, ClassSession, LessonPosition, panel, position_of
from dpml_app.page_list import PAGES
from dpml_app.serving import log
from dpml_app.serving.idle import Idle, most_minutes
from dpml_app.state import Settings

BADGE = "Simulation (never publish)"
HERE = Path(__file__).parent
# compiled once for all sessions
TEMPLATE = Environment(loader=FileSystemLoader(HERE)).get_template("shell.html")
STYLES = (HERE / "styles.css").read_text(encoding="utf-8")
PARTS = ("shell.js", "theme.js", "code/numbers.js", "present.js", "core/pins.js")
SCRIPT = script(*PARTS) + panel.SCRIPT + script("ready.js")
# what a link of the navigation asks for: the page alone changes
SWITCH = "switch"
# longest address that a phone still reads from a projected QR code, and longest message of a browser that is read
MOST_ADDRESS, MOST_MESSAGE = 1000, 10_000
# what the browser may ask for besides the numbers of a card
ADDRESS, PINS = "address", ("pin", "remove", "load")
# what the panel of lessons asks for: the page and its settings stay
ASIDE = "aside"


class Messages(DataModel):
    """What server and browser say to each other besides settings: JSON texts, and nothing that is shown."""

    # from the server: the link (query, push, at); names of cards that wait for being near the view; what a page has
    # pinned (page, html); the answer to `asking`; whether the server is about to close an idle session
    address = String('{"query": "?", "push": false, "at": 0}')
    waiting = String("[]")
    pins = String("{}")
    answered = String("{}")
    ended = String("false")
    # from the browser: where Back, Forward or a link leads (query, at); cards that have come near the view; what it
    # asks for (what, of, serial): numbers of a card, an address as a picture, a pin
    visited = String('{"query": "", "at": 0}')
    near = String("[]")
    asking = String("{}")
    # changes after each message, see `one_message`
    flush = Int(0)


def _sent(text: str, **entries: Any) -> Any:
    """Return what a browser has sent: an object with these entries, or a list if none is given; None for other JSON."""
    try:
        sent = json.loads(text) if len(text) <= MOST_MESSAGE else None
    except (ValueError, RecursionError):
        return None
    fits = [isinstance(sent, dict) and isinstance(sent.get(name), kind) for name, kind in entries.items()]
    return sent if all(fits) and isinstance(sent, dict if entries else list) else None


class Shell:
    """The pages of one session; each is made, and started, when it is first shown."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.pages: dict[str, BasePage] = {}
        self.places = Places(self.pages)
        self.messages = Messages(name=MESSAGES)
        # the link of what is shown, as the browser was told last, and when it led here
        self.address: dict[str, Any] = {"query": "?", "push": False, "at": 0}
        self.class_session = ClassSession(pn.state.curdoc)
        # a model is in the document once another one refers to it
        self.alerts = pn.Column(tags=list(self.spoken.values()), sizing_mode="stretch_width", margin=0)
        self.doc: Document | None = pn.state.curdoc
        self.live = False
        # what the log calls it, and no link or token does
        self._session_id, self._began = f"s{secrets.token_hex(4)}", 0.0
        self._starting: asyncio.Task | None = None
        self._watching: asyncio.Task | None = None
        self._restoring = False
        self.lesson_position: LessonPosition = NOWHERE
        self.settings.uploaded.param.watch(self._on_table, "table")

    def link(self, given: Mapping[str, str]) -> None:
        """Take the settings from a link, and write every change into the address from now on."""
        self.settings.dataset = self._usual("dataset", given)
        self.lesson_position, given, faults = position_of(given)
        faults += link.read(self.settings, given, ["page", *self.settings.names()])
        for name, answer in {"visited": self._on_visit, "near": self._on_near, "asking": self._on_asking}.items():
            self.messages.on_change(name, answer)
        self.settings.param.watch(self._on_change, ["page", *self.settings.names()])
        self.show()
        self._tell(faults)
        self._write(push=False)

    def _tell(self, faults: list[str]) -> None:
        absent, page = self.settings.missing_dataset.dataset, self.shown
        left = [fault for fault in faults if not fault.startswith(f"{absent} is not on this machine")]
        if left != faults and page.datasets and absent not in page.datasets:
            # the reason stays after a download, so the page offers none
            page.alerts.report(
                "dataset", f"{absent} {page.unsupported_reason}, so it shows {self.settings.dataset}.", "info"
            )
            faults = left
        if faults:
            self.shown.alerts.report("link", link.faults(faults), "error")
        else:
            self.shown.alerts.report("link", "")

    @property
    def spoken(self) -> dict[str, Model]:
        """The models that server and browser speak through, by their names in the script."""
        return {model.name: model for model in (self.messages, *self.class_session.sources)}

    def _say(self, name: str, value: Any) -> None:
        """Send a message to the browser unless it equals the last one."""
        setattr(self.messages, name, json.dumps(value))

    @property
    def shown(self) -> BasePage:
        """The page that is shown."""
        return self.pages[self.settings.page]

    # ---- the address --------------------------------------------------------------------------------------------

    def _usual(self, name: str, given: Mapping[str, str]) -> Any:
        """Return what a setting is that a link leaves out."""
        if name == "dataset" and uploaded_table.is_uploaded(self.settings.dataset):
            return self.settings.dataset  # a link says nothing of it
        if name == "dataset" and set(given) <= {"page"}:
            # a link that says anything else is of the same data on every machine
            return real_data.first()
        return self.settings.param[name].default

    def _write(self, *, push: bool) -> None:
        mine = uploaded_table.is_uploaded(self.settings.dataset)
        names = [n for n in self.settings.page_names(self.settings.page) if not (mine and n == "dataset")]
        query = link.query_of(self.settings, names, self.lesson_position.state, self.lesson_position.query)
        bare = set(link.parse(query)) <= {"page"}
        if bare and "dataset" in names and self.settings.dataset != real_data.first():
            query += f"{'' if query == '?' else '&'}dataset={self.settings.dataset}"
        if push or query != self.address["query"]:
            self.address |= {"query": query, "push": push}
            self._say("address", self.address)

    @staticmethod
    def _on_table(event: Any) -> None:
        if event.old is not None:
            pool().forget(event.old.name)

    def _on_change(self, *events: Any) -> None:
        if self._restoring:
            return
        turned = any(event.name == "page" for event in events)
        if turned:
            with adding_models(self.doc):
                self.show()
        self._write(push=turned)

    def _on_visit(self, _attribute: str, _old: str, new: str) -> None:
        """Go where Back, Forward or a link of the navigation leads."""
        if (sent := _sent(new, query=str, at=int | float)) is not None:
            with set_curdoc(self.doc), one_message(self.doc), adding_models(self.doc):
                self.address = {"query": "", "push": False, "at": sent["at"]}
                self._visit(sent["query"])

    def _visit(self, query: str) -> None:
        given = link.parse(query)
        if given.pop(SWITCH, None) is not None:
            self.settings.assign({"page": given.get("page")})
            return
        if given.pop(ASIDE, None) is not None:
            self.lesson_position = position_of(given)[0]
            self._write(push=False)
            return
        raw = given
        self.lesson_position, given, faults = position_of(given)
        page = given.get("page", "explore")
        used = self.settings.page_names(page) if page in PAGES else []
        # what the link leaves out is at its default
        defaults = {name: self._usual(name, raw) for name in ["page", *used] if name not in given}
        self._restoring = True
        try:
            self.settings.param.update(**defaults)
            faults += link.read(self.settings, given, ["page", *self.settings.names()])
        finally:
            self._restoring = False
        self.show()
        self._tell(faults)
        self._write(push=False)

    # ---- pages --------------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the page that the settings name."""
        name = self.settings.page
        for other, page in self.pages.items():
            page.shown = other == name
        if name not in self.pages:
            page = self.pages[name] = PAGES[name](self.settings, pool())
            if (pins := page.pins) is not None:
                pins.on_change = lambda: self._say("pins", {"page": name, "html": pins.html()})
            self.places.lay(page)
            if self.live:
                self._starting = asyncio.get_running_loop().create_task(self._start(page))
        page = self.shown
        if uploaded_table.is_uploaded(self.settings.dataset):
            table = self.settings.uploaded.table
            uses = table is not None and "dataset" in self.settings.page_names(name)
            unsupported_reason = (
                page.controls.unsupported_table_reason(table.data) if uses and table is not None else ""
            )
            if unsupported_reason:
                self.settings.dataset = "census"
                page.alerts.report(
                    "dataset", f"{uploaded_table.TITLE} {unsupported_reason}, so it shows census.", "info"
                )
        elif page.datasets and self.settings.dataset not in page.datasets:
            text = f"{self.settings.dataset} {page.unsupported_reason}, so it shows census."
            self.settings.dataset = "census"
            page.alerts.report("dataset", text, "info")
        if self.lesson_position and "advanced" in page.slots:
            page.slots["advanced"].mount()  # a step may point at a control there
        self._wait()
        page.resume()

    def _wait(self) -> None:
        """Tell the browser which cards are still to come."""
        self._say("waiting", [slot.name for slot in self.shown.slots.values() if slot.visible and not slot.objects])

    def _on_near(self, _attribute: str, _old: str, new: str) -> None:
        """Fill the places that have come near the view."""
        names = _sent(new) or []
        with set_curdoc(self.doc), one_message(self.doc), adding_models(self.doc):
            for slot in self.shown.slots.values():
                if slot.name in names:
                    slot.mount()
            self._wait()

    def _on_asking(self, _attribute: str, _old: str, new: str) -> None:
        """Answer what the browser asks for."""
        if (asked := _sent(new, what=str, of=str, serial=int)) is not None:
            with set_curdoc(self.doc), one_message(self.doc):
                self._say("answered", {**self._answer(asked["what"], asked["of"]), "serial": asked["serial"]})

    def _answer(self, what: str, of: str) -> dict[str, Any]:
        if what == ADDRESS:
            address = of[:MOST_ADDRESS] if of and of.isascii() else "?"
            return {"svg": segno.make(address, micro=False).svg_inline(scale=4)}
        if what in PINS:
            return {"said": self._pin(what, of)}
        named = map(self.doc.get_model_by_name, dict.fromkeys(of.split())) if self.doc is not None else ()
        return payload(self.shown, what, [plot for plot in named if isinstance(plot, Plot)])

    def _pin(self, act: str, at: str) -> str:
        """Pin what is shown, or remove a pin or show it again; return a message for the user."""
        pins = self.shown.pins
        if pins is None:
            return ""
        if act == "pin":
            return pins.pin()
        if at in map(str, range(len(pins.kept))):
            (pins.remove if act == "remove" else pins.load)(int(at))
        return ""

    async def start(self) -> None:
        """Let the page that is shown begin, now that it is in the browser."""
        self.live, self._began = True, time.monotonic()
        log.event("opened", session=self._session_id)
        minutes = most_minutes()
        if minutes is not None and self.doc is not None:
            self._watching = asyncio.get_running_loop().create_task(Idle(self.doc, minutes, self._end).watch())
        await self.shown.start()

    def _end(self) -> None:
        """Tell the browser that the session ends because nobody uses it."""
        with set_curdoc(self.doc), one_message(self.doc):
            self._say("ended", True)

    async def _start(self, page: BasePage) -> None:
        with set_curdoc(self.doc):  # a task has none of its own
            await page.start()

    def stop(self) -> None:
        """Stop computing for a session that has ended."""
        if self.live:
            log.event("closed", session=self._session_id, seconds=round(time.monotonic() - self._began, 1))
            self.live = False
        if self._watching is not None:
            self._watching.cancel()
        self.class_session.leave()
        for page in self.pages.values():
            page.stop()
        self.pages.clear()
        self.places.clear()
        self.settings.uploaded.table = None
        self.doc = None


def build_app() -> Frame:
    """Return a new app; in a server it takes its settings from the link and starts to compute once it is shown."""
    doc = pn.state.curdoc
    shell = Shell()
    shell.link(_arguments(doc))
    template = Frame(TEMPLATE, design=pmui.theme.MaterialDesign)
    template.places = shell.places
    template.add_variable("css", STYLES)
    pages = {
        name: (page.title, page.question, page.lead, page.can_pin(), len(page.kinds) > 1 + len(page.details))
        for name, page in PAGES.items()
    }
    template.add_variable("pages", pages)
    template.add_variable("first", shell.settings.page)
    template.add_variable("badge", BADGE)
    template.add_variable("lessons", panel.html())
    template.add_variable("texts", panel.texts())
    template.add_panel("theme", pmui.ThemeToggle(css_classes=["theme-toggle"]))
    template.add_panel("alerts", shell.alerts)
    if doc is not None and doc.session_context is not None:
        doc.title = "dpml"
        doc.js_on_event(DocumentReady, CustomJS(args=shell.spoken, code=SCRIPT))
        pn.state.onload(_send_at_once)
        pn.state.onload(shell.start)
        pn.state.on_session_destroyed(lambda _context: shell.stop())
    return template


def _arguments(doc: Document | None) -> dict[str, str]:
    """Return what the link of this session says."""
    request = getattr(getattr(doc, "session_context", None), "request", None)
    arguments: Mapping[str, list[bytes]] = getattr(request, "arguments", None) or {}
    return {name: values[-1].decode("utf-8", "replace") for name, values in arguments.items() if values}


def _send_at_once() -> None:
    """Switch off Nagle's algorithm on this page's socket: Bokeh leaves it on, and messages then wait 40 ms."""
    for socket in compat.sockets(pn.state.curdoc):
        socket.set_nodelay(True)
