"""The page My data: a session's own table, from upload to a data set that the other pages can show."""

import asyncio
import base64
import binascii
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.models import ColumnDataSource, CustomJS
from panel.custom import JSComponent

from dpml.exceptions import DpmlError, InvalidTable, TableTooLarge, TableUnreadable
from dpml.schema import Schema
from dpml.studies import advised
from dpml.tables import Limits, detection, examine_table
from dpml.tables.reading import Question
from dpml.tables.text_format import ENCODING_WORDS
from dpml_app import uploaded_table
from dpml_app.core.base_page import BasePage
from dpml_app.core.card import WHOLE, Card
from dpml_app.core.layout import BOX_STYLE
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.figure import script
from dpml_app.drawing.progress import bar, filled
from dpml_app.jobs import FORMULAS, LONG, Pool, Task
from dpml_app.pages.mydata import compute, text
from dpml_app.pages.mydata.compute import Answers, CancellationToken, Draft, Stopped, key_of
from dpml_app.pages.mydata.figures import TABLES, AdviceCard, Context, FactsForm, button, pane
from dpml_app.pages.mydata.release import Release
from dpml_app.serving import log
from dpml_app.serving.clients import current_client
from dpml_app.serving.limits import ServerFull
from dpml_app.settings import Shared

MOST_SCHEMA = 1_000_000
# Parquet needs the extra `large`
PARQUET = find_spec("pyarrow") is not None
LONGEST_NAME = 100
# what a file may be in that is not UTF-8, as a person chooses it
ENCODINGS = {"Choose an encoding": ""} | {
    ENCODING_WORDS.get(name, name): name for name in (*ENCODING_WORDS, *detection.ENCODINGS) if name != "utf-8"
}
# reads the file again: what is stated of its format, the kinds of columns, and the answers
Read = Callable[[dict[str, Any], dict[str, str], Answers | None], None]


