"""The Train page in a browser: what is drawn is the library's, and every control moves what it should."""

from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.train.compute import sizes
from dpml_app.train.reg_lambda import LAMBDA_STEPS, NOISY
from dpml_app.train.tuning import TUNING_EPSILONS

from dpml.datasets import load
from dpml.studies.accuracy import LogisticStudy, PublishedNBStudy, RowBoundedNBStudy, majority_accuracy
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy
from dpml.sweep import summarise, sweep

pytestmark = pytest.mark.browser
press, choose, pick = (partial(methodcaller, name) for name in ("push", "hit", "pick"))
LABELS = """(name) => Bokeh.documents[0].get_model_by_name(name).below
  .filter((model) => model.items).flatMap((legend) => legend.items)
  .filter((item) => item.visible).map((item) => item.label.value ?? item.label)"""
LEVEL = "(name) => Bokeh.documents[0].get_model_by_name(name).location"
METHODS = ("binned", "row-bounded", "global", "smooth", "algorithm-1", "published")
SERIES = {
    "accuracy": [f"train-accuracy-{m}" for m in METHODS],
    "now": [f"train-accuracy-{m}-now" for m in METHODS],
    "size": [f"train-size-{m}" for m in METHODS],
    "weight": ["train-weight-global", "train-weight-smooth"],
    "weight-now": ["train-weight-global-now", "train-weight-smooth-now"],
    "threshold": ["train-threshold-accuracy", "train-silenced-some", "train-silenced-on", "train-silenced-all"],
    "threshold-now": ["train-threshold-accuracy-now", "train-silenced-on-now"],
    "partition": [f"train-partition-{m}" for m in ("partitioned", "algorithm-1", "row-bounded")],
    "parameters": ["train-parameters-0", "train-parameters-0-draws", "train-parameters-1"],
}
# census has both numbers and categories and needs no file; few draws, so that a test does not take long
QUICK = "&draws=10"


def link_of(app):
    # a list may have spaces after its commas, and either quotes
    return {name: value.replace(" ", "").replace("'", '"') for name, value in app.query.items()}


def seen(app, title):
    return app.page.get_by_role("heading", name=title, exact=True).count() == 1


def figures(app):
    return {name: [app.read(source) for source in sources] for name, sources in SERIES.items()}


CONTROLS = [
    (press("Bins of a number"), {"accuracy", "now", "size", "parameters"}, "train_bins"),
    (pick("Noise of smooth sensitivity", "Student's t, 3 degrees"), {"accuracy", "now", "size", "weight", "weight-now"},
     "train_noise"),
    (press("Trimmed at each end"), {"accuracy", "now", "size", "weight", "weight-now"}, "train_trim"),
    (pick("A number within a class", "Normal"), {"accuracy", "now", "size", "weight", "weight-now"},
     "train_likelihood"),
    (press("Weight, numeric : categorical"), {"accuracy", "now", "size", "weight-now"}, "train_weight"),
    (press("Threshold percentile"), {"accuracy", "now", "size", "threshold-now", "partition"},
     "threshold_percentile"),
    (pick("Method whose parameters are shown", "Smooth sensitivity"), {"parameters"}, "train_model"),
    (press("ε"), {"now", "size", "weight", "weight-now", "threshold", "threshold-now", "partition", "parameters"},
     "epsilon"),
    (choose("radio", "Area under the ROC curve"), {"accuracy", "now"}, "train_measure"),
    (choose("radio", "Replace one record"), set(SERIES), "relation"),
    (choose("button", "Redraw"), set(SERIES), "seed"),
    (press("Draws"), set(SERIES), "draws"),
]  # fmt: skip


def test_each_control_changes_what_it_should_and_nothing_else(app):
    # ε = 2: where every option shows in some draw
    app.enter("train", "&epsilon=2" + QUICK)
    before, link = figures(app), link_of(app)
    for do, expected, setting in CONTROLS:
        app.act(do)
        after, now = figures(app), link_of(app)
        changed = {name for name in before if before[name] != after[name]}
        assert changed == expected, setting
        assert {name for name in link if link[name] != now.get(name)} == {setting}
        before, link = after, now
    assert app.alerts == []


