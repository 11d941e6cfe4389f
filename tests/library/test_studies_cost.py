"""What privacy costs the default classifier: one reference for a data set, and two parts that add up."""

import numpy as np
import pytest

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import Plan
from dpml.datasets import load
from dpml.studies import AutoStudy, best_without_noise, cost, without_noise
from dpml.studies.cost import SETTINGS

DATA = load("census", n=3000)


def test_the_parts_add_up_to_the_gap_to_one_reference():
    epsilons = [0.05, 1.0, 1e6]
    table = cost(DATA, epsilons, draws=3, rng=np.random.default_rng(0))
    assert table["epsilon"].tolist() == epsilons
    assert table["best"].nunique() == 1
    assert table["best"][0] == best_without_noise(AutoStudy(DATA))
    np.testing.assert_allclose(table["accuracy"] + table["noise"] + table["simpler"], table["best"])
    # at ε = 0.05 noise hides most; at the end only the small grid's noise is left, which has 0.3 of any ε
    assert table["noise"][0] > 0.02
    assert abs(table["noise"][2]) < 0.01
    assert 0 <= table["simpler"][2] < 0.02
    drawn = AutoStudy(DATA)(0.05, draws=3, grids=3, rng=np.random.default_rng(0))["accuracy"]
    assert table["accuracy"][0] == pytest.approx(drawn.mean())
    assert table["standard_error"][0] == pytest.approx(drawn.std(ddof=1) / np.sqrt(3))


def test_the_reference_is_at_least_what_a_fit_without_noise_reaches():
    best = best_without_noise(AutoStudy(DATA))
    frame, names = DATA.frame, DATA.frame_schema.feature_names
    labels = np.asarray(DATA.frame_schema.classes)
    for epsilon in SETTINGS[1:3]:
        with without_noise():
            model = AutoClassifier(epsilon, schema=DATA.frame_schema, random_state=0)
            model.fit(frame.loc["train"][names], labels[DATA.y_train])
        assert np.mean(model.predict(frame.loc["test"][names]) == labels[DATA.y_test]) <= best


def test_a_study_draws_another_plan_than_the_rules():
    study = AutoStudy(DATA)
    options = {"draws": 1, "grids": 1}
    plans = [None, Plan("table", addition="weights", grid_share=0.0, trust=0.0), Plan("table")]
    with without_noise():
        found = [study(1.0, plan=plan, rng=np.random.default_rng(0), **options)["accuracy"][0] for plan in plans]
    assert len(set(found)) == 3


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_a_study_says_which_class_each_fit_predicts(epsilon):
    drawn = AutoStudy(DATA)(epsilon, draws=2, predictions=True, rng=np.random.default_rng(0))
    assert drawn["predictions"].shape == (2, len(DATA.y_test))
    np.testing.assert_array_equal((drawn["predictions"] == DATA.y_test).mean(axis=1), drawn["accuracy"])
