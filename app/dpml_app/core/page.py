"""The base class of pages of cards: it answers the latest setting of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, ClassVar, Generic, cast

import panel as pn
from bokeh.models import ColumnDataSource
from panel.models.markup import HTML

from dpml_app import uploaded_table
from dpml_app.core.base_page import BasePage
from dpml_app.core.card import DEFERRED, IMMEDIATE, Answer, Card, Cards, F, Results, Slot, V
from dpml_app.core.layout import BOX_STYLE, answer, card
from dpml_app.core.pins import Pins
from dpml_app.core.widgets import Controls
from dpml_app.data.facts import NoFacts, dataset_note
from dpml_app.data.real_data import GENERATED
from dpml_app.drawing.progress import Progress
from dpml_app.jobs import ANSWERS, FORMULAS, Pool, Task, TaskRunner, awaitable, seen
from dpml_app.settings import Shared
from dpml_app.text.phrases import PEOPLE_STYLE, risk

# seconds until curves are computed: a slider that is dragged should not fade them at every step
DELAY = 0.15
# seconds that an answer waits for formulas
PATIENCE = 0.05
HEADLINE_STYLE = """
:host { font-size: 1.15rem; line-height: 1.45; }
p { margin: 0.25em 0; }
"""


class CardPage(BasePage, Generic[V, F]):
    """A page of cards, and of the facts of a data set that they show, if it has one.

    The page answers the latest setting, one answer at a time, and only while it is shown. Cards read results from the
    pool's cache. The server computes tasks at IMMEDIATE and DEFERRED, and the workers compute all others.
    """

    # makes the widgets
    controls_kind: ClassVar[type[Controls]]
    # returns the facts of a data set, from its name
    facts_of: ClassVar[staticmethod[..., Any] | None] = None
    # returns one line about the data set, from its facts
    note: ClassVar[staticmethod[..., str]] = staticmethod(dataset_note)
    # what the workers compute, for the status line
    what: ClassVar[str] = "curves"
    # whether the headline is below the picture; a page may put it elsewhere
    headline_below: ClassVar[bool] = True

    @staticmethod
    def shipped_facts(name: str) -> Any:
        """Return the facts that the main picture of a data set needs; None if nothing ships."""

    @staticmethod
    def shipped_results(name: str) -> Mapping[Task, Any]:
        """Return the results of a data set that ship, by the tasks that would compute them."""
        return {}

    def __init__(self, settings: Shared, pool: Pool):
        super().__init__(settings, pool)
        names = self.values_kind.names()
        # the facts of the data set, None while no data set is loaded, and the values and facts that are answered
        self.known: F | None = None if "dataset" in names else cast(F, NoFacts())
        self._answered: tuple[V, F] | None = None
        self._changed: set[str] = set()
        self._answering = False
        # the last data set that could be loaded, and the one that the picture shows before it is loaded
        self._dataset, self._filled = GENERATED, ""
        self.controls = self.controls_kind(settings, self.alerts.report, self.kinds)
        callbacks: Any = {"spawn": self.sender.spawn, "hold": self.sender.hold}
        callbacks |= {"show": self._show, "failed": self.fail}
        self.progress = Progress(f"{self.page_id}-work", lambda: self.work.press())
        self.work = TaskRunner(pool, settings, self.what, tell=self.progress.tell, **callbacks)
        self._formulas: list[Future] = []
        # the number of answers, and whether a new card still waits for one, for tests and scripts
        self.state = ColumnDataSource({"answers": [0], "due": [False]}, name=f"{self.page_id}-state")
        look: Any = {"margin": (0, 14), "stylesheets": [HEADLINE_STYLE], "sizing_mode": "stretch_width"}
        self.headline = pn.pane.HTML("", min_height=54, **look)
        look |= {"margin": (0, 0, 12, 0), "stylesheets": [BOX_STYLE, PEOPLE_STYLE]}
        self.risk = pn.pane.HTML("", css_classes=["risk"], **look)
        self.cards: Cards[V, F] = Cards(self.page_id, self.kinds, pool.cache, self._lay)
        # laid out when it is opened: half of a page's widgets are in it
        advanced = Slot(f"{self.page_id}-advanced", lambda: self.controls.advanced, room=None)
        self.slots = {"advanced": advanced, **self.cards.slots}
        self.regions["side"].extend([self.risk, self.controls.side])
        self.regions["advanced"].append(advanced)
        self.regions["work"].append(self.progress.column)
        for name, slot in self.cards.slots.items():
            region = "top" if name == self.main_card else "details" if name in self.details else "more"
            self.regions[region].append(slot)
        self.slots[self.main_card].mount()
        # a model is in the document once another model refers to it
        self.cards[self.main_card].plots[0].tags += [self.state, self.progress.state]
        if self.can_pin():
            self.pins = Pins(settings, self.values, self._to_pin)
        # also when a person cancels the computation
        self.progress.state.on_change("data", lambda _attribute, _old, _new: self.cards.grey(self.work.running))
        settings.param.watch(self._on_change, names)
        self._fill()

    def _lay(self, one: Card[V, F], readout: HTML) -> pn.Column:
        """Return the layout of a new card, and have the card answered."""
        self.state.data = {**self.state.data, "due": [True]}
        self._changed.add("page")
        self.resume()
        own = [self.controls.widgets[name] for name in one.controls]
        if one.name != self.main_card:
            return card(one, readout, own, aside=one.name in self.details)
        return answer(
            one, readout, self.controls.widgets[self.controls.in_top], own, [self.headline] * self.headline_below
        )

    def values(self) -> V:
        """Return the values of the page's settings."""
        return cast(V, self.values_kind.of(self.settings))

    def show_risk(self) -> None:
        """Show the risk at the chosen ε."""
        self.risk.object = risk(*(getattr(self.settings, name) for name in self.risk_of))

    def words(self, values: V, facts: F, results: Mapping[str, Results]) -> str:
        """Return the headline, from the results of each card at the chosen setting."""
        return ""

    def offer(self, changed: set[str]) -> None:
        """Offer the choices that the data set has, which may change a setting."""
        if "dataset" in changed:
            self.alerts.report("lowered", self.controls.fit(self.known), "info")

    # ---- answers ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to answer; called once the page is in the browser."""
        await super().start()
        self.pool.start()
        self._changed |= set(self.values_kind.names())
        self.resume()

    def stop(self) -> None:
        """Stop computing for a page that has been closed."""
        super().stop()
        self.work.stop()
        for task in self.sender.tasks:
            task.cancel()
        for formula in self._formulas:
            formula.cancel()

    def resume(self) -> None:
        """Answer what has changed while another page was shown."""
        if self._changed and self.sender.doc is not None and self.shown:
            self.sender.spawn(self._answer())

    def _on_change(self, *events: Any) -> None:
        self._changed |= {event.name for event in events}
        self.resume()

    async def _answer(self) -> None:
        """Answer the latest setting until nothing has changed or another page is shown, unless a task does so."""
        if self._answering:
            return
        self._answering = True
        try:
            await self._answer_all()
        finally:
            self._answering = False

    async def _answer_all(self) -> None:
        while self._changed and self.shown:
            changed, self._changed = self._changed, set()
            try:
                if "dataset" in changed:
                    await self._load()
                await self._answer_once(changed)
                if "answer" in self.alerts.topics:
                    self.alerts.report("answer", "")
            except Exception as error:
                names = sorted(str(self.settings.param[n].label) for n in changed)
                self.work.fail(", ".join(names), error)

    async def _load(self) -> None:
        """Load the facts of the chosen data set."""
        name = self.settings.dataset
        with self.sender.hold():
            if name != self._filled:
                self._clear()
            self.known, self._filled = None, ""
            self.work.stop(f"Loading {uploaded_table.display_name(name)}…")
        assert self.facts_of is not None
        try:
            self._keep_shipped(name)
            known = await self._call(Task(self.facts_of, (name,)))
        except Exception as error:
            if "dataset" not in self._changed:  # no other one was chosen meanwhile
                with self.sender.hold():
                    self._return_to_last(error)
            return
        with self.sender.hold():
            self.known, self._dataset = known, name
            self.controls.dataset_note.object = self.note(known)

    def _return_to_last(self, error: Exception) -> None:
        """Report a data set that cannot be loaded, and choose the last one that could be."""
        title, last = (uploaded_table.display_name(name) for name in (self.settings.dataset, self._dataset))
        self._clear()
        self.fail(title if title == last else f"{title}, so {last} is shown", error, topic="Data set")
        self.headline.object = "<p>This data set has no results.</p>"
        self.work.stop("No data")
        self.settings.dataset = self._dataset  # no axes stay empty

    async def _answer_once(self, changed: set[str]) -> None:
        if self.known is None or "dataset" in self._changed:
            return  # nothing to show, or another data set was chosen while this one was loaded
        with self.sender.hold():
            self.offer(changed)
        values, facts = self.values(), self.known  # `offer` may have changed a setting
        tasks = self.cards.tasks_of(values, facts)
        at_once, late = (
            {task for work in tasks.values() for key, task in work.items() if key[1] == place}
            for place in (IMMEDIATE, DEFERRED)
        )
        if self._answered is None or values != self._answered[0]:
            self.work.stop()
        answering = asyncio.gather(self._ask_formulas(late), *map(self._call, at_once))
        answering.add_done_callback(seen)
        try:
            if not (await asyncio.wait({answering}, timeout=DELAY))[0]:
                with self.sender.hold():
                    self.cards.grey(computing=True, tasks=tasks)
            await answering
        finally:
            answering.cancel()  # the page has been closed
        self._answered, self.cards.tasks = (values, facts), tasks
        with self.sender.hold():
            self.show_risk()
            self._show()
            if "page" in changed:
                self.controls.remind()
        self.sender.spawn(self._complete(self._answered))

    async def _complete(self, answered: tuple[V, F]) -> None:
        """Have the missing results computed, unless a newer setting follows at once."""
        missing = self.cards.missing()
        if missing:
            await asyncio.sleep(DELAY)
        if self._answered is not answered:
            return
        with self.sender.hold():
            self.work.request(missing)
            self.cards.grey(self.work.running)
            due = bool(self._changed) or self._answering
            self.state.data = {"answers": [self.state.data["answers"][0] + 1], "due": [due]}

    def _call(self, task: Task) -> asyncio.Future:
        """Return the future result of a task, computed in the server and kept."""
        return asyncio.wrap_future(self.pool.submit(task, owner=self.settings, by=ANSWERS))

    async def _ask_formulas(self, tasks: set[Task]) -> None:
        """Have formulas computed in the server instead of the last ones; those that take a moment come with curves."""
        for formula in self._formulas:
            formula.cancel()
        self._formulas = [self.pool.submit(task, owner=self.settings, by=FORMULAS) for task in tasks]
        if tasks:
            await asyncio.wait([*map(awaitable, self._formulas)], timeout=PATIENCE)

    def fail(self, what: str, error: BaseException, topic: str | None = "answer") -> None:
        """Log and report an error; a topic of its own keeps the message longer than until the next answer."""
        super().fail(what, error, topic)
        self.cards.grey(self.work.running)

    # ---- what is shown ---------------------------------------------------------------------------------------------

    def _keep_shipped(self, name: str) -> None:
        """Keep the results of a data set that ship."""
        for task, result in self.shipped_results(name).items():
            self.pool.cache.put(task, result)

    def _fill(self) -> None:
        """Fill the main picture with results that ship, so that they are in the document when it opens."""
        name, values = self.settings.dataset, self.values()
        facts = self.shipped_facts(name)
        self.show_risk()
        if facts is not None:
            self._keep_shipped(name)
            self._filled, self._answered, self.cards.tasks = name, (values, facts), self.cards.tasks_of(values, facts)
            self._show()

    def _show(self, arrived: Mapping[Task, Any] | None = None) -> None:
        """Show results and the headline at the answered setting; default: all results that are there."""
        if self._answered is not None:
            self.cards.show(*self._answered, arrived)
            if self.main_card in self.cards.tasks:  # a notebook may show another card alone
                self.headline.object = self.words(*self._answered, self.cards.chosen())
            if self.pins is not None and (self.pins.kept or self.pins.due):
                self.pins.follow()
            if arrived is not None:
                self.cards.grey(self.work.running)

    def _clear(self) -> None:
        self.known, self._answered = None, None
        self.cards.clear_all()
        self.controls.dataset_note.object = self.headline.object = ""

    def _to_pin(self) -> Answer | None:
        """Return the answer of the main picture, None while it is not of the chosen setting."""
        if self._answered is None or self._answered[0] != self.values():
            return None
        return self.cards[self.main_card].to_pin(*self._answered, self.cards.chosen().get(self.main_card, {}))
