"""A sweep gives the same numbers, bit for bit, from every engine; its seeds depend on the declaration alone."""

import os
import signal
import sys
import threading
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from dpml.datasets import load
from dpml.exceptions import InvalidParameter, MissingExtra, SweepCancelled
from dpml.studies import RowBoundedNBStudy, SelectedNBStudy
from dpml.sweep import summarise, sweep
from dpml.sweep.declaration import batches, cells_of, declared
from dpml.sweep.run import run

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


def noise(epsilon, shift=0.0, *, draws, rng):
    return {"value": rng.laplace(scale=1 / epsilon, size=draws) + shift, "epsilon_again": epsilon}


@pytest.fixture(scope="module")
def serial():
    return sweep(STUDY)


# ---- a callable -----------------------------------------------------------------------------------------------------


def test_a_callable_gives_a_tidy_table_of_paired_draws():
    steps, grid = [], {"epsilon": [1.0, 2.0], "shift": [0.0, 5.0]}
    table = sweep(noise, grid, draws=3, seed=7, progress=lambda *step: steps.append(step))
    assert list(table.columns) == ["epsilon", "shift", "draw", "value", "epsilon_again"]
    assert table["draw"].tolist() == [0, 1, 2] * 4
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    values = table.pivot_table(index="draw", columns=["epsilon", "shift"], values="value")
    np.testing.assert_allclose(values[(1.0, 0.0)], 2 * values[(2.0, 0.0)])
    np.testing.assert_allclose(values[(1.0, 5.0)], values[(1.0, 0.0)] + 5)
    for jobs in (1, 2):
        pd.testing.assert_frame_equal(table, sweep(noise, grid, draws=3, seed=7, n_jobs=jobs))


def test_each_point_of_a_callable_has_the_generator_of_the_seed():
    study = RowBoundedNBStudy(load("toy", n=100), row_bound=2)
    table = sweep(study, {"epsilon": [0.1, 1.0]}, draws=7, seed=3)
    expected = [study(epsilon, draws=7, rng=np.random.default_rng(3))["accuracy"] for epsilon in (0.1, 1.0)]
    assert table["accuracy"].tolist() == np.concatenate(expected).tolist()


# ---- a declaration --------------------------------------------------------------------------------------------------


def test_a_point_is_the_study_with_the_generators_of_its_blocks(serial):
    """By hand: the study of the library, one call a block, block 0 from the plain seed."""
    study = SelectedNBStudy(load("toy", n=100), "count", relation="replace-one")
    seeds = [5, *(np.random.SeedSequence(5, spawn_key=(k,)) for k in (1, 2))]
    expected = [
        study(1.0, draws=draws, rng=np.random.default_rng(seed), n_features=3)["accuracy"]
        for seed, draws in zip(seeds, (12, 12, 6), strict=True)
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


def test_a_point_does_not_depend_on_the_other_points(serial):
    asked = {"study": "naive-bayes", "data": {"name": "census", "n": 300}, "relation": "replace-one", "epsilon": 1.0}
    fewer = sweep({**asked, "n_features": 12, "draws": 30, "block": 12, "seed": 5})
    mine = serial.query("study == 'naive-bayes' and data == 'census (n=300)' and relation == 'replace-one'")
    mine = mine.query("epsilon == 1.0 and n_features == 12")
    assert fewer["accuracy"].tolist() == mine["accuracy"].tolist()
    more = sweep({**asked, "n_features": 12, "draws": 40, "block": 12, "seed": 5})
    assert more["accuracy"].tolist()[:24] == mine["accuracy"].tolist()[:24], "whole blocks are kept"


def test_points_are_paired_unless_declared_otherwise():
    """The unit noise at two ε is the same when paired: the errors of two close values of ε go together."""
    asked = {"study": "row-bounded-naive-bayes", "data": "toy", "epsilon": [0.1, 0.101], "row_bound": 1, "draws": 200}
    correlation = {}
    for paired in (True, False):
        table = sweep({**asked, "paired": paired}).pivot(index="draw", columns="epsilon", values="accuracy")
        correlation[paired] = float(np.corrcoef(table.to_numpy().T)[0, 1])
    assert correlation[True] > 0.9
    assert abs(correlation[False]) < 0.3  # 4 standard errors of a correlation of 200 pairs


@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_an_error_of_a_study_is_raised_by_name(engine):
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got -1\.0"):
        sweep(RowBoundedNBStudy(load("toy", n=50)), {"epsilon": [1.0, -1.0]}, draws=2, engine=engine, n_jobs=2)


# ---- summaries ------------------------------------------------------------------------------------------------------


def test_summaries_by_hand():
    table = pd.DataFrame({"epsilon": [1, 1, 1, 1], "accuracy": [0.1, 0.2, 0.3, 0.4], "draw": range(4)})
    row = summarise(table, ["epsilon"], level=0.5).iloc[0]
    assert row["mean"] == pytest.approx(0.25)
    assert row["se"] == pytest.approx(np.std([0.1, 0.2, 0.3, 0.4], ddof=1) / 2)
    assert (row["low"], row["high"]) == pytest.approx((0.175, 0.325))
    assert row["draws"] == 4


def test_summaries_are_those_of_the_table(serial, tmp_path):
    summary = sweep(STUDY, summaries=True)
    assert summary["measure"].unique().tolist() == ["accuracy"]
    keys = ["study", "data", "relation", "n_features", "reg_lambda", "epsilon"]
    # a setting that a study does not have is missing in both
    expected = summarise(serial, keys)
    pd.testing.assert_frame_equal(summary[expected.columns], expected, check_exact=True)
    if pytest.importorskip("pyarrow"):
        pd.testing.assert_frame_equal(sweep(STUDY, summaries=True, out=tmp_path), summary)


# ---- the cluster ----------------------------------------------------------------------------------------------------


@pytest.mark.long
# the cluster's own: its tornado and asyncio leave sockets and tasks of the worker that was killed to the collector
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_after_a_worker_is_killed(serial):
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
        # an error in a worker is raised by name instead of hanging
        with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got -1\.0"):
            sweep(RowBoundedNBStudy(load("toy", n=50)), {"epsilon": [1.0, -1.0]}, draws=2, engine="dask")


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    for module, options in (("distributed", {"engine": "dask"}), ("pyarrow.parquet", {"out": tmp_path})):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match="large" if "out" in options else "distributed"):
            sweep(STUDY, **options)


