"""The Explore page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import page_alone
import pytest
from dpml_app.data.default_study import default_runs, noiseless_accuracy, non_private
from dpml_app.jobs import Pool
from dpml_app.settings import EPSILONS
from each_commit import others_in_full

from dpml.datasets import load
from dpml.evaluation import private_roc_curve
from dpml.studies import SelectedNBStudy


def check_all_plots(alone):
    """Every plot has data that are finite, in their range and not all alike."""
    for column in ("fpr", "tpr"):
        curves = alone.array("roc-private", column).reshape(-1, 18)
        assert np.isnan(curves[:, -1]).all()
        curves = curves[:, :-1]
        assert (np.diff(curves, axis=1) >= 0).all()
        assert (curves[:, 0] == 0).all()
        assert (curves[:, -1] == 1).all()
        assert np.ptp(curves, axis=0).max() > 0, "the draws are all alike"
        exact = alone.array("roc-exact", column)
        assert (np.diff(exact) >= 0).all()
        assert len(exact) > 20


@pytest.mark.data
@pytest.mark.parametrize("name", others_in_full(["adult", "newsgroup1", "mushrooms", "xwindows"], "adult"))
def test_real_data_show_all_plots(alone, data_home, name):
    alone.enter("explore", f"&dataset={name}&draws=20")
    check_all_plots(alone)


@pytest.mark.parametrize("relation", others_in_full(["add-remove", "replace-one"], "replace-one"))
def test_values_are_those_of_the_library(alone_of_few_fits, relation):
    alone = alone_of_few_fits
    epsilon, draws, seed = 0.25, 20, 7
    alone.enter(
        "explore",
        f"&dataset=toy&relation={relation}&epsilon={epsilon}&draws={draws}&seed={seed}&reg_lambda=20&n_features=10",
    )
    data = load("toy")
    study = SelectedNBStudy(data, "count", relation=relation)
    levers = {"selection_share": 0.5, "threshold_percentile": 65, "n_features": 10}
    hand = study(epsilon, draws=20, rng=np.random.default_rng(seed), **levers)["accuracy"]
    now = [alone.array("cost-hand-now", column)[0] for column in ("epsilon", "mean", "low", "high")]
    assert now == pytest.approx([epsilon, hand.mean(), *np.quantile(hand, [0.05, 0.95])], abs=1e-12)
    assert alone.read("cost-hand")["epsilon"] == list(EPSILONS)
    assert alone.array("cost-hand", "mean")[EPSILONS.index(epsilon)] == pytest.approx(hand.mean(), abs=1e-12)

    model = study.models(epsilon, draws=1, rng=np.random.default_rng(seed), **levers)
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
    assert alone.array("roc-private", "fpr").reshape(draws, -1)[:, :-1] == pytest.approx(fpr, abs=1e-12)
    assert alone.array("roc-private", "tpr").reshape(draws, -1)[:, :-1] == pytest.approx(tpr, abs=1e-12)
    area = np.trapezoid(alone.array("roc-exact", "tpr"), alone.array("roc-exact", "fpr"))
    exact = model.auc(data.X_test, data.y_test)[0]
    assert area == pytest.approx(exact, abs=2e-3)  # the curve is thinned out to what a screen can show
    assert f"{exact:.3f}" in alone.text


def test_another_data_set_changes_everything(alone_of_few_fits):
    alone = alone_of_few_fits

    def read():
        names = ["cost-hand", "cost-hand-now", "roc-private", "roc-exact"]
        return {name: alone.read(name) for name in names}

    before = read() if alone.enter("explore", "&dataset=breast_cancer&draws=10&seed=1") else {}
    alone.act(dataset="toy")
    after = read()
    assert [name for name in before if before[name] == after[name]] == []
    assert "1,000 training" in alone.text


def test_what_ships_of_a_data_set_is_not_computed_when_it_is_chosen(monkeypatch):
    """It was computed by the workers, for 17 s, unless the page had been opened with it."""
    computed = []

    submit = Pool.submit

    def noted(self, task, **options):
        if self.cache.get(task) is None:
            computed.append(task.function)
        return submit(self, task, **options)

    monkeypatch.setattr(Pool, "submit", noted)
    pool = page_alone.pool_here()
    alone = page_alone.PageAlone(pool)
    alone.enter("explore", "&dataset=breast_cancer&draws=10", only=["roc"])
    alone.act(dataset="toy")
    shown = alone.read("cost-curve")
    alone.close()
    pool.stop()
    assert len(shown["epsilon"]) == len(EPSILONS)
    assert default_runs not in computed
    assert noiseless_accuracy not in computed
    assert non_private not in computed


def test_bad_values_in_a_link_are_reported_and_the_good_ones_kept(alone):
    alone.enter("explore", "&dataset=toy&epsilon=7&draws=30&relation=swap&n_features=7&colour=red", only=["roc"])
    text = " ".join([*alone.faults, *alone.alerts])
    assert "epsilon = 7 is not allowed: it must be one of 0.01" in text
    assert "relation = swap is not allowed: it must be one of add-remove, replace-one" in text
    assert "colour" in text
    kept = {"draws": 30, "n_features": 7, "epsilon": 0.1, "relation": "add-remove"}
    assert {name: alone.settings[name] for name in kept} == kept


def test_what_a_data_set_does_not_have_is_lowered_and_said(alone):
    alone.enter("explore", "&dataset=toy&n_features=90&draws=10&row_bound=3", only=["roc"])
    text = " ".join([*alone.faults, *alone.alerts])
    assert "n_features = 90 lowered to 40: toy has 40 features" in text
    # a setting of earlier versions
    assert "row_bound: unknown setting" in text
    assert alone.page.controls.widgets["n_features"].end == 40
    assert alone.settings["n_features"] == 40
