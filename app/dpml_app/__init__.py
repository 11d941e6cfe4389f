"""The dpml app: pages over the library, served by Panel, and the same pages and cards in a notebook.

>>> import dpml_app
>>> dpml_app.cards_of()[:2]
['explore.cost', 'explore.roc']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpml_app.notebook.live import Live

__all__ = ["card", "cards_of", "explore", "views"]

# Panel is loaded by what needs it: a worker process imports this package, too


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
    from dpml_app.notebook.cells import show_page

    return show_page(X, y, schema, page, settings)


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
    >>> card("explore.roc", data="census", epsilon=0.5).page.page_id
    'explore'
    """
    from dpml_app.notebook.cells import show_card

    return show_card(name, data, settings)


def cards_of() -> list[str]:
    """Return the names of all cards, each behind its page's."""
    from dpml_app.notebook import cells

    return cells.cards_of()


def __getattr__(name: str) -> Any:
    if name == "views":
        return importlib.import_module("dpml_app.views")
    raise AttributeError(f"module 'dpml_app' has no attribute {name!r}")