def _module(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class Upload(JSComponent):
    """Takes one file at a time, in parts and no more of it than is allowed: Panel's own inputs take any size.

    `most`: the most bytes that a file may have.
    `on_file`: takes the file's name and its bytes.
    `on_fault`: takes what is wrong with a file that did not come whole.
    """

    label = param.String("File")
    accept = param.String("")

    _esm = _module("upload.js")
    _stylesheets: ClassVar = [script("pages/mydata/upload.css")]

    def __init__(
        self,
        *,
        most: int,
        on_file: Callable[[str, bytes], None],
        on_fault: Callable[[DpmlError], None],
        **params: Any,
    ):
        super().__init__(**params)
        self._most, self._on_file, self._on_fault = most, on_file, on_fault
        self._serial, self._parts = -1, bytearray()
        self._room = uploaded_table.UploadRoom()

    def free(self) -> None:
        """Let go of what has come of a file, without a word to a browser that may be gone."""
        self._parts = bytearray()
        self._room.free()

    def _handle_msg(self, data: Any) -> None:
        """Take a part; what comes from a browser is not trusted."""
        if not isinstance(data, dict) or not isinstance(data.get("serial"), int):
            return
        serial, name = data["serial"], str(data.get("name", "file"))[:LONGEST_NAME]
        if serial != self._serial:
            self._serial, self._parts = serial, bytearray()
        try:
            self._add(name, data)
        except (InvalidTable, ServerFull) as fault:
            self._end(serial)
            self._on_fault(fault)
            return
        if not data.get("last"):
            self._send_msg({"serial": serial, "go_on": True})
            return
        content = bytes(self._parts)
        self._end(serial)
        self._on_file(name, content)

    def _add(self, name: str, data: dict[str, Any]) -> None:
        try:
            part = base64.b64decode(str(data.get("data", "")), validate=True)
        except (binascii.Error, ValueError) as error:
            raise TableUnreadable(name, "the upload was incomplete. Upload the file again") from error
        size, taken = data.get("size"), len(self._parts) + len(part)
        if max(taken, size if isinstance(size, int | float) else 0) > self._most:
            raise TableTooLarge(name, f"the file has more than {self._most:,} bytes, the limit")
        self._room.take(taken)
        self._parts += part

    def _end(self, serial: int) -> None:
        self.free()
        self._send_msg({"serial": serial, "go_on": False})


def file_reading(draft: Draft, read: Read) -> pn.Column:
    """Return how a draft's file was read, in words, and a button that splits its dates."""
    dates = {each.name: each.formats[0] for each in draft.reading.columns if len(each.formats) == 1}
    title = "Split dates into year, month and weekday"
    split = button(title, lambda: read(draft.stated, {**draft.kinds, **dates}, None), visible=bool(dates))
    return pn.Column(pane(text.reading_words(draft)), split, **WHOLE)


class Questions:
    """The step "Was the file read correctly?": each question with its possible readings, and the chosen one."""

    MOST: ClassVar = 20

    def __init__(self, draft: Draft, read: Read):
        questions = list(draft.reading.questions)
        asked = {key_of(question) for question in questions}
        shown = [(question, compute.assumed(question)) for question in questions]
        closed = [answer for key, answer in draft.answers.items() if key not in asked]
        self.choices: list[tuple[Question, Any]] = []
        boxes = []
        for question, position in [*shown[: self.MOST], *closed]:
            options = {text.reading_label(question, place): place for place in range(len(question.readings))}
            look: dict[str, Any] = {"options": options, "value": position, "inline": False, **WIDE}
            about = question.column or f"the file: {question.kind}"
            widget = pmui.RadioBoxGroup(label=f"Reading of {about}", **look)
            widget.param.watch(lambda event, question=question: read(*draft.answered([(question, event.new)])), "value")
            self.choices.append((question, widget))
            state = "" if key_of(question) in asked else " <i>Answered.</i>"
            boxes += [pane(f"<p>{escape(question.text)}{state}</p>", (8, 12), "p { margin: 0; }"), widget]
        self.confirm = button("Confirm all", lambda: read(*draft.answered(shown)), visible=bool(questions))
        style = "h2 { font-size: 1.15rem; margin: 0; }"
        head = pane("<h2>Was the file read correctly?</h2>", (12, 12, 0, 12), style)
        self.whole = pn.Column(head, *boxes, self.confirm, visible=bool(self.choices), **WHOLE)


class MyDataSettings(Shared):
    """No setting: nothing of a session's table may be in a link."""


class MyDataPage(BasePage):
    """The page of one session."""

    page_id = "mydata"
    settings_kind = MyDataSettings
    title = "My data"
    question = "Which accuracy can you expect on your own table?"
    lead = "Upload a table and state its public metadata. All pages with a data set then use your table."
    kinds: ClassVar[tuple[type[Card], ...]] = ()

    def __init__(self, settings: Shared, pool: Pool):
        super().__init__(settings, pool)
        self.context = Context(settings, self.sender.spawn, self.sender.hold)
        self._draft_room, self._undecoded_room = uploaded_table.UploadRoom(), uploaded_table.UploadRoom()
        self.facts: FactsForm | None = None
        self.questions: Questions | None = None
        allowed = uploaded_table.most_bytes()
        # a cell takes two bytes of a file at least
        self.limits = Limits(bytes=allowed, cells=max(Limits.cells, allowed // 2))
        kinds: dict[str, Any] = {"on_fault": self._fault, "margin": (10, 12), "sizing_mode": "stretch_width"}
        megabytes = f"{allowed / 1e6:g}\N{NO-BREAK SPACE}MB"
        self.upload = Upload(
            label=f"Upload a table (CSV{' or Parquet' if PARQUET else ''}, up to {megabytes})",
            accept=f".csv,.tsv,.txt{',.parquet' if PARQUET else ''}",
            most=allowed,
            on_file=self._on_file,
            **kinds,
        )
        self.schema_upload = Upload(
            label="Upload a schema (YAML)", accept=".yaml,.yml", most=MOST_SCHEMA, on_file=self._on_schema, **kinds
        )
        self.schema_file = pane("", (0, 12))
        self.remove = button("Remove the table", self.drop)
        self.bar = bar()
        self.cancel = button("Cancel", lambda: self._stop.set(), visible=False)
        self._stop = CancellationToken()
        self.advice = AdviceCard()
        self.status = pane("", (5, 10), BOX_STYLE, TABLES)
        titles = {"explore": "Open Privacy cost", "train": "Open Classifiers"}
        opens = [
            button(title, partial(settings.assign, {"page": page}), variant="contained")
            for page, title in titles.items()
        ]
        self.to_pages = pn.Column(*opens, **WHOLE)
        self.release = Release(self.context, self._show)
        self.to_release = button(f"Plan a {self.release.noun}", partial(self._take_step, self.release.enter))
        self.from_release = button("Back to the table", partial(self._take_step, self.release.leave))
        self.steps = pn.Column(**WHOLE)
        # of the last file, if its encoding could not be told
        self.encoding = pmui.Select(label="Encoding of the file", options=ENCODINGS, visible=False, **WIDE)
        self.encoding.param.watch(self._on_encoding, "value")
        self._undecoded: tuple[str, bytes] | None = None
        # a component of one's own that shows itself as a block cannot be hidden, but what it stands in can
        self.uploading = pn.Column(self.upload, self.encoding, **WHOLE)
        parts = [self.release.whole, self.advice.whole, self.steps, self.uploading, self.bar, self.cancel]
        self.main = pn.Column(*parts, stylesheets=[BOX_STYLE], **WHOLE)
        self.regions["top"].append(self.main)
        self.regions["side"].extend([self.status, self.to_pages, self.to_release, self.from_release])
        # how often the page has answered, and whether it still works, for tests and the browser
        self.state = ColumnDataSource({"answers": [0], "due": [False]}, name="mydata-state")
        self.working = ColumnDataSource({"running": [False]}, name="mydata-work")
        # how many steps a person has taken: what is shown then begins at the top, wherever the button was
        self.step = ColumnDataSource({"taken": [0]}, name="mydata-step")
        self.step.js_on_change("data", CustomJS(code="document.querySelector('main').scrollTop = 0"))
        self._reading = 0
        # a file that came before the page was ready
        self._early: tuple[str, bytes] | None = None
        # a model is in the document once another one refers to it
        self.alerts.tags = [*self.alerts.tags, self.state, self.working, self.step]
        self.regions["advanced"].extend([self.schema_upload, self.schema_file, self.remove])
        self._show()

    @property
    def draft(self) -> Draft | None:
        """What is known of the session's table, None while it has none."""
        return self.context.draft

    async def start(self) -> None:
        """Take note of the document; there is nothing to compute yet, unless somebody was quicker than the page."""
        await super().start()
        early, self._early = self._early, None
        if early is not None:
            self._on_file(*early)

    # ---- files -------------------------------------------------------------------------------------------------------

    def _fault(self, fault: DpmlError) -> None:
        log.event("upload", size="refused", error=type(fault).__name__)
        self.alerts.report("file", str(fault))

    def _on_file(self, name: str, content: bytes) -> None:
        if self.sender.doc is None:
            # the page is seen a moment before it says so, and what changes until then Panel does not send (1.9.4)
            self._early = name, content
            return
        self.alerts.report("file", "")
        self._offer_encodings(None)
        self._reading += 1
        log.event("upload", size=log.size_class(len(content)))
        self.sender.spawn(self._read(name, content))

    def _on_encoding(self, event: Any) -> None:
        """Read the file that was refused, in the encoding that a person chooses."""
        if event.new and self._undecoded is not None and not self._reading:
            self.alerts.report("file", "")
            self._reading += 1
            self.sender.spawn(self._read(*self._undecoded, {"encoding": event.new}))

    def _offer_encodings(self, undecoded: tuple[str, bytes] | None) -> None:
        """Keep a file whose encoding could not be told, and offer encodings; None: nothing is to be chosen."""
        self._undecoded = undecoded
        if undecoded is None:
            self._undecoded_room.free()
            self.encoding.value = ""
        self.encoding.visible = undecoded is not None

    def _read_again(self, stated: dict[str, Any], kinds: dict[str, str], answers: Answers | None) -> None:
        """Read the file as a person says; without `answers` all questions that are left are asked again."""
        if self.draft is not None and self.draft.content is not None and not self._reading:
            self._reading += 1
            self.sender.spawn(self._read(self.draft.file, self.draft.content, stated, kinds, answers))

    async def _read(
        self, name: str, content: bytes, stated: Any = None, kinds: Any = None, answers: Any = None
    ) -> None:
        done, stop = [0, 1], CancellationToken()
        self._stop.set()  # one file of a session is read at a time, the last one
        self._stop = stop

        def tell(so_far: int, total: int) -> None:
            stop.check()
            done[:] = so_far, total

        def read() -> Draft:
            stop.check()
            options: dict[str, Any] = {"name": name, "limits": self.limits, "columns": kinds, **(stated or {})}
            reading = examine_table(content, progress=tell, **options)
            stop.check()
            return Draft(reading.frame, name, content, reading, stated, kinds, answers)

        def show_progress() -> None:
            with self.sender.hold():
                self.bar.object = filled("Reading", *done)

        self.bar.object, self.cancel.visible = filled("Reading", 0, 1), True
        room = uploaded_table.UploadRoom()
        try:
            client = current_client()
            room.take(len(content))
            await asyncio.to_thread(compute.check_lines, name, content, self.limits)
            # one file of each client is read at a time, so that no client waits for all files of another
            reading = asyncio.wrap_future(LONG.call(read, owner=client))
            while not reading.done():
                await asyncio.wait({reading}, timeout=0.25)
                if not reading.done():
                    show_progress()
            draft = reading.result()
            room.take(len(content) + int(draft.frame.memory_usage().sum()))
        except Stopped:
            with self.sender.hold():
                self.alerts.report("file", f"Cancelled: {name} was not read", "info")
        except Exception as error:  # a fault of the reader is no reason to tell what is in the file
            log.failed(error)
            known = isinstance(error, DpmlError)
            with self.sender.hold():
                self.alerts.report("file", str(error) if known else f"{name} cannot be read: {type(error).__name__}")
                if isinstance(error, TableUnreadable) and isinstance(error.__cause__, UnicodeError):
                    self._undecoded_room, room = room, self._undecoded_room
                    self._offer_encodings((name, content))
        else:
            if not self.state.data:
                return
            with self.sender.hold():
                self.drop()
                self.context.draft, self._draft_room, room = draft, room, self._draft_room
                self.facts = FactsForm(draft, self._on_edit, partial(self._take_step, self._on_use))
                self.questions = Questions(draft, self._read_again)
                before = [file_reading(draft, self._read_again), self.questions.whole]
                self.steps.objects = [*before, self.facts.whole]
        finally:
            room.free()
            with self.sender.hold():
                if stop is self._stop:
                    self.bar.object, self.cancel.visible = "", False
                self._reading -= 1
                self._show()

    # ---- the schema --------------------------------------------------------------------------------------------------

    def _on_schema(self, name: str, content: bytes) -> None:
        if self.draft is None:
            self.alerts.report("schema", "Upload the table first. The schema must match its columns.", "info")
        elif self.release.on:
            self.alerts.report(
                "schema", "Go back to the table first. This release uses the confirmed metadata.", "info"
            )
        else:
            self.sender.spawn(self._take_schema(name, content))

    async def _take_schema(self, name: str, content: bytes) -> None:
        """Read a schema in a thread, for a long one takes seconds, and take its facts."""
        draft = self.draft
        try:
            words = content.decode("utf-8")
            schema = await asyncio.wrap_future(LONG.call(Schema.from_yaml, words, owner=current_client()))
            if draft is None or draft is not self.draft or self.facts is None or self.release.on:
                return
            with self.sender.hold():
                draft.take(schema)
                self.facts.show()
        except (UnicodeDecodeError, DpmlError) as error:
            with self.sender.hold():
                cause = f": {error}" if isinstance(error, DpmlError) else " must be UTF-8 text"
                self.alerts.report("schema", f"{name}{cause}")
        self._show()

    def _schema_text(self) -> str:
        """Return the schema as YAML, empty while it is not whole."""
        try:
            return self.draft.schema().to_yaml() if self.draft is not None else ""
        except DpmlError:
            return ""

    # ---- the table in use --------------------------------------------------------------------------------------------

    def _on_edit(self) -> None:
        if "schema" in self.alerts.topics:
            self._check()
        self._show()

    def _check(self) -> bool:
        """Say what is wrong with the facts; return whether nothing is."""
        try:
            if self.draft is not None:
                self.draft.schema()
        except DpmlError as error:
            self.alerts.report("schema", str(error), "warning")
            return False
        self.alerts.report("schema", "")
        return self.draft is not None

    def _take_step(self, step: Callable[[], Any]) -> None:
        """Do what a button begins, and show the top of the page."""
        step()
        with self.sender.hold():
            self.step.data = {"taken": [self.step.data["taken"][0] + 1]}

    def _on_use(self) -> bool:
        whole = self._check()
        if whole:
            self.sender.spawn(self._use())
        return whole

    async def _use(self) -> None:
        draft = self.draft
        if draft is None:
            return
        try:
            facts = draft.frame, draft.label, draft.schema(), draft.file, draft.stated_format
            table = await asyncio.wrap_future(FORMULAS.call(uploaded_table.make, *facts))
            if draft is not self.draft or self.sender.doc is None:
                return  # removed, or the session has ended
            with self.sender.hold():
                self.settings.hold(None)
                uploaded_table.attach(table)
                self.settings.hold(table)
                self.settings.assign({"dataset": table.name})
                self.alerts.report("use", "")
            self.sender.spawn(self._advise(table.name))
        except DpmlError as error:
            log.failed(error)
            with self.sender.hold():
                self.alerts.report("use", str(error))
        with self.sender.hold():
            self._show()

    async def _advise(self, name: str) -> None:
        """Say what is best at each ε: first by an estimate, then as workers measure it, while the table is here."""
        relation, found = self.settings.relation, dict[float, Any]()

        def tell() -> None:
            with self.sender.hold():
                self.advice.tell(found)
                self.advice.whole.visible = not self.release.on

        async def result(future: Future) -> Any:
            value = await asyncio.wrap_future(future)
            table = self.settings.uploaded.table
            if table is None or table.name != name or self.sender.doc is None:
                raise asyncio.CancelledError
            return value

        def asked(function: Callable, *arguments: Any) -> Future:
            return self.pool.submit(Task(function, (name, *arguments)), owner=self.settings)

        try:
            tell()
            found |= await result(FORMULAS.call(compute.estimate, name, relation))
            tell()
            fit = await result(asked(compute.signal))
            for epsilon in compute.ADVICE_EPSILONS:
                waiting = {key: asked(compute.advice_runs, key, relation, epsilon) for key in advised()}
                runs = {key: await result(future) for key, future in waiting.items()}
                found[epsilon] = compute.measured(name, epsilon, runs, fit)
                tell()
        except asyncio.CancelledError:  # the table went meanwhile
            return
        except Exception as error:
            with self.sender.hold():
                self.fail("Advice", error)

    def _forget(self) -> None:
        self.context.draft = self.facts = self.questions = None
        self._draft_room.free()

    def drop(self) -> None:
        """Remove the table from this session; what was released of it stays, and what was spent stays spent."""
        self.settings.hold(None)
        self._forget()
        self._offer_encodings(None)
        self.steps.objects = []
        self.advice.clear()
        if self.release.on:
            self.release.leave()
        self.alerts.report("use", "")
        self.alerts.report("schema", "")
        self._show()

    def _show(self) -> None:
        """Show what the page has. Widgets call it as they change, outside the lock that a source of data needs."""
        if not self.state.data:
            return  # the session ended while a file was read, and its document has let everything go
        with self.sender.hold():
            held, on = self.settings.uploaded.table is not None, self.release.on
            self.status.object = text.status(self.draft, held, on, secure=self.release.secure)
            self.to_pages.visible = held and not on
            self.to_release.visible = not on and (held or self.release.done is not None)
            self.from_release.visible = on
            self.steps.visible = self.uploading.visible = not on
            self.advice.whole.visible = bool(self.advice.text.object) and not on
            self.remove.disabled = self.draft is None
            self.schema_file.object = text.saved(self._schema_text())
            self.state.data = {**self.state.data, "answers": [self.state.data["answers"][0] + 1]}
            self.working.data = {"running": [bool(self._reading) or self.release.running]}

    def stop(self) -> None:
        """Let the table go with the session."""
        super().stop()
        self._stop.set()
        self.release.end()
        self._forget()
        self._undecoded = None
        for held in (self.upload, self.schema_upload, self._undecoded_room):
            held.free()
