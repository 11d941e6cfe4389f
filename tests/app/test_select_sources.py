"""The Select page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import pytest
from dpml_app.data import measures as shared
from dpml_app.pages.select import compute as own
from dpml_app.pages.select.settings import THRESHOLDS, SelectValues
from dpml_app.state import Settings

FEW = "&dataset=toy&draws=10&n_features=5"


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_curves_are_the_library_s(alone, relation):
    query = f"&relation={relation}&epsilon=0.5&selection_share=0.4&select_methods=joint.exact&select_threshold=0.25"
    alone.enter("select", f"&dataset=toy&draws=10&n_features=7&seed=2{query}")
    facts = own.facts("toy")
    values = SelectValues.of(
        Settings(dataset="toy", relation=relation, epsilon=0.5, selection_share=0.4, draws=10, n_features=7, seed=2)
    )
    for rule in own.RULES:
        found = [own.f1(*values.f1_key(rule, share)) for share in THRESHOLDS]
        check_band(alone, f"select-f1-{rule}", "threshold", [1000 * share for share in THRESHOLDS], found)
    ladder = own.selector_ladder(40)
    for method in ("joint", "exact"):
        found = [own.accuracy(*values.accuracy_key(method, T)) for T in ladder]
        check_band(alone, f"select-accuracy-{method}", "n_features", ladder, found)
    assert alone.array("select-accuracy-mask-count", "mean").size == 0
    every = shared.accuracy("toy", "row-bounded", relation, 0.5, (0,), 10, 2)
    assert alone.array("select-accuracy-all", "mean") == pytest.approx([every.mean()] * 2)
    best = own.best("toy", relation, 0.5, 10, 2)
    assert alone.array("select-accuracy-best", "mean") == pytest.approx([best.mean()] * 2)
    for name in ("majority", "non_private"):
        assert alone.array(f"select-accuracy-{name}", "y") == pytest.approx([getattr(facts, name)] * 2)
    assert alone.model("select-f1-marker").location == 250


def check_band(alone, source, x, places, found):
    assert alone.array(source, x) == pytest.approx(list(places))
    assert alone.array(source, "mean") == pytest.approx([f.mean() for f in found], abs=1e-9)
    for column, level in (("low", 0.05), ("high", 0.95)):
        assert alone.array(source, column) == pytest.approx([np.quantile(f, level) for f in found], abs=1e-9)


def test_words_state_the_true_cost(alone):
    alone.enter("select", FEW.replace("n_features=5", "n_features=20") + "&epsilon=0.1")
    text = alone.text
    assert "stated 0.05 a feature, costs 0.5 for the set" in text
    assert "cost only 0.025: the rest is wasted" in text
    assert "steps from its worst to its best feature" in text
    assert "not private: Threshold testing" in text
    assert "they are a study and no release" in text
