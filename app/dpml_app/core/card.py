"""The cards of a page: what one declares, and the places and results of all.

A page uses its cards only through the contract `Card`, so a new card is a class in a file of its own. A card is created
when its place is near the view. Until then it uses no time of the server or the browser.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from operator import itemgetter
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd
import panel as pn
from bokeh.models import Plot
from panel.models.markup import HTML
from panel.viewable import Viewable

from dpml_app.jobs import Cache, Task
from dpml_app.settings import PageValues

# While a card waits, its place sets both variables: figures are greyed, and the card says so once, over them.
WAITING_STYLE = """
:host(.waiting) { --figure-opacity: 0.4; }
:host(.computing) { --waiting-text: "Computing…"; }
"""
WHOLE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}

# A series and a place on its axis. Three places are of the setting that is chosen. What is at IMMEDIATE is answered at
# once, in the server; what is at DEFERRED as well, but nothing waits for it; what is at WORKER is slow, so that workers
# compute it, before anything else.
ResultKey = tuple[str, Any]
IMMEDIATE, DEFERRED, WORKER = "now", "late", "soon"
CHOSEN = (IMMEDIATE, DEFERRED, WORKER)
V = TypeVar("V", bound=PageValues)
F = TypeVar("F")
Results = Mapping[ResultKey, Any]


@dataclass(frozen=True)
class Number:
    """A number of an answer, in words, and its interval; an exact one has none."""

    what: str
    value: str
    interval: str = ""


@dataclass(frozen=True)
class Answer:
    """The numbers with which a page's picture answers at a setting."""

    numbers: tuple[Number, ...]
    # what the intervals hold
    within: str = ""


class Card(Generic[V, F]):
    """One card of a page: its figures, what has to be computed for it, and how results are shown.

    It is of the page's values V and of what is known of the data set, F.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    # settings whose widgets stand in the card
    controls: ClassVar[tuple[str, ...]] = ()
    # whether it is as wide as the page
    wide: ClassVar[bool] = False
    # why the code behind its plot is not offered; empty: it is
    no_script: ClassVar[str] = ""
    # how long its code takes, where results of the default classifier may not ship
    takes: ClassVar[str] = ""
    # makes the card's figure, which has a `plot`; a card of several figures is given them. None: it has no figure
    draw: ClassVar[Callable[[], Any] | None]
    # what `draw` has made, and the Bokeh figures in it
    figures: Sequence[Any] = ()
    plots: list[Plot]

    def __init__(self, *figures: Any):
        draw = getattr(type(self), "draw", None)
        self.figures = list(figures) or ([draw()] if draw else [])
        self.figure: Any = self.figures[0] if self.figures else None
        self.plots = [f.plot for f in self.figures]

    def content(self) -> list[Any]:
        """Return the content of the card: plots or other components."""
        return list(self.plots)

    def refusal(self, values: V, facts: F) -> str:
        """Return in a sentence why the card says nothing about this data set or choice; empty if it does."""
        return ""

    def work(self, values: V, facts: F) -> dict[ResultKey, Task]:
        """Return the tasks that the card needs at this setting, each under its place."""
        return {}

    def greyed(self, results: Results, wanted: Mapping[ResultKey, Task], computing: bool) -> bool:
        """Return whether the card waits and is greyed; a card that greys a part of its plot does it here."""
        return len(results) < len(wanted)

    def show(self, values: V, facts: F, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        """Show a setting: markers, levels and legend, and the results that are there.

        `results` has all those at IMMEDIATE. Curves without any result stay, until a new one comes.
        """

    def readout(self, values: V, facts: F, results: Results) -> str:
        """Return in words, as HTML, what the plot shows at the setting that is chosen."""
        return ""

    def to_pin(self, values: V, facts: F, results: Results) -> Answer | None:
        """Return what a page's picture shows, to be pinned; None while there is nothing to pin."""
        return None

    def clear(self) -> None:
        """Show nothing."""
        for figure in self.figures:
            figure.clear()

    @classmethod
    def browser_tables(cls, values: V) -> dict[str, pd.DataFrame]:
        """Return the tables of what the browser computes by itself."""
        return {}


def here(results: Results, series: str) -> Any:
    """Return what is known of a series at the setting that is chosen, or None."""
    return results.get((series, IMMEDIATE), results.get((series, WORKER)))


