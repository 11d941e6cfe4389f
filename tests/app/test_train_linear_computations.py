"""What the Train page computes of linear models and of tuning: it is the library's, and it says what is not private."""

import numpy as np
import pytest
from dpml_app.cards import _outdated
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.train import tuning as train_tuning
from dpml_app.train.accuracy import AccuracyCard, fewer_draws
from dpml_app.train.card import NOW, SOON, asked, chosen
from dpml_app.train.compute import nb_facts, nb_measure
from dpml_app.train.linear_compute import (
    exact_weights,
    lambda_without_noise,
    linear_facts,
    linear_measure,
    linear_weights,
    public_lambda,
    rule_takes,
)
from dpml_app.train.methods import DELTA, EVERY, LINEAR, METHODS, families, options_of, private, styles, why_not
from dpml_app.train.page import TrainPage, with_levels
from dpml_app.train.reg_lambda import LAMBDA_STEPS, NOISY, PLAIN, RULES, LambdaCard, best_of
from dpml_app.train.settings import RULE
from dpml_app.train.size import SizeCard
from dpml_app.train.tuning import HINDSIGHT, SCHEMES, TUNING_EPSILONS, TuningCard
from dpml_app.train.tuning_compute import MOST_TUNING_DRAWS, candidates, costs_of, tuning_measure
from dpml_app.train.weights import WeightsCard
from dpml_app.work.pool import Chunk, Pool
from sklearn.linear_model import LogisticRegression as Plain

from dpml.classifiers import LinearSVC, LogisticRegression, PrivGene, PrivLocal
from dpml.classifiers.linear_classifier import LinearClassifier
from dpml.datasets import load
from dpml.studies.tuning import TuningStudy

ESTIMATORS = {
    "rule": (LinearClassifier, {}),
    "l1": (LogisticRegression, {"method": "objective", "norm": "l1"}),
    "objective": (LogisticRegression, {"method": "objective"}),
    "output": (LogisticRegression, {"method": "output"}),
    "functional": (LogisticRegression, {"method": "functional"}),
    "svm": (LinearSVC, {"method": "objective"}),
    "local": (PrivLocal, {}),
    "genetic": (PrivGene, {}),
    "descent": (LogisticRegression, {"method": "noisy-descent"}),
}


def values_of(**changes):
    settings = Settings()
    settings.param.update(**{"train_family": "linear", **changes})
    return settings.train_values()


def facts_of(name):
    return with_levels(nb_facts(name), linear_facts(name))


def measured(name, method, epsilon=1.0, draws=5, seed=3, **more):
    options = options_of(method, values_of(dataset=name, **more))
    return linear_measure(name, method, "add-remove", epsilon, options, draws, seed)["accuracy"]


def done(panel, values, facts):
    """Return what a panel needs, computed, after it has shown all of it."""
    work = panel.work(values, facts)
    results = {place: chunk.function(*chunk.arguments) for place, chunk in work.items()}
    panel.prepare(values, facts, {place: r for place, r in results.items() if place[1] in (NOW, SOON)})
    panel.show(results, work)
    return results


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("epsilon", [0.2, 5.0])
def test_one_draw_is_the_estimators(method, epsilon):
    # the public rule takes naive Bayes at the smaller ε, and a support vector machine at the larger one
    data = load("toy")
    kind, options = ESTIMATORS[method]
    model = kind(epsilon, schema=data.schema, random_state=3, **options).fit(data.X_train, data.y_train)
    assert measured("toy", method, epsilon, draws=1)[0] == pytest.approx(model.score(data.X_test, data.y_test))


def test_the_public_rule_takes_naive_bayes_where_epsilon_is_small():
    assert [rule_takes("toy", epsilon) for epsilon in (0.2, 5.0)] == ["naive-bayes", "objective"]


