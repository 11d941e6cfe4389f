"""The default classifier and the peers on the Train page, in process: computed, or recorded and said so."""

import json
from dataclasses import replace

import numpy as np
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.data.default_study import DRAWS, default_runs
from dpml_app.jobs import Task
from dpml_app.pages.train.compute import DEFAULTS, GRIDS, PEERS_FILE, TrainValues, chosen, nb_facts, peer_rows
from dpml_app.pages.train.figures import AccuracyCard, MethodsCard
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings

from dpml.datasets import load
from dpml.studies import AutoStudy

PEERS = [name for name, method in DEFAULTS.items() if method.recorded]


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


def test_it_has_fewer_draws_and_says_so():
    values, card = values_of(dataset="toy", draws=50), MethodsCard()
    shown = card.readout(values, nb_facts("toy"), {("auto", WORKER): {"accuracy": np.array([0.5])}})
    assert f"{DRAWS} of AutoClassifier" in shown


# ---- peers ----------------------------------------------------------------------------------------------------------


def test_what_is_recorded_says_with_what_it_was_made():
    kept = json.loads(PEERS_FILE.read_text(encoding="utf-8"))["peers"]
    assert list(kept) == PEERS
    for name, of in kept.items():
        assert of["made with"].split()[1][0].isdigit()
        assert (of["delta"] > 0) == (not DEFAULTS[name].pure)
        for row in of["rows"]:
            assert len(row["accuracy"]) == of["draws"]
            assert 0 <= min(row["accuracy"]) <= max(row["accuracy"]) <= 1


def test_a_peer_is_drawn_where_it_is_recorded_and_never_trained_here():
    values = values_of(train_begin=["auto", *PEERS])
    facts = nb_facts("census")
    shown = chosen(values, facts)
    assert shown == ("auto", "peer-descent", "peer-boosting")
    work = AccuracyCard().work(values, facts)
    at = {place for series, place in work if series == "peer-descent"}
    assert at == {0.1, 0.5, 1.0, 3.0}
    assert ("peer-descent", IMMEDIATE) in MethodsCard().work(values, facts)
    assert ("peer-descent", IMMEDIATE) not in MethodsCard().work(values_of(train_begin=PEERS, epsilon=0.2), facts)
    task = work["peer-descent", 0.1]
    (row,) = (r for r in peer_rows("peer-descent", "census") if r["epsilon"] == 0.1)
    np.testing.assert_array_equal(task.function(*task.arguments)["accuracy"], row["accuracy"])


def test_a_peer_that_is_not_drawn_says_why():
    values = values_of(train_begin=PEERS)
    recorded = {("peer-descent", IMMEDIATE): {"accuracy": np.array([0.8])}}
    text = MethodsCard().readout(values, nb_facts("census"), recorded)
    assert "its ε is for replacing a record" in text
    assert "with δ = 1e-05" in text
    assert "dp-accounting" in text
    other = values_of(train_begin=["peer-descent"], dataset="toy")
    assert AccuracyCard().refusal(other, nb_facts("toy")).endswith("(not precomputed for this data set).")
    replaced = values_of(train_begin=PEERS, relation="replace-one")
    assert chosen(replaced, nb_facts("census")) == ("peer-logistic",)
