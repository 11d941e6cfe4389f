"""Where the cards of a page stand: the picture, the open ones, and those that are made when they are asked for."""

from functools import partial
from typing import Any, ClassVar, Generic

import panel as pn
from bokeh.models import ColumnDataSource
from panel.models.markup import HTML

from dpml_app.core.card import WHOLE, Card, F, Slot, V, answer, card, grid, line
from dpml_app.core.page import BasePage
from dpml_app.core.widgets import Controls


class PlacedCards(BasePage, Generic[V, F]):
    """The places of a page's cards; `dpml_app.core.card_page.CardPage` says what the attributes mean, and computes."""

    page_id: ClassVar[str]
    kinds: ClassVar[tuple[type[Card[Any, Any]], ...]]
    # how a card's line is called
    readout_name: ClassVar[str]
    # the card whose picture answers the page's question
    main_card: ClassVar[str]
    # the cards that are open below it, each made when its place comes near the view; all others stand behind "More"
    details: ClassVar[tuple[str, ...]] = ()
    controls: Controls
    advanced: Slot
    state: ColumnDataSource
    headline: pn.pane.HTML
    _changed: set[str]
    # None: of a data set that is not loaded yet
    _facts: F | None

    def make(self, kind: type[Card[V, F]]) -> Card[V, F]:
        """Return a new card."""
        return kind()

    def connect_card(self, card: Card[V, F]) -> None:
        """Connect a card that has just been made with the page's own script."""

    def resume(self) -> None:
        """Answer what has changed."""
        raise NotImplementedError

    def _make_grids(self) -> None:
        # laid when it is opened: its widgets are half of those of a page
        self.advanced = Slot(f"{self.page_id}-advanced", lambda: self.controls.advanced, room=None)
        self.cards: dict[str, Card[V, F]] = {}
        self.card_slots: dict[str, Slot] = {}
        self.grids = {name: grid([]) for name in ("details", "more")}
        for name, cards_grid in self.grids.items():
            self.regions[name].append(cards_grid)

    def _make_slots(self, values: V) -> None:
        """Make the places that this setting has and that are not there yet, and the picture."""
        new = [kind for kind in self.kinds if kind.name not in self.card_slots and kind.belongs(values)]
        for kind in new:
            slot = Slot(f"{self.page_id}-{kind.name}", partial(self._mounted, kind), wide=kind.wide)
            slot.on_mount = self._on_mount
            self.card_slots[kind.name] = slot
            name = self.readout_name.format(kind.name)
            self.readouts[kind.name] = HTML(text="", name=name, sizing_mode="stretch_width")
            if kind.name == self.main_card:
                self.regions["top"].append(slot)
                slot.mount()
        if new:
            self.slots = [self.advanced, *self.card_slots.values()]
            rest = {name: slot for name, slot in self.card_slots.items() if name != self.main_card}
            for region, cards_grid in self.grids.items():
                opened = region == "details"
                cards_grid.objects = [slot for name, slot in rest.items() if (name in self.details) == opened]
            self.on_slots()
        for kind in self.kinds:
            if kind.name in self.card_slots:
                self.card_slots[kind.name].visible = kind.belongs(values)

    def _card(self, kind: type[Card[V, F]]) -> Card[V, F]:
        """Return a card, made when it is first asked for."""
        if kind.name not in self.cards:
            self.cards[kind.name] = one = self.make(kind)
            if self._facts is not None:
                one.lay_out(self._facts)
            self.connect_card(one)
        return self.cards[kind.name]

    def _mounted(self, kind: type[Card[V, F]]) -> pn.Column:
        """Return what stands in a card's place."""
        one, readout = self._card(kind), self.readouts[kind.name]
        own = [self.controls.widgets[name] for name in one.controls]
        if one.name == self.main_card:
            control = self.controls.widgets[self.controls.in_top]
            rows = [line(*own)] if own else []
            return answer(one.title, one.caption, one.content(), control, *rows, *self.sentences(), readout=readout)
        # a lesson finds them by their class
        above = (pn.Column if one.stacked else line)(*own, css_classes=["card-controls"], **WHOLE)
        aside = one.name in self.details and not one.says
        return card(one.title, readout, one.content(), one.caption, above if own else None, aside=aside)

    def sentences(self) -> list[Any]:
        """Return what stands in words under the picture, before the card's own line."""
        return [self.headline]

    def _on_mount(self) -> None:
        """Compute what a card needs that has just been made."""
        self._changed.add("page")
        self.state.data = {**self.state.data, "due": [True]}
        self.resume()

    def _asked(self, values: V) -> set[str]:
        """Return the names of the cards that are there and that this setting has."""
        return {name for name, one in self.cards.items() if self.card_slots[name].objects and one.belongs(values)}