@pytest.mark.parametrize("method", ["l1", "objective", "output", "svm"])
def test_lambda_reaches_the_library(method):
    data = load("toy")
    kind, options = ESTIMATORS[method]
    # records of L1 noise are shorter by a factor √S, S = 11, so that λ is smaller by S
    of_library = 50.0 / 11 if method == "l1" else 50.0
    model = kind(1.0, reg_lambda=of_library, schema=data.schema, random_state=3, **options)
    model.fit(data.X_train, data.y_train)
    found = measured("toy", method, draws=1, train_lambda=50.0)[0]
    assert found == pytest.approx(model.score(data.X_test, data.y_test))


def test_the_public_lambda_is_the_librarys():
    found = {m: public_lambda("toy", m, 0.1, "add-remove") for m in ("objective", "output", "l1")}
    root = np.sqrt(41)  # 40 columns and the constant
    assert found == {
        "objective": pytest.approx(root / 0.1),
        "output": pytest.approx(2 * root / 0.1),
        "l1": pytest.approx(11 * np.sqrt(2 / 11) / 0.1),
    }


def test_sensitivity_of_the_functional_mechanism_is_chosen():
    exact = measured("toy", "functional", 20.0, 50)
    original = measured("toy", "functional", 20.0, 50, train_functional="original")
    assert exact.mean() > original.mean() + 0.1


def test_a_delta_is_said_and_its_line_is_dashdotted():
    looks = styles(tuple(LINEAR), facts_of("toy"))
    assert {name for name, look in looks.items() if look.dash == "dashdot"} == {"descent"}
    assert looks["descent"].label.endswith("needs δ = 1e-5")
    assert DELTA == 1e-5
    assert all(private(name, facts_of("toy")) for name in LINEAR)


def test_without_noise_it_is_scikit_learns():
    data = load("toy")
    X = np.column_stack([data.X_train, np.ones(len(data.y_train))]) / np.sqrt(11)
    plain = Plain(C=1 / 5.0, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, data.y_train)
    np.testing.assert_allclose(exact_weights("toy", 5.0), plain.coef_, atol=1e-4)
    test = np.column_stack([data.X_test, np.ones(len(data.y_test))])
    assert lambda_without_noise("toy", 5.0)["accuracy"][0] == pytest.approx(plain.score(test, data.y_test))
    assert linear_facts("toy")["accuracy"]["logistic"] == lambda_without_noise("toy", 1.0)["accuracy"][0]


def test_areas_under_the_curve():
    values = values_of()
    found = linear_measure("toy", "output", "add-remove", 10.0, options_of("output", values), 5, 0, True)
    assert (found["auc"] > found["accuracy"]).all()


# ---- what is chosen, and what is refused ----------------------------------------------------------------------------


def test_a_family_has_its_own_methods():
    assert families(values_of()) == ("linear",)
    assert set(asked(values_of())) <= set(LINEAR)
    assert set(asked(values_of(train_family="naive-bayes"))) <= set(METHODS)
    both = asked(values_of(train_family="both"))
    assert set(both) & set(METHODS)
    assert set(both) & set(LINEAR)


def test_what_cannot_be_trained_says_why():
    wide = {**facts_of("toy"), "binary_columns": [f"c{i}" for i in range(401)]}
    assert "too many columns, 401" in why_not("functional", wide)
    assert "too many columns, 401" in why_not("genetic", wide)
    assert [m for m in LINEAR if why_not(m, facts_of("toy"))] == []
    values = values_of(train_linear=list(LINEAR), train_shown="functional")
    assert {"functional", "genetic"} & set(chosen(values, wide)) == set()
    assert "too many columns" in WeightsCard().refusal(values, wide)
    alone = values_of(train_linear=["functional"])
    assert all("too many columns, 401" in panel().refusal(alone, wide) for panel in (AccuracyCard, SizeCard))
    panel = AccuracyCard()
    panel.prepare(values, wide, {})
    results = {("output", NOW): {"accuracy": np.array([0.5, 0.6])}}
    assert "Not drawn: Functional mechanism: too many columns" in panel.readout(values, wide, results)


def test_three_classes_are_trained_and_have_no_roc_curve():
    facts = {**facts_of("toy"), "classes": ("a", "b", "c")}
    assert "3" in AccuracyCard().refusal(values_of(train_measure="auc"), facts)
    assert [m for m in LINEAR if why_not(m, facts)] == []


