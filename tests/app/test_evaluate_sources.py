"""The Evaluate page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import pytest
from dpml_app.pages.evaluate import attack as attacks
from dpml_app.pages.evaluate import compute as own
from dpml_app.pages.evaluate import numbers
from dpml_app.pages.evaluate.roc import RocCard
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
        for column in ("low", "mid", "high"):
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
    text = alone.text
    for figure, (value, _, high) in numbers.intervals(released, 0.0).items():
        for number in (value, high):
            assert (f"{100 * number:.1f}" if figure in SHARE else f"{number:.3f}") in text, figure
    gap = own.comparison("roc_auc", *key, "logistic", "much", relation, 0.5, 0.0, 40, 2)["difference"]
    assert f"{np.median(gap):.4f}" in text


@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_people_are_read_off_the_very_release_that_is_drawn(alone, epsilon):
    """Thirty from the true curve, and from the private one as many as the library's attack reads."""
    alone.enter("evaluate", f"&dataset=toy&draws=40&seed=4&epsilon={epsilon:g}", ("success",))
    key, n = ("toy", "naive-bayes", "none"), attacks.ATTACKED
    people = alone.read("evaluate-people")
    labels = own.labels("toy")[attacks.victims(*key)]
    released = own.evaluation(*key, "add-remove", epsilon, 40, 4)
    guesses = attacks.private_attack(released, *key, 4)
    assert people["right"] == [True] * n + (guesses[0] == labels).tolist()
    wrong = [k for k, right in enumerate(people["right"]) if not right]
    crossed = alone.read("evaluate-people-wrong")
    assert list(zip(crossed["x"], crossed["y"], strict=True)) == [(people["x"][k], people["y"][k]) for k in wrong]
    texts = alone.read("evaluate-people-words")["text"]
    hits, share = int((guesses[0] == labels).sum()), np.mean(guesses == labels, axis=1).mean()
    assert texts[:2] == [f"True curve: {n} of {n} right", f"This release: {hits} of {n} right"]
    assert f"All releases: {100 * share:.0f} % right" == texts[2]
    # a small ε hides labels, a large one does not
    assert abs(share - attacks.best_attack_success(epsilon)) < 0.05
    assert (share > 0.95) == (epsilon == 10)
    # the same draw is the line
    table = RocCard.browser_tables(alone.page.values())["evaluate-roc-release"]
    _fpr, tpr, _ = released.roc_curve()
    assert table["tpr"].tolist() == pytest.approx(tpr[0].tolist())
    assert f"{n} of {n} labels off the true curve" in " ".join(alone.text.split())


def test_only_chosen_methods_have_a_small_figure(alone):
    alone.enter("evaluate", "&dataset=toy&draws=10&evaluate_methods=laplace.fixed-space", ("methods",))
    card = alone.page.cards["methods"]

    def seen():
        return {method for method, pane in card.panes.items() if pane.visible and card.by_method[method].plot.visible}

    assert seen() == {"laplace", "fixed-space"}
    assert len(alone.read("evaluate-roc-laplace")["fpr"]) == len(own.GRID)
    alone.act(evaluate_methods=["histogram"])
    assert seen() == {"histogram"}
    assert alone.read("evaluate-roc-laplace")["fpr"] == []
    # a curve of another ε does not stay
    before = alone.read("evaluate-roc-histogram")["mid"]
    alone.act(epsilon=1.0)
    assert alone.read("evaluate-roc-histogram")["mid"] != before
