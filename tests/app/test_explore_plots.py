"""The Explore page plots what the library computes: the tests read the data in the page, not only that it has any."""

import numpy as np
import pytest
from dpml_app.settings import SWEEP_EPSILONS

from dpml.datasets import load
from dpml.evaluation import private_roc_curve
from dpml.selection import inclusion_probabilities
from dpml.studies.accuracy import (
    LogisticStudy,
    PublishedNBStudy,
    RowBoundedNBStudy,
    SelectedNBStudy,
    majority_accuracy,
    non_private_nb,
)

pytestmark = pytest.mark.browser
METHODS = ("published", "count", "mutual_information", "row-bounded", "logistic")


def check_all_four_plots(app):
    """Every plot has data that are finite, in their range and not all alike."""
    for method in METHODS:
        assert app.read(f"accuracy-{method}")["epsilon"] == list(SWEEP_EPSILONS)
        low, mean, high = (app.array(f"accuracy-{method}", c) for c in ("low", "mean", "high"))
        assert ((low >= 0) & (low <= high) & (high <= 1) & (mean >= 0) & (mean <= 1)).all()
        assert np.ptp(mean) > 0
        assert (high > low).any()
        assert len(app.read(f"accuracy-{method}-stale")["epsilon"]) == 0
        assert len(app.read(f"accuracy-{method}-now")["mean"]) == 1
    plain = app.array("accuracy-non_private", "y")
    assert 0.5 < plain[0] < 1
    for kind in ("count", "mutual_information"):
        p = app.array("selection-drawn", kind)
        assert len(p) == 20
        assert ((p >= 0) & (p <= 1)).all()
        assert np.ptp(p) > 0.001
    for column in ("fpr", "tpr"):
        curves = app.array("roc-private", column).reshape(-1, 18)
        assert np.isnan(curves[:, -1]).all()
        curves = curves[:, :-1]
        assert (np.diff(curves, axis=1) >= 0).all()
        assert (curves[:, 0] == 0).all()
        assert (curves[:, -1] == 1).all()
        assert np.ptp(curves, axis=0).max() > 0, "the draws are all alike"
        exact = app.array("roc-exact", column)
        assert (np.diff(exact) >= 0).all()
        assert len(exact) > 20
    cells = app.array("map-cells", "accuracy")
    assert len(cells) % len(SWEEP_EPSILONS) == 0
    assert np.isfinite(cells).all()
    assert np.ptp(cells) > 0.01
    assert (app.array("map-cells", "alpha") == 1).all()
    table = cells.reshape(-1, len(SWEEP_EPSILONS))
    assert app.array("map-best", "accuracy") == pytest.approx(table.max(axis=0), abs=1e-12)