@pytest.mark.data
def test_three_classes_by_every_method():
    data = load("seeds")
    for method in LINEAR:
        kind, options = ESTIMATORS[method]
        model = kind(5.0, schema=data.schema, random_state=3, **options).fit(data.X_train, data.y_train)
        found = measured("seeds", method, 5.0, draws=1)[0]
        assert found == pytest.approx(model.score(data.X_test, data.y_test)), method


def test_fewer_draws_are_said():
    assert len(measured("toy", "objective", draws=200)) == 20
    assert len(measured("toy", "output", draws=200)) == 200
    assert fewer_draws(("output", "objective"), 50) == " Fewer draws, for each trains anew: 20 of Objective L2."
    assert fewer_draws(("output", "objective"), 20) == ""


# ---- panels ---------------------------------------------------------------------------------------------------------

LINEAR_PANELS = [panel for panel in TrainPage.kinds if "linear" in panel.families]


@pytest.mark.parametrize("panel", LINEAR_PANELS)
def test_every_chunk_depends_on_plain_values(panel):
    values, facts = values_of(train_linear=list(LINEAR)), facts_of("census")
    work = panel().work(values, facts)
    assert work
    assert all(hash(chunk.key) is not None and chunk.arguments[0] == "census" for chunk in work.values())


def test_what_is_slow_is_not_asked_of_the_server():
    values, facts = values_of(train_linear=list(LINEAR)), facts_of("toy")
    for panel in LINEAR_PANELS:
        for (series, place), chunk in panel().work(values, facts).items():
            method = chunk.arguments[1]
            assert place != NOW or not EVERY[method].anew, (panel.name, series)


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
    assert {x for _series, x in AccuracyCard().work(values, facts)} == {NOW, SOON, *SWEEP_EPSILONS}
    assert {x for _series, x in LambdaCard().work(values, facts)} == {NOW, SOON, *LAMBDA_STEPS}
    assert {x for _series, x in TuningCard().work(values, facts)} == {SOON, *TUNING_EPSILONS}
    assert NOW not in {x for _series, x in SizeCard().work(values, facts)}


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
    assert set(best["what"]) == {"best of those tried, not private"}
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
    facts, panel = facts_of("toy"), AccuracyCard()
    values = values_of(dataset="toy", train_linear=["objective"], draws=10)
    place = ("objective", SOON)
    first = panel.work(values, facts)[place]
    panel.prepare(values, facts, {place: first.function(*first.arguments)})
    now, dot = panel.figures[0].now["objective"], panel.figures[0].drawn["objective"][-1].glyph
    assert dot.fill_alpha == 1.0
    values = {**values, "epsilon": 1.0}
    panel.prepare(values, facts, {})
    assert dot.fill_alpha < 0.5
    work = panel.work(values, facts)
    panel.show({place: work[place].function(*work[place].arguments)}, work)
    assert dot.fill_alpha == 1.0
    assert now.data["mean"][0] == measured("toy", "objective", draws=10, seed=0).mean()


def test_weights_are_the_estimators_and_the_largest():
    data, values = load("toy"), values_of(train_lambda=5.0)
    found = linear_weights("toy", "objective", "add-remove", 1.0, options_of("objective", values), 1, 3)
    model = LogisticRegression(1.0, method="objective", reg_lambda=5.0, schema=data.schema, random_state=3)
    model.fit(data.X_train, data.y_train)
    columns = [data.feature_names.index(name) for name in found["names"]]
    np.testing.assert_allclose(found["draws"][0], model.coef_[0, columns], atol=1e-9)
    exact = exact_weights("toy", 5.0)[0, :-1] / np.sqrt(11)
    np.testing.assert_allclose(found["exact"], exact[columns])
    assert np.abs(found["exact"]).min() >= np.delete(np.abs(exact), columns).max()


