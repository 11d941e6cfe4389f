"""Every use of names that Panel, Bokeh, panel-material-ui and pyviz_comms keep to themselves.

Each states the version it was tried with. `tests/app/test_compat.py` fails where one is gone, or is no longer needed.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn
import panel_material_ui as pmui
from bokeh.core.has_props import HasProps
from bokeh.core.property.bases import Property
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.events import ModelChangedEvent
from bokeh.document.models import DocumentModelManager
from bokeh.model import Model
from bokeh.model import util as model_references
from bokeh.models import UIElement
from bokeh.settings import settings
from panel.io import document as panel_document
from panel.io.notebook import patch_inline_stylesheets
from panel.io.resources import Resources
from panel.io.state import set_curdoc
from panel.reactive import ReactiveCustomBase
from panel_material_ui.base import MaterialComponent

# ms until a widget's change is handed on; Panel waits 50, and here a page itself sees to it that only the latest counts
DEBOUNCE = 1
# what stands in the place of the bundle in all widgets but the first
KEPT = "// kept by the browser from the first widget on"
# the documents of outputs, and whether a widget has brought the bundle
_SENT: WeakKeyDictionary[Document, bool] = WeakKeyDictionary()
_whole = vars(MaterialComponent)["_render_esm"].__func__
# what nothing can change
PLAIN = (bool, int, float, str, type(None))
_themed_default, _extra_resources = Property.themed_default, Resources.extra_resources
_has_unstable_default = PropertyDescriptor.has_unstable_default
_visit_references = model_references.visit_immediate_value_references
_synced_references = vars(DocumentModelManager)["synced_references"].fget
_begin_serializer = Serializer.__init__
_dispatch_messages = panel_document._dispatch_msgs
_tag_data_models = vars(ReactiveCustomBase)["_patch_datamodel_ref"].__func__
_DEFAULTS: dict[tuple[type[HasProps], str], Any] = {}
_UNSTABLE: dict[tuple[type[HasProps], str], bool] = {}
_EXTRA: dict[tuple[str, str, str | None], list[Any]] = {}
# where a document's models keep the dict that held them, and what messages write for each; it goes with them
REFERENCES = "references_of_messages"


def sockets(doc: Document | None) -> list[Any]:
    """Return the sockets of a session's pages (Bokeh 3.9.2: `_subscribed_connections` and `_socket`)."""
    session = getattr(getattr(doc, "session_context", None), "session", None)
    return [] if session is None else [connection._socket for connection in session._subscribed_connections]


def read_secret_key_again() -> None:
    """Have Bokeh read its secret key again, which it keeps from its import on (3.9.2: `_secret_key_bytes`)."""
    vars(settings).pop("_secret_key_bytes", None)


def answer_soon(widget: Any) -> None:
    """Call a widget's callbacks soon after a change (Panel 1.9.4: `_debounce`)."""
    widget._debounce = DEBOUNCE


@contextmanager
def gathered_once(models: DocumentModelManager) -> Iterator[None]:
    """Gather a document's models once, at the end, and only if a change has brought or taken one.

    Bokeh gathers all of them anew after each such change (3.9.2): that was nine of twelve seconds when all cards of a
    page were made. Its own `freeze` gathers at its end even where none came or went, which was nine tenths of a busy
    server's work, and leaves the models frozen for ever after an error.
    """
    if "recompute" in vars(models):  # within another one
        yield
        return
    asked: list[bool] = []
    models.recompute = lambda: asked.append(True)
    try:
        yield
    finally:
        del models.recompute
        if asked:
            models.recompute()


def forget(laid: Any, root: Any) -> None:
    """Let go of what was laid into a document that has ended (Panel 1.9.4: `_cleanup` and `_views`)."""
    laid._cleanup(root)
    pn.state._views.pop(root.ref["id"], None)


def components() -> str:
    """Return the address of the script that all widgets of Material are in (panel-material-ui 0.16: `_render_esm`)."""
    return str(pmui.IntSlider._render_esm(True, server=True))


def _default_once(prop: Any, kind: type[HasProps], name: str, theme: Any, *, no_eval: bool = False) -> Any:
    if (kind, name) in _DEFAULTS and not no_eval and not (theme and name in theme):
        return _DEFAULTS[kind, name]
    default = _themed_default(prop, kind, name, theme, no_eval=no_eval)
    if not no_eval and not (theme and name in theme) and isinstance(default, PLAIN):
        made_anew = PropertyDescriptor.is_unstable(kind._overridden_defaults().get(name))
        if not made_anew and not prop._may_have_unstable_default():
            _DEFAULTS[kind, name] = default
    return default


