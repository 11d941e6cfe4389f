"""What the Train page computes: it is the library's, and it says what is not private."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from dpml_app.cards import _outdated
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.train import words as train_words
from dpml_app.train.accuracy import TRUE, AccuracyCard
from dpml_app.train.card import NOW, method_styles
from dpml_app.train.compute import (
    EXACT,
    PERCENTILES,
    data_of,
    feature_steps,
    nb_facts,
    nb_measure,
    nb_silenced,
    sizes,
    true_epsilon,
)
from dpml_app.train.figures import BandFigure
from dpml_app.train.methods import METHODS, feature_names, options_of, private, styles, why_not
from dpml_app.train.page import TrainPage
from dpml_app.train.parameters import ParametersCard
from dpml_app.train.partition import PartitionCard
from dpml_app.train.released import nb_parameters
from dpml_app.train.settings import TRAIN_DATASETS, TrainSettings
from dpml_app.train.size import SizeCard
from dpml_app.train.threshold import ThresholdCard
from dpml_app.train.weight import RATIOS, WeightCard
from dpml_app.work.engine import Engine
from dpml_app.work.pool import Chunk, Pool

from dpml.classifiers import BernoulliNB, MixedNB
from dpml.datasets import NAMES, load
from dpml.studies.accuracy import PublishedNBStudy, RowBoundedNBStudy, majority_accuracy, non_private_nb
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy, non_private_mixed_nb

COMMON = ("add-remove", 0.5)


def values_of(**changes):
    settings = Settings()
    settings.param.update(**changes)
    return settings.train_values()


def measured(name, method, epsilon=0.5, draws=5, seed=3, **more):
    values = values_of(dataset=name, **more)
    return nb_measure(name, method, "add-remove", epsilon, options_of(method, values), draws, seed)["accuracy"]


def from_library(name, method, epsilon=0.5, draws=5, seed=3, **settings):
    data = load(name)
    if method == "row-bounded":
        study = RowBoundedNBStudy(data)
    elif method == "algorithm-1":
        study, settings = PublishedNBStudy(data), {"threshold_percentile": 65, **settings}
    else:
        study = BinnedNBStudy(data) if method == "binned" else MomentsNBStudy(data, method)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), **settings)["accuracy"]


def test_every_data_set_is_offered():
    assert sorted(TRAIN_DATASETS) == sorted(NAMES)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "partitioned"])
def test_accuracies_are_the_librarys(method):
    np.testing.assert_array_equal(measured("toy", method), from_library("toy", method))


@pytest.mark.parametrize(
    ("setting", "value", "method", "of_library"),
    [
        ("train_bins", 5, "binned", {"n_bins": 5}),
        ("train_weight", "1:8", "global", {"allocation": (1, 8)}),
        ("train_noise", "student-t", "smooth", {"noise": "student-t"}),
        ("train_trim", 9, "smooth", {"trim": 9}),
        ("train_likelihood", "gaussian", "published", {"likelihood": "gaussian"}),
        ("threshold_percentile", 90, "algorithm-1", {"threshold_percentile": 90}),
    ],
)
def test_each_option_reaches_the_library(setting, value, method, of_library):
    # ε = 20: where noise is small, every option shows in some draw
    changed = measured("census", method, 20.0 if method != "algorithm-1" else 0.1, 20, **{setting: value})
    epsilon = 20.0 if method != "algorithm-1" else 0.1
    np.testing.assert_array_equal(changed, from_library("census", method, epsilon, 20, **of_library))
    assert not np.array_equal(changed, measured("census", method, epsilon, 20))


def test_partitioned_models_are_the_estimators_of_one_deal():
    # without noise the accuracy is that of some deal; the estimator deals once
    exact = measured("toy", "partitioned", EXACT, 10)
    data = load("toy")
    model = BernoulliNB(1e9, method="partitioned", schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    assert abs(model.score(data.X_test, data.y_test) - exact.mean()) < 0.05
    assert len(set(exact)) > 1  # several deals


def test_references_are_the_librarys():
    facts, data = nb_facts("toy"), load("toy")
    assert facts["accuracy"]["majority"] == majority_accuracy(data)
    assert facts["accuracy"]["binary"] == non_private_nb(data).accuracy(data.X_test, data.y_test)[0]
    assert facts["accuracy"]["table"] == non_private_mixed_nb(data)["accuracy"]
    assert facts["auc"]["majority"] == 0.5
    assert 0.9 < facts["auc"]["table"] < 1


def test_a_smaller_table_is_the_first_rows_of_one_order_and_says_so_publicly():
    whole, half, quarter = load("toy"), data_of("toy", 500), data_of("toy", 250)
    np.testing.assert_array_equal(half.X_train[:250], quarter.X_train)
    np.testing.assert_array_equal(half.frame.loc["train"].iloc[:250, 0], quarter.frame.loc["train"].iloc[:, 0])
    assert (quarter.schema.n_rows, quarter.schema.n_lower, quarter.frame_schema.n_lower) == (250, 200, 200)
    np.testing.assert_array_equal(quarter.X_test, whole.X_test)
    # the table and the binary columns are still of the same records
    np.testing.assert_array_equal(quarter.encoding.transform(quarter.frame.loc["train"].iloc[:, :-1]), quarter.X_train)


def test_the_best_columns_are_those_of_the_largest_mutual_information():
    rng, data = np.random.default_rng(0), load("toy")
    best = data_of("toy", None, 4)
    left = [f for f in data.feature_names if f not in best.feature_names]

    def information(column):
        x = data.X_train[:, data.feature_names.index(column)].astype(int)
        joint = np.histogram2d(x, data.y_train, 2)[0] / len(x)
        outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        return (joint * np.log2(np.maximum(joint, 1e-12) / outer)).sum()

    assert len(best.feature_names) == 4
    assert min(map(information, best.feature_names)) >= max(map(information, rng.permutation(left)))


def test_silenced_features_are_counted_by_definition():
    found = nb_silenced("toy", "add-remove", 0.5, 65, 3, 7)
    np.testing.assert_array_equal(found["accuracy"], measured("toy", "algorithm-1", draws=3, seed=7))
    # one draw by hand: Algorithm 1 adds Laplace noise of scale D/ε to on-counts, then to off-counts
    data = load("toy")
    D = data.schema.n_features
    on = np.array([data.X_train[data.y_train == c].sum(axis=0) for c in (0, 1)])
    n = np.bincount(data.y_train)[:, None]
    rng, threshold = np.random.default_rng(7), -D / 0.5 * np.log(2 * 0.35)
    noisy_on = on + rng.laplace(scale=D / 0.5, size=(3, *on.shape))
    noisy_off = (n - on) + rng.laplace(scale=D / 0.5, size=(3, *on.shape))
    low_on, low_off = noisy_on <= threshold, noisy_off <= threshold
    np.testing.assert_allclose(found["some"], [sum(d[0] | d[1]) / D for d in low_on])
    np.testing.assert_allclose(found["on"], [sum(d[0] & d[1]) / D for d in low_on])
    np.testing.assert_allclose(found["all"], (low_on & low_off).all(axis=1).sum(axis=1) / D)


@pytest.mark.parametrize("method", ["binned", "global", "smooth", "published"])
@pytest.mark.parametrize("feature", [1, 6])
def test_parameters_of_a_table_are_the_estimators(method, feature):
    data = load("census")
    frame = data.frame.loc["train"].iloc[:, :-1]
    options = options_of(method, values_of())
    found = nb_parameters("census", method, "add-remove", 1.0, options, feature, 1, 5)
    model = MixedNB(1.0, method=method, schema=data.frame_schema, random_state=5)
    model.fit(frame, data.frame.loc["train"].iloc[:, -1])
    name = data.frame_schema.feature_names[feature - 1]
    if name in model.feature_log_prob_:
        np.testing.assert_allclose(found["draws"][0], np.exp(model.feature_log_prob_[name]), atol=1e-9)
    else:
        # a normal distribution, cut into cells: its mean is that of the estimator where it is not cut off by much
        f = data.frame_schema.features[feature - 1]
        middle = (found["edges"][1:] + found["edges"][:-1]) / 2
        inside = (
            np.abs(model.theta_[name] - (f.lower + f.upper) / 2) + 3 * np.sqrt(model.var_[name]) < f.upper - f.lower
        )
        for c in np.flatnonzero(inside & (model.theta_[name] - 3 * np.sqrt(model.var_[name]) > f.lower)):
            assert abs(found["draws"][0, c] @ middle - model.theta_[name][c]) < (f.upper - f.lower) / 24
    np.testing.assert_allclose(found["exact"].sum(axis=-1), 1)
    np.testing.assert_allclose(found["draws"].sum(axis=-1), 1)


@pytest.mark.parametrize("method", ["row-bounded", "algorithm-1"])
def test_parameters_of_binary_columns_are_the_estimators(method):
    data = load("toy")
    found = nb_parameters("toy", method, "add-remove", 1.0, options_of(method, values_of()), 3, 1, 5)
    names = {"algorithm-1": "published"}
    model = BernoulliNB(1.0, method=names.get(method, method), schema=data.schema, random_state=5, selection="none")
    model.fit(data.X_train, data.y_train)
    np.testing.assert_allclose(found["draws"][0, :, 0], np.exp(model.feature_log_prob_[:, 2]), atol=1e-9)
    exact = [data.X_train[data.y_train == c, 2].mean() for c in (0, 1)]
    np.testing.assert_allclose(found["exact"][:, 0], exact)


def test_exact_shares_of_categories_are_counted():
    data = load("census")
    frame = data.frame.loc["train"]
    place = next(i for i, f in enumerate(data.frame_schema.features) if f.kind == "categorical")
    found = nb_parameters("census", "binned", "add-remove", 0.1, options_of("binned", values_of()), place + 1, 1, 0)
    f = data.frame_schema.features[place]
    for c in (0, 1):
        shares = frame.loc[data.y_train == c, f.name].value_counts(normalize=True)
        expected = [shares.get(category, 0.0) for category in f.categories]
        np.testing.assert_allclose(found["exact"][c], expected, atol=1e-3)  # every count has one more
    assert found["labels"] == tuple(map(str, f.categories))


def test_what_is_not_private_is_marked_and_dashed():
    table, categories = nb_facts("census"), {"numeric": 0, "categorical": 21, "table": True}
    looks = styles(tuple(METHODS), table)
    marked = {name for name, style in looks.items() if "not private" in style.label}
    assert marked == {"vaidya", "published"}
    assert {name for name, style in looks.items() if style.dash == "dashed"} == marked
    assert {name for name in METHODS if not private(name, categories)} == {"published"}
    assert styles(("vaidya",), categories)["vaidya"].label.endswith("stated ε")


def test_the_true_epsilon_of_vaidya():
    assert true_epsilon("vaidya", 0.1, {"numeric": 0, "categorical": 21}, "add-remove") == pytest.approx(3.1)
    assert true_epsilon("vaidya", 0.1, {"numeric": 1, "categorical": 21}, "add-remove") is None
    assert true_epsilon("published", 0.1, {"numeric": 0, "categorical": 21}, "add-remove") is None
    assert true_epsilon("smooth", 0.1, {"numeric": 1, "categorical": 0}, "replace-one") == 0.1


def test_vaidya_is_drawn_at_what_it_pays_as_well():
    facts = {**nb_facts("toy"), "numeric": 0, "categorical": 21}
    work = AccuracyCard().work(values_of(train_methods=["vaidya"]), facts)
    paid = {x: chunk for (series, x), chunk in work.items() if series == TRUE}
    assert sorted(paid) == [pytest.approx(21 * e + 1) for e in SWEEP_EPSILONS if 21 * e + 1 <= EPSILONS[-1]]
    assert all(
        chunk in work.values() and chunk.arguments[3] == pytest.approx((x - 1) / 21) for x, chunk in paid.items()
    )


def test_panels_that_do_not_apply_say_why():
    values, table = values_of(), nb_facts("census")
    text = {**table, "table": False, "numeric": 0, "categorical": 0, "columns": []}
    three = {**table, "classes": ("a", "b", "c")}
    assert WeightCard().refusal(values, table) == ""
    assert "no categories" in WeightCard().refusal(values, nb_facts("toy"))
    assert "no numbers" in WeightCard().refusal(values, text)
    assert "choose one of" in WeightCard().refusal({**values, "train_methods": ("binned",)}, table)
    assert "needs a table" in ParametersCard().refusal(values, text)
    assert "3" in AccuracyCard().refusal({**values, "train_measure": "auc"}, three)
    assert AccuracyCard().refusal(values, three) == ""
    assert "same as global" in why_not("bun-steinke", {**table, "numeric": 0})


@pytest.mark.parametrize("panel", TrainPage.kinds)
def test_every_chunk_depends_on_plain_values_and_its_place_is_its_setting(panel):
    values, facts = values_of(train_methods=list(METHODS)), nb_facts("census")
    work = panel().work(values, facts)
    assert work
    assert all(hash(chunk.key) is not None and chunk.arguments[0] == "census" for chunk in work.values())
    at = {"accuracy": 3, "threshold": 3}.get(panel.name)
    for (series, x), chunk in work.items():
        if at and x != NOW and series != TRUE:
            assert chunk.arguments[at] == x


def test_grids_reach_from_end_to_end():
    facts, values = nb_facts("census"), values_of()
    assert {x for _series, x in SizeCard().work(values, facts)} == set(sizes(facts["n_train"]))
    assert {x for _series, x in PartitionCard().work(values, facts)} == set(feature_steps(84))
    assert {x for _series, x in ThresholdCard().work(values, facts)} == {NOW, *map(float, PERCENTILES)}
    assert {x for _series, x in WeightCard().work(values, facts)} == {NOW, *RATIOS.values()}
    assert sizes(40) == (20, 40)
    assert feature_steps(8444)[-1] == 300


def test_only_what_a_setting_touches_is_outdated():
    facts, panel = nb_facts("census"), AccuracyCard()
    before = panel.work(values_of(), facts)
    assert _outdated(before, panel.work(values_of(epsilon=1.0), facts)) == set()
    assert _outdated(before, panel.work(values_of(train_trim=4), facts)) == {"smooth", "published"}
    assert _outdated(before, panel.work(values_of(train_bins=9), facts)) == {"binned"}
    assert _outdated(before, panel.work(values_of(seed=1), facts)) == set(values_of()["train_methods"])


def test_bands_hold_ninety_percent_and_fade_until_complete():
    looks = {"binned": method_styles()["binned"]}
    figure = BandFigure("t", looks, "y", x_range=AccuracyCard().figures[0].plot.x_range)
    figure.restyle(looks)
    draws = np.arange(101) / 100
    figure.show("binned", {2.0: draws, 1.0: draws / 2}, True)
    curve = figure.curves["binned"].data
    assert list(curve["x"]) == [1.0, 2.0]
    np.testing.assert_allclose(
        [curve["mean"], curve["low"], curve["high"]], [[0.25, 0.5], [0.025, 0.05], [0.475, 0.95]]
    )
    figure.outdate("binned")
    assert (len(figure.curves["binned"].data["x"]), len(figure.stale["binned"].data["x"])) == (0, 2)
    figure.show("binned", {1.0: draws}, False)
    assert len(figure.stale["binned"].data["x"]) == 2
    figure.show("binned", {1.0: draws, 2.0: draws}, True)
    assert len(figure.stale["binned"].data["x"]) == 0


def test_series_are_made_when_first_shown_and_keep_their_order():
    looks = method_styles()
    first, second, third = list(looks)[:3]
    references = {"majority": ("A guess", "dotted")}
    figure = BandFigure("t", looks, "y", references, x_range=AccuracyCard().figures[0].plot.x_range)
    assert figure.curves == {}
    keys = len(figure.plot.renderers)
    for chosen in ((third,), (first,), (first, second)):
        figure.restyle({series: looks[series] for series in chosen})
    labels = [
        item.label["value"] if isinstance(item.label, dict) else item.label.value for item in figure.legend.model.items
    ]
    assert labels == [*(looks[series].label for series in (first, second, third)), "A guess"]
    assert [item.visible for item in figure.legend.model.items] == [True, True, False, True]
    assert len(figure.plot.renderers) == keys + 3 * (6 + 2)
    assert figure.plot.renderers[:6] == figure.drawn[first]
    # a second time nothing is made
    renderers = list(figure.plot.renderers)
    figure.restyle(looks | {})
    figure.restyle({first: looks[first]})
    assert figure.plot.renderers[: 3 * 6] == renderers[: 3 * 6]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dataset", "iris"),
        ("train_methods", ["binned", "magic"]),
        ("train_methods", "binned"),
        ("train_weight", "3:1"),
        ("train_bins", 65),
        ("train_trim", -1),
        ("train_model", "svm"),
        ("train_feature", 0),
        ("train_noise", "gaussian"),
    ],
)
def test_bad_value_is_named_and_not_taken(name, value):
    settings = Settings()
    before = settings.param.values()
    (problem,) = settings.assign({name: value})
    assert problem.startswith(f"{name} = {value} is not allowed: it must be ")
    assert settings.param.values() == before


def test_a_feature_that_the_data_do_not_have_is_said_and_replaced():
    settings = Settings(train_feature=15)
    page = TrainPage(settings, Pool(1))
    assert "set to 1: census offers 14 features" in page.controls.fit(nb_facts("census"))
    assert (settings.train_feature, page.controls.feature.value) == (1, 1)
    settings.train_feature = 14
    assert page.controls.fit(nb_facts("census")) == ""
    assert page.controls.feature.value == 14
    page.controls.feature.value = 3
    assert settings.train_feature == 3
    assert len(page.controls.feature.options) == len(feature_names("binned", nb_facts("census")))


def test_results_of_other_pages_have_other_keys():

    from dpml_app import data

    ours = {nb_facts, nb_measure, nb_silenced, nb_parameters}
    theirs = {getattr(data, name).__name__ for name in data.__all__ if callable(getattr(data, name))}
    assert not {Chunk(f, ()).key[0] for f in ours} & theirs


def test_every_setting_of_the_page_is_in_the_link_and_has_a_control():
    page = TrainPage(Settings(), Pool(1))
    assert set(TrainSettings.train_names()) == set(page.controls.widgets)
    assert set(TrainSettings.train_names()) <= set(Settings.names())
    assert all(widget.label for widget in page.controls.widgets.values())


def test_work_that_fails_is_said_and_ends(monkeypatch):
    pool, said, tasks = Pool(1), [], []

    def refuse(_chunk, **_place):
        raise RuntimeError("no workers")

    monkeypatch.setattr(pool, "submit", refuse)

    async def run():
        work = Engine(
            pool,
            name="work",
            what="curves",
            spawn=lambda coroutine: tasks.append(asyncio.ensure_future(coroutine)),
            hold=nullcontext,
            show=lambda _results: None,
            failed=lambda what, error: said.append((what, str(error))),
        )
        work.request([Chunk(nb_facts, ("toy",))])
        running = work.progress.state.data["running"]
        await tasks[0]
        return running, work.progress.state.data["running"], work.progress.status.object

    # in a thread of its own: the browser's loop runs in this one
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(run())).result() == ([True], [False], "Stopped by an error")
    assert said == [("Curves", "no workers")]


def test_words_state_the_numbers():
    facts = nb_facts("census")
    text = train_words.headline(values_of(epsilon=1.0), facts)
    assert f"{100 * facts['accuracy']['table']:.1f}" in text
    assert "4 numbers and 10 other features (84 binary columns)" in train_words.dataset_note(facts)