# the others do not come to the minimum, with or without noise
@pytest.mark.parametrize("method", ["rule", "l1", "objective", "output", "functional", "svm"])
def test_weights_with_little_noise_are_those_without(method):
    values = values_of(train_lambda=20.0)
    found = linear_weights("toy", method, "add-remove", 1e6, options_of(method, values), 3, 3)
    np.testing.assert_allclose(found["draws"].mean(axis=0), found["exact"], atol=0.01)


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


# ---- tuning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tuned", ["reg_lambda", "row_bound"])
def test_tuning_is_the_librarys(tuned):
    public = public_lambda("toy", "objective", 1.0, "add-remove") if tuned == "reg_lambda" else None
    study = TuningStudy(load("toy"), {tuned: candidates("toy", tuned)}, choice="exponential", public=public)
    for scheme in ("public rule", "disjoint", "random stopping 1"):
        expected = study(1.0, draws=5, rng=np.random.default_rng(2), schemes=(scheme,))[scheme]
        found = tuning_measure("toy", tuned, "add-remove", 1.0, scheme, 5, 2)["accuracy"]
        np.testing.assert_array_equal(found, expected)


def test_the_costs_that_are_said_add_up():
    for scheme in SCHEMES:
        if scheme in ("public rule", HINDSIGHT):
            continue
        cost = costs_of(scheme, 1.0, 4)
        assert cost["total"] == 1.0
    assert costs_of("random stopping 1", 1.0, 4)["train"] == pytest.approx(1 / 3)
    both = costs_of("shared, retrained", 1.0, 4)
    assert 4 * both["train"] == pytest.approx(both["select"]) == pytest.approx(1 - both["retrain"])


def test_tuning_says_what_it_costs_and_how_sure_it_is():
    values, facts = values_of(dataset="toy", train_tune="row_bound", epsilon=1.0, draws=50), facts_of("toy")
    panel = TuningCard()
    results = done(panel, values, facts)
    assert {len(r["accuracy"]) for r in results.values()} == {MOST_TUNING_DRAWS}
    assert "stability" not in {series for series, _x in results}
    text = panel.readout(values, facts, results)
    rule, hindsight = (results[s, SOON]["accuracy"] for s in ("public rule", HINDSIGHT))
    error = np.sqrt((rule.var(ddof=1) + hindsight.var(ddof=1)) / MOST_TUNING_DRAWS)
    shown = f"{100 * (hindsight.mean() - rule.mean()):+.1f} ± {100 * error:.1f}"
    assert f"Best in hindsight, not private <b>{shown}</b>" in text
    assert "one run 0.5 with η = 0, 0.333 with η = 1" in text
    assert panel.styles(values, facts)[HINDSIGHT].dash == "dashed"


def test_one_value_is_no_choice(monkeypatch):
    values, facts, panel = values_of(train_tune="row_bound"), facts_of("toy"), TuningCard()
    assert panel.refusal(values, facts) == ""
    monkeypatch.setattr(train_tuning, "candidates", lambda _name, _tuned: (1,))
    assert "no row bound to choose" in panel.refusal(values, facts)


# ---- the page -------------------------------------------------------------------------------------------------------


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
    kinds = [chunk.function is tuning_measure for chunk in order]
    assert kinds == sorted(kinds)
    assert order[0].arguments[3] == values["epsilon"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("train_family", "trees"),
        ("train_linear", ["l1", "magic"]),
        ("train_lambda", 3.0),
        ("train_functional", "best"),
        ("train_tune", "gamma"),
        ("train_shown", "binned"),
    ],
)
def test_bad_value_is_named_and_not_taken(name, value):
    settings = Settings()
    before = settings.param.values()
    (problem,) = settings.assign({name: value})
    assert problem.startswith(f"{name} = {value} is not allowed: it must be ")
    assert settings.param.values() == before


def test_results_of_the_families_have_keys_of_their_own():
    keys = {Chunk(f, ()).key for f in (linear_measure, linear_weights, tuning_measure, nb_measure, linear_facts)}
    assert len(keys) == 5
    assert values_of()["train_lambda"] == RULE