def test_census_shows_all_four_plots(app):
    app.open("?dataset=census")
    check_all_four_plots(app)
    assert app.alerts == []
    text = app.text
    assert "For study only" in text


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult", "newsgroup1", "mushrooms", "xwindows"])
def test_real_data_show_all_four_plots(app, data_home, name):
    app.open(f"?dataset={name}&draws=20")
    check_all_four_plots(app)
    data = load(name)
    assert app.array("accuracy-majority", "y")[0] == majority_accuracy(data)
    assert app.array("accuracy-non_private", "y")[0] == non_private_nb(data).accuracy(data.X_test, data.y_test)[0]
    assert app.query["dataset"] == name


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_values_are_those_of_the_library(app, relation):
    epsilon, draws, seed = 0.25, 20, 7
    app.open(
        f"?dataset=toy&relation={relation}&epsilon={epsilon}&draws={draws}&seed={seed}&reg_lambda=20&n_features=10"
    )
    data = load("toy")
    common = {"relation": relation}
    selecting = {"n_features": 10, "selection_share": 0.5, "threshold_percentile": 65}
    studies = {
        "published": (PublishedNBStudy(data, **common), {"threshold_percentile": 65}),
        "count": (SelectedNBStudy(data, "count", **common), selecting),
        "mutual_information": (SelectedNBStudy(data, "mutual_information", **common), selecting),
        "row-bounded": (RowBoundedNBStudy(data, **common), {}),
        "logistic": (LogisticStudy(data, **common), {"reg_lambda": 20.0}),
    }
    for method, (study, setting) in studies.items():
        for at, source in ((epsilon, f"accuracy-{method}-now"), (SWEEP_EPSILONS[3], f"accuracy-{method}")):
            values = study(at, draws=draws, rng=np.random.default_rng(seed), **setting)["accuracy"]
            low, high = np.quantile(values, [0.05, 0.95])
            place = 0 if source.endswith("now") else 3
            shown = [app.array(source, c)[place] for c in ("epsilon", "mean", "low", "high")]
            assert shown == pytest.approx([at, values.mean(), low, high], abs=1e-12), (method, at)

    study = studies["row-bounded"][0]
    model = study.models(epsilon, draws=1, rng=np.random.default_rng(seed))
    scores = model.decision(data.X_test)[0, :, 0]
    fpr, tpr, _ = private_roc_curve(
        data.y_test,
        scores,
        epsilon,
        rng=np.random.default_rng([seed, 1]),
        relation=relation,
        draws=draws,
        score_scale="log-odds",
    )
    assert app.array("roc-private", "fpr").reshape(draws, -1)[:, :-1] == pytest.approx(fpr, abs=1e-12)
    assert app.array("roc-private", "tpr").reshape(draws, -1)[:, :-1] == pytest.approx(tpr, abs=1e-12)
    area = np.trapezoid(app.array("roc-exact", "tpr"), app.array("roc-exact", "fpr"))
    exact = model.auc(data.X_test, data.y_test)[0]
    assert area == pytest.approx(exact, abs=2e-3)  # the curve is thinned out to what a screen can show
    assert f"{exact:.3f}" in app.text

    cells = app.read("map-cells")
    place = cells["n_features"].index(10) + 3
    values = studies["count"][0](SWEEP_EPSILONS[3], draws=draws, rng=np.random.default_rng(seed), **selecting)
    assert cells["accuracy"][place] == pytest.approx(values["accuracy"].mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "share", "n_features", "relation"),
    [
        (0.1, 0.5, 20, "add-remove"),
        (10, 0.95, 1, "replace-one"),
        (2, 0.2, 83, "add-remove"),
        (1, 0.5, 84, "add-remove"),
    ],
)
def test_browser_computes_the_same_probabilities_as_the_library(app, epsilon, share, n_features, relation):
    app.open(f"?epsilon={epsilon}&selection_share={share}&n_features={n_features}&relation={relation}&draws=10")
    data = load("census")
    names = app.read("selection-drawn")["name"]
    places = [data.feature_names.index(name) for name in names]
    assert len(set(names)) == 20
    for kind in ("count", "mutual_information"):
        study = SelectedNBStudy(data, kind, relation=relation)
        weight = study.weight(epsilon * share, n_features) if n_features < 84 else 0.0
        expected = inclusion_probabilities(weight * study.scores, n_features)
        assert app.array("selection-drawn", kind) == pytest.approx(expected[places], abs=1e-9)
        best = np.sort(study.scores)[::-1][:n_features]
        sure = expected[study.scores > best[-1]].sum()
        tied = expected[study.scores == best[-1]]
        found = sure + tied.sum() * (best == best[-1]).sum() / len(tied)
        assert f"{found:.1f}" in app.text


@pytest.mark.data
def test_browser_computes_the_same_probabilities_for_600_features(app, data_home):
    app.open("?dataset=xwindows&epsilon=10&selection_share=0.95&n_features=50&draws=10")
    data = load("xwindows")
    places = [data.feature_names.index(name) for name in app.read("selection-drawn")["name"]]
    for kind in ("count", "mutual_information"):
        study = SelectedNBStudy(data, kind)
        expected = inclusion_probabilities(study.weight(9.5, 50) * study.scores, 50)
        assert app.array("selection-drawn", kind) == pytest.approx(expected[places], abs=1e-9)
