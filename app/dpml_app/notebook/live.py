"""What a cell shows: a page or one card of it, which computes in the kernel's own loop once it is in the browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from panel.io.notebook import block_comm, push
from panel.io.state import set_curdoc

from dpml_app import compat, uploaded_table
from dpml_app.core.card_page import CardPage
from dpml_app.core.page import one_message

# how often is looked whether the output is in the browser
POLL_SECONDS = 0.1
LIGHT = {"background": "#ffffff", "color": "#16202c", "--panel-surface-color": "#ffffff"}
DARK = {"background": "#121820", "color": "#e8edf2", "--panel-surface-color": "#1b232d"}
STYLE = """
:host {
  --numbers-button: none; padding: 12px; box-sizing: border-box; font-family: Roboto, Helvetica, Arial, sans-serif;
}
"""


@contextmanager
def held(comm: Any, doc: Document | None) -> Iterator[None]:
    """Send what changes as one message, with the styles of new parts and not their addresses."""
    with pn.io.hold(doc), block_comm():
        with one_message(doc):
            yield
        if doc is not None:
            compat.inline_changes(doc)
    if doc is not None and comm is not None:
        push(doc, comm)


class Live(compat.OutputColumn):
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
        # the first widget of an output, which brings what draws the others
        first = pmui.Divider(styles={"display": "none"}, margin=0)
        # notebooks have grounds of their own, and Panel's theme says which is wanted
        colors = DARK if pn.config.theme == "dark" else LIGHT
        super().__init__(first, *parts, stylesheets=[STYLE], styles=colors, sizing_mode="stretch_width", margin=0)
        self._page, self._table, self._another = page, table, again
        self._task: asyncio.Task | None = None
        self._shown_in: Document | None = None

    @property
    def page(self) -> CardPage:
        """The page, with its settings."""
        return self._page

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return what a notebook shows."""
        shown = self if self._shown_in is None else self._another()
        return super(Live, shown)._repr_mimebundle_(include, exclude)

    def begin(self, doc: Document, comm: Any) -> None:
        """Let the page begin once the browser listens; in a script nothing will answer."""
        self._shown_in = doc
        with suppress(RuntimeError):
            self._task = asyncio.get_running_loop().create_task(self._begin(doc, comm))

    async def _begin(self, doc: Document, comm: Any) -> None:
        while comm is not None and not compat.is_open(comm):
            await asyncio.sleep(POLL_SECONDS)
        self._page.one_message = partial(held, comm)
        with set_curdoc(doc):
            await self._page.start()

    def close(self) -> None:
        """Stop computing, and let the table go."""
        if self._task is not None:
            self._task.cancel()
        self._page.stop()
        if self._table is not None:
            self._page.pool.forget(self._table.name)
            self._table = None
