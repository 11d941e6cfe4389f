"""What every page has: its regions, messages, lines that are read out, tasks of its own, and an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from html import escape
from typing import Any, ClassVar, Generic
from weakref import WeakSet

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from panel.io.state import set_curdoc
from panel.models.markup import HTML

from dpml.exceptions import DpmlError
from dpml_app import uploaded_table
from dpml_app.core.card import (
    BOX_STYLE,
    CHOSEN,
    DEFERRED,
    GRID_STYLE,
    IMMEDIATE,
    WHOLE,
    WORKER,
    Answer,
    Card,
    F,
    ResultKey,
    Results,
    Slot,
    V,
    answer,
    card,
    line,
)
from dpml_app.core.pins import Pins
from dpml_app.core.widgets import Controls
from dpml_app.data.facts import NoFacts, dataset_note
from dpml_app.data.real_data import GENERATED
from dpml_app.drawing.progress import Progress
from dpml_app.jobs import ANSWERS, FORMULAS, Pool, Task, TaskRunner, awaitable
from dpml_app.kit.widgets import in_notebook
from dpml_app.serving import log
from dpml_app.settings import PageValues, Shared
from dpml_app.text.phrases import PEOPLE_STYLE, risk

# seconds until curves are asked for: a slider that is being dragged should not fade them at every step
DELAY = 0.15
# seconds that an answer waits for formulas
PATIENCE = 0.05
REGIONS = ("top", "side", "advanced", "work", "details", "more")
# Present shows the risk alone beside the picture
ALONE_STYLE = ":host(.alone) > :not(.risk) { display: none !important; }"
HEADLINE_STYLE = """
:host { font-size: 1.15rem; line-height: 1.45; }
p { margin: 0.25em 0; }
"""


# what Panel calls Material's severities
ALERT_TYPES = {"error": "danger", "info": "info"}

# seconds from a message to the empty change that follows it, and the model that changes
FLUSH_DELAY = 0.1
MESSAGES = "messages"
_FLUSHING: WeakSet[Document] = WeakSet()


@contextmanager
def adding_models(doc: Document | None) -> Iterator[None]:
    """Gather a document's models once, after all of them were added.

    Bokeh's `freeze` gathers also if no model was added, and stays on after an error, which is raised after it here.
    """
    error: BaseException | None = None
    with nullcontext() if doc is None else doc.models.freeze():
        try:
            yield
        except BaseException as raised:
            error = raised
    if error is not None:
        raise error


@contextmanager
def one_message(doc: Document | None) -> Iterator[None]:
    """Send all changes to a document as one message."""
    with pn.io.hold(doc):
        yield
    messages = None if doc is None else doc.get_model_by_name(MESSAGES)
    if doc is not None and messages is not None and doc not in _FLUSHING:
        _FLUSHING.add(doc)
        asyncio.get_running_loop().call_later(FLUSH_DELAY, _flush, doc, messages)


def _flush(doc: Document, messages: Any) -> None:
    """Change a number that nothing shows: Panel 1.9 may keep a message, written while it sends, until the next one."""
    _FLUSHING.discard(doc)
    if doc.session_context is not None:
        with set_curdoc(doc), pn.io.hold(doc):
            messages.flush += 1


class BasePage:
    """A page of one session: a question, and what answers it in the regions that `REGIONS` names.

    Parameters
    ----------
    settings : Shared
    pool : Pool

    Attributes
    ----------
    regions : dict of str to Column
        ``top`` has the picture that answers and its one control, ``side`` what all cards share, ``advanced`` the rest
        of the controls, ``work`` how far the workers are, below them so that its room is no gap, ``details`` the
        cards below, and ``more`` all others, which are made when they are asked for.
    """

    # its name in the link, and in the navigation
    page_id: ClassVar[str]
    title: ClassVar[str]
    # its cards, and the one whose picture answers the question
    kinds: ClassVar[tuple[type[Card[Any, Any]], ...]] = ()
    main_card: ClassVar[str] = ""
    # the cards that are open below it, each made when its place comes near the view; all others stand behind "More"
    details: ClassVar[tuple[str, ...]] = ()
    # its settings, and their values at one moment
    settings_kind: ClassVar[type[Shared]] = Shared
    values_kind: ClassVar[type[PageValues]] = PageValues
    # what the page answers, and a line on what to do
    question: ClassVar[str]
    lead: ClassVar[str]
    # what the texts of lessons on the page may name
    lesson_figures: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    controls: Any
    # the settings whose ε and relation it tells the risk of
    risk_of: ClassVar[tuple[str, str]] = ("epsilon", "relation")
    # why it cannot show another one
    unsupported_reason: ClassVar[str] = "has more than two classes, and this page needs two"
    # settings that are kept beside the one that is shown; None: the page has no answer to compare
    pins: Pins | None = None
    # what stands behind "Advanced", where it is laid when it is opened
    advanced: Slot | None = None
    shown = True
    # a notebook's output has its own way to send what changes
    one_message: Callable[[Document | None], AbstractContextManager[None]] = staticmethod(one_message)

    def __init__(self, settings: Shared, pool: Pool):
        self.settings, self.pool = settings, pool
        self.readouts: dict[str, HTML] = {}
        self.slots: list[Slot] = []
        self.alerts = pn.Column(sizing_mode="stretch_width", margin=0)
        self.regions = {name: pn.Column(**WHOLE) for name in REGIONS}
        self.regions["top"].append(self.alerts)
        self.regions["side"].stylesheets = [ALONE_STYLE]
        look = [BOX_STYLE, PEOPLE_STYLE]
        margin = (0, 0, 12, 0)
        self.risk = pn.pane.HTML("", css_classes=["risk"], margin=margin, stylesheets=look, sizing_mode="stretch_width")
        self._messages: dict[str, tuple[str, str]] = {}
        self._in_notebook = in_notebook()
        self._doc: Document | None = None
        self._tasks: set[asyncio.Task] = set()

    @classmethod
    def can_pin(cls) -> bool:
        """Return whether the page's picture gives an answer that can be kept and compared."""
        return any(kind.name == cls.main_card and kind.to_pin is not Card.to_pin for kind in cls.kinds)

    @classmethod
    def has_more(cls) -> bool:
        """Return whether there are cards that are made when they are asked for."""
        return any(kind.name not in (cls.main_card, *cls.details) for kind in cls.kinds)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets that the page can show; empty: any."""
        return ()

    def show_risk(self) -> None:
        """Say what ε hides."""
        self.risk.object = risk(*(getattr(self.settings, name) for name in self.risk_of))

    # ---- messages -----------------------------------------------------------------------------------------------

    def report(self, topic: str, text: str, severity: str = "error") -> None:
        """Show a message in place of the one on the same topic; without a text, none."""
        before = self._messages.pop(topic, None)
        if text:
            self._messages[topic] = (severity, text)
        if text or before:
            self._show_messages()

    def clear(self, topic: str) -> None:
        """Take a topic's message away."""
        self.report(topic, "")

    def _show_messages(self) -> None:
        alerts: list[Any] = []
        look: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (8, 12, 0, 12)}
        for topic, (severity, text) in self._messages.items():
            if self._in_notebook:
                alerts.append(pn.pane.Alert(escape(text), alert_type=ALERT_TYPES[severity], **look))
                continue
            alert = pmui.Alert(object=escape(text), severity=severity, closeable=True, **look)
            # closed is closed: another message must not bring it back
            alert.param.watch(lambda _event, topic=topic: self._messages.pop(topic, None), "closed")
            alerts.append(alert)
        self.alerts.objects = alerts

    def _failed(self, what: str, error: BaseException, topic: str | None = None) -> None:
        log.failed(error)
        text = str(error) if isinstance(error, DpmlError) else f"{type(error).__name__}: {error}"
        self.report(topic or what, f"{what}: {text}")

    def _read_out(self, name: str, text: str) -> None:
        self.readouts[name].text = escape(text)  # the model's view takes escaped HTML

    # ---- work ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to answer; called once the page is in the browser."""

    def resume(self) -> None:
        """Take note of what has changed while another page was shown."""

    def stop(self) -> None:
        """Stop computing for a page that has been closed."""
        self._doc = None

    def _spawn(self, work: Coroutine) -> None:
        """Run a coroutine as a task of its own, in the context of this page's document.

        Not by `pn.state.execute`: it goes through a callback of the document, which is lost now and then when it is
        added while another task holds the document's events (Panel 1.9.4).
        """
        doc = self._doc

        async def in_document() -> None:
            with set_curdoc(doc):
                await work

        task = asyncio.get_running_loop().create_task(in_document())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hold(self) -> AbstractContextManager[None]:
        """Send all changes as one message."""
        return self.one_message(self._doc)


