"""Every use of names that Panel, Bokeh, panel-material-ui and pyviz_comms keep to themselves.

Each states the version it was tried with. `tests/app/test_compat.py` fails where one is gone, or is no longer needed.
"""

import sys
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn
from bokeh.document import Document
from bokeh.document.events import ModelChangedEvent
from bokeh.models import UIElement
from panel.io.notebook import patch_inline_stylesheets
from panel.io.state import set_curdoc
from panel_material_ui.base import MaterialComponent

# ms until a widget's change is handed on; Panel waits 50, and here a page itself sees to it that only the latest counts
DEBOUNCE = 1
# what stands in the place of the bundle in all widgets but the first
KEPT = "// kept by the browser from the first widget on"
# the documents of outputs, and whether a widget has brought the bundle
_SENT: WeakKeyDictionary[Document, bool] = WeakKeyDictionary()
_whole = vars(MaterialComponent)["_render_esm"].__func__


def sockets(doc: Document | None) -> list[Any]:
    """Return the sockets of a session's pages (Bokeh 3.9.2: `_subscribed_connections` and `_socket`)."""
    session = getattr(getattr(doc, "session_context", None), "session", None)
    return [] if session is None else [connection._socket for connection in session._subscribed_connections]


def answer_soon(widget: Any) -> None:
    """Call a widget's callbacks soon after a change (Panel 1.9.4: `_debounce`)."""
    widget._debounce = DEBOUNCE


def forget(laid: Any, root: Any) -> None:
    """Let go of what was laid into a document that has ended (Panel 1.9.4: `_cleanup` and `_views`)."""
    laid._cleanup(root)
    pn.state._views.pop(root.ref["id"], None)


# ---- in a notebook ---------------------------------------------------------------------------------------------------


def extension_loaded() -> bool:
    """Return whether `pn.extension` has been called (Panel 1.9.4: `_loaded`)."""
    return bool(pn.extension._loaded)


# the cell whose output has brought what draws
_LOADER: list[Any] = []


def load_extension() -> Any:
    """Load what draws into the notebook, and return its shell; a reader's own pn.extension stays as it is.

    It is several megabytes, so one cell alone has it. That cell brings it again when it runs again: the notebook may
    be open in a new window, of which the kernel knows nothing.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return None
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    here = request.get("metadata", {}).get("cellId")
    if _LOADER and _LOADER[0] is not None and here == _LOADER[0]:
        pn.extension(inline=True)
    elif not extension_loaded():
        pn.extension(inline=True)
        _LOADER[:] = [here]
    return shell


def is_open(comm: Any) -> bool:
    """Return whether the browser listens to an output's messages (pyviz_comms 3.0.6: `_comm`)."""
    return comm._comm is not None


def inline_styles(models: Iterable[Any]) -> None:
    """Replace addresses of styles by the styles, unless the reader's notebook loads from Panel's host anyway."""
    if pn.config.inline:
        for model in list(models):
            if isinstance(model, UIElement):
                patch_inline_stylesheets(model)


def inline_changes(doc: Document) -> None:
    """Replace addresses of styles in a document, and in what is to be sent of it (Bokeh 3.9.2: `_held_events`).

    Under load a change of styles was held that had the addresses still, though the model had the styles.
    """
    inline_styles(doc.models)
    for event in doc.callbacks._held_events:
        if isinstance(event, ModelChangedEvent) and event.attr == "stylesheets":
            event.new = getattr(event.model, event.attr)


def _render_esm(cls: Any, compiled: Any = True, server: bool = False) -> Any:
    doc = pn.state.curdoc
    if doc is None or doc not in _SENT or not pn.config.inline:
        return _whole(cls, compiled=compiled, server=server)
    sent, _SENT[doc] = _SENT[doc], True
    return KEPT if sent else _whole(cls, compiled=compiled, server=server)


def one_bundle(doc: Document) -> None:
    """Have the first widget of a document that is made next bring the bundle, and no other.

    A notebook has no server that a page could load files from, so what draws the widgets goes along with them: 1.4 MB,
    which panel-material-ui (0.16.6: `_render_esm`) puts into every widget. The browser keeps it under its hash from
    the first widget on, and never reads that of the others.
    """
    _SENT[doc] = False
    if vars(MaterialComponent)["_render_esm"].__func__ is not _render_esm:
        setattr(MaterialComponent, "_render_esm", classmethod(_render_esm))  # noqa: B010


class OutputColumn(pn.Column):
    """A column in a notebook's output that says when the output is made and when it goes.

    Panel 1.9.4: `_get_model`, `_preprocess`, `_on_msg` and `_cleanup` are extended.
    """

    def begin(self, doc: Document, comm: Any) -> None:
        """Take note of the document that shows this, and of what sends its messages."""

    def close(self) -> None:
        """Stop what the output needed."""

    def _get_model(self, doc: Document, root: Any = None, parent: Any = None, comm: Any = None) -> Any:
        one_bundle(doc)
        with set_curdoc(doc):
            model = super()._get_model(doc, root, parent, comm)
        self.begin(doc, comm)
        return model

    def _preprocess(self, root: Any, *changed: Any, **more: Any) -> None:
        super()._preprocess(root, *changed, **more)
        inline_styles(root.select({"type": UIElement}))  # Panel adds them here

    def _on_msg(self, ref: str, manager: Any, msg: Any) -> None:
        """Apply the changes of the browser, without the looks of glyphs that this kernel has sent to it.

        Panel 1.9.4 sends every change back to the kernel that it came from. Bokeh 3.9.2 writes a look such as
        `Line.line_alpha` as a `Value`, which its Python side refuses, together with the changes that come after it.
        """
        changes = msg["content"]["events"]
        changes = [
            each for each in changes if not (isinstance(new := each.get("new"), dict) and new.get("type") == "value")
        ]
        if changes:
            super()._on_msg(ref, manager, {**msg, "content": {**msg["content"], "events": changes}})

    def _cleanup(self, root: Any = None) -> None:
        super()._cleanup(root)
        self.close()