def test_accuracy_over_epsilon_is_what_the_library_finds(app):
    app.enter("train", "&dataset=toy&epsilon=1&seed=4" + QUICK)
    data = load("toy")
    studies = {
        "binned": (BinnedNBStudy(data), {}),
        "row-bounded": (RowBoundedNBStudy(data), {}),
        "smooth": (MomentsNBStudy(data, "smooth"), {}),
        "published": (MomentsNBStudy(data, "published"), {}),
        "algorithm-1": (PublishedNBStudy(data), {"threshold_percentile": [65]}),
    }
    for method, (study, fixed) in studies.items():
        table = summarise(sweep(study, {"epsilon": SWEEP_EPSILONS, **fixed}, draws=10, seed=4), ["epsilon"])
        for column, name in (("x", "epsilon"), ("mean", "mean"), ("low", "low"), ("high", "high")):
            np.testing.assert_allclose(app.array(f"train-accuracy-{method}", column), table[name], atol=1e-12)
        now = app.array(f"train-accuracy-{method}-now", "mean")
        np.testing.assert_allclose(now, table["mean"][list(SWEEP_EPSILONS).index(1.0)], atol=1e-12)
    assert app.page.evaluate(LEVEL, "train-accuracy-majority") == majority_accuracy(data)
    assert app.page.evaluate(LEVEL, "train-accuracy-marker") == 1
    np.testing.assert_array_equal(app.array("train-size-binned", "x"), sizes(1000))
    # with all records it is the accuracy at this ε
    np.testing.assert_allclose(
        app.array("train-size-binned", "mean")[-1], app.array("train-accuracy-binned-now", "mean")
    )


def test_what_is_not_private_is_said_in_legend_and_text(app):
    app.enter("train", "&train_methods=binned.vaidya.published" + QUICK)
    labels = app.page.evaluate(LABELS, "train-accuracy")
    assert {label for label in labels if "not private" in label} == {
        "Vaidya, not private",
        "Z. & C., not private",
    }
    assert "Binned counts" in labels
    assert "Smooth sensitivity" not in labels
    assert "Not private, whatever ε is stated: Vaidya et al., Algorithm 1 of Zafarani and Clifton." in app.text
    assert "exact, private: for study" in app.text
    assert app.page.get_by_role("combobox", name="Feature", exact=True).inner_text().startswith("1: ")


def test_bad_values_in_the_link_are_said_and_good_ones_kept(app):
    app.enter("train", "&dataset=toy&train_weight=9:9&train_bins=7&train_feature=99" + QUICK)
    assert any("train_weight = 9:9 is not allowed" in text for text in app.alerts)
    assert any("train_feature = 99 set to 1: toy offers 10 features" in text for text in app.alerts)
    assert (app.query["train_bins"], app.query["train_weight"], app.query["dataset"]) == ("7", "2:1", "toy")
    assert app.query["train_feature"] == "1"


def test_panels_that_do_not_apply_say_why_and_are_empty(app):
    app.enter("train", "&dataset=toy" + QUICK)
    assert "these data have no categories, so there is nothing to weigh against each other" in app.text
    assert app.page.evaluate("Bokeh.documents[0].get_model_by_name('train-weight-global')") is None
    assert app.read("train-size-global")["x"] != []


def test_another_data_set_replaces_everything(app):
    app.enter("train", QUICK)
    before = figures(app)
    app.act(pick("Data set", "Breast cancer"))
    after = figures(app)
    assert after["weight"] != before["weight"]
    assert app.read("train-weight-global")["x"] == []
    assert all(before[name] != after[name] for name in SERIES)
    assert app.page.get_by_role("combobox", name="Feature", exact=True).inner_text().startswith("1: ")
    assert "398 training and 171 test records" in app.text


LINEAR = "&train_family=linear&dataset=toy&epsilon=1&seed=4" + QUICK


def test_linear_models_are_drawn_as_the_library_finds_them(app):
    app.enter("train", LINEAR + "&train_linear=output.objective.descent&train_lambda=5")
    data = load("toy")
    for method in ("output", "objective"):
        study = LogisticStudy(data, method=method)
        table = summarise(sweep(study, {"epsilon": SWEEP_EPSILONS, "reg_lambda": [5.0]}, draws=10, seed=4), ["epsilon"])
        for column, name in (("x", "epsilon"), ("mean", "mean"), ("low", "low"), ("high", "high")):
            np.testing.assert_allclose(app.array(f"train-accuracy-{method}", column), table[name], atol=1e-12)
        here = table["mean"][list(SWEEP_EPSILONS).index(1.0)]
        np.testing.assert_allclose(app.array(f"train-accuracy-{method}-now", "mean"), here, atol=1e-12)
        # the same λ is chosen on the panel about it
        np.testing.assert_allclose(app.array(f"train-lambda-{method}-now", "mean"), here, atol=1e-12)
    assert app.page.evaluate(LEVEL, "train-lambda-marker") == 5
    np.testing.assert_allclose(app.array("train-lambda-l1", "x"), LAMBDA_STEPS)
    np.testing.assert_allclose(app.array("train-tuning-stability", "x"), TUNING_EPSILONS)
    assert len(app.array("train-weights-bars", "y")) == 12
    assert "Descent, needs δ = 1e-5" in app.page.evaluate(LABELS, "train-accuracy")
    assert "found by looking at the test records: not private" in app.text
    assert "one run 0.5 with η = 0, 0.333 with η = 1" in app.text
    assert not seen(app, "Partitioning the records")
    assert app.alerts == []


