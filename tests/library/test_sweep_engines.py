"""The same numbers, bit for bit, from every engine; seeds that depend on nothing but the declaration; limits."""

import os
import signal
import threading
import time
import tracemalloc
from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest

from dpml.datasets import load
from dpml.exceptions import InvalidParameter, MissingExtra, SweepCancelled
from dpml.studies import RowBoundedNBStudy, SelectedNBStudy
from dpml.sweep import summarise, sweep
from dpml.sweep.declaration import declared
from dpml.sweep.engine import run
from dpml.sweep.plan import batches, cells_of
from dpml.sweep.progress import time_left

STUDY = {
    "study": [
        {"name": "naive-bayes", "n_features": [3, 12]},
        {"name": "logistic-regression", "reg_lambda": [1.0]},
        "auto",
    ],
    "data": [{"name": "toy", "n": 100}, {"name": "census", "n": 300}],
    "relation": ["add-remove", "replace-one"],
    "epsilon": [0.1, 1.0],
    "draws": 30,
    "block": 12,
    "seed": 5,
}


@pytest.fixture(scope="module")
def serial():
    return sweep(STUDY)


def test_a_point_is_the_study_called_with_the_block_s_generator(serial):
    """By hand: the study of the library, one call a block, block 0 from the plain seed."""
    study = SelectedNBStudy(load("toy", n=100), "count", relation="replace-one")
    rngs = [
        np.random.default_rng(5),
        *(np.random.default_rng(np.random.SeedSequence(5, spawn_key=(k,))) for k in (1, 2)),
    ]
    expected = [
        study(1.0, draws=draws, rng=rng, n_features=3)["accuracy"] for rng, draws in zip(rngs, (12, 12, 6), strict=True)
    ]
    mine = serial.query("study == 'naive-bayes' and data == 'toy (n=100)' and relation == 'replace-one'")
    mine = mine.query("epsilon == 1.0 and n_features == 3")
    assert mine["draw"].tolist() == list(range(30))
    assert mine["accuracy"].tolist() == np.concatenate(expected).tolist()


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_the_engine_changes_no_bit(serial, engine):
    pd.testing.assert_frame_equal(sweep(STUDY, n_jobs=2, engine=engine), serial, check_exact=True)


def test_cells_in_any_order_and_any_batch_are_the_same():
    declaration = declared({**STUDY, "data": {"name": "toy", "n": 100}})
    builds = {name: named.build for name, named in declaration.studies.items()}
    cells = list(cells_of(declaration))
    together = dict(run(list(enumerate(batches(cells))), builds, "serial", 1))
    in_order = [values for index in sorted(together) for values in together[index]]
    shuffled = np.random.default_rng(0).permutation(len(cells)).tolist()
    alone = dict(run([(index, [cells[index]]) for index in shuffled], builds, "serial", 1))
    for index, values in enumerate(in_order):
        assert values["accuracy"].tolist() == alone[index][0]["accuracy"].tolist()


def test_a_point_does_not_depend_on_what_else_is_asked_for(serial):
    fewer = sweep({"study": "naive-bayes", "data": {"name": "census", "n": 300}, "relation": "replace-one",
                   "epsilon": 1.0, "n_features": 12, "draws": 30, "block": 12, "seed": 5})  # fmt: skip
    mine = serial.query("study == 'naive-bayes' and data == 'census (n=300)' and relation == 'replace-one'")
    mine = mine.query("epsilon == 1.0 and n_features == 12")
    assert fewer["accuracy"].tolist() == mine["accuracy"].tolist()


def test_more_draws_keep_those_of_whole_blocks():
    few, more = ({"study": "naive-bayes", "data": "toy", "epsilon": 1.0, "block": 10, "draws": n} for n in (20, 50))
    assert sweep(few)["accuracy"].tolist() == sweep(more)["accuracy"].tolist()[:20]


def test_points_are_paired_unless_they_are_not_to_be():
    """The unit noise at two ε is the same when paired: the errors of two close values of ε go together."""
    asked = {"study": "row-bounded-naive-bayes", "data": "toy", "epsilon": [0.1, 0.101], "row_bound": 1, "draws": 200}
    spread = {}
    for paired in (True, False):
        table = sweep({**asked, "paired": paired}).pivot(index="draw", columns="epsilon", values="accuracy")
        spread[paired] = float(np.corrcoef(table.to_numpy().T)[0, 1])
    assert spread[True] > 0.9
    assert abs(spread[False]) < 0.3  # 4 standard errors of a correlation of 200 pairs


def test_statistics_are_computed_once_for_all_cells(monkeypatch):
    import dpml.studies.accuracy as accuracy

    calls = []
    exact = accuracy.contingency
    monkeypatch.setattr(accuracy, "contingency", lambda *args: calls.append(args) or exact(*args))
    monkeypatch.setattr("dpml.sweep.engine._studies", OrderedDict())
    asked = {"study": "naive-bayes", "data": {"name": "toy", "n": 70}, "epsilon": [0.1, 1, 2], "n_features": [2, 3]}
    sweep({**asked, "draws": 40, "block": 10})
    assert len(calls) == 1


# ---- the cluster ------------------------------------------------------------------------------------------------


