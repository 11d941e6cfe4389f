"""The Train page plots linear models as the library fits them, and says what it leaves out: read without a browser."""

import numpy as np
from dpml_app.drawing.styles import style_of
from dpml_app.pages.train.figures import LAMBDA_STEPS
from dpml_app.settings import SWEEP_EPSILONS

from dpml.datasets import load
from dpml.studies.accuracy import LogisticStudy
from dpml.sweep import summarise, sweep

QUICK = "&draws=10"
LINEAR = "&dataset=toy&epsilon=1&seed=4" + QUICK
METHODS = ("binned", "row-bounded", "global", "smooth", "algorithm-1", "published")
SERIES = {
    "accuracy": [f"train-accuracy-{m}" for m in METHODS],
    "now": ["train-methods-rows"],
    "threshold": ["train-threshold-algorithm-1"],
}


def figures(alone):
    return {name: [alone.read(source) for source in sources] for name, sources in SERIES.items()}


def test_another_data_set_replaces_everything(alone):
    # without the default classifier, which is not looked at here and takes a second at each ε
    alone.enter("train", "&train_methods=" + ".".join(METHODS) + QUICK)
    before = figures(alone)
    alone.act(dataset="breast_cancer")
    after = figures(alone)
    assert all(before[name] != after[name] for name in SERIES)
    assert "398 training and 171 test records" in alone.text


def test_linear_models_are_drawn_as_the_library_finds_them(alone):
    alone.enter("train", LINEAR + "&train_methods=output.objective&train_lambda=5")
    data = load("toy")
    for method in ("output", "objective"):
        study = LogisticStudy(data, method=method)
        table = summarise(sweep(study, {"epsilon": SWEEP_EPSILONS, "reg_lambda": [5.0]}, draws=10, seed=4), ["epsilon"])
        for column in ("epsilon", "mean", "low", "high"):
            np.testing.assert_allclose(alone.array(f"train-accuracy-{method}", column), table[column], atol=1e-12)
        here = table["mean"][list(SWEEP_EPSILONS).index(1.0)]
        rows = alone.read("train-methods-rows")
        at = rows["color"].index(style_of(method).color)
        np.testing.assert_allclose(rows["mean"][at], here, atol=1e-12)
        # the same λ is chosen on the panel about it
        at = alone.read(f"train-lambda-{method}")["reg_lambda"].index(5.0)
        np.testing.assert_allclose(alone.array(f"train-lambda-{method}", "mean")[at], here, atol=1e-12)
    assert alone.model("train-lambda-marker").location == 5
    np.testing.assert_allclose(alone.array("train-lambda-output", "reg_lambda"), sorted({*LAMBDA_STEPS, 5.0}))
    assert "chosen on the test records, so it is not private" in alone.text
    assert alone.alerts == []


def test_what_is_not_private_is_said_in_legend_and_text(alone):
    alone.enter("train", "&train_methods=binned.vaidya.published" + QUICK, only=["accuracy"])
    labels = alone.labels("train-accuracy")
    assert {label for label in labels if "not private" in label} == {
        "Vaidya, not private",
        "Zafarani and Clifton, not private",
    }
    assert "Binned counts" in labels
    assert "Smooth sensitivity" not in labels
    assert "Not private at any ε: Vaidya et al., Algorithm 1 (Zafarani and Clifton)." in alone.text