class Slot(pn.Column):
    """The place of a card, filled when `mount` is called; until then it has the height of a card, or of `room`."""

    def __init__(self, name: str, make: Callable[[], Viewable], wide: bool = False, room: int | None = 560):
        look = {"flex-basis": "100%"} if wide else {}
        super().__init__(name=f"place-{name}", styles=look, min_height=room, stylesheets=[WAITING_STYLE], **WHOLE)
        self.make = make

    def mount(self) -> None:
        """Put the card in its place."""
        if not self.objects:
            self.objects = [self.make()]
            self.min_height = None

    def wait(self, waiting: bool, computing: bool) -> None:
        """Grey the figures of a card that waits for results, with one "Computing…" while they are computed."""
        classes = ["waiting"] * waiting + ["computing"] * (waiting and computing)
        if self.css_classes != classes:
            self.css_classes = classes


# the tasks of each open card
Tasks = Mapping[str, Mapping[ResultKey, Task]]


class Cards(dict[str, Card[V, F]], Generic[V, F]):
    """The cards that are made, by their names, with what they ask for and show.

    Parameters
    ----------
    page_id : str
    kinds : sequence of classes of Card
    cache : Cache
        The results.
    lay : callable
        Returns the layout of a new card, from the card and the model of its sentence.

    Attributes
    ----------
    slots : dict of str to Slot
        The place of each card, which makes the card when it is mounted.
    readouts : dict of str to HTML
        The sentence of each card.
    tasks : mapping of str to mapping of ResultKey to Task
        The tasks whose results the open cards show.
    """

    def __init__(
        self, page_id: str, kinds: Sequence[type[Card]], cache: Cache, lay: Callable[[Card, HTML], Viewable]
    ) -> None:
        super().__init__()
        self._page_id, self._cache, self._lay = page_id, cache, lay
        self.slots = {kind.name: Slot(f"{page_id}-{kind.name}", partial(self._make, kind), kind.wide) for kind in kinds}
        self.readouts: dict[str, HTML] = {}
        self.tasks: Tasks = {}

    def _make(self, kind: type[Card]) -> Viewable:
        readout = HTML(text="", name=f"{self._page_id}-{kind.name}-readout", sizing_mode="stretch_width")
        self[kind.name], self.readouts[kind.name] = kind(), readout
        return self._lay(self[kind.name], readout)

    def tasks_of(self, values: V, facts: F) -> Tasks:
        """Return the tasks of each open card at a setting; a card that refuses the setting has none."""
        opened = {name: card for name, card in self.items() if self.slots[name].objects}
        return {n: {} if card.refusal(values, facts) else card.work(values, facts) for n, card in opened.items()}

    def missing(self) -> list[Task]:
        """Return the tasks without a result, each once: first those at WORKER, then the others, card by card."""
        ranked: list[tuple[bool, Task]] = []
        for work in self.tasks.values():
            there = self._cache.known(work)
            ranked += [(key[1] != WORKER, task) for key, task in work.items() if key not in there]
        return list(dict.fromkeys(task for _rank, task in sorted(ranked, key=itemgetter(0))))

    def chosen(self) -> dict[str, Results]:
        """Return the results of each card that are there at the chosen setting."""
        return {
            name: self._cache.known({key: task for key, task in work.items() if key[1] in CHOSEN})
            for name, work in self.tasks.items()
        }

    def show(self, values: V, facts: F, arrived: Mapping[Task, Any] | None = None) -> None:
        """Show all results that are there, in the cards that asked for one of those that arrived; default: in all."""
        for name, work in self.tasks.items():
            if arrived is not None and arrived.keys().isdisjoint(work.values()):
                continue
            card, refusal = self[name], self[name].refusal(values, facts)
            for plot in card.plots:
                plot.visible = not refusal
            if refusal:
                card.clear()
                sentence = f"Not available for this setting: {refusal}"
            else:
                results = self._cache.known(work)
                card.show(values, facts, results, work)
                sentence = card.readout(values, facts, results)
            self.readouts[name].text = escape(sentence)  # the model's view takes escaped HTML

    def grey(self, computing: bool, tasks: Tasks | None = None) -> None:
        """Grey each card that lacks results, of a newer setting if its `tasks` are given."""
        for name, work in (self.tasks if tasks is None else tasks).items():
            self.slots[name].wait(self[name].greyed(self._cache.known(work), work, computing), computing)

    def clear_all(self) -> None:
        """Show nothing in any card."""
        self.tasks = {}
        for name, card in self.items():
            card.clear()
            self.readouts[name].text = ""