# ---- limits, progress, cancel ---------------------------------------------------------------------------------------


def test_memory_stays_within_the_limit():
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


def test_an_event_cancels_between_cells():
    event = threading.Event()
    with pytest.raises(SweepCancelled) as error:
        sweep(STUDY, cancel=event, progress=lambda done, total: done >= 9 and event.set())
    assert 9 <= error.value.done < error.value.total
    for engine in ("threads", "processes"):
        with pytest.raises(SweepCancelled):
            sweep(STUDY, cancel=event, n_jobs=2, engine=engine)
    event.clear()
    assert len(sweep({**STUDY, "draws": 2}, cancel=event)) == 2 * 2 * 2 * 2 * 4


def test_a_cancelled_sweep_of_several_workers_does_not_warn():
    """Warnings are errors in tests, and joblib warns of dropped tasks."""
    done = []

    def late():
        time.sleep(0.2 if done else 0.0)
        return len(done) > 1

    asked = {"study": "naive-bayes", "data": {"name": "toy", "n": 300}, "epsilon": [0.1, 1.0], "draws": 8000}
    with pytest.raises(SweepCancelled):
        sweep(asked, n_jobs=2, engine="threads", progress=lambda *step: done.append(step), cancel=late)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "gpu"}, "`engine` must be .*'serial', 'threads', 'processes', 'dask'.*Got 'gpu'"),
        ({"n_jobs": 0}, "`n_jobs` must be .*Got 0"),
        ({"n_jobs": 1.5}, r"`n_jobs` must be .*Got 1\.5"),
        ({"memory": "much"}, "`memory` must be .*Got 'much'"),
        ({"memory": -1}, "`memory` must be .*Got -1"),
        ({"progress": "yes"}, "`progress` must be .*Got 'yes'"),
        ({"cancel": 0}, "`cancel` must be .*Got 0"),
        ({"draws": 3}, "`draws` must be .*the declaration states it.*Got 3"),
        ({"grid": {}}, "`grid` must be .*Got {}"),
    ],
)
def test_bad_options_of_a_declaration_are_named(options, message):
    with pytest.raises(InvalidParameter, match=message):
        sweep(STUDY, **options)


@pytest.mark.parametrize("name", ["epsilon", "draw"])
def test_a_measure_may_not_have_the_name_of_a_setting(name):
    with pytest.raises(InvalidParameter, match=f"`measure` must be .*Got '{name}'"):
        sweep(lambda epsilon, *, draws, rng: {name: rng.random(draws)}, {"epsilon": [0.1]}, draws=3)


def test_the_memory_limit_holds_for_the_result_too():
    asked = {"study": "naive-bayes", "data": {"name": "toy", "n": 50}, "epsilon": [1.0, 2.0], "draws": 300_000}
    for options, remedy in (({}, "summaries"), ({"summaries": True}, "folder")):
        with pytest.raises(InvalidParameter, match=f"`memory` must be .*{remedy}.*Got 8000000"):
            sweep(asked, memory=8_000_000, **options)


def test_the_bar_counts_cells(capsys):
    sweep({"study": "naive-bayes", "data": "toy", "epsilon": [0.1, 1.0], "draws": 20, "block": 10}, progress=True)
    assert "4/4" in capsys.readouterr().err
