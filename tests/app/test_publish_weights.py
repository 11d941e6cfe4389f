"""The cards of importance weights on the Publish page: their numbers are the library's, and their words say them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from dpml_app.core import link
from dpml_app.core.card import WORKER
from dpml_app.pages.publish import weights
from dpml_app.pages.publish import weights_words as words
from dpml_app.pages.publish.page import PublishPage
from dpml_app.pages.publish.settings import ASKED, CONDITIONS, PENALTIES, PUBLISH_DATASETS, WEIGHT_DRAWS, PublishValues
from dpml_app.pages.publish.weights_cards import BOTH
from dpml_app.pages.publish.weights_figures import HistogramFigure
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.work.pool import Pool

from dpml.datasets import load
from dpml.exceptions import ConcentratedWeights, InvalidParameter
from dpml.publishing import ImportanceWeights
from dpml.studies.publishing import SPLITS, split_by_sex

CARDS = ("weights-query", "weights-penalty", "weights-histogram")


@pytest.fixture(scope="module")
def two():
    return split_by_sex(load("census"), rng=np.random.default_rng(0))


def meets(table, conditions, name="census"):
    """Return which records meet a conjunction, condition by condition."""
    found = np.ones(len(table), dtype=bool)
    for condition in conditions:
        column, allowed, _ = CONDITIONS[name][condition]
        found &= np.isin(table[column].to_numpy(), allowed)
    return found


def page_at(**changes):
    settings = Settings(page="publish", **changes)
    page = PublishPage(settings, Pool(1))
    return page, PublishValues.of(settings)


# ---- the two tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["census", pytest.param("adult", marks=pytest.mark.data)])
def test_nine_of_ten_of_one_sex_and_one_of_ten_of_the_other_are_private(name):
    data = load(name)
    found = split_by_sex(data, rng=np.random.default_rng(0))
    sexes = data.frame.loc["train"]["sex"].astype(str)
    sizes = [round(share * int((sexes == sex).sum())) for sex, share in SPLITS[name].private.items()]
    assert len(found.private) == sum(sizes)
    assert len(found.private) + len(found.public) == len(sexes)
    assert "sex" not in found.private
    assert list(found.private) == list(found.public) == list(found.schema.feature_names)
    D = found.matrix(found.private)
    assert (D.sum(axis=1) == len(found.schema.features)).all(), "one column of each attribute"
    # the record of the split is that of its generator
    again = split_by_sex(data, rng=np.random.default_rng(0))
    pd.testing.assert_frame_equal(again.private, found.private)


def test_a_data_set_without_a_split_is_refused_by_name():
    with pytest.raises(InvalidParameter, match=r"`dataset` must be .*adult, census.*Got 'toy'"):
        split_by_sex(load("toy"), rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match=r"dataset.*toy"):
        weights.both("toy")


def test_conditions_are_of_the_schema_and_of_some_records(two):
    assert set(CONDITIONS) == set(SPLITS) <= set(PUBLISH_DATASETS)
    for name, conditions in CONDITIONS.items():
        assert list(conditions) == list(ASKED), name
    categories = {f.name: f.categories for f in two.schema.features}
    for column, allowed, _words in CONDITIONS["census"].values():
        assert set(allowed) <= set(categories[column])
    assert all(0 < meets(two.private, [c]).mean() < 1 for c in ASKED)


@pytest.mark.data
def test_conditions_of_adult_are_of_its_schema():
    found = split_by_sex(load("adult"), rng=np.random.default_rng(0))
    assert all(0 < meets(found.private, [c], "adult").mean() < 1 for c in ASKED)


# ---- the library's own numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("conditions", [["rich"], ["rich", "long"], ["young", "single", "manager"], list(ASKED)])
def test_true_and_unweighted_answers_are_the_tables_own(two, conditions):
    found, mask = weights.both("census"), weights.mask_of(conditions)
    for of, table in (("private", two.private), ("public", two.public)):
        assert weights.answer(found[of], mask) == pytest.approx(meets(table, conditions).mean(), abs=1e-12)
    assert (found["n_private"], found["n_public"]) == (len(two.private), len(two.public))


@pytest.mark.parametrize(
    ("method", "reg_lambda", "epsilon"),
    [("output", 0.1, 0.1), ("output", 1.0, 2.0), ("moments", None, 0.1), ("moments", 0.5, 1.0)],
)
def test_answers_are_those_of_the_library_s_weights(two, method, reg_lambda, epsilon):
    made = weights.released(method, "census", epsilon, reg_lambda, 2, 7)
    options = {"calibration": "published", "fit_intercept": False} if method == "output" else {"pairs": 0}
    for draw in range(2):
        model = ImportanceWeights(
            epsilon,
            "public" if reg_lambda is None else reg_lambda,
            method=method,
            schema=two.schema,
            random_state=np.random.default_rng([7, draw]),
            **options,
        )
        table = model.fit(two.private, two.public).weighted(two.public)
        assert made["reg_lambda"] == model.reg_lambda_
        for conditions in (["rich"], ["married", "graduate"]):
            answer = weights.answer(made["patterns"], weights.mask_of(conditions))[draw]
            assert answer == pytest.approx(table.mean(meets(two.public, conditions)), abs=1e-9)
        assert made["ess"][draw] == pytest.approx(table.effective_sample_size, rel=1e-6)
        assert made["n_half"][draw] == table.n_half
        if draw == 0:
            within = np.clip(table.weights, weights.EDGES[0], weights.EDGES[-1])
            assert made["heights"].tolist() == np.histogram(within, weights.EDGES)[0].tolist()
    assert made["heights"].sum() == len(two.public)


def test_noisy_moments_are_nearer_to_the_truth_than_algorithm_1_at_its_lambda():
    truth, mask = weights.both("census")["private"], weights.mask_of(["rich"])
    error = {
        method: np.abs(
            weights.answer(weights.released(method, "census", 0.1, rule, 10, 0)["patterns"], mask)
            - weights.answer(truth, mask)
        ).mean()
        for method, rule in (("output", 0.1), ("moments", None))
    }
    # 1.1 against 8.4 points, of 10 draws each
    assert error["moments"] < 0.5 * error["output"]


# ---- cards ----------------------------------------------------------------------------------------------------------


def test_cards_ask_for_what_they_show_and_a_question_asks_for_no_work():
    page, values = page_at(epsilon=0.125, publish_lambda=0.2)
    work = {name: page._card(kind).work(values, {}) for kind in page.kinds if (name := kind.name) in CARDS}
    asked = {place for place in work["weights-query"] if place[1] != WORKER}
    assert asked == {(m, e) for m in weights.WEIGHT_METHODS for e in SWEEP_EPSILONS}
    places = {place for place in work["weights-penalty"] if place[1] != WORKER}
    assert places == {(m, x) for m in weights.WEIGHT_METHODS for x in PENALTIES}
    # one release is for all cards that show it
    for place in (("output", WORKER), BOTH):
        assert len({work[name][place].key for name in CARDS}) == 1
    assert work["weights-histogram"]["moments", WORKER].key == work["weights-query"]["moments", WORKER].key
    assert work["weights-penalty"]["moments", WORKER].key == work["weights-penalty"]["moments", 0.2].key
    assert all(c.arguments[4] == WEIGHT_DRAWS for c in work["weights-query"].values() if c.function is weights.released)
    for name in CARDS:
        assert page.cards[name].work(replace(values, publish_query=["young"]), {}) == work[name]


@pytest.fixture(scope="module")
def few():
    """Results of all cards, with two places on each axis."""
    page, values = page_at(publish_query=["rich"])
    kinds = {kind.name: kind for kind in page.kinds}
    found = {}
    for name in CARDS:
        made = page._card(kinds[name])
        keep = (WORKER, SWEEP_EPSILONS[6], PENALTIES[0])
        work = {place: task for place, task in made.work(values, {}).items() if place[1] in keep}
        found[name] = made, work, {place: task.function(*task.arguments) for place, task in work.items()}
    return values, found


def shown(few, name, **changes):
    values, found = few
    made, work, results = found[name]
    values = replace(values, **changes)
    made.prepare(values, {}, {})
    made.show(results, work)
    return made, values, results


@pytest.mark.parametrize(("name", "x"), [("weights-query", SWEEP_EPSILONS[6]), ("weights-penalty", PENALTIES[0])])
def test_curves_and_levels_follow_the_question(few, name, x):
    for conditions in (["rich"], ["rich", "married"], ["young"]):
        made, values, results = shown(few, name, publish_query=conditions)
        mask = weights.mask_of(conditions)
        for method in weights.WEIGHT_METHODS:
            curve = made.figure.curves[method].data
            drawn = weights.answer(results[method, x]["patterns"], mask)
            at = list(curve[made.figure.x]).index(x)
            assert curve["mean"][at] == pytest.approx(drawn.mean())
            assert [curve["low"][at], curve["high"][at]] == pytest.approx(np.quantile(drawn, [0.05, 0.95]))
        both = weights.both("census")
        assert made.figure.levels["truth"].location == pytest.approx(weights.answer(both["private"], mask))
        assert made.figure.levels["unweighted"].location == pytest.approx(weights.answer(both["public"], mask))
        said = made.readout(values, {}, results)
        drawn = weights.answer(results["moments", WORKER]["patterns"], mask)
        if name == "weights-query":
            assert f"<b>{words.percent(float(drawn.mean()))}</b>" in said
            assert words.what_is_asked("census", conditions) in said
        else:
            bias = 100 * (drawn.mean() - made.figure.levels["truth"].location)
            assert f"<b>{bias:+.1f} points</b>".replace("-", "\N{MINUS SIGN}") in said
    made.clear()
    assert made.figure.levels["truth"].location is None


def test_the_marker_is_at_the_setting_that_is_chosen(few):
    assert shown(few, "weights-query", epsilon=0.5)[0].figure.marker.location == 0.5
    assert shown(few, "weights-penalty", publish_lambda=2.0)[0].figure.marker.location == 2.0


def test_the_histogram_holds_all_public_records_and_its_line_their_effective_size(few):
    made, values, results = shown(few, "weights-histogram")
    for method in weights.WEIGHT_METHODS:
        assert sum(made.figure.bars[method].data["top"]) == results[BOTH]["n_public"]
        assert f"<b>{results[method, WORKER]['ess'][0]:,.0f}</b>" in made.readout(values, {}, results)
    assert "Few records" not in made.readout(values, {}, results)
    assert made.figure.plot.y_range.end > max(made.figure.bars["output"].data["top"])
    made.clear()
    assert list(made.figure.bars["output"].data["top"]) == []


def test_the_card_warns_where_the_library_does(two):
    for epsilon, reg_lambda in ((0.01, 0.1), (10.0, 1.0)):
        release = weights.released("output", "census", epsilon, reg_lambda, 1, 0)
        options = {"calibration": "published", "fit_intercept": False, "random_state": np.random.default_rng([0, 0])}
        model = ImportanceWeights(epsilon, reg_lambda, schema=two.schema, **options).fit(two.private, two.public)
        said = words.concentration(len(two.public), {"output": release})
        if epsilon < 1:
            with pytest.warns(ConcentratedWeights):
                model.weights(two.public)
            assert "Few records have most of the weight" in said
        else:
            model.weights(two.public)  # a warning is an error
            assert "Few records" not in said


def test_other_data_sets_and_an_empty_question_are_refused_in_words():
    page, values = page_at(dataset="toy")
    for kind in page.kinds:
        if kind.name in CARDS:
            made = page._card(kind)
            assert "toy has no split into a private and a public table" in made.refusal(values, {})
            assert made.refusal(replace(values, dataset="census"), {}) == ""
            empty = made.refusal(replace(values, dataset="adult", publish_query=[]), {})
            assert ("no condition is chosen" in empty) == (kind.name != "weights-histogram")


def test_a_line_without_results_says_that_it_waits():
    page, values = page_at()
    for kind in page.kinds:
        if kind.name in CARDS:
            assert page._card(kind).readout(values, {}, {}) == "Computing…"


def test_a_question_is_in_the_link():
    settings = Settings()
    assert settings.assign({"publish_query": ["rich", "long"], "publish_lambda": 0.5}) == []
    assert {"publish_query", "publish_lambda"} <= set(PublishValues.names())
    (problem,) = settings.assign({"publish_lambda": 0.4})
    assert "publish_lambda = 0.4 is not allowed" in problem
    assert settings.assign({"publish_query": ["tall"]}) != []
    assert settings.publish_query == ["rich", "long"]
    names = PublishValues.names()
    assert "publish_query=rich.long" in link.query_of(settings, names)
    other = Settings()
    assert link.read(other, link.parse(link.query_of(settings, names)), Settings.names()) == []
    assert (other.publish_query, other.publish_lambda) == (["rich", "long"], 0.5)


def test_a_histogram_of_one_method_is_shown():
    figure = HistogramFigure()
    figure.show({"output": np.arange(len(weights.EDGES) - 1)})
    assert list(figure.bars["moments"].data["top"]) == []
    assert figure.plot.y_range.end > len(weights.EDGES) - 2


def test_a_question_moves_the_answers_and_lambda_algorithm_1_alone(alone):
    alone.enter("publish", "&dataset=census&epsilon=1", only=CARDS)
    sources = {
        "asked": ["publish-weights-query-output", "publish-weights-query-moments", "publish-weights-penalty-moments"],
        "by λ": ["publish-weights-query-output", "publish-weights-histogram-output"],
        "ours": ["publish-weights-query-moments", "publish-weights-histogram-moments"],
    }

    def read():
        return {name: alone.read(name) for some in sources.values() for name in some}

    first = read()
    alone.act(publish_query=["rich", "married"])
    assert "a high income and a spouse" in alone.text
    asked = read()
    assert {name for name in first if first[name] != asked[name]} == set(sources["asked"])
    found = weights.both("census")
    truth = words.percent(float(weights.answer(found["private"], weights.mask_of(["rich", "married"]))))
    assert truth.replace("\N{NO-BREAK SPACE}", " ") in alone.text.replace("\N{NO-BREAK SPACE}", " ")
    alone.act(publish_lambda=0.2)
    after = read()
    assert {name for name in after if after[name] != asked[name]} == set(sources["by λ"])
