"""Every lever that is shown on the first page moves the main picture and another one."""

import numpy as np
import pytest
from dpml_app.pages.explore.compute import CUSTOM_DRAWS, custom_accuracy
from dpml_app.pages.explore.page import SelectionCard
from each_commit import others_in_full

from dpml.datasets import load
from dpml.studies import SelectedLogisticStudy, SelectedNBStudy

# in this order, so that each is active when its turn comes
MOVES = [
    ("n_features", 12),
    ("selection_share", 0.3),
    ("threshold_percentile", 80),
    ("map_score", "mutual_information"),
    ("hand_model", "logistic"),
    ("reg_lambda", 20.0),
    ("n_features", 30),
    ("selection_share", 0.6),
    ("map_score", "count"),
]
PLOTS = {
    "cost": ("cost-hand", "cost-hand-now"),
    "roc": ("roc-private", "roc-exact"),
}


def plotted(alone):
    shown = {plot: [alone.read(name) for name in names] for plot, names in PLOTS.items()}
    # the browser draws it
    drawn = SelectionCard.browser_tables(alone.page.values())["selection-drawn"]
    return shown | {"selection": drawn.to_dict("list")}


@pytest.mark.data
@pytest.mark.parametrize("name", others_in_full(("census", "adult", "mushrooms"), "census"))
def test_each_lever_moves_two_pictures(alone_of_few_fits, short_curves, data_home, name):
    alone = alone_of_few_fits
    alone.enter("explore", f"&dataset={name}&draws=10&seed=3", only=("selection", "roc"))
    before = plotted(alone)
    widgets = alone.page.controls.widgets
    shown = {n for n, w in widgets.items() if w.visible and any(w in part for part in levers(alone.page))}
    assert shown == {lever for lever, _value in MOVES}
    for lever, value in MOVES:
        inactive = {n: widgets[n].label for n in shown if widgets[n].disabled}
        logistic = alone.settings["hand_model"] == "logistic"
        assert (
            inactive == {"threshold_percentile": "Threshold percentile (Naive Bayes)"}
            if logistic
            else {"reg_lambda": "Regularisation λ (Logistic)"}
        )
        assert lever not in inactive
        alone.act(**{lever: value})
        after = plotted(alone)
        moved = {plot for plot in before if before[plot] != after[plot]}
        assert "cost" in moved, (lever, value)
        assert len(moved) >= 2, (lever, value)
        curves = [np.array(each["cost"][0]["mean"]) for each in (before, after)]
        if len(curves[0]) == len(curves[1]):
            assert np.mean(curves[0] != curves[1]) > 0.5, (lever, value)
        before = after


def levers(page):
    return [page.controls.levers, *(part for part in page.controls.levers if hasattr(part, "objects"))]


@pytest.mark.parametrize("model", ["naive-bayes", "logistic"])
def test_custom_accuracy_is_of_the_librarys_study(model):
    own = 70 if model == "naive-bayes" else 5.0
    key = ("toy", "replace-one", 0.5, model, "mutual_information", (6, 0.4, own), CUSTOM_DRAWS, 2)
    study = {"naive-bayes": SelectedNBStudy, "logistic": SelectedLogisticStudy}[model]
    study = study(load("toy"), "mutual_information", relation="replace-one")
    own = {"threshold_percentile": own} if model == "naive-bayes" else {"reg_lambda": own}
    options = {"n_features": 6, "selection_share": 0.4, "rng": np.random.default_rng(2), **own}
    np.testing.assert_array_equal(custom_accuracy(*key), study(0.5, draws=CUSTOM_DRAWS, **options)["accuracy"])