def _unstable_once(descriptor: Any, obj: HasProps) -> bool:
    key = type(obj), descriptor.name
    if key not in _UNSTABLE:
        _UNSTABLE[key] = _has_unstable_default(descriptor, obj)
    return _UNSTABLE[key]


def _resources_once(resources: Any, names: list[Any], what: str) -> None:
    key = what, resources.mode, pn.state.rel_path
    if key not in _EXTRA:
        _EXTRA[key] = []
        _extra_resources(resources, _EXTRA[key], what)
    names += [name for name in _EXTRA[key] if name not in names]


def _visit_without_defaults(value: Any, visitor: Any) -> None:
    """Visit what a value refers to; a default that is plain refers to nothing."""
    if not isinstance(value, HasProps):
        _visit_references(value, visitor)
        return
    kind, own, unstable = type(value), value._property_values, value._unstable_default_values
    for name in kind.properties_with_refs():
        if name in own:
            child = own[name]
        elif name in unstable:
            child = unstable[name]
        elif (kind, name) in _DEFAULTS:
            continue
        else:
            child = getattr(value, name)
        if not isinstance(child, PLAIN):
            model_references.visit_value_and_its_immediate_references(child, visitor)


class ModelReferences(set[Model]):
    """Models that the browser has, and what messages write for each, by the model's identity."""

    def __init__(self, models: Iterable[Model]):
        super().__init__(models)
        self.by_identity = {id(model): model.ref for model in self}


def _references_once(models: DocumentModelManager) -> set[Model]:
    held, references = vars(models).get(REFERENCES, (None, None))
    if references is None or held is not models._models or len(references) != len(held):
        # also while it has some that the browser does not have yet
        references = ModelReferences(_synced_references(models))
        vars(models)[REFERENCES] = models._models, references
    return references


def _begin_with_references(serializer: Serializer, *, references: Any = frozenset(), **options: Any) -> None:
    if isinstance(references, ModelReferences):
        _begin_serializer(serializer, **options)
        serializer._references = dict(references.by_identity)
    else:
        _begin_serializer(serializer, references=references, **options)


def _tag_once(kind: Any, data: Any, ref: str) -> None:
    if f"__ref:{ref}" not in data.tags:
        _tag_data_models(kind, data, ref)


def work_out_once() -> None:
    """Keep, in a server, what Bokeh and Panel work out anew for each document or change though it is always the same.

    These are defaults of properties, which Bokeh checks at each use (3.9.2: `themed_default`, `_overridden_defaults`
    and `_may_have_unstable_default`), whether a class makes one anew for each object (`has_unstable_default`), and the
    styles of all components (Panel 1.9.4: `extra_resources`).

    And at each change: defaults without references are read when all models are gathered
    (`visit_immediate_value_references`, `_property_values`, `_unstable_default_values`), what stands for each model of
    a document is written anew for each message (`synced_references`, `_references`), and all models that a widget's
    scripts name are searched for data models, which have their tag since the widget was made (Panel 1.9.4:
    `_patch_datamodel_ref`). Together they were half of what an answer cost the server.
    """
    Property.themed_default = _default_once
    PropertyDescriptor.has_unstable_default = _unstable_once
    Resources.extra_resources = _resources_once  # type: ignore[assignment, method-assign]
    model_references.visit_immediate_value_references = _visit_without_defaults
    setattr(DocumentModelManager, "synced_references", property(_references_once))  # noqa: B010
    Serializer.__init__ = _begin_with_references
    setattr(ReactiveCustomBase, "_patch_datamodel_ref", classmethod(_tag_once))  # noqa: B010


async def _dispatch_all(doc: Document) -> None:
    waiting, sending = panel_document._WRITE_MSGS, panel_document._WRITE_BLOCK
    await _dispatch_messages(doc)
    while doc in waiting and doc not in sending:
        sending[doc] = True
        await _dispatch_messages(doc)


def send_all() -> None:
    """Have a server send what is written while it sends (Panel 1.9.4: `_dispatch_msgs`, `_WRITE_MSGS`, `_WRITE_BLOCK`).

    Of two tasks that send, the first took away at its end the mark without which the second sends nothing: now and
    then a busy server kept an answer until the next change, .2 % of them with a hundred sessions.
    """
    panel_document._dispatch_msgs = _dispatch_all


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
