"""What the Evaluate page computes is what the library does, and its keys and words hold what they should."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.data import measures as shared
from dpml_app.jobs import Pool
from dpml_app.pages.evaluate import compute as own
from dpml_app.pages.evaluate import text
from dpml_app.pages.evaluate.compute import METHODS, EvaluateValues
from dpml_app.pages.evaluate.figures import RocCard
from dpml_app.pages.evaluate.page import EvaluatePage
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from scipy.special import expit
from sklearn.metrics import roc_auc_score, roc_curve

from dpml.datasets import load
from dpml.evaluation import area_between, published_roc_curve, release_evaluation
from dpml.studies.accuracy import non_private_nb

TOY = ("toy", own.ALL)
RELATIONS = ("add-remove", "replace-one")


@pytest.mark.parametrize("tested", [200, 500, own.ALL])
def test_fewer_test_records_are_a_public_draw_of_all(tested):
    rows, data = own.tested_rows("toy", tested), load("toy")
    assert len(np.unique(rows)) == (tested or len(data.y_test))
    assert (own.labels("toy", tested) == data.y_test[rows]).all()
    exact = non_private_nb(data).decision(data.X_test)[0, :, 0]
    assert own.scores("toy", tested) == pytest.approx(exact[rows])
    assert len(own.labels("breast_cancer", 500)) == len(load("breast_cancer").y_test)


@pytest.mark.parametrize("name", ["census", pytest.param("adult", marks=pytest.mark.data)])
def test_the_page_opens_where_private_and_exact_curve_differ(name, request):
    if name == "adult":
        request.getfixturevalue("data_home")
    values = EvaluateValues.of(Settings(dataset=name))
    ((_place, task),) = own.answered(values).items()
    found = task.function(*task.arguments)
    low, high = np.quantile(found["areas"], [0.05, 0.95])
    assert high - low > 0.1
    bands = own.band(*own.evaluation(*values.records_key(), "add-remove", 0.1, 50, 0).roc_curve()[:2])
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
def test_errors_are_those_of_the_library_s_curves(method):
    y, s = own.labels(*TOY), own.scores(*TOY)
    options = {"rng": np.random.default_rng(3), "relation": "replace-one", "draws": 4}
    if method == "histogram":
        fpr, tpr, _ = release_evaluation(y, s, 0.7, score_scale="log-odds", n_bins=16, **options).roc_curve()
    else:
        kind, exact = method.removesuffix("-exact"), method.endswith("-exact")
        chosen = {
            "recursive-medians": {"calibration": "exact" if exact else "published", "k": 10},
            "fixed-space": {"n_thresholds": 1024 if exact else None},
            "laplace": {"method": "laplace-fixed" if exact else "laplace"},
        }[kind]
        fpr, tpr, _ = published_roc_curve(y, expit(s), 0.7, halves=not exact, **{"method": kind, **chosen}, **options)
    true = roc_curve(y, s, drop_intermediate=False)[:2]
    assert own.errors(method, *TOY, "replace-one", 0.7, 4, 3) == pytest.approx(area_between(*true, fpr, tpr))


def test_less_noise_is_less_error():
    for method in METHODS:
        errors = [np.median(own.errors(method, *TOY, "add-remove", epsilon, 10, 1)) for epsilon in (0.05, 10.0)]
        assert errors[1] < errors[0], method


def test_slow_methods_have_ten_draws():
    values = EvaluateValues.of(Settings(draws=50))
    assert [values.curve_key(method, 1.0)[-2] for method in ("recursive-medians", "histogram")] == [10, 50]


# ---- the attack ---------------------------------------------------------------------------------------------------


def test_every_label_is_recovered_from_the_exact_curve():
    for name in ("toy", "breast_cancer", "census"):
        key = (name, own.ALL)
        victims, y = own.victims(*key), own.labels(name)
        assert len(np.unique(victims)) == own.ATTACKED
        assert y[victims].sum() == own.ATTACKED // 2
        assert (own.exact_attack(*key) == y[victims]).all()


# ---- keys, settings and words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "methods"), [(EPSILONS[0], list(METHODS)), (EPSILONS[1], list(METHODS)), (EPSILONS[2], [])]
)
def test_cards_ask_for_what_they_show_and_slow_methods_come_last(epsilon, methods):
    settings = Settings()
    settings.assign({"epsilon": epsilon, "evaluate_methods": methods})
    page, values = EvaluatePage(settings, Pool(1)), EvaluateValues.of(settings)
    for place in page.slots.values():
        place.mount()
    work = {name: card.work(values, {}) for name, card in page.cards.items()}
    assert {place for place in work["errors"] if place[1] == WORKER} == {(m, WORKER) for m in methods}
    assert not {place for place in work["roc"] if place[1] != IMMEDIATE}
    assert {place for place in work["errors"] if place[1] not in (IMMEDIATE, WORKER)} == {
        (m, e) for m in methods for e in SWEEP_EPSILONS
    }
    assert len({task for asked in work.values() for place, task in asked.items() if place[1] == IMMEDIATE}) == 1
    page.cards.tasks = {name: {p: c for p, c in w.items() if p[1] != IMMEDIATE} for name, w in work.items()}
    order = page.cards.missing()
    assert len(set(order)) == len(order)
    # the chosen ε first
    slow = [task.arguments[0] in own.SLOW for task in order[len(methods) :]]
    assert slow == sorted(slow)
    assert {task.arguments for task in order[: len(methods)]} == {values.curve_key(m, epsilon) for m in methods}


def test_words_hold_the_numbers():
    values, facts = EvaluateValues.of(Settings(dataset="toy", epsilon=0.5)), shared.facts("toy")
    assert values.records_key() == ("toy", 500)
    answer = RocCard().work(values, facts)["answer", IMMEDIATE]
    answer = answer.function(*answer.arguments)
    exact = roc_auc_score(own.labels("toy", 500), own.scores("toy", 500))
    line = text.headline(facts, answer)
    assert "30 of 30" in line
    assert f"{100 * answer['success']:.1f}%" in line
    assert f"non-private <b>{exact:.3f}</b>, private <b>{np.median(answer['areas']):.3f}" in line
    assert "500 of 1,000 test records" in line
    assert "Choose a method" in text.error_words(replace(values, evaluate_methods=()), {})
