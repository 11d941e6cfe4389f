"""The app's pages and cards in a notebook's cell, on the data sets that ship or on the reader's own table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from dpml.exceptions import InvalidParameter
from dpml.schema import Schema
from dpml_app.core.card_page import CardPage
from dpml_app.data import uploaded_table
from dpml_app.data.shared_table import exchange
from dpml_app.notebook.layout import card_parts, page_parts
from dpml_app.notebook.live import Live
from dpml_app.notebook.tables import made
from dpml_app.settings import PAGES
from dpml_app.shell import PAGE_CLASSES
from dpml_app.state import Settings
from dpml_app.work.pool import pool

__all__ = ["card", "cards_of", "explore"]

# an upload needs a browser's page of its own
NOT_HERE = "mydata"


def explore(X: Any = None, y: Any = None, schema: Any = None, *, page: str | None = None, **settings: Any) -> Live:
    """Show a page of the app in a notebook, on a table of your own or on the data sets that ship with dpml.

    It computes with demonstration noise and for study only: nothing that it shows is a release. Your table stays in
    this kernel and its worker processes.

    Parameters
    ----------
    X : DataFrame or matrix, optional
        The features, by the schema's names or in its order. Without a table the page shows a data set that ships.
    y : array of shape (n,), optional
        The labels.
    schema : Schema, optional
        What is public about the table; needed with X.
    page : str, optional
        A page by its name in a link. Default: ``"explore"``, what ε costs, or ``"train"`` where there are more than
        two classes.
    **settings
        Settings of the page, as a link names them, such as ``epsilon=0.5``; ``data`` is a data set's name.

    Returns
    -------
    panel.Column
        What Jupyter, JupyterLab and VS Code show.

    Raises
    ------
    InvalidData
        The table does not fit its labels or its schema.
    InvalidParameter
        A setting or the schema is not allowed, or the page cannot show the table.

    Examples
    --------
    >>> explore(epsilon=0.5).page.settings.epsilon
    0.5
    """
    make = None if X is None and y is None and schema is None else partial(made, X, y, schema)
    many = isinstance(schema, Schema) and schema.n_classes > 2
    page = page or ("train" if many else "explore")
    if page not in PAGES or page == NOT_HERE:
        raise InvalidParameter("page", page, f"one of {', '.join(name for name in PAGES if name != NOT_HERE)}")
    return _live(page, make, settings, page_parts)


def card(name: str, *, data: Any = None, **settings: Any) -> Live:
    """Show one card of the app in a notebook.

    Parameters
    ----------
    name : str
        Of `cards_of`: ``"explore.roc"``, or ``"roc"`` for the first page that has it.
    data : str or (X, y, schema), optional
        A data set's name, or a table of your own.
    **settings
        Settings of the card's page, as a link names them.

    Returns
    -------
    panel.Column
        What Jupyter, JupyterLab and VS Code show.

    Raises
    ------
    InvalidData
        The table does not fit its labels or its schema.
    InvalidParameter
        There is no such card, or a setting is not allowed.

    Examples
    --------
    >>> card("accuracy", data="census", epsilon=0.5).page.room
    'explore'
    """
    every = cards_of()
    full = next((one for one in every if name in (one, one.partition(".")[2])), None)
    if full is None:
        raise InvalidParameter("name", name, f"one of {', '.join(every)}")
    room, _, own_name = full.partition(".")
    make = partial(made, *data) if isinstance(data, tuple) and len(data) == 3 else None
    if data is not None and make is None:
        settings = {"data": data, **settings}
    return _live(room, make, settings, partial(card_parts, name=own_name))


def cards_of() -> list[str]:
    """Return the names of all cards, each behind its page's."""
    kinds = [(room, kind) for room, page in PAGE_CLASSES.items() for kind in getattr(page, "kinds", ())]
    return [f"{room}.{kind.name}" for room, kind in kinds]


def _live(
    room: str,
    make: Callable[[], uploaded_table.Own] | None,
    asked: dict[str, Any],
    parts: Callable[[CardPage], list[Any]],
) -> Live:
    _load_extension()
    settings, table = Settings(), make() if make is not None else None
    if table is not None:
        _check_classes(room, table.data.schema.n_classes)
        settings.hold(table)
        settings.assign({"dataset": table.name})
    _assign(settings, room, asked)
    if table is not None:
        uploaded_table.attach(table)
        exchange(pool(), None, table)
    page = PAGE_CLASSES[room](settings, pool())
    assert isinstance(page, CardPage)

    def again() -> Live:
        now = {name: getattr(settings, name) for name in settings.page_names(room)}
        return _live(room, make, {n: value for n, value in now.items() if not uploaded_table.is_own(value)}, parts)

    return Live(page, parts(page), table, again)


def _check_classes(room: str, n_classes: int) -> None:
    """Raise where a page cannot show a table of so many classes."""
    takes = [name for name in PAGES if name != NOT_HERE and _controls(name).own_classes >= n_classes]
    if room not in takes:
        several = "a table of your own" if n_classes == 2 else f"a table of {n_classes} classes"
        raise InvalidParameter("page", room, f"a page that shows {several}: one of {', '.join(takes)}")


def _controls(room: str) -> Any:
    kind: Any = PAGE_CLASSES[room]
    return kind.controls_kind


def _assign(settings: Settings, room: str, asked: dict[str, Any]) -> None:
    """Take settings by their names; raise what a link would report."""
    names = settings.page_names(room)
    for given, value in asked.items():
        name = "dataset" if given == "data" else given
        if name not in names:
            raise InvalidParameter(given, value, f"left out: the page's settings are {', '.join(names)}")
        if settings.assign({name: value}):
            if name == "dataset" and settings.lacking.dataset:
                allowed = f"a data set whose files are here: dpml.datasets.fetch({value!r}) gets them"
            else:
                allowed = settings.allowed(name)
            raise InvalidParameter(given, value, allowed)


# the cell whose output has brought what draws
_LOADER: list[Any] = []


def _load_extension() -> None:
    """Load what draws into the notebook, from no other host; a reader's own pn.extension stays as it is.

    It is several megabytes, so one cell alone has it. That cell brings it again when it runs again: the notebook may
    be open in a new window, of which the kernel knows nothing.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    here = request.get("metadata", {}).get("cellId")
    if _LOADER and _LOADER[0] is not None and here == _LOADER[0]:
        pn.extension(inline=True)
    elif not getattr(pn.extension, "_loaded", False):
        pn.extension(inline=True)
        _LOADER[:] = [here]
