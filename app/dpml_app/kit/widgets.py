"""Widgets of Material in the app, and of Panel in a notebook, where each of Material brings 1.4 MB."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import panel as pn
import panel_material_ui as pmui

# Panel's own groups of boxes have no label
IN_NOTEBOOK: dict[type, type] = {
    pmui.AutocompleteInput: pn.widgets.AutocompleteInput,
    pmui.Button: pn.widgets.Button,
    pmui.CheckBoxGroup: pn.widgets.MultiChoice,
    pmui.DiscreteSlider: pn.widgets.DiscreteSlider,
    pmui.Divider: pn.layout.Divider,
    pmui.FloatSlider: pn.widgets.FloatSlider,
    pmui.IntInput: pn.widgets.IntInput,
    pmui.IntSlider: pn.widgets.IntSlider,
    pmui.RadioBoxGroup: pn.widgets.Select,
    pmui.Select: pn.widgets.Select,
}
# options of the look, which other kinds do not have or mean otherwise
MATERIAL_LOOK = {"inline", "size", "stylesheets", "sx", "variant"}
_notebook: ContextVar[bool] = ContextVar("notebook", default=False)


@contextmanager
def notebook_widgets() -> Iterator[None]:
    """Make the widgets of a page that is shown in a notebook."""
    token = _notebook.set(True)
    try:
        yield
    finally:
        _notebook.reset(token)


def in_notebook() -> bool:
    """Return whether widgets are made for a notebook."""
    return _notebook.get()


def make_widget(kind: Any, **options: Any) -> Any:
    """Return a widget of a Material kind, or in a notebook of the kind of Panel that stands for it."""
    if not in_notebook():
        return kind(**options)
    own: Any = IN_NOTEBOOK[kind]
    known = own.param.objects(instance=False).keys() - MATERIAL_LOOK
    return own(**{name: value for name, value in options.items() if name in known})
