"""The folder of a sweep: killed and resumed it holds what an undisturbed sweep writes; faults of a folder are named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from dpml.exceptions import (
    InvalidParameter,
    StoreBusy,
    StoreChanged,
    StoreDamaged,
    StoreError,
    SweepCancelled,
)
from dpml.sweep import sweep
from dpml.sweep.declaration import declared
from dpml.sweep.plan import batches, cells_of
from dpml.sweep.store import Store

pytest.importorskip("pyarrow", reason="the extra large is not installed")

STUDY = {
    "study": ["naive-bayes", {"name": "row-bounded-naive-bayes", "row_bound": [1, 2]}],
    "data": {"name": "toy", "n": 60},
    "epsilon": [0.1, 1.0, 10.0],
    "draws": 250,
    "block": 100,
}
KILLER = Path(__file__).parents[1] / "sweep_killer.py"


def content(folder):
    """Return {name: bytes} of all files but the lock."""
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_killed_at_twenty_random_moments_and_resumed_the_files_are_the_same(tmp_path):
    command = [sys.executable, str(KILLER), str(tmp_path), "20", "0"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout.splitlines()[-1])
    expected = content(tmp_path / "undisturbed")
    assert len(counts) == 20
    # some were killed in the middle, and most folders were killed more than once
    assert any(0 < count < len(expected) - 1 for count in counts)
    for folder in tmp_path.glob("killed*"):
        assert content(folder) == expected


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(5))
def test_a_kill_just_before_or_after_a_rename_loses_and_doubles_nothing(tmp_path, monkeypatch, step, after):
    whole = sweep(STUDY, out=tmp_path / "whole")
    replace, calls = os.replace, []

    def killed(*paths):
        calls.append(paths)
        if len(calls) <= step or after:
            replace(*paths)
        if len(calls) > step:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        sweep(STUDY, out=tmp_path / "killed")
    monkeypatch.undo()
    assert content(tmp_path / "killed") != content(tmp_path / "whole")
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path / "killed"), whole)
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


def test_the_folder_gives_the_table_of_memory_and_is_not_computed_again(tmp_path, monkeypatch):
    table = sweep(STUDY)
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path), table)
    assert len(table) == 9 * 250
    assert not table.duplicated(["study", "row_bound", "epsilon", "draw"]).any()
    monkeypatch.setattr("dpml.sweep.engine.measure", lambda *_: pytest.fail("it was computed again"))
    steps = []
    again = sweep(STUDY, out=tmp_path, progress=lambda *step: steps.append(step))
    pd.testing.assert_frame_equal(again, table)
    assert steps == []


def test_a_cancelled_sweep_keeps_its_cells_and_goes_on(tmp_path):
    done = []
    with pytest.raises(SweepCancelled, match="of 27 cells") as error:
        sweep(STUDY, out=tmp_path, progress=lambda *step: done.append(step), cancel=lambda: len(done) >= 8)
    assert (error.value.done, error.value.total) == done[-1]
    steps = []
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path, progress=lambda *step: steps.append(step)), sweep(STUDY))
    assert steps[0] == (error.value.done + 1, 27)


def test_files_of_the_store_are_read_by_pandas_alone(tmp_path):
    table = sweep(STUDY, out=tmp_path)
    parts = pd.concat([pd.read_parquet(path) for path in sorted(tmp_path.glob("parts/*.parquet"))])
    assert parts["accuracy"].tolist() == table["accuracy"].tolist()
    assert parts["draw"].tolist() == table["draw"].tolist()


# ---- what a folder refuses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"epsilon": [0.1, 1.0]}, "study ="),
        ({"data": {"name": "toy", "n": 61}}, "data ="),
        ({"draws": 251}, "draws = 250, not 251"),
        ({"seed": 1}, "seed = 0, not 1"),
        ({"block": 50}, "block = 100, not 50"),
        ({"relation": "replace-one"}, "relation ="),
        ({"paired": False}, "paired = true, not false"),
    ],
)
def test_a_changed_study_in_the_same_folder_is_named(tmp_path, change, named):
    sweep(STUDY, out=tmp_path)
    before = content(tmp_path)
    with pytest.raises(StoreChanged, match=named):
        sweep({**STUDY, **change}, out=tmp_path)
    assert content(tmp_path) == before


def test_other_versions_are_named(tmp_path, monkeypatch):
    sweep(STUDY, out=tmp_path)
    monkeypatch.setattr("dpml.__version__", "0.0.1")
    with pytest.raises(StoreChanged, match=r"was made with dpml .*, numpy .*, not dpml 0\.0\.1, numpy"):
        sweep(STUDY, out=tmp_path)


def test_a_damaged_file_is_named_and_computed_again_when_deleted(tmp_path):
    table = sweep(STUDY, out=tmp_path)
    path = tmp_path / "parts" / "0000003.parquet"
    assert len(pd.read_parquet(path)) == len(pd.read_parquet(tmp_path / "parts" / "0000006.parquet"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreDamaged, match="0000003"):
        sweep(STUDY, out=tmp_path)
    # of the same length
    path.write_bytes((tmp_path / "parts" / "0000006.parquet").read_bytes())
    with pytest.raises(StoreDamaged, match=r"0000003.*other rows"):
        sweep(STUDY, out=tmp_path)
    path.unlink()
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path), table)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "no json", '{"fingerprint": 3}'])
def test_a_damaged_manifest_is_named(tmp_path, text):
    sweep(STUDY, out=tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(StoreDamaged, match=r"manifest\.json"):
        sweep(STUDY, out=tmp_path)


def test_a_folder_with_other_files_is_not_written_to(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreDamaged, match="no manifest"):
        sweep(STUDY, out=tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"], "something was made beside it"


def test_a_folder_among_the_parts_is_named(tmp_path):
    sweep(STUDY, out=tmp_path)
    (tmp_path / "parts" / "mine.partial").mkdir()
    with pytest.raises(StoreDamaged, match=r"mine\.partial' is no file of this sweep"):
        sweep(STUDY, out=tmp_path)


def test_a_file_as_a_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made or written"):
        sweep(STUDY, out=tmp_path / "file")


def test_a_folder_in_use_is_named(tmp_path):
    declaration = declared(STUDY)
    jobs = batches(list(cells_of(declaration)))
    with Store(tmp_path, declaration, jobs), pytest.raises(StoreBusy, match="another process"):
        sweep(STUDY, out=tmp_path)
    assert len(sweep(STUDY, out=tmp_path)) == 9 * 250


def test_a_callable_has_no_folder(tmp_path):
    with pytest.raises(InvalidParameter, match=r"`out` must be .*register"):
        sweep(lambda epsilon, *, draws, rng: {"value": epsilon}, {"epsilon": [1.0]}, out=tmp_path)
