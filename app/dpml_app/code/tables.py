"""The tables behind a plot: what each of its named sources holds, as the app's Numbers show it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, GlyphRenderer, Plot

from dpml_app.core.card import CHOSEN, Card, F, ResultKey, V
from dpml_app.drawing.figure import LAYOUT


def tables_of(card: Card[V, F], values: V, facts: F, results: Mapping[ResultKey, Any]) -> dict[str, pd.DataFrame]:
    """Return the tables of a card that has just been made, at a setting, from the results of its computations.

    It is the card's own layout of results: means, quantiles and references, as they are drawn.
    """
    card.lay_out(facts)
    card.prepare(
        values, facts, {result_key: result for result_key, result in results.items() if result_key[1] in CHOSEN}
    )
    wanted: Any = dict.fromkeys(results)
    card.show(results, wanted)
    return tables_of_plots(card.drawn(values)) | card.browser_tables(values)


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
