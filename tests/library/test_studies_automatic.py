"""A study of the default classifier draws what its fits draw."""

import numpy as np
import pytest

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import Layout, default_plan, release_table
from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.studies import AutoStudy
from dpml.sweep import sweep

DATA = load("census", n=3000)


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_one_grid_for_each_draw_is_a_fit_for_each_draw(epsilon):
    study = AutoStudy(DATA)
    found = study(epsilon, draws=3, grids=3, auc=True, rng=np.random.default_rng(7))
    rng = np.random.default_rng(7)
    frame, names = DATA.frame, DATA.frame_schema.feature_names
    labels = np.asarray(DATA.frame_schema.classes)
    for k in range(3):
        model = AutoClassifier(epsilon, schema=DATA.frame_schema, random_state=rng)
        # the schema states the number of records, which is public under replace-one only
        model.fit(frame.loc["train"][names], labels[DATA.y_train])
        guessed = model.predict(frame.loc["test"][names])
        assert found["accuracy"][k] == np.mean(guessed == labels[DATA.y_test])
    assert (found["auc"] > 0.6).all()


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_draws_of_one_grid_share_it_and_differ(epsilon):
    study = AutoStudy(DATA)
    plan = default_plan(study.schema, epsilon, 3000)
    options = {"draws": 4, "rng": np.random.default_rng(0)}
    models = release_table(Layout.of(study.schema), study._train, study.y_train, plan, epsilon, **options)
    assert len({id(model.grid) for model in models}) == 1
    assert len({model.additive.groups.tobytes() for model in models}) == 4


def test_a_sweep_takes_the_study_and_a_missing_number_is_named():
    table = sweep(AutoStudy(DATA), {"epsilon": [0.5, 2.0]}, draws=4, seed=0)
    assert table["epsilon"].nunique() == 2
    assert table["accuracy"].gt(0.5).all() if "accuracy" in table else len(table) == 8
    with pytest.raises(InvalidParameter, match="draws"):
        AutoStudy(DATA)(1.0, draws=0, rng=np.random.default_rng(0))
