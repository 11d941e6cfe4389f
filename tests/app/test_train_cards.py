"""The cards and settings of the Train page without a browser: what is drawn, outdated, refused and said."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card_page import _outdated
from dpml_app.pages.train import words as train_words
from dpml_app.pages.train.accuracy import RATIOS, TRUE, AccuracyCard, PartitionCard, SizeCard, ThresholdCard, WeightCard
from dpml_app.pages.train.card import IMMEDIATE, WORKER, method_styles, share_figure
from dpml_app.pages.train.compute import PERCENTILES, feature_steps, nb_facts, sizes
from dpml_app.pages.train.methods import METHODS, feature_names, private, styles, why_not
from dpml_app.pages.train.methods_figure import Row
from dpml_app.pages.train.page import TrainPage
from dpml_app.pages.train.parameters import ParametersCard
from dpml_app.pages.train.settings import TrainValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.work.pool import Pool, Task
from dpml_app.work.task_runner import TaskRunner


def values_of(**changes):
    settings = Settings()
    settings.param.update(**changes)
    return TrainValues.of(settings)


def test_what_is_not_private_is_marked_and_dashed():
    table, categories = nb_facts("census"), replace(nb_facts("toy"), numeric=0, categorical=21, table=True)
    looks = styles(tuple(METHODS), table)
    marked = {name for name, style in looks.items() if "not private" in style.label}
    assert marked == {"vaidya", "published"}
    assert {name for name, style in looks.items() if style.dash == "dashed"} == marked
    assert {name for name in METHODS if not private(name, categories)} == {"published"}
    assert styles(("vaidya",), categories)["vaidya"].label.endswith("stated ε")
    needs = {name for name, style in styles(tuple(METHODS), table, "gaussian-2").items() if "δ = 1/n²" in style.label}
    assert needs == {"smooth", "bun-steinke"}


def test_vaidya_is_drawn_at_what_it_pays_as_well():
    facts = replace(nb_facts("toy"), numeric=0, categorical=21)
    work = AccuracyCard().work(values_of(train_methods=["vaidya"]), facts)
    paid = {x: task for (series, x), task in work.items() if series == TRUE}
    assert sorted(paid) == [pytest.approx(21 * e + 1) for e in SWEEP_EPSILONS if 21 * e + 1 <= EPSILONS[-1]]
    assert all(task in work.values() and task.arguments[3] == pytest.approx((x - 1) / 21) for x, task in paid.items())


def test_panels_that_do_not_apply_say_why():
    values, table = values_of(), nb_facts("census")
    text = replace(table, table=False, numeric=0, categorical=0, columns=[])
    three = replace(table, classes=("a", "b", "c"))
    assert WeightCard().refusal(values, table) == ""
    assert "no categorical features" in WeightCard().refusal(values, nb_facts("toy"))
    assert "no numeric features" in WeightCard().refusal(values, text)
    assert "Choose one of" in WeightCard().refusal(replace(values, train_methods=("binned",)), table)
    assert "needs a table" in ParametersCard().refusal(values, text)
    assert "3" in AccuracyCard().refusal(replace(values, train_measure="auc"), three)
    assert AccuracyCard().refusal(values, three) == ""
    assert "same as global" in why_not("bun-steinke", replace(table, numeric=0))


@pytest.mark.parametrize("panel", TrainPage.kinds)
def test_every_task_depends_on_plain_values_and_its_place_is_its_setting(panel):
    values, facts = values_of(train_methods=list(METHODS)), nb_facts("census")
    work = panel().work(values, facts)
    assert work
    assert all(hash(task.key) is not None and task.arguments[0] == "census" for task in work.values())
    at = {"accuracy": 3, "threshold": 3}.get(panel.name)
    for (series, x), task in work.items():
        if at and x not in (IMMEDIATE, WORKER) and series != TRUE:
            assert task.arguments[at] == x


def computed(task):
    return task.function(*task.arguments)


def test_posterior_is_shown_when_workers_have_it_and_goes_with_its_setting():
    values, facts = values_of(dataset="toy", train_model="row-bounded", train_feature=3), nb_facts("toy")
    card = ParametersCard()
    work = card.work(values, facts)
    assert {at for _series, at in work} == {IMMEDIATE, WORKER}
    now = {key: computed(task) for key, task in work.items() if key[1] == IMMEDIATE}
    card.prepare(values, facts, now)
    assert len(card.posterior.data["mean"]) == 0
    assert "Release 1" not in card.readout(values, facts, now)
    results = {key: computed(task) for key, task in work.items()}
    card.show(results, work)
    low, mean, high = (card.posterior.data[name] for name in ("low", "mean", "high"))
    assert (low < mean).all()
    assert (mean < high).all()
    np.testing.assert_array_equal(mean, results["posterior", WORKER][0, :, 2])
    assert "One release alone gives" in card.readout(values, facts, results)
    other = replace(values, epsilon=0.5)
    card.prepare(other, facts, {("cells", IMMEDIATE): computed(card.work(other, facts)["cells", IMMEDIATE])})
    assert len(card.posterior.data["mean"]) == 0


def test_grids_reach_from_end_to_end():
    facts, values = nb_facts("census"), values_of()
    assert {x for _series, x in SizeCard().work(values, facts)} == set(sizes(facts.n_train))
    assert {x for _series, x in PartitionCard().work(values, facts)} == set(feature_steps(84))
    assert {x for _series, x in ThresholdCard().work(values, facts)} == {IMMEDIATE, *map(float, PERCENTILES)}
    assert {x for _series, x in WeightCard().work(values, facts)} == {IMMEDIATE, *RATIOS.values()}
    assert sizes(40) == (20, 40)
    assert feature_steps(8444)[-1] == 300


def test_only_what_a_setting_touches_is_outdated():
    facts, panel = nb_facts("census"), AccuracyCard()
    before = panel.work(values_of(), facts)
    assert _outdated(before, panel.work(values_of(epsilon=1.0), facts)) == set()
    assert _outdated(before, panel.work(values_of(train_trim=4), facts)) == {"smooth", "published"}
    assert _outdated(before, panel.work(values_of(train_bins=9), facts)) == {"binned"}
    assert _outdated(before, panel.work(values_of(seed=1), facts)) == {"auto", *values_of().train_methods}


def test_bands_hold_ninety_percent_and_fade_until_complete():
    looks = {"binned": method_styles()["binned"]}
    figure = share_figure("t", looks, {}, x_range=AccuracyCard().figures[0].plot.x_range)
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
    references = {"majority": ("Majority-class baseline", "dotted")}
    figure = share_figure("t", looks, references, x_range=AccuracyCard().figures[0].plot.x_range)
    assert figure.curves == {}
    keys = len(figure.plot.renderers)
    for chosen in ((third,), (first,), (first, second)):
        figure.restyle({series: looks[series] for series in chosen})
    labels = [
        item.label["value"] if isinstance(item.label, dict) else item.label.value for item in figure.legend.model.items
    ]
    assert labels == [*(looks[series].label for series in (first, second, third)), "Majority-class baseline"]
    assert [item.visible for item in figure.legend.model.items] == [True, True, False, True]
    assert len(figure.plot.renderers) == keys + 3 * (6 + 2)
    assert figure.plot.renderers[:6] == figure.drawn[first]
    # a second time nothing is made
    renderers = list(figure.plot.renderers)
    figure.restyle(looks | {})
    figure.restyle({first: looks[first]})
    assert figure.plot.renderers[: 3 * 6] == renderers[: 3 * 6]


def test_a_feature_that_the_data_do_not_have_is_said_and_replaced():
    settings = Settings(train_feature=15)
    page = TrainPage(settings, Pool(1))
    assert "census has 14 features here. Feature 1 is shown" in page.controls.fit(nb_facts("census"))
    assert (settings.train_feature, page.controls.feature.value) == (1, 1)
    settings.train_feature = 14
    assert page.controls.fit(nb_facts("census")) == ""
    assert page.controls.feature.value == 14
    page.controls.feature.value = 3
    assert settings.train_feature == 3
    assert len(page.controls.feature.options) == len(feature_names("binned", nb_facts("census")))


def test_every_setting_of_the_page_is_in_the_link_and_has_a_control():
    page = TrainPage(Settings(), Pool(1))
    assert set(TrainValues.names()) == set(page.controls.widgets)
    assert set(TrainValues.names()) <= set(Settings.names())
    assert all(widget.label for widget in page.controls.widgets.values())


def test_work_that_fails_is_said_and_ends(monkeypatch):
    pool, said, tasks = Pool(1), [], []

    def refuse(_task, **_place):
        raise RuntimeError("no workers")

    monkeypatch.setattr(pool, "submit", refuse)

    async def run():
        work = TaskRunner(
            pool,
            name="work",
            what="curves",
            spawn=lambda coroutine: tasks.append(asyncio.ensure_future(coroutine)),
            hold=nullcontext,
            show=lambda _results: None,
            failed=lambda what, error: said.append((what, str(error))),
        )
        work.request([Task(nb_facts, ("toy",))])
        running = work.progress.state.data["running"]
        await tasks[0]
        return running, work.progress.state.data["running"], work.progress.status.object

    # in a thread of its own: the browser's loop runs in this one
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(run())).result() == ([True], [False], "Stopped by an error")
    assert said == [("Curves", "no workers")]


def test_words_state_the_numbers():
    facts = nb_facts("census")
    values = values_of(epsilon=1.0, train_begin=[], train_methods=["binned", "row-bounded", "published"])
    style = method_styles()["binned"]
    rows = [Row(style, 0.8, 0.7, 0.9, 0.85), Row(style, 0.9, 0.8, 1.0, 0.95, "∞")]
    text = train_words.headline(values, facts, rows).replace("\xa0", " ")
    assert "Best so far at ε = 1: <b>Binned counts, 80.0%</b> (non-private 85.0%)." in text
    assert f"Majority-class baseline: {100 * facts.majority:.1f}%." in text
    assert "lies between" not in text
    assert "4 numeric and 10 other features (84 binary columns)" in train_words.dataset_note(facts)
