"""Data whose files are not on this machine: they are marked, and a button gets them from where they are published.

Nothing is downloaded before the button is pressed that says how much comes from where, and under which licence.
"""

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from functools import cached_property, partial
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
from dpml_app.drawing.progress import bar, filled
from dpml_app.jobs import LONG
from dpml_app.kit.widgets import make_widget
from dpml_app.settings import Shared

# the first page shows real people where it can, else people who were drawn from tables
REAL, GENERATED = "adult", "census"
NOT_HERE = " (not downloaded)"
POLL_SECONDS = 0.25
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


class Download:
    """The files of one data set on their way; it is the bar that the library tells how they come.

    `size`, `done`: bytes of all files that are missing, and of those the ones that have come.
    `future`: ends with the files in the folder, or with what failed.
    """

    def __init__(self, name: str):
        self.name = name
        self.files = missing(name)
        self.size = sum(self.files.values())
        self._whole = self._part = self._total = 0
        # one after the other: what comes from one place is polite, and files are shared by several sets
        self.future: Future = LONG.call(partial(fetch, name, bar=self), owner="downloads")

    @property
    def done(self) -> int:
        return min(self._whole + self._part, self.size)

    @property
    def total(self) -> int:
        """The bytes of the file that comes now, which an archive may make fewer; set at each attempt."""
        return self._total

    @total.setter
    def total(self, value: int) -> None:
        self._total, self._part = value, 0

    def update(self, n: int) -> None:
        """Add what has come."""
        self._part += n

    def reset(self) -> None:
        """Begin the file again."""
        self._part = 0

    def close(self) -> None:
        """Count a file that is there as a whole."""
        self._whole, self._part = self._whole + self._part, 0


_RUNNING: dict[str, Download] = {}
_CHANGING = threading.Lock()


def download(name: str) -> Download:
    """Return the download of a data set: the one that runs, for all sessions, or else a new one."""
    with _CHANGING:
        running = _RUNNING.get(name)
        if running is None or running.future.done():
            running = _RUNNING[name] = Download(name)
        return running


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
        self.bar = bar()
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
        self.bar.object = ""
        self.text.object = self._says(self.name) if self.name else ""
        self.button.param.update(label="Download" if self.name else "Download real data", disabled=False)
        self.column.objects = [self.text, self.button, self.bar] if self.name else [self.button]

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
        self.button.disabled = True
        task = asyncio.get_running_loop().create_task(self.follow(download(self.name), pn.state.curdoc))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def follow(self, coming: Download, doc: Document | None) -> None:
        """Show how a download goes; show the data once they are here, or say what failed."""
        with set_curdoc(doc):
            while not coming.future.done():
                with pn.io.hold(doc):
                    self.bar.object = filled("Download", coming.done, coming.size)
                    self.button.label = f"{megabytes(coming.done)} of {megabytes(coming.size)}"
                await asyncio.sleep(POLL_SECONDS)
            error = coming.future.exception()
            with pn.io.hold(doc):
                if error is None:
                    self.offer("")
                    self.settings.assign({"dataset": coming.name})
                else:
                    self.offer(coming.name)
                    self.button.label = "Try again"
                    self.text.object += failed(coming, error)


def failed(coming: Download, error: BaseException) -> str:
    """Return what one can do where a download fails, and the whole of what is known of it behind a line."""
    files = escape(" and ".join(coming.files))
    reason = str(error) if isinstance(error, DpmlError) else f"{type(error).__name__}: {error}"
    return (
        "<p><b>The download failed, and no file was written.</b> Check the network and try again. "
        f"Or download {files} yourself and put {'them' if len(coming.files) > 1 else 'it'} into "
        f"{escape(str(data_folder()))}.</p><details><summary>Details</summary>{escape(reason)}</details>"
    )
