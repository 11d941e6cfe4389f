"""The app's pages and cards in a notebook's cell, on the data sets that ship or on the reader's own table."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Schema
from dpml_app import uploaded_table
from dpml_app.core.page import CardPage
from dpml_app.jobs import pool
from dpml_app.kit.notebook import load_scripts
from dpml_app.kit.widgets import notebook_widgets
from dpml_app.notebook.layout import card_parts, page_parts
from dpml_app.notebook.live import Live
from dpml_app.page_list import PAGES
from dpml_app.state import Settings, State

# an upload needs a browser's page of its own
NOT_HERE = "mydata"


def show_page(X: Any, y: Any, schema: Any, page: str | None, settings: dict[str, Any]) -> Live:
    """Return a page on a table, or on a data set that ships; `dpml_app.explore` says what is taken and raised."""
    make = None if X is None and y is None and schema is None else partial(made, X, y, schema)
    many = isinstance(schema, Schema) and schema.n_classes > 2
    page = page or ("train" if many else "explore")
    if page not in PAGES or page == NOT_HERE:
        raise InvalidParameter("page", page, f"one of {', '.join(name for name in PAGES if name != NOT_HERE)}")
    return _live(page, make, settings, page_parts)


def show_card(name: str, data: Any, settings: dict[str, Any]) -> Live:
    """Return one card; `dpml_app.card` says what is taken and raised."""
    every = cards_of()
    full = next((one for one in every if name in (one, one.partition(".")[2])), None)
    if full is None:
        raise InvalidParameter("name", name, f"one of {', '.join(every)}")
    page_id, _, own_name = full.partition(".")
    make = partial(made, *data) if isinstance(data, tuple) and len(data) == 3 else None
    if data is not None and make is None:
        settings = {"data": data, **settings}
    return _live(page_id, make, settings, partial(card_parts, name=own_name))


def cards_of() -> list[str]:
    """Return the names of all cards, each behind its page's."""
    kinds = [(page_id, kind) for page_id, page in PAGES.items() for kind in getattr(page, "kinds", ())]
    return [f"{page_id}.{kind.name}" for page_id, kind in kinds]


def _live(
    page_id: str,
    make: Callable[[], uploaded_table.UploadedTable] | None,
    asked: dict[str, Any],
    parts: Callable[[CardPage], list[Any]],
) -> Live:
    load_scripts()
    settings, table = Settings(), make() if make is not None else None
    if table is not None:
        _check_classes(page_id, table.data.schema.n_classes)
        settings.hold(table)
        settings.assign({"dataset": table.name})
    _assign(settings, page_id, asked)
    if table is not None:
        uploaded_table.attach(table)
    with notebook_widgets():
        page = PAGES[page_id](settings, pool())
    assert isinstance(page, CardPage)

    def again() -> Live:
        now = {name: getattr(settings, name) for name in settings.page_names(page_id)}
        return _live(
            page_id, make, {n: value for n, value in now.items() if not uploaded_table.is_uploaded(value)}, parts
        )

    return Live(page, parts(page), table, again)


def _check_classes(page_id: str, n_classes: int) -> None:
    """Raise where a page cannot show a table of so many classes."""
    takes = [name for name in PAGES if name != NOT_HERE and _controls(name).most_classes >= n_classes]
    if page_id not in takes:
        several = "a table of your own" if n_classes == 2 else f"a table of {n_classes} classes"
        raise InvalidParameter("page", page_id, f"a page that shows {several}: one of {', '.join(takes)}")


def _controls(page_id: str) -> Any:
    kind: Any = PAGES[page_id]
    return kind.controls_kind


def _assign(settings: State, page_id: str, asked: dict[str, Any]) -> None:
    """Take settings by their names; raise what a link would report."""
    names = settings.page_names(page_id)
    for given, value in asked.items():
        name = "dataset" if given == "data" else given
        if name not in names:
            raise InvalidParameter(given, value, f"left out: the page's settings are {', '.join(names)}")
        if settings.assign({name: value}):
            if name == "dataset" and settings.missing_dataset.dataset:
                allowed = f"a data set whose files are here: dpml.datasets.fetch({value!r}) gets them"
            else:
                allowed = settings.allowed(name)
            raise InvalidParameter(given, value, allowed)


HOW = "a dpml.schema.Schema with the public metadata of the table. Schema.describe(table) proposes one"


def made(X: Any, y: Any, schema: Any) -> uploaded_table.UploadedTable:
    """Return a table that pages compute with, not yet attached; X is a DataFrame or a matrix in the schema's order."""
    if not isinstance(schema, Schema):
        raise InvalidParameter("schema", schema, HOW)
    if y is None:
        raise InvalidParameter("y", y, "the labels of X")
    if X is None:
        raise InvalidParameter("X", X, "a DataFrame or a matrix with the features")
    frame = _frame(X, schema)
    labels = y.to_numpy() if isinstance(y, pd.Series) else np.asarray(y)
    if labels.ndim != 1:
        raise InvalidData(f"y has shape {labels.shape}: it must be (n,), a label for each record")
    if len(labels) != len(frame):
        raise InvalidData(f"X has {len(frame):,} records and y has {len(labels):,} labels: the two must be equal")
    label = "label"
    while label in frame.columns or label in schema.feature_names:
        label += "_"
    return uploaded_table.make(frame.assign(**{label: labels}).reset_index(drop=True), label, schema, "X")


def _frame(X: Any, schema: Schema) -> pd.DataFrame:
    """Return the schema's columns of X by their names, or by their order where they have none."""
    if isinstance(X, pd.DataFrame):
        missing = [name for name in schema.feature_names if name not in X.columns]
        if missing:
            there = ", ".join(map(str, X.columns[:8]))
            raise InvalidData(f"X has no column {missing[0]!r}, which the schema names. Its first columns are {there}")
        return X[list(schema.feature_names)]
    matrix = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != len(schema.feature_names):
        wanted = len(schema.feature_names)
        raise InvalidData(
            f"X has shape {matrix.shape}: it must be (n, {wanted}), a column for each feature of the schema"
        )
    return pd.DataFrame(matrix, columns=list(schema.feature_names))
