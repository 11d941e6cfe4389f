"""Code of two plots of the Explore page, by the library: what privacy costs, and which features are chosen."""

from __future__ import annotations

from collections.abc import Sequence

from dpml_app.code.plain import literal
from dpml_app.code.script import Code, data_code
from dpml_app.core.card import Values
from dpml_app.pages.explore import cost

__all__ = ["cost_code", "selection_code"]

COST = """\
schema, train, test = raw_table(data)
labels, truth = (np.asarray(schema.classes)[y] for y in (data.y_train, data.y_test))
epsilons = np.array(
    EPSILONS
)


def accuracy(epsilon, draw):
    \"\"\"Return the share of test records that one private model classifies correctly.\"\"\"
    noise = np.random.default_rng([settings["seed"], draw])
    model = AutoClassifier(epsilon, relation=settings["relation"], schema=schema, random_state=noise)
    return np.mean(model.fit(train, labels).predict(test) == truth)


def without_privacy(epsilon):
    \"\"\"Return the accuracy of the method that the public rule chooses at ε, with all noise left out.\"\"\"
    method = rule(settings["dataset"], settings["relation"], epsilon)
    return without_noise(settings["dataset"], settings["relation"], method)["accuracy"]


draws = np.array([[accuracy(epsilon, draw) for draw in range(DRAWS)] for epsilon in epsilons])
low, high = np.quantile(draws, [0.05, 0.95], axis=1)
plain = [without_privacy(epsilon) for epsilon in epsilons]
curve = {"epsilon": epsilons, "mean": draws.mean(axis=1), "low": low, "high": high, "plain": plain}
runs = {"epsilon": epsilons.repeat(DRAWS), "run": np.tile(range(DRAWS), len(epsilons)), "accuracy": draws.ravel()}
tables = {"cost-curve": pd.DataFrame(curve), "cost-draws": pd.DataFrame(runs)}
"""
SELECTION = """\
schema = data.schema
counts = contingency(data.X_train, data.y_train, schema.n_classes)
facts = PublicFacts.of(schema, settings["relation"])
T = min(settings["n_features"], schema.n_features)
# the part of ε that pays for the choice; two masks differ in at most K features
epsilon = settings["epsilon"] * settings["selection_share"]
K = min(T, schema.n_features - T)

scores, chosen = {}, {}
for kind in ("count", "mutual_information"):
    scores[kind] = scores_from_counts(counts, kind)
    weight = epsilon / (K * facts.change_range(kind)) if K else 0.0
    chosen[kind] = inclusion_probabilities(weight * scores[kind], T)

# the features that are shown: the best by either score
figure = SelectionFigure()
figure.show_dataset(data.feature_names, scores["count"], scores["mutual_information"])
shown = figure.shown.data
table = {"y": shown["y"], "name": shown["name"], **{kind: p[shown["index"]] for kind, p in chosen.items()}}
tables = {"selection-drawn": pd.DataFrame(table)}
"""


def cost_code(values: Values, epsilons: Sequence[float]) -> Code:
    """Return the code of the first picture, at these ε."""
    imported, data = data_code(values)
    imports = (
        imported,
        "import numpy as np",
        "import pandas as pd",
        "from dpml.classifiers import AutoClassifier",
        "from dpml.studies import raw_table",
        "from dpml_app.pages.explore.cost import rule, without_noise",
    )
    body = COST.replace("EPSILONS", literal(tuple(epsilons))).replace("DRAWS", str(cost.DRAWS))
    return Code(imports, f"{data}\n{body}", ("dataset", "relation", "seed"))


def selection_code(values: Values) -> Code:
    """Return the code of the probabilities that the browser draws."""
    imported, data = data_code(values)
    imports = (
        imported,
        "import pandas as pd",
        "from dpml.counts import contingency",
        "from dpml.selection import PublicFacts, inclusion_probabilities, scores_from_counts",
        "from dpml_app.pages.explore.figures import SelectionFigure",
    )
    uses = ("dataset", "relation", "epsilon", "n_features", "selection_share")
    return Code(imports, f"{data}\n{SELECTION}", uses)
