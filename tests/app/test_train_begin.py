"""The default classifier on the Train page, in process."""

from dataclasses import replace

import numpy as np
from dpml_app.data.default_study import default_runs
from dpml_app.jobs import Task
from dpml_app.pages.train.compute import GRIDS, TrainValues, chosen, nb_facts
from dpml_app.pages.train.figures import AccuracyCard
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings

from dpml.datasets import load
from dpml.studies import AutoStudy


def values_of(**changes):
    settings = Settings()
    settings.param.update(**{"train_methods": [], **changes})
    return TrainValues.of(settings)


def test_it_is_shown_with_either_family_and_is_the_librarys():
    facts = nb_facts("toy")
    for family in ("naive-bayes", "linear", "both"):
        values = values_of(dataset="toy", train_family=family, train_linear=[], draws=10)
        assert chosen(values, facts) == ("auto",)
    work = AccuracyCard().work(values, facts)
    assert {place for _series, place in work} == set(SWEEP_EPSILONS)
    assert work["auto", 1.0] == Task(default_runs, ("toy", "add-remove", 1.0, 0))
    areas = AccuracyCard().work(replace(values, train_measure="auc"), facts)["auto", 1.0]
    found = areas.function(*areas.arguments)["auc"]
    same = AutoStudy(load("toy"))(1.0, draws=10, rng=np.random.default_rng(0), grids=GRIDS, auc=True)["auc"]
    np.testing.assert_array_equal(found, same)