@pytest.mark.long
# the cluster's own: its tornado and asyncio leave sockets and tasks of the worker that was killed to the collector
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_and_so_it_does_when_a_worker_is_killed_halfway(serial):
    distributed = pytest.importorskip("distributed", reason="the extra distributed is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pd.testing.assert_frame_equal(sweep(STUDY, engine="dask"), serial, check_exact=True)
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2
        killed = []

        def kill_halfway(done, total):
            if done >= total // 2 and not killed:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)

        table = sweep(STUDY, engine="dask", progress=kill_halfway)
        assert killed
        pd.testing.assert_frame_equal(table, serial, check_exact=True)
        # an error in a worker comes back by name instead of hanging
        with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got -1\.0"):
            sweep(RowBoundedNBStudy(load("toy", n=50)), {"epsilon": [1.0, -1.0]}, draws=2, engine="dask")


def test_a_cluster_that_is_not_there_is_named():
    pytest.importorskip("distributed", reason="the extra distributed is not installed")
    with pytest.raises(InvalidParameter, match=r"distributed\.Client"):
        sweep(STUDY, engine="dask")


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match="distributed"):
        sweep(STUDY, engine="dask")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match="large"):
        sweep(STUDY, out=tmp_path)


@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_an_error_of_a_study_comes_back(engine):
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got -1\.0"):
        sweep(RowBoundedNBStudy(load("toy", n=50)), {"epsilon": [1.0, -1.0]}, draws=2, engine=engine, n_jobs=2)


# ---- limits, progress, cancel -----------------------------------------------------------------------------------


def test_memory_stays_within_the_stated_limit():
    asked = {"study": "naive-bayes", "data": {"name": "census", "n": 2000}, "epsilon": [0.1, 1.0, 10.0], "auc": True}
    asked |= {"draws": 300, "block": 50}
    sweep({**asked, "draws": 1})  # what is imported and kept for all cells
    for threads in (1, 2):
        tracemalloc.start()
        sweep(asked, memory="64 MiB", n_jobs=threads, engine="threads")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 2**20 < peak < 64 * 2**20
    with pytest.raises(InvalidParameter, match=r"`memory` must be .*smaller block.*Got 1048576"):
        sweep(asked, memory="1 MiB")


def test_the_limit_holds_for_the_result_too(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    asked = {"study": "naive-bayes", "data": {"name": "toy", "n": 50}, "epsilon": [1.0, 2.0], "draws": 300_000}
    for options, remedy in (({}, "summaries"), ({"summaries": True}, "folder")):
        with pytest.raises(InvalidParameter, match=f"`memory` must be .*{remedy}.*Got 8000000"):
            sweep(asked, memory=8_000_000, **options)


def test_summaries_are_those_of_the_table(serial, tmp_path):
    summary = sweep(STUDY, summaries=True)
    assert summary["measure"].unique().tolist() == ["accuracy"]
    keys = ["study", "data", "relation", "n_features", "reg_lambda", "epsilon"]
    expected = summarise(serial.fillna(-1.0), keys)
    found = summary.fillna(-1.0)[expected.columns]
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    if pytest.importorskip("pyarrow"):
        pd.testing.assert_frame_equal(sweep(STUDY, summaries=True, out=tmp_path), summary)


def test_cancel_by_an_event_between_cells():
    event = threading.Event()
    with pytest.raises(SweepCancelled) as error:
        sweep(STUDY, cancel=event, progress=lambda done, total: done >= 9 and event.set())
    assert 9 <= error.value.done < error.value.total
    for engine in ("threads", "processes"):
        with pytest.raises(SweepCancelled):
            sweep(STUDY, cancel=event, n_jobs=2, engine=engine)
    event.clear()
    assert len(sweep({**STUDY, "draws": 2}, cancel=event)) == 2 * 2 * 2 * 2 * 4


def test_the_bar_says_how_many_cells_and_how_long(capsys):
    sweep({"study": "naive-bayes", "data": "toy", "epsilon": [0.1, 1.0], "draws": 20, "block": 10}, progress=True)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "done", "total", "before", "left"),
    [(8.0, 4, 10, 0, 12.0), (8.0, 4, 10, 2, 24.0), (1.0, 0, 5, 0, np.inf), (1.0, 5, 5, 5, 0.0)],
)
def test_time_left_by_hand(seconds, done, total, before, left):
    assert time_left(seconds, done, total, before) == left


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "gpu"}, "`engine` must be .*'serial', 'threads', 'processes', 'dask'.*Got 'gpu'"),
        ({"n_jobs": 0}, "`n_jobs` must be .*Got 0"),
        ({"n_jobs": 1.5}, r"`n_jobs` must be .*Got 1\.5"),
        ({"memory": "much"}, "`memory` must be .*Got 'much'"),
        ({"memory": -1}, "`memory` must be .*Got -1"),
        ({"progress": "yes"}, "`progress` must be .*Got 'yes'"),
        ({"cancel": 3}, "`cancel` must be .*Got 3"),
        ({"draws": 3}, "`draws` must be .*the declaration states it.*Got 3"),
        ({"grid": {}}, "`grid` must be .*Got {}"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InvalidParameter, match=message):
        sweep(STUDY, **options)


def test_a_callable_pairs_as_before():
    """The generator of every point is the plain seed's, as notebooks and tests outside rely on."""
    study = RowBoundedNBStudy(load("toy", n=100), row_bound=2)
    table = sweep(study, {"epsilon": [0.1, 1.0]}, draws=7, seed=3)
    expected = [study(epsilon, draws=7, rng=np.random.default_rng(3))["accuracy"] for epsilon in (0.1, 1.0)]
    assert table["accuracy"].tolist() == np.concatenate(expected).tolist()


def test_a_cancelled_sweep_of_several_workers_warns_of_nothing():
    """Warnings are errors here, and joblib has one for what was computed and is not used."""
    done = []

    def late():
        time.sleep(0.2 if done else 0.0)
        return len(done) > 1

    asked = {"study": "naive-bayes", "data": {"name": "toy", "n": 300}, "epsilon": [0.1, 1.0], "draws": 8000}
    with pytest.raises(SweepCancelled):
        sweep(asked, n_jobs=2, engine="threads", progress=lambda *step: done.append(step), cancel=late)
