"""Settings, words, layout and the app without a server."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.core.base_page import REGIONS
from dpml_app.data import measures
from dpml_app.data.facts import OF_TWO_CLASSES, dataset_note
from dpml_app.page_list import PAGES
from dpml_app.pages.explore import compute, text
from dpml_app.pages.explore.compute import ExploreValues
from dpml_app.settings import EPSILONS, LAMBDAS, SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.text.phrases import certainty, factor, right_of_hundred, risk

from dpml.datasets import NAMES, card, load
from dpml.studies import SelectedLogisticStudy, SelectedNBStudy


def test_every_data_set_of_two_classes_is_offered():
    assert Settings.param["dataset"].objects == list(NAMES)
    assert [name for name in NAMES if len(card(name)["label"]["classes"]) == 2] == list(OF_TWO_CLASSES)
    assert all(load(name).schema.n_classes == 2 for name in ("census", "toy", "breast_cancer"))


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_declares_is_all_that_the_app_knows_of_it(name):
    page = PAGES[name]
    assert page.page_id == name
    assert page.__module__ == f"dpml_app.pages.{name}.page"
    assert issubclass(Settings, page.settings_kind)
    assert set(Settings().page_names(name)) <= set(page.settings_kind.param)
    assert name in Settings.param["page"].objects
    assert page.question.endswith("?")
    assert len({other.title for other in PAGES.values()}) == len(PAGES)


def test_grids_are_increasing_and_the_sweep_is_part_of_the_slider():
    assert list(EPSILONS) == sorted(set(EPSILONS))
    assert (EPSILONS[0], EPSILONS[-1]) == (0.01, 10.0)
    assert set(SWEEP_EPSILONS) <= set(EPSILONS)
    assert (SWEEP_EPSILONS[0], SWEEP_EPSILONS[-1]) == (EPSILONS[0], EPSILONS[-1])
    assert list(LAMBDAS) == sorted(set(LAMBDAS))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", "abc"),
        ("epsilon", True),
        ("draws", 5),
        ("draws", 12.5),
        ("n_features", 0),
        ("selection_share", 1),
        ("seed", -1),
        ("threshold_percentile", 100),
        ("relation", "both"),
        ("dataset", "iris"),
        ("reg_lambda", None),
        ("publish_draws", -3),
        ("select_order", "best"),
        ("train_methods", ["binned", "magic"]),
        ("train_methods", "binned"),
        ("train_lambda", 3.0),
    ],
)
def test_bad_value_is_named_and_not_taken(name, value):
    settings = Settings()
    before = settings.param.values()
    (problem,) = settings.assign({name: value})
    said = ".".join(value) if isinstance(value, list) else value
    assert problem.startswith(f"{name} = {said} is not allowed: it must be ")
    assert settings.allowed(name) in problem
    assert settings.param.values() == before


def test_good_values_are_kept_beside_bad_ones():
    settings = Settings()
    assert len(settings.assign({"epsilon": 3, "draws": 100, "seed": "x", "reg_lambda": 1})) == 2
    assert (settings.draws, settings.reg_lambda, settings.epsilon, settings.seed) == (100, 1.0, 0.1, 0)


def test_fit_lowers_what_a_data_set_does_not_have():
    settings = Settings(n_features=50)
    assert settings.fit(24).startswith("n_features = 50 lowered to 24")
    assert settings.n_features == 24
    assert settings.fit(24) == ""


def test_keys_hold_what_a_method_depends_on_and_nothing_else():
    values = ExploreValues.of(Settings())
    common = {"dataset", "relation", "draws", "seed"}
    other = {
        "dataset": "toy",
        "relation": "replace-one",
        "epsilon": 1.0,
        "reg_lambda": 1.0,
        "threshold_percentile": 70,
        "n_features": 3,
        "selection_share": 0.2,
        "draws": 60,
        "seed": 9,
        "hand_model": "logistic",
        "map_score": "mutual_information",
        "wanted": 80.0,
    }
    assert set(other) == set(values.names())
    for model, own in (("naive-bayes", "threshold_percentile"), ("logistic", "reg_lambda")):
        now, levers = replace(values, hand_model=model), {own, "selection_share", "map_score", "hand_model"}
        others = {n: other[n] for n in values.names()} | {
            "hand_model": {"logistic": "naive-bayes"}.get(model, "logistic")
        }

        def moved_by(key, now=now, others=others):
            return {n for n, value in others.items() if key(replace(now, **{n: value})) != key(now)}

        assert moved_by(lambda v: v.roc_key()) == common | levers | {"epsilon", "n_features"}
        assert moved_by(lambda v: v.custom_key(0.5)) == common - {"draws"} | levers | {"n_features"}
        hash((now.roc_key(), now.custom_key(0.1)))


# ---- computation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["naive-bayes", "logistic"])
def test_custom_accuracy_is_of_the_librarys_study(model):
    own = 70 if model == "naive-bayes" else 5.0
    key = ("toy", "replace-one", 0.5, model, "mutual_information", (6, 0.4, own), compute.CUSTOM_DRAWS, 2)
    study = {"naive-bayes": SelectedNBStudy, "logistic": SelectedLogisticStudy}[model]
    study = study(load("toy"), "mutual_information", relation="replace-one")
    own = {"threshold_percentile": own} if model == "naive-bayes" else {"reg_lambda": own}
    options = {"n_features": 6, "selection_share": 0.4, "rng": np.random.default_rng(2), **own}
    np.testing.assert_array_equal(
        compute.custom_accuracy(*key), study(0.5, draws=compute.CUSTOM_DRAWS, **options)["accuracy"]
    )


def test_roc_of_one_model_does_not_depend_on_the_number_of_draws():
    model = "toy", "add-remove", 1.0, "logistic", "count", (7, 0.5, 5.0)
    few, many = (compute.roc(*model, draws, 0) for draws in (10, 20))
    assert few["fpr"].shape == (10, 17)
    assert (few["exact_fpr"] == many["exact_fpr"]).all()
    area = np.trapezoid(few["exact_tpr"], few["exact_fpr"])
    assert area == pytest.approx(few["exact_auc"][0], abs=2e-3)


@pytest.mark.parametrize("n_total", [1, 2, 24, 84, 100, 600, 8444])
def test_ladder_is_increasing_and_ends_where_it_can(n_total):
    ladder = measures.feature_ladder(n_total)
    assert list(ladder) == sorted(set(ladder))
    assert ladder[0] == 1
    assert ladder[-1] == (n_total if n_total <= 1000 else 100)


# ---- words and figures ----------------------------------------------------------------------------------------------


PEOPLE = SimpleNamespace(classes=("<=50K", ">50K"), groups=("sex=female", "25<=age<35"))
NOBODY = SimpleNamespace(classes=(), groups=())


@pytest.mark.parametrize(
    ("private", "without", "expected"),
    [
        (0.80, 0.85, "<b>5.0</b> percentage points"),
        (0.8502, 0.85, "<b>0</b> percentage points"),
        (0.8497, 0.85, "<b>0</b> percentage points"),
        (0.8494, 0.85, "<b>0.1</b> percentage points"),
    ],
)
def test_headline_says_the_cost_and_never_a_gain(private, without, expected):
    draws = np.array([private - 0.01, private, private + 0.01])
    nobody = np.empty((3, 0))
    found = {"accuracy": draws, "recall": nobody, "groups": nobody}
    best = {"accuracy": without, "recall": nobody[0], "groups": nobody[0]}
    said = text.headline(SimpleNamespace(epsilon=0.1), NOBODY, found, 0.83, best)
    assert ("</i>3.0 noise" in said) == ("</i>2.0 simpler method" in said) == (private == 0.80)
    assert expected in said
    for share in (private, without, private + 0.009):
        assert text.percent(share) in said
    assert f"{100 * private - 0.9:.1f}–" in said
    assert "loses most" not in said


def test_the_parts_of_the_cost_add_up_as_they_are_shown():
    nobody = np.empty((3, 0))
    found = {"accuracy": np.full(3, 0.8422), "recall": nobody, "groups": nobody}
    best = {"accuracy": 0.8824, "recall": nobody[0], "groups": nobody[0]}
    said = text.headline(SimpleNamespace(epsilon=0.1), NOBODY, found, 0.8548, best)
    shown = ("<b>4.0</b> percentage points", "</i>1.3 noise", "</i>2.7 simpler method")
    assert [each for each in shown if each not in said] == []


def test_headline_without_results_claims_none():
    said = text.headline(SimpleNamespace(epsilon=1.0), PEOPLE, None, None, None)
    assert "ε = 1" in said
    assert "accura" not in said


def test_cost_by_group_names_each_class_and_group_with_its_interval():
    found = {
        "accuracy": np.array([0.7, 0.6]),
        "recall": np.array([[0.9, 0.3], [0.8, 0.5]]),
        "groups": np.array([[0.9, 0.5], [0.9, 0.5]]),
    }
    without = {"accuracy": 0.8, "recall": np.array([0.95, 0.6]), "groups": np.array([0.85, 0.75])}
    said = text.cost_by_group(SimpleNamespace(epsilon=0.1), PEOPLE, found, without)
    assert "all <b>15.0</b> (10.5 to 19.5)" in said
    assert "&lt;=50K <b>10.0</b>" in said
    assert "&gt;50K <b>20.0</b> (11.0 to 29.0)" in said
    assert "sex: female <b>−5.0</b> (−5.0 to −5.0)" in said
    assert "25 ≤ age &lt; 35 <b>25.0</b>" in said
    assert text.percent(0.95) in said
    assert "The group <b>25 ≤ age &lt; 35</b> loses most: 25.0 points." in text.headline(
        SimpleNamespace(epsilon=0.1), PEOPLE, found, 0.8, without
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_epsilon_hides_is_rounded_up_and_never_down(epsilon):
    shown, true = float(right_of_hundred(epsilon)), 100 * np.exp(epsilon) / (1 + np.exp(epsilon))
    assert true <= shown < 100
    assert shown - true < (0.1 if true < 99.9 else (100 - true) * 0.1 + 1e-9)
    drawn = risk(epsilon, "add-remove")
    assert drawn.count('class="chance"') == 50
    assert drawn.count('class="more"') == int(np.ceil(shown)) - 50
    assert f"<b>{right_of_hundred(epsilon)}%</b>" in drawn


def test_dataset_note_escapes_class_names():
    facts = SimpleNamespace(n_train=5, n_test=3, n_features=2, row_bound=1, classes=("<=50K", ">50K"))
    assert "&lt;=50K or &gt;50K" in dataset_note(facts)


def test_app_is_built_without_a_server():
    from dpml_app.shell import build_app

    first, second = (build_app().server_doc() for _ in range(2))
    for doc in (first, second):
        regions = {root.name for root in doc.roots} - {"theme", "alerts"}
        assert regions == {f"explore_{region}" for region in REGIONS}, "a page is made when it is first shown"
    ours, theirs = ({model.id for model in doc.models} for doc in (first, second))
    assert not ours & theirs, "another session has models of its own"


def test_all_settings_can_be_written_as_json():
    values = ExploreValues.of(Settings()).as_dict()
    assert json.loads(json.dumps(values)) == values


@pytest.mark.parametrize("epsilon", [*EPSILONS, 14.0])
def test_odds_and_certainty_are_never_rounded_down_nor_a_lower_bound_up(epsilon):
    true = 100 * np.exp(epsilon) / (1 + np.exp(epsilon))
    said, least = (float(certainty(epsilon, at_least=b).rstrip("%")) for b in (False, True))
    assert least <= true <= said
    assert said - least < 0.2 * (100 - true) + 0.1001
    said, least = (float(factor(epsilon, at_least=b).replace(",", "")) for b in (False, True))
    assert least <= np.exp(epsilon) <= said
    assert said <= 1.11 * least
