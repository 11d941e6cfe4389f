"""The document of a page: its tasks, and the changes that are sent to the browser together."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from weakref import WeakSet

import panel as pn
from bokeh.document import Document
from panel.io.state import set_curdoc

# seconds from a message to the empty change that follows it, and the name of the model that changes
FLUSH_DELAY = 0.1
MESSAGES = "messages"
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
    messages = None if doc is None else doc.get_model_by_name(MESSAGES)
    if doc is not None and messages is not None and doc not in _FLUSHING:
        _FLUSHING.add(doc)
        asyncio.get_running_loop().call_later(FLUSH_DELAY, _flush, doc, messages)


def _flush(doc: Document, messages: Any) -> None:
    """Change a number that nothing shows: Panel 1.9 may keep a message, written while it sends, until the next one."""
    _FLUSHING.discard(doc)
    if doc.session_context is not None:
        with set_curdoc(doc), pn.io.hold(doc):
            messages.flush += 1


class Sender:
    """The document that shows a page, None before the page begins and after it ends, and the tasks that change it.

    All tasks run in the event loop of the first one. JupyterLab may send the messages of a slider to another thread,
    whose loop may end before the page.
    """

    # an output in a notebook sends its changes in its own way
    one_message: Callable[[Document | None], AbstractContextManager[None]] = staticmethod(one_message)

    def __init__(self) -> None:
        self.doc: Document | None = None
        self.tasks: set[asyncio.Task] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def hold(self) -> AbstractContextManager[None]:
        """Send all changes as one message."""
        return self.one_message(self.doc)

    def spawn(self, work: Coroutine) -> None:
        """Run a coroutine as a task, in the context of the document.

        Not by `pn.state.execute`: it adds a callback to the document, which is sometimes lost if another task holds
        the document's events (Panel 1.9.4).
        """
        running = asyncio.get_running_loop()
        self._loop = self._loop or running
        with set_curdoc(self.doc):
            if running is self._loop:
                self._create_task(work)
            else:
                self._loop.call_soon_threadsafe(self._create_task, work)

    def _create_task(self, work: Coroutine) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