LINEAR_SERIES = {
    "accuracy": ["train-accuracy-output", "train-accuracy-functional"],
    "now": ["train-accuracy-output-now", "train-accuracy-functional-now"],
    "size": ["train-size-output", "train-size-functional"],
    "lambda": ["train-lambda-l1", "train-lambda-objective", "train-lambda-output"],
    "lambda-now": ["train-lambda-l1-now"],
    "rule": [f"train-lambda-rule-{m}" for m in NOISY],
    "best": [f"train-lambda-best-{m}" for m in NOISY],
    "tuning": ["train-tuning-disjoint", "train-tuning-public rule"],
    "weights": ["train-weights-bars", "train-weights-draws"],
}
LINEAR_CONTROLS = [
    (press("λ, linear models"), {"accuracy", "now", "size", "lambda-now", "weights"}, "train_lambda"),
    (pick("Sensitivity of the functional mechanism", "Original (FMsens1)"), {"accuracy", "now", "size"},
     "train_functional"),
    (choose("radio", "Row bound of naive Bayes"), {"tuning"}, "train_tune"),
    (pick("Method whose weights are shown", "Output perturbation"), {"weights"}, "train_shown"),
    (press("ε"), {"now", "size", "lambda", "lambda-now", "rule", "best", "weights"}, "epsilon"),
]  # fmt: skip


def test_each_linear_control_changes_what_it_should_and_nothing_else(app):
    # λ from 0.01 on: below the public rule's, so that it shows
    app.enter("train", LINEAR + "&train_linear=output.functional")

    def read():
        return {name: [app.read(source) for source in sources] for name, sources in LINEAR_SERIES.items()}

    before, link = read(), link_of(app)
    for do, expected, setting in LINEAR_CONTROLS:
        app.act(do)
        after, now = read(), link_of(app)
        assert {name for name in before if before[name] != after[name]} == expected, setting
        assert {name for name in link if link[name] != now.get(name)} == {setting}
        before, link = after, now
    assert app.alerts == []


def test_another_family_brings_its_panels_and_controls_and_the_link_restores_them(app, make_app, server):
    app.enter("train", "&dataset=toy" + QUICK)
    assert app.page.get_by_role("slider", name="λ, linear models", exact=True).count() == 0
    assert not seen(app, "Regulariser λ: bias against noise")
    app.act(choose("radio", "Linear models"))
    assert app.page.get_by_role("slider", name="λ, linear models", exact=True).count() == 1
    assert app.page.get_by_role("slider", name="Bins of a number", exact=True).count() == 0
    app.page.get_by_role("heading", name="Regulariser λ: bias against noise", exact=True).wait_for()
    assert not seen(app, "Weight of numbers and categories")
    assert app.read("train-accuracy-objective")["x"] != []
    assert app.read("train-accuracy-binned")["x"] == []
    app.act(press("λ, linear models"))
    assert app.query["train_lambda"] == "0.01"
    other = make_app(server).enter("train", app.search.replace("?page=train", "", 1))
    for name in ("train-accuracy-l1", "train-lambda-output", "train-tuning-disjoint", "train-weights-draws"):
        assert other.read(name) == app.read(name)


def test_what_linear_models_cannot_do_is_said(app):
    app.enter("train", "&train_family=linear&train_lambda=3&train_linear=output.magic&dataset=toy" + QUICK)
    assert any("train_lambda = 3 is not allowed" in text for text in app.alerts)
    assert any("train_linear = " in text and "is not allowed" in text for text in app.alerts)


@pytest.mark.data
def test_many_columns_and_three_classes_are_refused_in_words(app):
    chosen = "&train_family=linear&dataset=sms&train_linear=functional&train_shown=functional"
    app.enter("train", chosen + QUICK, wait=False)
    answered = "Bokeh.documents?.[0]?.get_model_by_name('train-state')?.data.answers[0] > 0"
    app.page.wait_for_function(f"globalThis.Bokeh !== undefined && {answered}", timeout=120_000)
    refused = "Not for this choice: Functional mechanism: too many columns, 8,444; here it is for 400 at most."
    app.scroll()
    # accuracy, size and weights: two of them stand behind "More"
    app.wait_for_text(refused, times=3)
    app.enter("train", "&train_family=linear&dataset=seeds&train_measure=auc" + QUICK)
    assert "A ROC curve is about two classes, and these data have 3: choose accuracy." in app.text
    assert "against the rest" in app.text
