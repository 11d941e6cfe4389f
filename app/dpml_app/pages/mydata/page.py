"""The page My data: a session's own table, from upload to a data set that the other pages can show."""

import asyncio
from concurrent.futures import Future
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

from dpml.exceptions import DpmlError, TableTooLarge
from dpml.schema import Schema
from dpml.tables import Limits, examine_table
from dpml_app import uploaded_table
from dpml_app.core.card import BOX_STYLE, WHOLE, Card
from dpml_app.core.page import BasePage
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.progress import bar, filled
from dpml_app.jobs import FORMULAS, LONG, Pool, Task
from dpml_app.pages.mydata import advice, bought
from dpml_app.pages.mydata.advice_card import AdviceCard
from dpml_app.pages.mydata.bounds_card import BoundsCard
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.facts_table import TABLE_STYLE, FactsTable
from dpml_app.pages.mydata.file_format import FileFormat
from dpml_app.pages.mydata.files import Upload
from dpml_app.pages.mydata.paid_bounds import PaidBounds
from dpml_app.pages.mydata.questions import Answers, Questions
from dpml_app.pages.mydata.reading import read_in_turn
from dpml_app.pages.mydata.release import Release
from dpml_app.pages.mydata.settings import MyDataSettings
from dpml_app.pages.mydata.stopping import CancellationToken, Stopped
from dpml_app.pages.mydata.words import saved, status
from dpml_app.serving import log
from dpml_app.serving.limits import UPLOADS, most
from dpml_app.settings import Shared

MOST_SCHEMA = 1_000_000
# Parquet needs the extra `large`
PARQUET = find_spec("pyarrow") is not None
# on a page of another colour its own is read
PAPER = {"backgroundColor": "background.paper"}


