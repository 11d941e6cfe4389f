"""The browser's half of the widgets, sent to a notebook once for each output and not once for each widget.

A notebook has no server that a page could load files from, so what draws the widgets goes along with them: 1.4 MB,
which panel-material-ui (0.16) puts into every widget. The browser keeps it under its hash from the first widget on, and
never reads that of the others. So only the first one of an output carries it.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import panel as pn
from bokeh.document import Document
from panel_material_ui.base import MaterialComponent

__all__ = ["KEPT", "once"]

# what stands in the place of the bundle in all widgets but the first
KEPT = "// kept by the browser from the first widget on"
# the documents of outputs, and whether a widget has brought the bundle
_SENT: WeakKeyDictionary[Document, bool] = WeakKeyDictionary()
_whole = vars(MaterialComponent)["_render_esm"].__func__


def _render_esm(cls: Any, compiled: Any = True, server: bool = False) -> Any:
    doc = pn.state.curdoc
    if doc is None or doc not in _SENT or not pn.config.inline:
        return _whole(cls, compiled=compiled, server=server)
    sent, _SENT[doc] = _SENT[doc], True
    return KEPT if sent else _whole(cls, compiled=compiled, server=server)


def once(doc: Document) -> None:
    """Have the first widget of a document that is made next bring the bundle, and no other."""
    _SENT[doc] = False
    if vars(MaterialComponent)["_render_esm"].__func__ is not _render_esm:
        setattr(MaterialComponent, "_render_esm", classmethod(_render_esm))  # noqa: B010
