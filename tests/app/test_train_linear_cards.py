"""The cards of linear models on the Train page without a browser: what is drawn, outdated and said."""

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.jobs import Pool
from dpml_app.pages.train.compute import EVERY, LINEAR, public_lambda
from dpml_app.pages.train.figures import (
    NOISY,
    PLAIN,
    RULES,
    AccuracyCard,
    LambdaCard,
    MethodsCard,
)
from dpml_app.pages.train.page import TrainPage
from dpml_app.state import Settings
from train_linear import facts_of, measured, values_of


def done(panel, values, facts):
    """Return what a panel needs, computed, after it has shown all of it."""
    work = panel.work(values, facts)
    results = {place: task.function(*task.arguments) for place, task in work.items()}
    panel.prepare(values, facts, {place: r for place, r in results.items() if place[1] in (IMMEDIATE, WORKER)})
    panel.show(results, work)
    return results


def test_what_is_slow_is_not_asked_of_the_server():
    values, facts = values_of(train_linear=list(LINEAR)), facts_of("toy")
    for panel in (MethodsCard, AccuracyCard, LambdaCard):
        for (series, place), task in panel().work(values, facts).items():
            method = task.arguments[1]
            assert place != IMMEDIATE or not EVERY[method].anew, (panel.name, series)


def test_lambda_marks_the_public_rule():
    values, facts, panel = values_of(dataset="toy", epsilon=1.0, draws=10), facts_of("toy"), LambdaCard()
    results = done(panel, values, facts)
    rules = {c: [panel.figure.sources[RULES[m]].data[c][0] for m in NOISY] for c in ("x", "y")}
    np.testing.assert_allclose(rules["x"], [public_lambda("toy", m, 1.0, "add-remove") for m in NOISY])
    np.testing.assert_allclose(rules["y"], [measured("toy", m, draws=10, seed=0).mean() for m in NOISY])
    assert "not private" in panel.caption
    # no place on the axis is chosen while the rule is
    assert panel.figure.marker.location is None
    # without noise the same methods are one
    assert len(results[PLAIN, 1.0]["accuracy"]) == 1
    assert f"{100 * rules['y'][0]:.1f}" in panel.readout(values, facts, results)


def test_a_chosen_lambda_is_a_point_of_the_curves():
    values, facts, panel = values_of(dataset="toy", train_lambda=5.0, draws=10), facts_of("toy"), LambdaCard()
    done(panel, values, facts)
    assert panel.figure.marker.location == 5.0
    curve = panel.figure.sources["objective"].data
    mean = curve["mean"][curve["reg_lambda"].index(5.0)]
    np.testing.assert_allclose(mean, measured("toy", "objective", 0.1, 10, 0, train_lambda=5.0).mean())


@pytest.mark.parametrize(("family", "there", "not_there"), [
    ("naive-bayes", {"threshold"}, {"lambda"}),
    ("linear", {"lambda"}, {"threshold"}),
    ("both", {"lambda", "threshold"}, set()),
])  # fmt: skip
def test_a_family_has_its_own_panels_and_controls(family, there, not_there):
    page = TrainPage(Settings(train_family=family), Pool(1))
    shown = {slot.name.removeprefix("place-train-") for slot in page.slots if slot.visible}
    assert shown >= there | {"accuracy"}
    assert not shown & not_there
    visible = {name for name, column in page.controls.columns.items() if column.visible}
    assert visible == ({"naive-bayes", "linear"} if family == "both" else {family})
