"""A page of the app without a browser: its settings, widgets and data sources, with a pool in this process."""

import asyncio
import re
from html import unescape
from unittest.mock import patch

import numpy as np
import panel_material_ui as pmui
from bokeh.document import Document
from bokeh.models import ColumnDataSource, Legend
from dpml_app.core import link, page
from dpml_app.jobs import Pool
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from panel.io.state import set_curdoc

PATIENCE = 300


def pool_here():
    """Return a pool whose worker is a thread of this process."""
    return Pool(1, processes=False)


def plain(value):
    """Return what a source holds as lists, in which NaN is None as in the browser."""
    values = np.asarray(value).tolist() if not isinstance(value, list) else value
    return [None if isinstance(v, float) and np.isnan(v) else plain(v) if isinstance(v, np.ndarray) else v
            for v in values]  # fmt: skip


class PageAlone:
    """A page with all of its cards; what the browser draws it does not draw."""

    def __init__(self, pool):
        self.pool, self.page, self.only = pool, None, set()
        self._found = [], {}
        self.loop = asyncio.new_event_loop()

    def enter(self, page_id, query="", only=()):
        """Open a page by its name and a link, and wait until all that it shows is there.

        `only` names the cards that are made beside the picture; empty: all.
        """
        assert page_id in PAGES
        self.stop()
        self.only = {f"place-{page_id}-{name}" for name in only}
        settings = Settings()
        names = ["page", *settings.names()]
        self.faults = link.read(settings, link.parse(f"page={page_id}{query}"), names)
        self.page = PAGES[page_id](settings, self.pool)
        self._mounted()
        self._run(self.page.start)
        return self

    def act(self, **changes):
        """Change widgets, or settings that have none or a button, and wait for the answer, curves included."""

        async def change():
            for name, value in changes.items():
                widget = self.page.controls.widgets.get(name)
                if widget is None or isinstance(widget, pmui.Button):
                    setattr(self.page.settings, name, value)
                else:
                    widget.value = value

        self._run(change)

    def _run(self, work):
        async def until_it_rests():
            with set_curdoc(self.doc):
                await work()
                while self._busy or self._mounted():
                    await asyncio.sleep(0.005)

        self.doc = self.page.sender.doc or Document()
        with patch.object(page, "DELAY", 0.0):  # nobody drags a slider any further
            self.loop.run_until_complete(asyncio.wait_for(until_it_rests(), PATIENCE))

    def _mounted(self):
        """Fill the places that are still empty; return whether there were any."""
        asked = [place for place in self.page.slots.values() if not self.only or place.name in self.only]
        empty = [place for place in asked if not place.objects]
        for place in empty:
            place.mount()
        return bool(empty)

    @property
    def _busy(self):
        page = self.page
        return bool(page.sender.tasks or page.work.running)

    def stop(self):
        if self.page is not None:
            self.page.stop()
            self.page = None

    def close(self):
        self.stop()
        self.loop.close()

    # ---- what it shows ------------------------------------------------------------------------------------------

    @property
    def sources(self):
        """The data sources of all plots, by name; looked up anew where a plot or a series has come."""
        plots = [plot for card in self.page.cards.values() for plot in card.plots]
        drawn = [(plot, len(plot.renderers)) for plot in plots]
        if self._found[0] != drawn:
            self._found = drawn, {s.name: s for plot in plots for s in plot.select({"type": ColumnDataSource})}
        return self._found[1]

    def read(self, name):
        return {column: plain(values) for column, values in self.sources[name].data.items()}

    def array(self, name, column):
        return np.asarray(self.sources[name].data[column], dtype=float)

    def model(self, name):
        """Return a figure, a line or a label by its name; None where there is none."""
        found = [m for card in self.page.cards.values() for plot in card.plots for m in plot.references()
                 if m.name == name]  # fmt: skip
        return found[0] if found else None

    def labels(self, figure):
        """Return what a figure's legend names."""
        items = [item for legend in self.model(figure).select(Legend) for item in legend.items if item.visible]
        return [item.label.value for item in items]

    @property
    def settings(self):
        page = self.page
        return {name: getattr(page.settings, name) for name in page.values_kind.names()}

    @property
    def text(self):
        page = self.page
        said = [unescape(line.text) for line in page.cards.readouts.values()]
        said += [card.caption for card in page.cards.values()]
        said += [pane.object or "" for pane in (page.headline, page.controls.dataset_note)]
        return " ".join(re.sub(r"<[^>]+>", "", words) for words in said)

    @property
    def alerts(self):
        return [unescape(alert.object) for alert in self.page.alerts]
