"""The card of one run: its lines are those of the benchmark's table, at the recorded ε nearest to the claim."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dpml_app.pages.audit import shipped

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def test_what_ships_is_the_table_that_was_measured():
    kept = json.loads((shipped.HERE / "one_run.json").read_text(encoding="utf-8"))
    assert kept == shipped.copy_one_run(RESULTS), "python -m benchmarks.shipped claims one_run"
    table = pd.read_csv(RESULTS / "audit_one_run.csv", comment="#")
    assert set(table["method"]) == set(shipped.METHODS)
    for line in (shipped.OneRun._make(row) for row in kept["lines"]):
        rows = table[(table["method"] == line.method) & (table["epsilon"] == line.epsilon)]
        assert line.curve_median == rows["curve_median"].max()
        assert line.median <= line.curve_median <= line.epsilon


@pytest.mark.parametrize(("claimed", "shown"), [(0.01, 1.0), (1.8, 3.0), (10.0, 8.0)])
def test_rows_stand_at_the_recorded_claim_that_is_nearest(alone, claimed, shown):
    alone.enter("audit", f"&audit_draws=1000&audit_epsilon={claimed}", only=("one-run",))
    rows = alone.sources["audit-one-run"].data
    assert list(rows["method"]) == list(shipped.METHODS.values())
    lines = shipped.one_run(claimed)
    assert {line.epsilon for line in lines} == {shown}
    assert list(rows["plain"]) == [line.median for line in lines]
    # a diamond stands only where the curve certifies more
    for drawn, line in zip(rows["curve"], lines, strict=True):
        assert drawn == line.curve_median if line.curve_median > line.median else math.isnan(drawn)
    assert np.all(np.asarray(rows["low"]) <= np.asarray(rows["high"]))
