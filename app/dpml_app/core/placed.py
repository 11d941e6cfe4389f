"""Where the cards of a page stand: the picture, the open ones, and those that are made when they are asked for."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import panel as pn
from bokeh.models import ColumnDataSource, Legend
from panel.models.markup import HTML

from dpml_app.core.card import WHOLE, Card, Slot, Values, answer, card, grid, line
from dpml_app.core.page import BasePage
from dpml_app.core.widgets import Controls

__all__ = ["PlacedCards"]


class PlacedCards(BasePage):
    """The places of a page's cards; `dpml_app.core.card_page.CardPage` has the attributes' meaning and computes for them."""

    room: ClassVar[str]
    kinds: ClassVar[tuple[type[Card], ...]]
    readout_name: ClassVar[str]
    hero: ClassVar[str]
    why: ClassVar[tuple[str, ...]]
    controls: Controls
    state: ColumnDataSource
    headline: pn.pane.HTML
    _changed: set[str]
    # None: of a data set that is not loaded yet
    _facts: Values | None

    def make(self, kind: type[Card]) -> Card:
        """Return a new card."""
        return kind()

    def resume(self) -> None:
        """Answer what has changed."""
        raise NotImplementedError

    def _make_grids(self) -> None:
        self.readouts, self.slots = {}, []
        self.cards: dict[str, Card] = {}
        self.card_places: dict[str, Slot] = {}
        self.grids = {"why": grid([]), "more": grid([])}
        for name, made in self.grids.items():
            self.places[name].append(made)

    def _make_places(self, values: Values) -> None:
        """Make the places that this setting has and that are not there yet, and the cards that are open."""
        new = [kind for kind in self.kinds if kind.name not in self.card_places and kind.belongs(values)]
        for kind in new:
            place = Slot(f"{self.room}-{kind.name}", partial(self._mounted, kind), wide=kind.wide)
            place.on_mount = self._on_mount
            self.card_places[kind.name] = place
            name = self.readout_name.format(kind.name)
            self.readouts[kind.name] = HTML(text="", name=name, sizing_mode="stretch_width")
            if kind.name == self.hero:
                self.places["top"].append(place)
                place.mount()
            elif kind.name in self.why:
                self._card(kind)
        if new:
            self.slots = list(self.card_places.values())
            rest = {name: place for name, place in self.card_places.items() if name != self.hero}
            self.grids["why"].objects = [place for name, place in rest.items() if name in self.why]
            self.grids["more"].objects = [place for name, place in rest.items() if name not in self.why]
            self.on_places()
        for kind in self.kinds:
            if kind.name in self.card_places:
                self.card_places[kind.name].visible = kind.belongs(values)

    def _card(self, kind: type[Card]) -> Card:
        """Return a card, made when it is first asked for."""
        if kind.name not in self.cards:
            self.cards[kind.name] = made = self.make(kind)
            if self._facts is not None:
                made.lay_out(self._facts)
        return self.cards[kind.name]

    def _mounted(self, kind: type[Card]) -> pn.Column:
        """Return what stands in a card's place."""
        made, readout = self._card(kind), self.readouts[kind.name]
        own = [self.controls.widgets[name] for name in made.controls]
        if made.name == self.hero:
            control = self.controls.widgets[self.controls.in_top]
            rows = [line(*own)] if own else []
            return answer(made.title, made.caption, made.plots, control, *rows, *self.sentences(), readout=readout)
        above = pn.Column(*own, **WHOLE) if made.stacked else line(*own)
        if made.name in self.why and made.like_hero:
            for legend in made.plots[0].select(Legend):
                legend.visible = False
        aside = made.name in self.why and not made.says
        return card(made.title, readout, made.content(), made.caption, above if own else None, aside=aside)

    def sentences(self) -> list[Any]:
        """Return what stands in words under the picture, before the card's own line."""
        return [self.headline]

    def _on_mount(self) -> None:
        """Compute what a card needs that has just been made."""
        self._changed.add("page")
        self.state.data = {**self.state.data, "due": [True]}
        self.resume()

    def _asked(self, values: Values) -> set[str]:
        """Return the names of the cards that are there and that this setting has."""
        return {name for name, made in self.cards.items() if self.card_places[name].objects and made.belongs(values)}
