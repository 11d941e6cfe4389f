"""What the Evaluate page computes is what the library does, and its keys and words hold what they should."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.data import measures as shared
from dpml_app.drawing.styles import GREEN, VERMILION
from dpml_app.jobs import Pool
from dpml_app.pages.evaluate import compute as own
from dpml_app.pages.evaluate import text
from dpml_app.pages.evaluate.compute import CUTS, METHODS, ROC_STYLES, WEAKENED, EvaluateValues, probability
from dpml_app.pages.evaluate.figures import MethodsCard, RocCard, interval_range, interval_tables
from dpml_app.pages.evaluate.page import EvaluatePage
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from scipy.special import expit
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score, roc_curve

from dpml.datasets import load
from dpml.evaluation import (
    area_between,
    best_attack_success,
    private_roc_curve,
    published_roc_curve,
    release_evaluation,
    roc_thresholds,
)
from dpml.studies.accuracy import non_private_logistic, non_private_nb

TOY = ("toy", "naive-bayes", "none", own.ALL)
RELATIONS = ("add-remove", "replace-one")


# ---- classifiers --------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_models_without_privacy():
    data = load("toy")
    for kind, model in (("naive-bayes", non_private_nb(data)), ("logistic", non_private_logistic(data))):
        assert own.scores("toy", kind, "none", own.ALL) == pytest.approx(model.decision(data.X_test)[0, :, 0])
    assert (own.labels("toy") == data.y_test).all()


@pytest.mark.parametrize("kind", ["naive-bayes", "logistic"])
def test_weakened_scores_have_about_the_area_and_mean_what_they_say(kind):
    y = own.labels("census")
    for weakened, area in (("some", 0.9), ("much", 0.75)):
        s = own.scores("census", kind, weakened, own.ALL)
        assert roc_auc_score(y, s) == pytest.approx(area, abs=0.03)
        assert expit(s).mean() == pytest.approx(y.mean(), abs=0.03)
        assert log_loss(y, expit(s)) < log_loss(y, np.full(len(y), y.mean()))


def test_no_test_label_has_a_say_in_a_score(monkeypatch):
    before = own.all_scores("toy", "naive-bayes", "much")
    data = load("toy")
    turned = replace(data, y_test=1 - data.y_test)
    monkeypatch.setattr(own, "dataset", lambda name: turned)
    assert (own.all_scores.__wrapped__("toy", "naive-bayes", "much") == before).all()


@pytest.mark.parametrize("tested", [200, 500, own.ALL])
def test_fewer_test_records_are_a_public_draw_of_all(tested):
    rows, data = own.tested_rows("toy", tested), load("toy")
    assert len(np.unique(rows)) == (tested or len(data.y_test))
    assert (own.labels("toy", tested) == data.y_test[rows]).all()
    key = "toy", "naive-bayes", "none"
    assert (own.scores(*key, tested) == own.scores(*key, own.ALL)[rows]).all()
    assert len(own.labels("breast_cancer", 500)) == len(load("breast_cancer").y_test)


@pytest.mark.parametrize("name", ["census", pytest.param("adult", marks=pytest.mark.data)])
def test_the_page_opens_where_private_and_exact_curve_differ(name, request):
    if name == "adult":
        request.getfixturevalue("data_home")
    values = EvaluateValues.of(Settings(dataset=name))
    ((_place, task),) = own.answered(values).items()
    found = task.function(*task.arguments)
    low, high = np.quantile(found["every_area"], [0.05, 0.95])
    assert high - low > 0.1
    bands = own.band(*own.evaluation(*values.classifier_key(), "add-remove", 0.1, 50, 0).roc_curve()[:2])
    # in places the band is a fifth of the plot high, and one release is a twentieth off
    assert (bands["high"] - bands["low"]).max() > 0.2
    off = own.heights(*(np.atleast_2d(c) for c in found["release"]), own.GRID)
    assert np.abs(off - own.heights(*(np.atleast_2d(c) for c in found["curve"]), own.GRID)).max() > 0.05


# ---- curves -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 10.0])
def test_scaled_unit_noise_is_the_library_s_release(relation, epsilon):
    y, s = own.labels("toy"), own.scores(*TOY)
    released = release_evaluation(
        y, s, epsilon, rng=np.random.default_rng(7), relation=relation, draws=6, score_scale="log-odds"
    )
    found = own.evaluation(*TOY, relation, epsilon, 6, 7)
    assert found.counts == pytest.approx(released.counts)
    assert found.noise_scale == released.noise_scale
    assert (found.thresholds == released.thresholds).all()
    assert (found.epsilon, found.relation, found.score_scale) == (epsilon, relation, "log-odds")
    assert found.roc_auc() == pytest.approx(released.roc_auc())


def test_heights_are_those_of_interpolation_and_upper_ends_at_steps():
    rng = np.random.default_rng(0)
    fpr = np.sort(np.column_stack([np.zeros(20), rng.random((20, 9)), np.ones(20)]), axis=1)
    tpr = np.sort(np.column_stack([np.zeros(20), rng.random((20, 9)), np.ones(20)]), axis=1)
    at = np.linspace(0.001, 0.999, 50)
    naive = np.array([np.interp(at, x, y) for x, y in zip(fpr, tpr, strict=True)])
    assert own.heights(fpr, tpr, at) == pytest.approx(naive)
    steps = own.heights(
        np.array([[0.0, 0.0, 0.5, 0.5, 1.0]]), np.array([[0.0, 0.3, 0.4, 0.9, 1.0]]), np.array([0, 0.5, 1])
    )
    assert steps[0].tolist() == [0.3, 0.9, 1.0]


@pytest.mark.parametrize("method", METHODS)
def test_curves_are_the_library_s(method):
    y, s = own.labels("toy"), own.scores(*TOY)
    rng = np.random.default_rng(3)
    options = {"rng": rng, "relation": "replace-one", "draws": 4}
    if method == "histogram":
        fpr, tpr, _ = private_roc_curve(y, s, 0.7, score_scale="log-odds", n_bins=16, **options)
    else:
        kind, exact = method.removesuffix("-exact"), method.endswith("-exact")
        chosen = {
            "recursive-medians": {"calibration": "exact" if exact else "published", "k": 10},
            "fixed-space": {"n_thresholds": 1024 if exact else None},
            "laplace": {"method": "laplace-fixed" if exact else "laplace"},
        }[kind]
        fpr, tpr, _ = published_roc_curve(y, expit(s), 0.7, halves=not exact, **{"method": kind, **chosen}, **options)
    found = own.curves(method, *TOY, "replace-one", 0.7, 4, 3)
    assert found["auc"] == pytest.approx(np.trapezoid(tpr, fpr, axis=1))
    true = roc_curve(y, s, drop_intermediate=False)[:2]
    assert found["error"] == pytest.approx(area_between(*true, fpr, tpr))
    assert own.errors(method, *TOY, "replace-one", 0.7, 4, 3) == pytest.approx(found["error"])
    assert found["mid"] == pytest.approx(np.median(own.heights(fpr, tpr, own.GRID), axis=0))
    assert (found["low"] <= found["mid"]).all()
    assert (found["mid"] <= found["high"]).all()
    # the paper's baseline sees its thresholds' own order; all others are curves of their draws
    assert len(found["fpr"]) == 4


def test_less_noise_is_less_error():
    for method in METHODS:
        errors = [np.median(own.errors(method, *TOY, "add-remove", epsilon, 10, 1)) for epsilon in (0.05, 10.0)]
        assert errors[1] < errors[0], method


def test_slow_methods_have_ten_draws():
    values = EvaluateValues.of(Settings(draws=50))
    assert [values.curve_key(method, 1.0)[-2] for method in ("recursive-medians", "histogram")] == [10, 50]


# ---- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [CUTS[3], 0.0, CUTS[-1]])
def test_true_figures_are_scikit_learn_s(cut):
    y, s = own.labels("toy"), own.scores(*TOY)
    found = own.true_figures(*TOY, cut)
    assert found["roc_auc"] == pytest.approx(roc_auc_score(y, s))
    assert found["accuracy"] == pytest.approx(((s >= cut) == y).mean())
    assert (found["confusion"] == confusion_matrix(y, s >= cut)).all()
    assert found["log_loss"] == pytest.approx(log_loss(y, np.clip(expit(s), 1e-3, 1 - 1e-3)))
    (tn, fp), (fn, tp) = found["confusion"]
    assert found["true_positive_rate"] == pytest.approx(tp / (tp + fn))
    assert found["false_positive_rate"] == pytest.approx(fp / (fp + tn))


def test_one_release_s_figures_and_intervals_are_its_own():
    released = own.evaluation(*TOY, "add-remove", 0.5, 5, 2)
    first = replace(released, counts=released.counts[0])
    for figure, (value, low, high) in own.intervals(released, CUTS[9]).items():
        method = getattr(first, figure)
        assert value == (method(CUTS[9]) if figure in own.WITH_CUT else method())
        assert low <= value <= high
        assert low < high


def test_intervals_hold_the_area_of_the_bins_nine_times_in_ten():
    released = own.evaluation(*TOY, "add-remove", 0.3, 300, 5)
    exact = own.exact_evaluation(*TOY).roc_auc()
    low, high = released.interval("roc_auc", own.LEVEL, n_boot=own.N_BOOT)
    # the standard error of a share of 300 is 0.017
    assert np.mean((low <= exact) & (exact <= high)) == pytest.approx(0.9, abs=0.06)
    assert exact == pytest.approx(roc_auc_score(own.labels("toy"), own.scores(*TOY)), abs=0.01)


# ---- comparison ---------------------------------------------------------------------------------------------------


# ---- the attack ---------------------------------------------------------------------------------------------------


def test_every_label_is_recovered_from_the_exact_curve():
    for name in ("toy", "breast_cancer", "census"):
        key = (name, "naive-bayes", "some", own.ALL)
        victims, y = own.victims(*key), own.labels(name)
        assert len(np.unique(victims)) == own.ATTACKED
        assert y[victims].sum() == own.ATTACKED // 2
        assert (np.diff(own.scores(*key)[victims]) >= 0).all()
        assert (own.exact_attack(*key) == y[victims]).all()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_private_attack_is_right_as_often_as_the_best_one_should_be(relation, epsilon):
    released = own.evaluation(*TOY, relation, epsilon, 2000, 8)
    true = own.labels("toy")[own.victims(*TOY)]
    right = own.private_attack(released, *TOY, 8) == true
    assert right.shape == (2000, own.ATTACKED)
    # in each class, for ties are no bias; records of one bin share its noise, so that a draw is worth about 5 of them
    for c in (0, 1):
        assert right[:, true == c].mean() == pytest.approx(best_attack_success(epsilon, relation), abs=0.025)


# ---- keys, settings and words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "methods"), [(EPSILONS[0], list(METHODS)), (EPSILONS[1], list(METHODS)), (EPSILONS[2], [])]
)
def test_cards_ask_for_what_they_show_and_slow_methods_come_last(epsilon, methods):
    settings = Settings()
    settings.assign({"epsilon": epsilon, "evaluate_methods": methods})
    page, values = EvaluatePage(settings, Pool(1)), EvaluateValues.of(settings)
    for place in page.slots:
        place.mount()
    work = {name: card.work(values, {}) for name, card in page.cards.items()}
    assert {place for place in work["methods"] if place[1] == WORKER} == {(m, WORKER) for m in methods}
    assert not {place for place in work["roc"] if place[1] != IMMEDIATE}
    assert {place for place in work["errors"] if place[1] not in (IMMEDIATE, WORKER)} == {
        (m, e) for m in methods for e in SWEEP_EPSILONS
    }
    assert len({task for asked in work.values() for place, task in asked.items() if place[1] == IMMEDIATE}) == 1
    order = page._missing(values, {name: {p: c for p, c in w.items() if p[1] != IMMEDIATE} for name, w in work.items()})
    assert len(set(order)) == len(order)
    slow = [task.function in (own.curves, own.errors) and task.arguments[0] in own.SLOW for task in order]
    assert slow == sorted(slow)


def test_settings_refuse_what_is_not_offered():
    settings = Settings()
    problems = settings.assign({"evaluate_cut": 0.123, "evaluate_weakened": "very", "evaluate_methods": ["luck"]})
    assert len(problems) == 3
    assert "some of histogram" in problems[2]
    assert settings.assign({"evaluate_cut": CUTS[0]}) == []


def test_cuts_are_the_public_thresholds_and_told_apart():
    released = own.evaluation(*TOY, "add-remove", 1.0, 1, 0)
    used = [released.used_threshold(cut) for cut in CUTS]
    assert used == sorted(roc_thresholds(score_scale="log-odds")[1:-1])
    assert len({probability(cut) for cut in CUTS}) == len(CUTS)


def test_words_hold_the_numbers():
    settings = Settings()
    settings.assign({"dataset": "toy", "epsilon": 0.5, "evaluate_weakened": "some"})
    values, facts = EvaluateValues.of(settings), shared.facts("toy")
    key = values.classifier_key()
    assert key == ("toy", "naive-bayes", "some", 500)
    answer = RocCard().work(values, facts)["answer", IMMEDIATE]
    answer = answer.function(*answer.arguments)
    line = text.headline(values, facts, answer)
    assert "30 of 30" in line
    assert f"{100 * answer['success']:.1f}%" in line
    assert f"{np.median(answer['every_area']):.3f}" in line
    assert "500 of 1,000 test records" in line
    assert "weakened to AUC 0.9" in line
    released = own.evaluation(*key, "add-remove", 0.5, 20, 0)
    true, one = own.true_figures(*key, 0.0), own.intervals(released, 0.0)
    table = text.number_words(values, facts, true, one, released.confusion_matrix(0.0), (9, 10))
    assert f"{true['roc_auc']:.3f}" in table
    assert f"{one['roc_auc'][0]:.3f}" in table
    assert f"{true['confusion'][1, 1]:,}" in table
    assert table.count("<tr>") == 1 + len(own.FIGURES) + 4
    assert "Choose a method" in text.error_words(replace(values, evaluate_methods=()), {})


def test_every_method_and_card_has_its_look_and_words():
    assert set(ROC_STYLES) == set(METHODS) == set(MethodsCard().by_method)
    assert set(WEAKENED) - {"none"} == set(own.TARGETS)
    looks = [(s.color, s.dash) for s in ROC_STYLES.values()]
    assert len(set(looks)) == len(looks)


def test_intervals_that_hold_the_area_of_the_bins_are_green():
    areas = np.array([0.81, 0.9]), np.array([0.7, 0.85]), np.array([0.85, 0.95])
    tables = interval_tables({"true": {"roc_auc": 0.9}, "binned": 0.8, "areas": areas})
    assert tables["rows"]["color"].tolist() == [GREEN, VERMILION]
    assert tables["true"]["x"] == (0.9, 0.9)
    assert interval_range(0.9, *areas[1:])[0] < 0.7
