"""The Evaluate page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import pytest
from dpml_app.pages.evaluate import attack as attacks
from dpml_app.pages.evaluate import compute as own
from dpml_app.pages.evaluate import numbers
from dpml_app.pages.evaluate.settings import SIZES
from dpml_app.pages.evaluate.words import SHARE
from dpml_app.settings import SWEEP_EPSILONS


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_plots_hold_what_the_library_computes(alone, relation):
    query = "&dataset=breast_cancer&epsilon=0.5&draws=40&seed=2&evaluate_classifier=logistic&evaluate_weakened=some"
    alone.enter(
        "evaluate", f"{query}&relation={relation}&evaluate_methods=histogram.laplace-exact&evaluate_rival_weakened=much"
    )
    key = ("breast_cancer", "logistic", "some")
    for method in ("histogram", "laplace-exact"):
        found = own.curves(method, *key, relation, 0.5, 0, 40, 2)
        for column in ("low", "mid", "high") if method != "histogram" else ():  # the browser's
            assert alone.array(f"evaluate-roc-{method}", column) == pytest.approx(found[column], abs=1e-9), method
        assert f"{np.median(found['auc']):.3f}" in alone.text
        assert f"{np.median(found['error']):.4f}" in alone.text
        curve = alone.read(f"evaluate-errors-{method}")
        assert curve["epsilon"] == pytest.approx(SWEEP_EPSILONS)
        errors = own.errors(method, *key, relation, SWEEP_EPSILONS[5], 0, 40, 2)
        assert curve["median"][5] == pytest.approx(np.median(errors))
        sizes = alone.read(f"evaluate-sizes-{method}")
        assert sizes["size"] == list(SIZES)
        errors = own.errors(method, *key, relation, 0.5, SIZES[4], 40, 2)
        assert sizes["median"][4] == pytest.approx(np.median(errors))
    released = own.evaluation(*key, relation, 0.5, 40, 2)
    auc, low, _ = numbers.areas(released)
    assert alone.array("evaluate-intervals-rows", "value") == pytest.approx(auc)
    assert alone.array("evaluate-intervals-rows", "low") == pytest.approx(low)
    assert alone.array("evaluate-recall-private", "mid") == pytest.approx(numbers.recall(released)["mid"])
    cells = alone.read("evaluate-attack-cells")
    assert len(cells["record"]) == 7 * attacks.ATTACKED
    assert cells["said"][attacks.ATTACKED : 2 * attacks.ATTACKED] == ["right"] * attacks.ATTACKED
    text = alone.text
    for figure, (value, _, high) in numbers.intervals(released, 0.0).items():
        for number in (value, high):
            assert (f"{100 * number:.1f}" if figure in SHARE else f"{number:.3f}") in text, figure
    assert "30 of 30 labels are recovered" in text
    gap = own.comparison("roc_auc", *key, "logistic", "much", relation, 0.5, 0.0, 40, 2)["difference"]
    assert f"{np.median(gap):.4f}" in text
