"""The cards of learned machines and other public tables on the Publish page: their numbers are the library's."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import WORKER
from dpml_app.pages.publish import weights
from dpml_app.pages.publish.page import PublishPage
from dpml_app.pages.publish.settings import PENALTIES, WEIGHT_DRAWS, PublishValues
from dpml_app.pages.publish.weights_cards import BOTH, CLASSIFIER_EPSILONS, KNOWN
from dpml_app.state import Settings
from dpml_app.text.phrases import percent, points
from dpml_app.work.pool import Pool

from dpml.datasets import load
from dpml.studies.publishing import PUBLIC_TABLES, WeighingStudy, public_table, split_by_sex

CARDS = ("weights-plane", "weights-machine", "weights-tables", "weights-taught")
NEAR = {"weights-plane": PENALTIES[3], "weights-machine": 0.3}
FEW = 3


@pytest.fixture(scope="module")
def page():
    settings = Settings(page="publish", dataset="census", epsilon=0.1, publish_query=["rich"])
    made = PublishPage(settings, Pool(1))
    kinds = {kind.name: kind for kind in made.kinds}
    return {name: made._card(kinds[name]) for name in CARDS}, PublishValues.of(settings)


@pytest.fixture(scope="module")
def results(page):
    """Results of all cards, of a few draws and with one place on each axis of numbers."""
    cards, values = page
    found, kept = {}, {}
    for name in CARDS:
        here = (WORKER, *PUBLIC_TABLES, NEAR.get(name))
        work = {place: task for place, task in cards[name].work(values, {}).items() if place[1] in here}
        for task in work.values():
            if task.key not in kept:
                # the number of draws is the one whole number that is not 0
                few = [FEW if type(a) is int and a == WEIGHT_DRAWS else a for a in task.arguments]
                kept[task.key] = task.function(*few)
        found[name] = work, {place: kept[task.key] for place, task in work.items()}
    return found


def shown(page, results, name):
    cards, values = page
    work, found = results[name]
    cards[name].prepare(values, {}, {})
    cards[name].show(found, work)
    return cards[name].figure, found, cards[name].readout(values, {}, found)


# ---- the library's own numbers --------------------------------------------------------------------------------------


def test_draws_are_those_of_the_study():
    two = split_by_sex(load("census"), rng=np.random.default_rng(0))
    for kind in PUBLIC_TABLES:
        study = WeighingStudy(two, public_table(two, kind, rng=np.random.default_rng(1)))
        for method, rule in (("output", 0.5), ("moments", None)):
            found = weights.taught(method, "census", kind, 0.5, rule, 2, 7)
            for draw in range(2):
                beta = study.weigh(method, 0.5, rule, rng=np.random.default_rng([7, draw]))
                assert found["answer"][draw] == study.answer(beta)
                assert found["far"][draw] == study.distance(beta) / study.norm
    known = weights.tables("census", 0.5, 2, 7)
    assert known["truth"] == study.truth
    assert known["unweighted"]["same"] == pytest.approx(study.truth)
    assert known["far"]["same"] == pytest.approx(0, abs=1e-3)
    assert known["others"][1] == study.distance_of_bootstrap(rng=np.random.default_rng([7, 1])) / study.norm
    own = weights.unweighted_classifier("census", 0.5, 2, 7)["far"]
    assert own[0] == study.distance_of_private_machine(0.5, rng=np.random.default_rng([7, 0])) / study.norm


# ---- cards ----------------------------------------------------------------------------------------------------------


def test_cards_ask_for_what_they_show(page):
    cards, values = page
    work = {name: cards[name].work(values, {}) for name in CARDS}
    series = (*weights.WEIGHT_METHODS, "own")
    assert set(work["weights-machine"]) == {KNOWN} | {(s, at) for s in series for at in (WORKER, *CLASSIFIER_EPSILONS)}
    for name in ("weights-tables", "weights-taught"):
        places = {KNOWN} | {(method, kind) for method in weights.WEIGHT_METHODS for kind in PUBLIC_TABLES}
        assert set(work[name]) == places
        # one draw gives both an answer and a machine
        assert all(work[name][at].key == work["weights-tables"][at].key for at in places)
    assert work["weights-tables"]["moments", "skewed"].key == work["weights-machine"]["moments", WORKER].key
    # a draw of the private table and of noise for each, as many as on the other cards
    calls = [task for some in work.values() for task in some.values() if task.function is weights.taught]
    assert {task.arguments[5] for task in calls} == {WEIGHT_DRAWS}
    # λ is Algorithm 1's; ours is by the public rule
    other = {name: cards[name].work(replace(values, publish_lambda=5.0), {}) for name in CARDS}
    for name in CARDS[1:]:
        changed = {place for place, task in work[name].items() if task.key != other[name][place].key}
        assert changed == {place for place in work[name] if place[0] == "output"} | {KNOWN}


def test_the_plane_has_bias_and_standard_deviation_of_the_answers(page, results):
    figure, found, said = shown(page, results, "weights-plane")
    truth = found[BOTH]["private"]
    mask = weights.mask_of(["rich"])
    for method in weights.WEIGHT_METHODS:
        drawn = weights.answer(found[method, NEAR["weights-plane"]]["patterns"], mask)
        data = figure.curves[method][0].data
        assert data["bias"] == pytest.approx([abs(drawn.mean() - weights.answer(truth, mask))])
        assert data["sd"] == pytest.approx([drawn.std(ddof=1)])
        # λ = 0.1 is the chosen one
        assert data["bias"][0] in figure.ring.data["bias"]
    assert said == "Computing…"  # the least of all is not known yet
    assert figure.plot.x_range.end > max(figure.ring.data["bias"])
    assert figure.plot.y_range.end > max(figure.ring.data["sd"])


def test_the_least_error_is_said_once_all_are_there(page, results):
    cards, values = page
    found, mask = dict(results["weights-plane"][1]), weights.mask_of(["rich"])
    truth = float(weights.answer(found[BOTH]["private"], mask))
    for k, x in enumerate(PENALTIES):
        for method in weights.WEIGHT_METHODS:
            # answers that are k + 1 points off, either way, and least at λ = 0.05
            off = 0.01 * (abs(k - PENALTIES.index(0.05)) + (2 if method == "output" else 1))
            patterns = np.zeros((2, len(found[BOTH]["private"])))
            patterns[:, mask] = truth + off, truth - off
            found[method, x] = {"patterns": patterns}
    said = cards["weights-plane"].readout(values, {}, found)
    assert f"<b>{points(0.02)}</b> at λ = 0.05" in said
    assert f"<b>{points(0.01)}</b> at λ = 0.05" in said


def test_distances_stand_against_epsilon_with_their_levels(page, results):
    figure, found, said = shown(page, results, "weights-machine")
    for series in figure.curves:
        curve, drawn = figure.curves[series].data, found[series, 0.3]["far"]
        assert curve["mean"].tolist() == pytest.approx([drawn.mean()])
        assert [curve["low"][0], curve["high"][0]] == pytest.approx(np.quantile(drawn, [0.05, 0.95]))
        assert f"<b>{percent(float(found[series, WORKER]['far'].mean()))}</b>" in said
        assert figure.plot.y_range.start < drawn.min()
        assert drawn.max() < figure.plot.y_range.end
    known = found[KNOWN]
    levels = {name: span.location for name, span in figure.levels.items()}
    assert levels == pytest.approx(
        {"unweighted": known["far"]["skewed"], "others": known["others"].mean(), "exact": known["exact"].mean()}
    )
    assert f"norm {known['norm']:.2f}" in said
    assert figure.marker.location == 0.1


@pytest.mark.parametrize(("name", "column"), [("weights-tables", "answer"), ("weights-taught", "far")])
def test_each_public_table_has_its_boxes(page, results, name, column):
    figure, found, said = shown(page, results, name)
    for method in weights.WEIGHT_METHODS:
        data = figure.curves[method][0].data
        assert [round(x) for x in data["x"]] == [0, 1, 2]
        for place, kind in enumerate(PUBLIC_TABLES):
            drawn = found[method, kind][column]
            box = [data[q][place] for q in ("low", "q1", "median", "q3", "high")]
            assert box == pytest.approx(np.quantile(drawn, [0.025, 0.25, 0.5, 0.75, 0.975]))
    known = found[KNOWN]
    plain = known["unweighted" if column == "answer" else "far"]
    assert figure.unweighted.data["y"][1:] == pytest.approx([plain["skewed"], plain["uniform"]])
    ours = found["moments", "uniform"][column]
    if column == "answer":
        assert figure.levels["truth"].location == known["truth"]
        assert f"uniform {points(float(np.abs(ours - known['truth']).mean()))}" in said
        assert figure.plot.y_range.end > max(figure.curves["output"][0].data["high"]) or figure.plot.y_range.end == 1
    else:
        assert f"uniform {percent(float(ours.mean()))}" in said
        # a uniform table teaches nothing
        assert ours.min() > 0.5
    figure.outdate("moments")
    assert figure.curves["moments"][2][0].glyph.line_alpha < 1
    figure.clear()
    assert all(len(source.data["x"]) == 0 for source, *_ in figure.curves.values())
    assert all(span.location is None for span in figure.levels.values())


def test_other_data_sets_are_refused_and_lines_wait_for_results(page):
    cards, values = page
    for made in cards.values():
        assert "toy has no split" in made.refusal(replace(values, dataset="toy"), {})
        assert made.refusal(values, {}) == ""
        assert made.readout(values, {}, {}) == "Computing…"
