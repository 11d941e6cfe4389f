"""One drawn table beside the true one. For study."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpml_app.data.measures import dataset
from dpml_app.data.two_tables import side_by_side
from dpml_app.pages.publish.compute import MOST_RECORDS, grid_options, make_publisher, tables


def drawn_table(
    name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int, draw: int
) -> dict[str, Any]:
    """Return one of the tables whose accuracies `dpml_app.pages.publish.compute.published` returns.

    Returns
    -------
    dict
        As `side_by_side` returns it; `kept` are the columns of the grid.
    """
    parts = tables(name)
    publisher = make_publisher(
        "privpfc", epsilon, grid_options(parts, relation, max_grids, share), np.random.default_rng([seed, draw])
    )
    model = publisher.fit(parts.train, parts.y_train)
    table = model.sample(int(min(model.cell_counts_.sum(), MOST_RECORDS)))
    published = table, table[model.label_name_].to_numpy(dtype=object)
    kept = [f.name for f in parts.schema.features if f.name in model.levels_]
    label_name = str(dataset(name).card["label"]["name"])
    return side_by_side((parts.train, np.asarray(parts.y_train)), published, parts.schema, kept, label_name)
