"""The tables behind a plot: what each of its named sources holds, as the app's Numbers show it."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, GlyphRenderer, Plot

from dpml_app.core.card import Card, F, ResultKey, V
from dpml_app.drawing.figure import LAYOUT
from dpml_app.text.phrases import minus

# of a table, as it is shown
MOST_ROWS = 200


def tables_of(card: Card[V, F], values: V, facts: F, results: Mapping[ResultKey, Any]) -> dict[str, pd.DataFrame]:
    """Return the tables of a card that has just been made, at a setting, from the results of its computations.

    It is the card's own layout of results: means, quantiles and references, as they are drawn.
    """
    wanted: Any = dict.fromkeys(results)
    card.show(values, facts, results, wanted)
    return tables_of_plots(card.plots) | card.browser_tables(values)


def tables_of_plots(plots: Iterable[Plot]) -> dict[str, pd.DataFrame]:
    """Return the tables of plots, by the names of their sources; those without a row are left out."""
    tables = {}
    for plot in plots:
        for renderer in plot.renderers:
            source = renderer.data_source if isinstance(renderer, GlyphRenderer) else None
            if (
                isinstance(source, ColumnDataSource)
                and source.name
                and LAYOUT not in source.tags
                and _rows(source.data)
            ):
                tables[source.name] = pd.DataFrame({c: _column(v) for c, v in source.data.items()})
    return tables


def _rows(data: Mapping[str, Any]) -> int:
    return len(next(iter(data.values()), ()))


def _column(values: Any) -> Any:
    # an array of several dimensions is a list in each cell
    return values if isinstance(values, np.ndarray) and values.ndim == 1 else list(values)


def html_of(tables: Mapping[str, pd.DataFrame]) -> str:
    """Return the first rows of tables as HTML, numbers to six digits.

    >>> html_of({"a<b": pd.DataFrame({"x": [-0.123456789, np.nan]})}).splitlines()[1]
    '  <caption>a&lt;b</caption><thead>'
    """
    parts = []
    for name, table in tables.items():
        title = name if len(table) <= MOST_ROWS else f"{name}: first {MOST_ROWS} of {len(table)} rows"
        with pd.option_context("display.max_colwidth", None):
            html = table.head(MOST_ROWS).map(_cell).to_html(index=False, border=0, justify="unset")
        parts.append(html.replace("<thead>", f"<caption>{escape(title)}</caption><thead>", 1))
    return "".join(parts)


def _cell(value: Any) -> str:
    if isinstance(value, list | np.ndarray):
        return " ".join(map(_cell, value))
    if isinstance(value, float | np.floating):
        return minus(f"{float(f'{value:.6g}'):.15g}") if np.isfinite(value) else ""
    return "" if value is None else str(value)
