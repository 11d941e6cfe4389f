"""Code of what the browser draws on the Select page: probabilities of masks and of coins, by the library."""

from __future__ import annotations

from collections.abc import Sequence

from dpml_app.code.plain import literal
from dpml_app.code.script import Code, data_code
from dpml_app.core.card import Values

__all__ = ["weights_code"]

USES = ("dataset", "relation", "epsilon", "n_features", "selection_share", "select_calibration")
IMPORTS = (
    "import numpy as np",
    "import pandas as pd",
    "from scipy.special import expit",
    "from dpml.counts import contingency",
    "from dpml.selection import MaskSelector, PublicFacts, inclusion_probabilities, scores_from_counts",
    "from dpml_app.pages.select.compute import shown_ranks",
)
BODY = """\
schema, relation = data.schema, settings["relation"]
counts = contingency(data.X_train, data.y_train, schema.n_classes)
names, D = np.array(data.feature_names, dtype=object), schema.n_features
T = min(settings["n_features"], D)
# the part of ε that pays for the choice
epsilon = settings["epsilon"] * settings["selection_share"]

tables = {}
for kind in KINDS:
    scores = scores_from_counts(counts, kind)
    # the places that are drawn, best first
    ranks = shown_ranks(D)
    index = np.argsort(-scores, kind="stable")[ranks]
    # how far one record moves a score; the reference of the thesis' coin is score T + 1
    step = PublicFacts.of(schema, relation).change_range(kind)
    reference = np.sort(scores)[::-1][min(T, D - 1)]
    table = {"rank": ranks + 1, "index": index, "name": names[index], "score": scores[index]}
    table["units"] = np.maximum((scores[index] - scores.min()) / step, 0.1)
    for calibration in ("range", "published", "per-feature"):
        selector = MaskSelector(epsilon, T, kind, calibration=calibration, relation=relation)
        weight = selector.weight(schema)
        table[calibration] = inclusion_probabilities(weight * scores, T)[index]
        if calibration == settings["select_calibration"]:
            table["coin"] = expit(weight * (scores - reference))[index]
    columns = ["rank", "index", "name", "score", "units", "coin", "range", "published", "per-feature"]
    tables[f"select-drawn-{kind}"] = pd.DataFrame(table)[columns]
"""


def weights_code(values: Values, kinds: Sequence[str]) -> Code:
    """Return the code of the tables by these scores."""
    imported, data = data_code(values)
    return Code((*IMPORTS, imported), f"{data}\n{BODY.replace('KINDS', literal(tuple(kinds)))}", USES)
