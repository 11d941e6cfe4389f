"""What a cell shows: a page or one card of it, which computes in the kernel's own loop once it is in the browser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import panel as pn
import param
from bokeh.document import Document
from panel.io.notebook import block_comm
from panel.io.resources import LOCAL_DIST

from dpml_app import uploaded_table
from dpml_app.core.page import CardPage
from dpml_app.kit.notebook import inline_styles

LIGHT = {"background": "#ffffff", "color": "#16202c", "--panel-surface-color": "#ffffff"}
DARK = {"background": "#121820", "color": "#e8edf2", "--panel-surface-color": "#1b232d"}
STYLE = """
:host {
  --numbers-button: none; padding: 12px; box-sizing: border-box; font-family: Roboto, Helvetica, Arial, sans-serif;
}
"""


# JupyterLab gives each output's messages a thread of its own, and Panel (1.9.4) blocks the pushes of all by one flag,
# which the end of any block takes away: so one output changes at a time, and one block holds those inside it
_CHANGING = threading.RLock()


class Opened(pn.custom.JSComponent):
    """An empty element that tells the kernel once a browser shows it."""

    opened = param.Boolean(default=False)

    _esm = "export function render({ model }) { model.opened = true }"


class Live(pn.Column):
    """Some parts of a page, shown by a notebook; every display of it is a page of its own.

    Parameters
    ----------
    page : CardPage
    parts : list
        What of it is shown.
    table : UploadedTable, optional
        The reader's own table that it is about, which goes with it.
    again : callable
        Makes another one with the same settings.
    """

    def __init__(
        self, page: CardPage, parts: list[Any], table: uploaded_table.UploadedTable | None, again: Callable[[], Live]
    ):
        # notebooks have grounds of their own, and Panel's theme says which is wanted
        colors = DARK if pn.config.theme == "dark" else LIGHT
        look: dict[str, Any] = {"stylesheets": [STYLE], "styles": colors, "sizing_mode": "stretch_width", "margin": 0}
        self._opened = Opened(margin=0)
        super().__init__(self._opened, *parts, hooks=[inline_styles, self._on_shown], **look)
        self._page, self._table, self._another = page, table, again
        self._root: Any = None
        self._in_message = False
        page.sender.one_message = self._one_message
        page.controls.hold = self._one_message
        self._opened.param.watch(self._start, "opened")

    @property
    def page(self) -> CardPage:
        """The page, with its settings."""
        return self._page

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return what a notebook shows."""
        shown = self if self._root is None else self._another()
        return super(Live, shown)._repr_mimebundle_(include, exclude)

    def _on_shown(self, _output: Any, root: Any, *_changed: Any) -> None:
        self._root = root
        _SHOWN[root.ref["id"]] = self

    def _start(self, _event: Any) -> None:
        """Let the page begin, now that a browser listens."""
        self._page.sender.doc = pn.state.curdoc
        self._page.sender.spawn(self._page.start())

    @contextmanager
    def _one_message(self, _doc: Document | None = None) -> Iterator[None]:
        """Send what changes as one message, with its styles.

        Panel holds the document of a cell, and sends by `push_notebook`. A widget's document sends each change at
        once; it is not the one that Panel names, which the widget leaves empty.
        """
        with _CHANGING:
            if self._in_message:
                yield
                return
            doc = None if self._root is None else self._root.document
            held = doc is None or doc.callbacks.hold_value is not None
            if doc is not None:
                # a message of the browser may end the hold in between: what is not inlined then asks the own host
                doc.template_variables["dist_url"] = LOCAL_DIST
                if not held:
                    doc.hold()
            self._in_message = True
            try:
                with block_comm():
                    yield
                    if self._root is not None:
                        inline_styles(self, self._root)
            finally:
                self._in_message = False
                if doc is not None and not held:
                    doc.unhold()
            pn.io.push_notebook(self)

    def close(self) -> None:
        """Stop computing, and let the table go."""
        if self._root is not None:
            _SHOWN.pop(self._root.ref["id"], None)
        self._page.stop()
        if self._table is not None:
            self._page.pool.forget(self._table.name)
            self._table = None


# what notebooks show, by the id of its model
_SHOWN: dict[str, Live] = {}


def _close(root_id: str) -> None:
    """Close what an output showed that has been deleted."""
    if root_id in _SHOWN:
        _SHOWN[root_id].close()


pn.extension.add_delete_action(_close)
