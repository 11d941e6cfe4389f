"""The map of the Select page: what leads at which T and ε is the benchmark's table."""

import json
from pathlib import Path

import pandas as pd
import pytest
from dpml_app.pages.select import words
from dpml_app.pages.select.leads import HERE, METHODS, SIZES, LeadsFigure, copy_leads, leads

FOLDER = Path(__file__).parents[2] / "benchmarks" / "results"


def test_the_map_is_what_the_benchmark_measured():
    assert json.loads((HERE / "leads.json").read_text(encoding="utf-8")) == copy_leads(FOLDER)
    table = pd.read_csv(FOLDER / "selection_delta.csv", comment="#")
    assert set(table["method"]) == set(METHODS)
    for row in leads("newsgroup1")[1]:
        cell = table[(table["data"] == "newsgroup1") & (table["T"] == row["T"]) & (table["epsilon"] == row["epsilon"])]
        assert row["share"] == cell["share"].max()
        assert row["leads"] in ("level", cell.set_index("method")["share"].idxmax())


@pytest.mark.parametrize(("name", "shown"), [("sms", "sms"), ("census", "sms"), ("xwindows", "xwindows")])
def test_a_cell_for_each_size_and_epsilon(name, shown):
    figure = LeadsFigure()
    where, rows = leads(name)
    figure.show(rows)
    assert where == shown
    assert len(figure.cells.data["x"]) == len(rows) > 10
    assert set(figure.cells.data["y"]) <= set(map(str, SIZES))
    assert f"in {len(rows)} cells" in words.leads_words(where, rows)