class MyDataPage(BasePage):
    """The page of one session."""

    page_id = "mydata"
    settings_kind = MyDataSettings
    title = "My data"
    question = "Which accuracy can you expect on your own table?"
    lead = "Upload a table and state its public metadata. All pages then use your table."
    kinds: ClassVar[tuple[type[Card], ...]] = ()
    readout_name = "mydata-{}-readout"
    has_more = False

    def __init__(self, settings: Shared, pool: Pool):
        super().__init__(settings, pool)
        self.draft: Draft | None = None
        self._draft_room = uploaded_table.UploadRoom()
        self.uploads = 0
        self.facts: FactsTable | None = None
        self.file_format: FileFormat | None = None
        self.questions: Questions | None = None
        most = uploaded_table.most_bytes()
        # a cell takes two bytes of a file at least
        self.limits = Limits(bytes=most, cells=max(Limits.cells, most // 2))
        kinds: dict[str, Any] = {"on_fault": self._fault, "margin": (10, 12), "sizing_mode": "stretch_width"}
        megabytes = f"{self.limits.bytes / 1e6:g}\N{NO-BREAK SPACE}MB"
        self.upload = Upload(
            label=f"Upload a table (CSV{' or Parquet' if PARQUET else ''}, up to {megabytes})",
            accept=f".csv,.tsv,.txt{',.parquet' if PARQUET else ''}",
            most=self.limits.bytes,
            on_file=self._on_file,
            **kinds,
        )
        self.schema_upload = Upload(
            label="Upload a schema (YAML)", accept=".yaml,.yml", most=MOST_SCHEMA, on_file=self._on_schema, **kinds
        )
        self.schema_file = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 12))
        self.remove = pmui.Button(label="Remove the table", variant="outlined", **WIDE)
        self.remove.on_click(lambda _event: self.drop())
        self.bar = bar()
        self.cancel = pmui.Button(label="Cancel", variant="outlined", visible=False, **WIDE)
        self.cancel.on_click(lambda _event: self._stop.ask())
        self._stop = CancellationToken()
        self.advice = AdviceCard(self._on_advice)
        # what is measured for the advice, while it is
        self._measuring: list[Future] | None = None
        self.status = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[BOX_STYLE, TABLE_STYLE])
        self.to_pages = pn.Column(**WHOLE)
        for page, title in (("explore", "Open Privacy cost"), ("train", "Open Classifiers")):
            button = pmui.Button(label=title, variant="contained", **WIDE)
            button.on_click(partial(self._go, page))
            self.to_pages.append(button)
        asked = partial(bought.asked, settings, pool)
        self.release = Release(lambda: self.draft, self._spawn, self._hold, self._show, asked)
        self.bounds = BoundsCard(lambda: self.draft, lambda: self.settings.relation, self._spawn, self._hold)
        self.paid = PaidBounds(lambda: self.draft, self.release, self._spawn, self._hold, self._on_paid)
        self.to_release = pmui.Button(label=f"Plan a {self.release.noun}", variant="outlined", **WIDE)
        self.to_release.on_click(lambda _event: self.release.enter())
        self.from_release = pmui.Button(label="Back to the table", variant="outlined", sx=PAPER, **WIDE)
        self.from_release.on_click(lambda _event: self.release.leave())
        self.steps = pn.Column(**WHOLE)
        # a component of one's own that shows itself as a block cannot be hidden, but what it stands in can
        self.uploading = pn.Column(self.upload, **WHOLE)
        parts = [self.release.whole, self.advice.whole, self.steps, self.uploading, self.bar, self.cancel]
        self.main = pn.Column(*parts, stylesheets=[BOX_STYLE], **WHOLE)
        self.regions["top"].append(self.main)
        self.regions["side"].extend([self.status, self.to_pages, self.to_release, self.from_release])
        # how often the page has answered, and whether it still works, for tests and the browser
        self.state = ColumnDataSource({"answers": [0], "due": [False]}, name="mydata-state")
        self.working = ColumnDataSource({"running": [False]}, name="mydata-work")
        self._reading = 0
        # a file that came before the page was ready
        self._early: tuple[str, bytes] | None = None
        # a model is in the document once another one refers to it
        self.alerts.tags = [*self.alerts.tags, self.state, self.working, self.release.mode]
        self.regions["advanced"].extend([self.schema_upload, self.schema_file, self.remove])
        self._show()

    async def start(self) -> None:
        """Take note of the document; there is nothing to compute yet, unless somebody was quicker than the page."""
        self._doc = self._doc or pn.state.curdoc
        early, self._early = self._early, None
        if early is not None:
            self._on_file(*early)

    def _go(self, page: str, _event: Any) -> None:
        self.settings.assign({"page": page})

    # ---- files -----------------------------------------------------------------------------------------------------

    def _fault(self, fault: DpmlError) -> None:
        log.event("upload", size="refused", error=type(fault).__name__)
        self.report("file", str(fault))

    def _on_file(self, name: str, content: bytes) -> None:
        if self._doc is None:
            # the page is seen a moment before it says so, and what changes until then Panel does not send (1.9.4)
            self._early = name, content
            return
        self.clear("file")
        allowed = most(UPLOADS)
        if self.uploads >= allowed:
            cause = f"this session has uploaded {self.uploads:,} files, the limit is {allowed:g}"
            self._fault(TableTooLarge(name, cause))
            return
        self.uploads += 1
        self._reading += 1
        log.event("upload", size=log.size_class(len(content)))
        self._spawn(self._read(name, content))

    def _read_again(self, stated: dict[str, Any], kinds: dict[str, str], answers: Answers | None = None) -> None:
        """Read the file as a person says; without `answers` all questions that are left are asked again."""
        if self.draft is not None and self.draft.content is not None and not self._reading:
            self._reading += 1
            self._spawn(self._read(self.draft.file, self.draft.content, stated, kinds, answers))

    async def _read(
        self, name: str, content: bytes, stated: Any = None, kinds: Any = None, answers: Any = None
    ) -> None:
        done, stop = [0, 1], CancellationToken()
        self._stop = stop

        def tell(so_far: int, total: int) -> None:
            stop.check()
            done[:] = so_far, total

        def read() -> Draft:
            options: dict[str, Any] = {"name": name, "limits": self.limits, "columns": kinds, **(stated or {})}
            reading = examine_table(content, progress=tell, **options)
            stop.check()
            return Draft(reading.frame, name, content, reading, stated, kinds, answers)

        self.bar.object, self.cancel.visible = filled("Reading", 0, 1), True
        room, progress = uploaded_table.UploadRoom(), lambda: self._tell_bar(*done)
        try:
            draft = await read_in_turn((name, content), self.limits, read, room=room, stop=stop, tell=progress)
            room.take(len(content) + int(draft.frame.memory_usage().sum()))
        except Stopped:
            with self._hold():
                self.report("file", f"Cancelled: {name} was not read", "info")
        except DpmlError as error:
            log.failed(error)
            with self._hold():
                self.report("file", str(error))
        except Exception as error:  # a fault of the reader is no reason to tell what is in the file
            log.failed(error)
            with self._hold():
                self.report("file", f"{name} cannot be read: {type(error).__name__}")
        else:
            if not self.state.data:
                return
            with self._hold():
                self.drop()
                self.draft, self._draft_room, room = draft, room, self._draft_room
                self.facts = FactsTable(draft, self._on_edit, self._on_use, **WHOLE)
                self.file_format = FileFormat(draft, self._read_again)
                self.questions = Questions(draft, self._read_again)
                before = [self.file_format.whole, self.questions.whole]
                self.steps.objects = [*before, self.facts, self.paid.whole, self.bounds.whole]
                self.bounds.refresh()
        finally:
            room.free()
            with self._hold():
                self.bar.object, self.cancel.visible = "", False
                self._reading -= 1
                self._show()

    def _tell_bar(self, done: int, total: int) -> None:
        with self._hold():
            self.bar.object = filled("Reading", done, total)

    # ---- the schema ------------------------------------------------------------------------------------------------

    def _on_schema(self, name: str, content: bytes) -> None:
        if self.draft is None or self.facts is None:
            self.report("schema", "Upload the table first. The schema must match its columns.", "info")
            return
        if self.release.on:
            self.report("schema", "Go back to the table first. This release uses the confirmed metadata.", "info")
            return
        self._spawn(self._take_schema(name, content))

    async def _take_schema(self, name: str, content: bytes) -> None:
        """Read a schema in a thread, for a long one takes seconds, and take its facts."""
        draft = self.draft
        try:
            schema = await self._in_thread(LONG, lambda: Schema.from_yaml(content.decode("utf-8")))
            if draft is None or draft is not self.draft or self.facts is None or self.release.on:
                return
            with self._hold():
                draft.take(schema)
                self.facts.show_all()
                self.bounds.refresh()
        except UnicodeDecodeError:
            with self._hold():
                self.report("schema", f"{name} must be UTF-8 text")
        except DpmlError as error:
            with self._hold():
                self.report("schema", f"{name}: {error}")
        self._show()

    def _schema_text(self) -> str:
        """Return the schema as YAML, empty while it is not whole."""
        try:
            return self.draft.schema().to_yaml() if self.draft is not None else ""
        except DpmlError:
            return ""

    # ---- the table in use --------------------------------------------------------------------------------------------

    def _on_edit(self) -> None:
        if "schema" in self._messages:
            self._check()
        self.bounds.refresh()
        self._show()

    def _on_paid(self) -> None:
        if self.facts is not None:
            self.facts.show_all()
        self._on_edit()

    def _check(self) -> bool:
        """Say what is wrong with the facts; return whether nothing is."""
        try:
            if self.draft is not None:
                self.draft.schema()
        except DpmlError as error:
            self.report("schema", str(error), "warning")
            return False
        self.clear("schema")
        return self.draft is not None

    def _on_use(self) -> bool:
        whole = self._check()
        if whole:
            self._spawn(self._use())
        return whole

    async def _use(self) -> None:
        draft = self.draft
        if draft is None:
            return
        try:
            facts = draft.frame, draft.label, draft.schema(), draft.file, draft.stated_format
            table = await self._in_thread(FORMULAS, uploaded_table.make, *facts)
            if draft is not self.draft or self._doc is None:
                return  # removed, or the session has ended
            with self._hold():
                self.settings.hold(None)
                uploaded_table.attach(table)
                self.settings.hold(table)
                self.settings.assign({"dataset": table.name})
                self.clear("use")
            self._spawn(self._advise(table.name))
        except DpmlError as error:
            log.failed(error)
            with self._hold():
                self.report("use", str(error))
        with self._hold():
            self._show()

    async def _advise(self, name: str) -> None:
        """Say what is best at each ε: first by an estimate, then as workers measure it, while the table is here."""
        relation, by_epsilon = self.settings.relation, dict[float, Any]()
        self._measuring = futures = list[Future]()
        done, total = 0, 1 + len(advice.EPSILONS) * len(advice.advised()) * advice.PARTS

        def tell() -> None:
            with self._hold():
                self.advice.progress(done, total)
                self._tell_advice(by_epsilon)

        async def result(future: Future) -> Any:
            nonlocal done
            value = await asyncio.wrap_future(future)
            if self._measuring is not futures or self._doc is None:
                raise asyncio.CancelledError  # by the person, or the session has ended
            done += 1
            with self._hold():
                self.advice.progress(done, total)
            return value

        def asked(task: Task) -> Future:
            futures.append(self.pool.submit(task))
            return futures[-1]

        try:
            tell()
            by_epsilon |= await result(FORMULAS.call(advice.estimate, name, relation))
            tell()
            fit = await result(asked(Task(advice.signal, (name,))))
            for epsilon in advice.EPSILONS:
                of_methods = advice.tasks(name, relation, epsilon)
                waiting = {key: [asked(task) for task in tasks] for key, tasks in of_methods.items()}
                parts = {key: [await result(future) for future in each] for key, each in waiting.items()}
                by_epsilon[epsilon] = advice.measured(name, epsilon, parts, fit)
                tell()
            self._end_advice(cancelled=False)
        except asyncio.CancelledError:  # the table went meanwhile, or the person has cancelled
            return
        except Exception as error:
            with self._hold():
                self._failed("Advice", error)
            self._end_advice(cancelled=True)

    def _end_advice(self, *, cancelled: bool) -> None:
        self._measuring = None
        with self._hold():
            self.advice.rest(cancelled=cancelled)

    def _on_advice(self) -> None:
        """Cancel the measurement, or ask for it again: what was measured is kept."""
        table = self.settings.uploaded.table
        if self._measuring is not None:
            for future in self._measuring:
                future.cancel()
            self._end_advice(cancelled=True)
        elif table is not None:
            self._spawn(self._advise(table.name))

    def _tell_advice(self, by_epsilon: dict[float, Any]) -> None:
        self.advice.tell(by_epsilon)
        self.advice.whole.visible = not self.release.on

    def drop(self) -> None:
        """Remove the table from this session; what was released of it stays, and what was spent stays spent."""
        self.settings.hold(None)
        self.draft = self.facts = self.file_format = self.questions = None
        self._draft_room.free()
        self.steps.objects = []
        self.bounds.clear()
        self.advice.clear()
        if self.release.on:
            self.release.leave()
        self.clear("use")
        self.clear("schema")
        self._show()

    def _show(self) -> None:
        """Show what the page has. Widgets call it as they change, outside the lock that a source of data needs."""
        if not self.state.data:
            return  # the session ended while a file was read, and its document has let everything go
        with self.one_message(self._doc):
            self._show_all()

    def _show_all(self) -> None:
        held, on = self.settings.uploaded.table is not None, self.release.on
        self.status.object = status(self.draft, held, on, secure=self.release.secure)
        self.to_pages.visible = held and not on
        self.to_release.visible = not on and (held or bool(self.release.done))
        self.from_release.visible = on
        self.steps.visible = self.uploading.visible = not on
        self.advice.whole.visible = self.advice.known and not on
        self.remove.disabled = self.draft is None
        self.paid.refresh()
        self.schema_file.object = saved(self._schema_text())
        self.state.data = {**self.state.data, "answers": [self.state.data["answers"][0] + 1]}
        self.working.data = {"running": [bool(self._reading) or self.release.running]}

    def stop(self) -> None:
        """Let the table go with the session."""
        super().stop()
        self._stop.ask()
        self.release.end()
        self.draft = self.facts = self.file_format = self.questions = None
        for held in (self._draft_room, self.upload, self.schema_upload):
            held.free()
