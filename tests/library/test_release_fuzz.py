"""Cells, labels and containers of any kind: no release fails, and none says a word of them."""

import warnings

import numpy as np
import pytest
from each_commit import others_in_full
from fuzz_cells import kind_of_labels, kind_of_table, labels, pick, table

from dpml.release import Plan
from dpml.schema import Feature, Schema

MIXED = Schema(
    [
        Feature("n", "numeric", lower=0, upper=1e6, missing=3),
        Feature("t", "categorical", ("x", "yes", 1, 0.5, "?"), missing="?"),
        Feature("b", missing=0),
        Feature("i", "categorical", (0, 1)),
    ],
    classes=(0, 1, "yes"),
)
BINARY = Schema.binary(3, classes=("yes", 0), n_lower=50)
PLANS = [
    Plan(MIXED, 1.0, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20),
    Plan(MIXED, 1.0, method="MixedNB", relation="replace-one"),
    Plan(
        BINARY, 1.0, shares={"selection": 0.2, "training": 0.3, "evaluation": 0.5}, n_features=2, method="BernoulliNB"
    ),
    Plan(BINARY, 1.0, shares={"training": 0.5, "evaluation": 0.5}, method="DiffPC45"),
]


@pytest.mark.parametrize("start", others_in_full(range(0, 200, 50), 0))
def test_no_table_makes_a_release_fail_or_speak(start, capsys):
    made = 0
    for seed in range(start, start + 50):
        rng = np.random.default_rng(seed)
        plan, n = PLANS[seed % len(PLANS)], int(pick(rng, [0, 1, 2, 3, 12, 40]))
        kind = kind_of_table(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of those who make such tables
            X, y = table(rng, kind, n, plan.schema.feature_names), labels(rng, kind_of_labels(rng), n)
        if X is None or y is None:
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            released = plan.run(X, y)
        assert not told, (seed, kind, [str(each.message) for each in told])
        assert "SECRET" not in released.statement() + released.evaluation_json()
        made += 1
    assert made > 40
    assert capsys.readouterr() == ("", "")