class CardPage(BasePage, Generic[V, F]):
    """A page that is its cards, and facts of a data set that they are about, if it has one.

    It answers the latest setting, one answer at a time, and only while it is shown. What is at the setting that is
    chosen is answered at once, in the server; the rest comes from the worker processes in small tasks. Results are
    kept in the pool's cache and are read from there.
    """

    advanced: Slot
    # names of the sources that tell tests and the browser how often the page has answered, and how far its work is
    sources: ClassVar[tuple[str, str]]
    # finds what is known of a data set
    facts_of: ClassVar[staticmethod[..., Any] | None] = None
    # what the workers compute, for the status line
    what: ClassVar[str] = "curves"
    # makes the widgets
    controls_kind: ClassVar[type[Controls]]

    @staticmethod
    def shipped_facts(name: str) -> Any:
        """Return what the picture of a data set shows besides results; None if nothing ships."""

    @staticmethod
    def shipped_results(name: str) -> Mapping[Task, Any]:
        """Return the results of a data set that ship, by the tasks that would compute them."""
        return {}

    def __init__(self, settings: Shared, pool: Pool):
        super().__init__(settings, pool)
        self.names = self.values_kind.names()
        self._changed: set[str] = set()
        self._answering = False
        self._values: V | None = None
        # None: of a data set that is not loaded yet
        known: Any = None if "dataset" in self.names else NoFacts()
        self._facts: F | None = known
        self._prepared: dict[str, list[Any]] = {}
        # the last one that could be loaded
        self._dataset = GENERATED
        # the one of which the picture came filled, until it is loaded
        self._opened = ""
        self._wanted: dict[str, dict[ResultKey, Task]] = {}
        self.controls = self.controls_kind(settings, self.report)
        for name in (self.controls.in_top, *(name for kind in self.kinds for name in kind.controls)):
            if name not in self.controls.widgets:
                self.controls.add(name)
        state, work = self.sources
        callbacks: Any = {"spawn": self._spawn, "hold": self._hold, "show": self._arrived, "failed": self._failed}
        self.progress = Progress(work, lambda: self.work.press())
        self.work = TaskRunner(pool, settings, self.what, tell=self.progress.tell, **callbacks)
        self._formulas: list[Future] = []
        # how often the page has answered, and whether a card that has just been made still waits for it
        self.state = ColumnDataSource({"answers": [0], "due": [False]}, name=state)
        look: Any = {"stylesheets": [HEADLINE_STYLE], "min_height": 54}
        self.headline = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 14), **look)
        # laid when it is opened: its widgets are half of those of a page
        self.advanced = Slot(f"{self.page_id}-advanced", lambda: self.controls.advanced, room=None)
        self.cards: dict[str, Card[V, F]] = {}
        self.card_slots: dict[str, Slot] = {}
        for region in ("details", "more"):
            self.regions[region].stylesheets = [GRID_STYLE]
        self.regions["side"].extend(self.side())
        self.regions["advanced"].append(self.advanced)
        self.regions["work"].append(self.progress.column)
        self._make_slots()
        # a model is in the document once another one refers to it
        self.cards[self.main_card].plots[0].tags += [self.state, self.progress.state, *self.connect()]
        if self.can_pin():
            self.pins = Pins(settings, self.values, self._to_pin)
        # also when a person cancels what is computed
        follow = lambda _attribute, _old, _new: self._show_waiting(self._wanted, self.work.running)  # noqa: E731
        self.progress.state.on_change("data", follow)
        settings.param.watch(self._on_change, self.names)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets that the page can show; empty: any."""
        return self.controls.datasets if "dataset" in self.names else ()

    def side(self) -> list[Any]:
        """Return the components beside the plot, which all cards share."""
        return [self.risk, self.controls.side]

    # ---- places: the picture, the open cards, and those that are made when they are asked for -----------------------

    def make(self, kind: type[Card[V, F]]) -> Card[V, F]:
        """Return a new card."""
        return kind()

    def _make_slots(self) -> None:
        """Make the places of all cards, and the picture."""
        for kind in self.kinds:
            slot = Slot(f"{self.page_id}-{kind.name}", partial(self._mounted, kind), wide=kind.wide)
            slot.on_mount = self._on_mount
            self.card_slots[kind.name] = slot
            name = f"{self.page_id}-{kind.name}-readout"
            self.readouts[kind.name] = HTML(text="", name=name, sizing_mode="stretch_width")
            if kind.name == self.main_card:
                self.regions["top"].append(slot)
                slot.mount()
        self.slots = [self.advanced, *self.card_slots.values()]
        rest = {name: slot for name, slot in self.card_slots.items() if name != self.main_card}
        for region, opened in (("details", True), ("more", False)):
            self.regions[region].objects = [slot for n, slot in rest.items() if (n in self.details) == opened]

    def _mounted(self, kind: type[Card[V, F]]) -> pn.Column:
        """Return the content of a card's place."""
        self.cards[kind.name] = one = self.make(kind)
        if self._facts is not None:
            one.lay_out(self._facts)
        readout = self.readouts[kind.name]
        own = [self.controls.widgets[name] for name in one.controls]
        rows = [line(*own)] if own else []
        if one.name == self.main_card:
            control = self.controls.widgets[self.controls.in_top]
            return answer(one.title, one.caption, one.content(), control, *rows, *self.sentences(), readout=readout)
        return card(one.title, readout, one.content(), one.caption, *rows, aside=one.name in self.details)

    def sentences(self) -> list[Any]:
        """Return the sentences under the plot, above the line of the card."""
        return [self.headline]

    def _on_mount(self) -> None:
        """Compute what a card needs that has just been made."""
        self._changed.add("page")
        self.state.data = {**self.state.data, "due": [True]}
        self.resume()

    # ---- what a page can say of itself ----------------------------------------------------------------------------

    def values(self) -> V:
        """Return what the page depends on."""
        values: Any = self.values_kind.of(self.settings)  # a class variable cannot be of the type V
        return values

    def connect(self) -> list[Any]:
        """Connect the page's own script, once its picture is made; return the sources that nothing else refers to."""
        return []

    def facts_task(self, values: V) -> Task | None:
        """Return the call that finds what is known of a data set; None on a page without one."""
        return None if self.facts_of is None else Task(self.facts_of, (values.as_dict()["dataset"],))

    async def facts(self, values: V) -> F:
        """Return what is known of a data set."""
        task = self.facts_task(values)
        assert task is not None
        facts: F = await self._call(task)
        return facts

    @property
    def known(self) -> F | None:
        """What is known of the data set that is shown; None while nothing is."""
        return self._facts

    def note(self, facts: Any) -> str:
        """Return one line about the data set."""
        return dataset_note(facts)

    def words(self, values: V, facts: F, results: Mapping[str, Results]) -> str:
        """Return the headline; `results` are those of each card at the setting that is chosen."""
        return ""

    def offer(self, changed: set[str]) -> None:
        """Offer what the data set has, which may change a setting."""
        if "dataset" in changed:
            self.report("lowered", self.controls.fit(self._facts), "info")

    # ---- answers ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to answer; called once the page is in the browser."""
        if self._doc is not None:
            return
        self._doc = pn.state.curdoc
        self.pool.start()
        self._changed |= set(self.names)
        self.resume()

    def stop(self) -> None:
        """Stop computing for a page that has been closed."""
        super().stop()
        self.work.stop()
        for formula in self._formulas:
            formula.cancel()

    def resume(self) -> None:
        """Answer what has changed while another page was shown."""
        if self._changed and self._doc is not None and self.shown and not self._answering:
            self._spawn(self._answer())

    def _on_change(self, *events) -> None:
        self._changed |= {e.name for e in events}
        self.resume()

    async def _answer(self) -> None:
        """Answer the latest setting until nothing has changed meanwhile."""
        if self._answering:
            return
        self._answering = True
        try:
            while self._changed and self._doc is not None:
                changed, self._changed = self._changed, set()
                try:
                    await self._answer_once(changed)
                except Exception as error:
                    names = ", ".join(sorted(str(self.settings.param[n].label) for n in changed))
                    with self._hold():
                        self._failed(names, error, topic="answer")
                else:
                    self.clear("answer")
        finally:
            self._answering = False

    async def _call(self, task: Task) -> Any:
        """Return a task's result, computed in the server and kept."""
        return await asyncio.wrap_future(self.pool.submit(task, owner=self.settings, by=ANSWERS))

    async def _ask_formulas(self, tasks: set[Task]) -> None:
        """Have formulas computed in the server instead of the last ones; those that take a moment come with curves."""
        for formula in self._formulas:
            formula.cancel()
        self._formulas = [self.pool.submit(task, owner=self.settings, by=FORMULAS) for task in tasks]
        if tasks:
            await asyncio.wait([*map(awaitable, self._formulas)], timeout=PATIENCE)

    async def _answer_once(self, changed: set[str]) -> None:
        if "dataset" in changed and not await self._load():
            return
        if self._facts is None or "dataset" in self._changed:
            return  # nothing to show, or another data set was chosen while this one was loaded
        with self._hold():
            self.offer(changed)
        values, facts = self.values(), self._facts  # offering may have changed a setting
        there = {name: card for name, card in self.cards.items() if self.card_slots[name].objects}
        refused = {name: card.refusal(values, facts) for name, card in there.items()}
        wanted = {n: self.cards[n].work(values, facts) if not refusal else {} for n, refusal in refused.items()}
        at_once, late = (
            {task for work in wanted.values() for result_key, task in work.items() if result_key[1] == when}
            for when in (IMMEDIATE, DEFERRED)
        )
        if values != self._values:
            self.work.stop()
        answering = asyncio.gather(self._ask_formulas(late), *map(self._call, at_once))
        if not (await asyncio.wait({answering}, timeout=DELAY))[0]:
            with self._hold():
                self._show_waiting(wanted, computing=True)
        await answering
        if self._doc is None:
            return
        self._values = values
        with self._hold():
            self.show_risk()
            for name, refusal in refused.items():
                card = self.cards[name]
                for plot in card.plots:
                    plot.visible = not refusal
                seen = [getattr(values, setting) for setting in card.depends]
                if refusal:
                    card.clear()
                    self._prepared.pop(name, None)
                    self._read_out(name, f"Not available for this setting: {refusal}")
                    continue
                if seen and self._prepared.get(name) == seen:
                    continue
                results = self._chosen(wanted[name])
                card.prepare(values, facts, results)
                self._prepared[name] = seen
                if results:
                    self._read_out(name, card.readout(values, facts, results))
            self._show_headline(wanted)
            if "page" in changed:
                self.controls.remind()
        self._spawn(self._draw_curves(values, wanted))

    async def _draw_curves(self, values: V, wanted: dict[str, dict[ResultKey, Task]]) -> None:
        """Have what is missing computed, once no newer setting follows at once."""
        missing = self._missing(values, wanted)
        if missing:
            await asyncio.sleep(DELAY)
        if values is not self._values or self._doc is None:
            return
        try:
            with self._hold():
                self._wanted = wanted
                self._show(set(wanted))
                # some may have come meanwhile
                self.work.request(self._missing(values, wanted) if missing else [])
                self._show_waiting(wanted, self.work.running)
                self.state.data = {"answers": [self.state.data["answers"][0] + 1], "due": [bool(self._changed)]}
        except Exception as error:
            with self._hold():
                self._failed(self.what.capitalize(), error)

    async def _load(self) -> bool:
        """Load the facts of another data set and lay out for them; say so where there are none."""
        name, before = self.settings.dataset, self._dataset
        title = uploaded_table.display_name(name)
        with self._hold():
            if name != self._opened:
                self._clear()
            self._opened = ""
            self.work.stop(f"Loading {title}…")
        try:
            self._keep_shipped(name)
            self._facts = facts = await self.facts(self.values())
        except Exception as error:
            with self._hold():
                self._clear()
                shown = f"{title}, so {uploaded_table.display_name(before)} is shown" if before != name else title
                self._failed(shown, error, topic="Data set")
                self.headline.object = "<p>This data set has no results.</p>"
                self.work.stop("No data")
                self.settings.dataset = before  # no axes stay empty
            return False
        self._dataset = name
        with self._hold():
            self.controls.dataset_note.object = self.note(facts)
            for one in self.cards.values():
                one.lay_out(facts)
        return True

    def _keep_shipped(self, name: str) -> Mapping[Task, Any]:
        shipped = self.shipped_results(name)
        for task, result in shipped.items():
            self.pool.cache.put(task, result)
        return shipped

    def fill(self) -> None:
        """Fill the picture and its sentence with results that ship, so that they come with the document."""
        values, picture, name = self.values(), self.cards[self.main_card], self.settings.dataset
        shipped, facts = self._keep_shipped(name), self.shipped_facts(name)
        if facts is not None and not picture.refusal(values, facts):
            wanted = picture.work(values, facts)
            there = {result_key: shipped[task] for result_key, task in wanted.items() if task in shipped}
            picture.prepare(values, facts, there)
            picture.show(there, wanted)
            chosen = {result_key: result for result_key, result in there.items() if result_key[1] in CHOSEN}
            self.headline.object = self.words(values, facts, {self.main_card: chosen})
            self._read_out(self.main_card, picture.readout(values, facts, chosen))
            self._opened = name
        self.show_risk()

    def _clear(self) -> None:
        self._facts, self._values, self._wanted = None, None, {}
        self._prepared.clear()
        for one in self.cards.values():
            one.clear()
        for name in self.readouts:
            self._read_out(name, "")
        self.controls.dataset_note.object = self.headline.object = ""

    # ---- results ---------------------------------------------------------------------------------------------------

    def _missing(self, values: V, wanted: Mapping[str, Mapping[ResultKey, Task]]) -> list[Task]:
        """Return the tasks without a result, each once.

        First those of the setting that is chosen, then the curves, card by card.
        """
        ranked: tuple[list[Task], list[Task]] = [], []
        for work in wanted.values():
            there = self._kept(work)
            for result_key, task in work.items():
                if result_key not in there:
                    ranked[result_key[1] != WORKER].append(task)
        return list(dict.fromkeys(task for some in ranked for task in some))

    def _kept(self, work: Mapping[ResultKey, Task]) -> dict[ResultKey, Any]:
        """Return the results that are there."""
        return self.pool.cache.known(work)

    def _chosen(self, work: Mapping[ResultKey, Task]) -> dict[ResultKey, Any]:
        """Return those at the setting that is chosen."""
        return self._kept({result_key: task for result_key, task in work.items() if result_key[1] in CHOSEN})

    def _arrived(self, results: Mapping[Task, Any]) -> None:
        self._show({name for name, work in self._wanted.items() if results.keys() & set(work.values())})

    def _show(self, names: set[str]) -> None:
        if self._values is None or self._facts is None:
            return
        for name in names:
            work = self._wanted.get(name)
            if work:
                results = self._kept(work)
                self.cards[name].show(results, work)
                self._read_out(name, self.cards[name].readout(self._values, self._facts, results))
        self._show_headline(self._wanted)
        self._show_waiting(self._wanted, self.work.running)

    def _show_waiting(self, wanted: Mapping[str, Mapping[ResultKey, Task]], computing: bool) -> None:
        """Grey each card that lacks results of its setting."""
        for name, work in wanted.items():
            self.card_slots[name].wait(self.cards[name].greyed(self._kept(work), work, computing), computing)

    def _failed(self, what: str, error: BaseException, topic: str | None = None) -> None:
        super()._failed(what, error, topic)
        self._show_waiting(self._wanted, self.work.running)

    def _show_headline(self, wanted: Mapping[str, Mapping[ResultKey, Task]]) -> None:
        if self._values is not None and self._facts is not None:
            results = {name: self._chosen(work) for name, work in wanted.items()}
            self.headline.object = self.words(self._values, self._facts, results)
        if self.pins is not None and (self.pins.kept or self.pins.due):
            self.pins.follow()

    def _to_pin(self) -> Answer | None:
        """Return what the picture shows, None while it is not of the setting that is chosen."""
        if self._facts is None or self._values is None or self._values != self.values():
            return None
        main_card = self.cards[self.main_card]
        return main_card.to_pin(self._values, self._facts, self._kept(main_card.work(self._values, self._facts)))
