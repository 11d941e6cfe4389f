"""The base class of all pages: a question, the regions of the page, its messages and its document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import panel as pn

from dpml.exceptions import DpmlError
from dpml_app.core.alerts import Alerts
from dpml_app.core.card import WHOLE, Card, Slot
from dpml_app.core.layout import GRID_STYLE
from dpml_app.core.pins import Pins
from dpml_app.core.sending import Sender
from dpml_app.jobs import Pool
from dpml_app.serving import log
from dpml_app.settings import PageValues, Shared

# the regions of a page; "Present" shows only the risk beside the picture
REGIONS = {
    "top": "",
    "side": ":host(.alone) > :not(.risk) { display: none !important; }",
    "advanced": "",
    "work": "",
    "details": GRID_STYLE,
    "more": GRID_STYLE,
}


class BasePage:
    """A page of one session: a question, and its answer in the regions that `REGIONS` names.

    Parameters
    ----------
    settings : Shared
    pool : Pool

    Attributes
    ----------
    regions : dict of str to Column
        ``top`` has the picture and its control, ``side`` the controls and texts beside it, ``advanced`` further
        controls, ``work`` the progress of workers, ``details`` the cards below, and ``more`` all other cards.
    alerts : Alerts
    slots : dict of str to Slot
        The places that are filled when they are near the view, or are opened.
    sender : Sender
        The document that shows the page, and the tasks that change it.
    """

    # its name in links, and its title in the navigation; below the title, its question and what to do
    page_id: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    lead: ClassVar[str]
    # its cards: the main picture, those that are open below it, and the rest, which are under "More"
    kinds: ClassVar[tuple[type[Card[Any, Any]], ...]] = ()
    main_card: ClassVar[str] = ""
    details: ClassVar[tuple[str, ...]] = ()
    # its settings, and their values at one moment
    settings_kind: ClassVar[type[Shared]] = Shared
    values_kind: ClassVar[type[PageValues]] = PageValues
    # figures of the texts of lessons on the page
    lesson_figures: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    # why the page does not offer a data set
    unsupported_reason: ClassVar[str] = "has more than two classes, and this page needs two"
    # the settings of ε and the relation whose risk it shows
    risk_of: ClassVar[tuple[str, str]] = ("epsilon", "relation")
    controls: Any
    # settings that are kept beside the one that is shown; None: the page has no answer to compare
    pins: Pins | None = None
    shown = True

    def __init__(self, settings: Shared, pool: Pool):
        self.settings, self.pool, self.alerts, self.sender = settings, pool, Alerts(), Sender()
        self.regions = {name: pn.Column(stylesheets=[style], **WHOLE) for name, style in REGIONS.items()}
        self.regions["top"].append(self.alerts)
        self.slots: dict[str, Slot] = {}

    @classmethod
    def can_pin(cls) -> bool:
        """Return whether the main picture gives an answer that can be pinned."""
        return any(kind.name == cls.main_card and kind.to_pin is not Card.to_pin for kind in cls.kinds)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets that the page can show; empty: any."""
        return self.controls.datasets if "dataset" in self.values_kind.names() else ()

    async def start(self) -> None:
        """Begin to answer; called once the page is in the browser."""
        self.sender.doc = self.sender.doc or pn.state.curdoc

    def resume(self) -> None:
        """Answer what has changed while another page was shown."""

    def stop(self) -> None:
        """Stop computing for a page that has been closed."""
        self.sender.doc = None

    def fail(self, what: str, error: BaseException, topic: str | None = None) -> None:
        """Log and report an error."""
        log.failed(error)
        text = str(error) if isinstance(error, DpmlError) else f"{type(error).__name__}: {error}"
        self.alerts.report(topic or what, f"{what}: {text}")
