"""Data whose files are not on this machine: they are marked, and a button gets them from where they are published.

Nothing is downloaded before the button is pressed that says how much comes from where, and under which licence.
"""

import asyncio
from collections.abc import Iterable
from functools import cached_property
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlsplit

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from panel.io.state import set_curdoc

from dpml.datasets import card, data_folder, fetch, missing
from dpml.exceptions import DpmlError
from dpml_app.data.facts import CARDS
from dpml_app.jobs import LONG
from dpml_app.kit.widgets import make_widget
from dpml_app.settings import Shared

# the first page shows real people where it can, else people who were drawn from tables
REAL, GENERATED = "adult", "census"
NOT_HERE = " (not downloaded)"
STYLE = ":host { font-size: 0.9rem; line-height: 1.4; } p { margin: 0 0 4px; } a { color: inherit; }"


def first() -> str:
    """Return the data set that a link shows which names nothing but a page."""
    return GENERATED if missing(REAL) else REAL


def titled(names: Iterable[str]) -> dict[str, str]:
    """Return data sets by their titles, those whose files are not here marked.

    >>> titled(["toy"])
    {'Toy, generated': 'toy'}
    """
    return {CARDS[name]["menu"] + (NOT_HERE if missing(name) else ""): name for name in names}


def megabytes(size: int) -> str:
    """Return a number of bytes in words.

    >>> megabytes(5_977_458), megabytes(11_903)
    ('6.0 MB', '0.1 MB')
    """
    return f"{max(size / 1e6, 0.1):.1f} MB"


class Offer:
    """What stands under the choice of data, for one session and page.

    `settings`: `missing_dataset` tells which data set was asked for and is not here; the data set is chosen once it is.
    `datasets`: those that the page can show.
    """

    WIDE: ClassVar[dict[str, Any]] = {"sizing_mode": "stretch_width", "margin": (4, 12)}

    def __init__(self, settings: Shared, datasets: Iterable[str]):
        self.settings, self.datasets = settings, tuple(datasets)
        self.name = ""
        self.text = pn.pane.HTML("", stylesheets=[STYLE], **self.WIDE)
        self.column = pn.Column(sizing_mode="stretch_width", margin=0)
        self._tasks: set[asyncio.Task] = set()
        self.offer(settings.missing_dataset.dataset)
        settings.missing_dataset.param.watch(lambda event: self.offer(event.new), "dataset", onlychanged=False)

    @cached_property
    def button(self) -> Any:
        """The button that asks what can be downloaded, and then gets it; made where there is something to download."""
        button = make_widget(pmui.Button, variant="outlined", **self.WIDE)
        button.on_click(self._on_click)
        return button

    def offer(self, name: str) -> None:
        """Say what can be downloaded, and from where; no name, or one that the page cannot show: the button alone."""
        self.name = name if name in self.datasets and missing(name) else ""
        if not self.name and not (REAL in self.datasets and missing(REAL)):
            self.column.objects = []
            return
        self.text.object = self._says(self.name) if self.name else ""
        self.button.param.update(label="Download" if self.name else "Download real data", disabled=False)
        self.column.objects = [self.text, self.button] if self.name else [self.button]

    @staticmethod
    def _says(name: str) -> str:
        facts, size = card(name), sum(missing(name).values())
        source = escape(facts["source"])
        return (
            f"<p><b>{escape(facts['title'])}</b> is not on this machine yet. {escape(facts['summary'])}</p>"
            f'<p>{megabytes(size)} from <a href="{source}" target="_blank" rel="noopener">'
            f"{escape(urlsplit(facts['source']).netloc)}</a>. Licence: {escape(facts['licence'])}.</p>"
        )

    def _on_click(self, _event: Any) -> None:
        if not self.name:
            self.offer(REAL)
            return
        self.button.param.update(label="Downloading…", disabled=True)
        task = asyncio.get_running_loop().create_task(self.download(self.name, pn.state.curdoc))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def download(self, name: str, doc: Document | None) -> None:
        """Download a data set, and show it once it is here, or say what failed."""
        error = None
        with set_curdoc(doc):
            try:
                # one after the other, of all sessions: the second one finds the files of the first
                await asyncio.wrap_future(LONG.call(fetch, name, owner="downloads"))
            except Exception as raised:
                error = raised
            with pn.io.hold(doc):
                self.offer("" if error is None else name)
                if error is None:
                    self.settings.assign({"dataset": name})
                else:
                    self.button.label = "Try again"
                    self.text.object += failed(name, error)


def failed(name: str, error: Exception) -> str:
    """Return what one can do where a download fails, and the whole of what is known of it behind a line."""
    files = list(missing(name))
    reason = str(error) if isinstance(error, DpmlError) else f"{type(error).__name__}: {error}"
    return (
        "<p><b>The download failed, and no file was written.</b> Check the network and try again. "
        f"Or download {escape(' and '.join(files))} yourself and put {'them' if len(files) > 1 else 'it'} into "
        f"{escape(str(data_folder()))}.</p><details><summary>Details</summary>{escape(reason)}</details>"
    )
