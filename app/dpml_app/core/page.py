"""What every page has: its regions, messages, lines that are read out, tasks of its own, and an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from typing import Any, ClassVar
from weakref import WeakSet

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from panel.io.state import set_curdoc
from panel.models.markup import HTML

from dpml.exceptions import DpmlError
from dpml_app.core.card import BOX_STYLE, WHOLE, Slot
from dpml_app.core.pins import Pins
from dpml_app.core.values import PageValues
from dpml_app.drawing.sweep import Bars, Sweep
from dpml_app.jobs import Pool
from dpml_app.kit.widgets import in_notebook
from dpml_app.serving import log
from dpml_app.settings import Shared
from dpml_app.text.phrases import PEOPLE_STYLE, risk

REGIONS = ("top", "side", "advanced", "work", "details", "more")
HEADLINE_STYLE = """
:host { font-size: 1.15rem; line-height: 1.45; }
p { margin: 0.25em 0; }
"""


# what Panel calls Material's severities
ALERT_TYPES = {"error": "danger", "info": "info"}

# seconds from a message to the empty change that follows it, and the source that changes
FLUSH_DELAY = 0.1
FLUSH = "flush"
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
    source = None if doc is None else doc.get_model_by_name(FLUSH)
    if doc is not None and source is not None and doc not in _FLUSHING:
        _FLUSHING.add(doc)
        asyncio.get_running_loop().call_later(FLUSH_DELAY, _flush, doc, source)


def _flush(doc: Document, source: Any) -> None:
    """Change a source that nothing shows: Panel 1.9 may keep a message, written while it sends, until the next one."""
    _FLUSHING.discard(doc)
    if doc.session_context is not None:
        with set_curdoc(doc), pn.io.hold(doc):
            source.data = {"count": [source.data["count"][0] + 1]}


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
    # its settings, and their values at one moment
    settings_kind: ClassVar[type[Shared]] = Shared
    values_kind: ClassVar[type[PageValues]] = PageValues
    # what the page answers, and a line on what to do
    question: ClassVar[str]
    lead: ClassVar[str]
    # of the settings, a card and the names in a link: what the plot of an exported lesson's step on the page holds
    lesson_plot: ClassVar[staticmethod[..., Sweep | Bars] | None] = None
    # what the texts of lessons on the page may name
    lesson_figures: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    controls: Any
    # the settings whose ε and relation it tells the risk of
    risk_of: ClassVar[tuple[str, str]] = ("epsilon", "relation")
    # why it cannot show another one
    unsupported_reason: ClassVar[str] = "has more than two classes, and this page needs two"
    # whether there are cards that are made when they are asked for
    has_more: ClassVar[bool] = True
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
        # called when the page has other slots than before
        self.on_slots: Callable[[], None] = lambda: None
        self.alerts = pn.Column(sizing_mode="stretch_width", margin=0)
        self.regions = {name: pn.Column(**WHOLE) for name in REGIONS}
        self.regions["top"].append(self.alerts)
        look = [BOX_STYLE, PEOPLE_STYLE]
        margin = (0, 0, 12, 0)
        self.risk = pn.pane.HTML("", css_classes=["risk"], margin=margin, stylesheets=look, sizing_mode="stretch_width")
        self._messages: dict[str, tuple[str, str]] = {}
        self._in_notebook = in_notebook()
        self._doc: Document | None = None
        self._tasks: set[asyncio.Task] = set()

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets that the page can show; empty: any."""
        return ()

    def show_risk(self) -> None:
        """Say what ε hides."""
        self.risk.object = risk(*(getattr(self.settings, name) for name in self.risk_of))

    # ---- messages -----------------------------------------------------------------------------------------------

    def report(self, topic: str, text: str, severity: str = "error") -> None:
        """Show a message; a later one on the same topic replaces it."""
        self._messages[topic] = (severity, text)
        self._show_messages()

    def clear(self, topic: str) -> None:
        """Take a topic's message away."""
        if self._messages.pop(topic, None) is not None:
            self._show_messages()

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

    def _mention(self, topic: str, text: str) -> None:
        """Show a note on a topic, or take it away where there is nothing to say."""
        if text:
            self.report(topic, text, "info")
        else:
            self.clear(topic)

    def _read_out(self, name: str, text: str) -> None:
        self.readouts[name].text = escape(text)  # the model's view takes escaped HTML

    # ---- pins ----------------------------------------------------------------------------------------------------

    @classmethod
    def can_pin(cls) -> bool:
        """Return whether the page's picture gives an answer that can be kept and compared."""
        return False

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

    @staticmethod
    async def _in_thread(threads: Pool, function: Callable, *arguments: Any) -> Any:
        return await asyncio.wrap_future(threads.call(function, *arguments))
