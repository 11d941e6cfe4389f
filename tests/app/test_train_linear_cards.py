"""The cards of linear models on the Train page without a browser: what is drawn, outdated and said."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card_page import _outdated
from dpml_app.pages.train.accuracy import AccuracyCard, SizeCard
from dpml_app.pages.train.best import BestCard
from dpml_app.pages.train.card import IMMEDIATE, WORKER
from dpml_app.pages.train.linear_compute import linear_facts, linear_weights, public_lambda
from dpml_app.pages.train.measure import measure
from dpml_app.pages.train.methods import EVERY, LINEAR
from dpml_app.pages.train.page import TrainPage
from dpml_app.pages.train.reg_lambda import LAMBDA_STEPS, NOISY, PLAIN, RULES, LambdaCard, best_of
from dpml_app.pages.train.settings import RULE
from dpml_app.pages.train.tuning import TUNING_EPSILONS, TuningCard
from dpml_app.pages.train.tuning_compute import MOST_TUNING_DRAWS, tuning_measure
from dpml_app.pages.train.weights import WeightsCard
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.work.pool import Pool, Task
from train_linear import facts_of, measured, values_of


def done(panel, values, facts):
    """Return what a panel needs, computed, after it has shown all of it."""
    work = panel.work(values, facts)
    results = {place: task.function(*task.arguments) for place, task in work.items()}
    panel.prepare(values, facts, {place: r for place, r in results.items() if place[1] in (IMMEDIATE, WORKER)})
    panel.show(results, work)
    return results


LINEAR_PANELS = [panel for panel in TrainPage.kinds if "linear" in panel.families]


@pytest.mark.parametrize("panel", LINEAR_PANELS)
def test_every_task_depends_on_plain_values(panel):
    values, facts = values_of(train_linear=list(LINEAR)), facts_of("census")
    work = panel().work(values, facts)
    assert work
    assert all(hash(task.key) is not None and task.arguments[0] == "census" for task in work.values())


def test_what_is_slow_is_not_asked_of_the_server():
    values, facts = values_of(train_linear=list(LINEAR)), facts_of("toy")
    for panel in LINEAR_PANELS:
        if panel is BestCard:
            continue  # it reads what ships
        for (series, place), task in panel().work(values, facts).items():
            method = task.arguments[1]
            assert place != IMMEDIATE or not EVERY[method].anew, (panel.name, series)


def test_only_what_a_setting_touches_is_outdated():
    facts, panel = facts_of("census"), AccuracyCard()
    before = panel.work(values_of(), facts)
    assert _outdated(before, panel.work(values_of(epsilon=1.0), facts)) == set()
    assert _outdated(before, panel.work(values_of(train_lambda=1.0), facts)) == {"l1", "objective", "output"}
    assert _outdated(before, panel.work(values_of(train_functional="original"), facts)) == set()
    weights = WeightsCard()
    first = weights.work(values_of(), facts)
    assert first == weights.work(values_of(train_functional="original"), facts)
    assert first != weights.work(values_of(train_lambda=1.0), facts)


def test_grids_reach_from_end_to_end():
    facts, values = facts_of("toy"), values_of()
    assert {x for _series, x in AccuracyCard().work(values, facts)} == set(SWEEP_EPSILONS)
    assert {x for _series, x in LambdaCard().work(values, facts)} == {IMMEDIATE, WORKER, *LAMBDA_STEPS}
    assert {x for _series, x in TuningCard().work(values, facts)} == {WORKER, *TUNING_EPSILONS}
    assert IMMEDIATE not in {x for _series, x in SizeCard().work(values, facts)}


def test_lambda_marks_the_rule_and_the_best_in_hindsight():
    values, facts, panel = values_of(dataset="toy", epsilon=1.0, draws=10), facts_of("toy"), LambdaCard()
    results = done(panel, values, facts)
    rules, best = (
        {c: [source.data[c][0] for source in panel.marks[key].values()] for c in ("x", "y", "what")}
        for key in ("rule", "best")
    )
    np.testing.assert_allclose(rules["x"], [public_lambda("toy", m, 1.0, "add-remove") for m in NOISY])
    np.testing.assert_allclose(rules["y"], [measured("toy", m, draws=10, seed=0).mean() for m in NOISY])
    for place, method in enumerate(NOISY):
        means = [results[method, x]["accuracy"].mean() for x in LAMBDA_STEPS]
        assert best["y"][place] == max(means)
        assert best["x"][place] == LAMBDA_STEPS[int(np.argmax(means))]
    assert set(best["what"]) == {"best λ tried (not private)"}
    assert "not private" in panel.caption
    # no place on the axis is chosen while the rule is
    assert all(len(now.data["x"]) == 0 for now in panel.figures[0].now.values())
    # without noise the same methods are one
    assert len(results[PLAIN, 1.0]["accuracy"]) == 1
    assert f"{100 * rules['y'][0]:.1f}" in panel.readout(values, facts, results)


def test_a_chosen_lambda_has_its_dots():
    values, facts, panel = values_of(dataset="toy", train_lambda=5.0, draws=10), facts_of("toy"), LambdaCard()
    done(panel, values, facts)
    assert panel.figures[0].marker.location == 5.0
    mean = panel.figures[0].now["objective"].data["mean"]
    np.testing.assert_allclose(mean, measured("toy", "objective", 0.1, 10, 0, train_lambda=5.0).mean())


def test_the_best_is_not_said_before_all_are_there():
    results = {("l1", x): {"accuracy": np.array([0.5])} for x in LAMBDA_STEPS[1:]}
    assert best_of(results, "l1") is None
    assert best_of({**results, ("l1", LAMBDA_STEPS[0]): {"accuracy": np.array([0.7])}}, "l1") == (LAMBDA_STEPS[0], 0.7)
    assert RULES["l1"] not in LINEAR


def test_dots_of_another_setting_are_faded_until_theirs_come():
    facts, panel = facts_of("toy"), LambdaCard()
    values = values_of(dataset="toy", train_linear=["objective"], train_lambda=5.0, draws=10)
    place = ("objective", WORKER)
    first = panel.work(values, facts)[place]
    panel.prepare(values, facts, {place: first.function(*first.arguments)})
    now, dot = panel.figures[0].now["objective"], panel.figures[0].drawn["objective"][-1].glyph
    assert dot.fill_alpha == 1.0
    values = replace(values, epsilon=1.0)
    panel.prepare(values, facts, {})
    assert dot.fill_alpha < 0.5
    work = panel.work(values, facts)
    result = work[place].function(*work[place].arguments)
    panel.show({place: result}, work)
    assert dot.fill_alpha == 1.0
    assert now.data["mean"][0] == result["accuracy"].mean()


def test_weights_are_drawn_and_said():
    values, facts, panel = values_of(dataset="toy", epsilon=1.0, draws=10), facts_of("toy"), WeightsCard()
    results = done(panel, values, facts)
    (result,) = results.values()
    np.testing.assert_array_equal(panel.bars.data["exact"], result["exact"])
    assert len(panel.dots.data["x"]) == 8 * len(result["exact"])
    assert panel.plot.x_range.end <= 1.1 * 2.5 * np.abs(result["exact"]).max() + 1e-12
    right = (np.sign(result["draws"]) == np.sign(result["exact"])).mean()
    assert f"<b>{100 * right:.0f}" in panel.readout(values, facts, results)
    panel.prepare(values, facts, {})  # another setting, whose weights are on their way
    assert panel._faded[0].glyph.line_alpha < 0.5
    panel.clear()
    assert len(panel.bars.data["y"]) == 0


def test_tuning_says_what_it_costs_and_how_sure_it_is():
    values, facts = values_of(dataset="toy", train_tune="row_bound", epsilon=1.0, draws=50), facts_of("toy")
    panel = TuningCard()
    results = done(panel, values, facts)
    assert {len(r["accuracy"]) for r in results.values()} == {MOST_TUNING_DRAWS}
    assert "stability" not in {series for series, _x in results}
    text = panel.readout(values, facts, results)
    rule, hindsight = (results[s, WORKER]["accuracy"] for s in ("public rule", "best in hindsight"))
    error = np.sqrt((rule.var(ddof=1) + hindsight.var(ddof=1)) / MOST_TUNING_DRAWS)
    shown = f"{100 * (hindsight.mean() - rule.mean()):+.1f} ± {100 * error:.1f}"
    assert f"Best in hindsight, non-private <b>{shown}</b>" in text
    assert "one run 0.5 with η = 0, 0.333 with η = 1" in text
    assert panel.styles(values, facts)["best in hindsight"].dash == "dashed"


@pytest.mark.parametrize(("family", "there", "not_there"), [
    ("naive-bayes", {"weight", "parameters"}, {"lambda", "tuning", "weights"}),
    ("linear", {"lambda", "tuning", "weights"}, {"weight", "parameters", "threshold"}),
    ("both", {"lambda", "parameters"}, set()),
])  # fmt: skip
def test_a_family_has_its_own_panels_and_controls(family, there, not_there):
    page = TrainPage(Settings(train_family=family), Pool(1))
    shown = {slot.name.removeprefix("place-train-") for slot in page.slots if slot.visible}
    assert shown >= there | {"accuracy", "size"}
    assert not shown & not_there
    visible = {name for name, column in page.controls.columns.items() if column.visible}
    assert visible == ({"naive-bayes", "linear"} if family == "both" else {family})


def test_the_chosen_setting_comes_first_and_tuning_last():
    page = TrainPage(Settings(train_family="linear", dataset="toy"), Pool(1))
    for place in page.slots:
        place.mount()
    values, facts = values_of(dataset="toy"), facts_of("toy")
    order = page._missing(
        values, {name: page.cards[name].work(values, facts) for name in ("tuning", "accuracy", "lambda")}
    )
    kinds = [task.function is tuning_measure for task in order]
    assert kinds == sorted(kinds)
    assert order[0].arguments[3] == values.epsilon


def test_results_of_the_families_have_keys_of_their_own():
    keys = {Task(f, ()).key for f in (measure, linear_weights, tuning_measure, linear_facts)}
    assert len(keys) == 4
    assert values_of().train_lambda == RULE
