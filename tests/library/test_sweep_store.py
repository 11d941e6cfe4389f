"""The folder of a sweep: after kills and resumes it equals that of an undisturbed sweep; faults are named."""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from each_commit import others_in_full

from dpml.exceptions import (
    StoreBusy,
    StoreChanged,
    StoreDamaged,
    SweepCancelled,
)
from dpml.sweep import stored, sweep
from dpml.sweep.declaration import batches, cells_of, declared
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


@pytest.mark.parametrize("kills", others_in_full([8, 20], first=1))
def test_files_are_the_same_after_random_kills(tmp_path, kills):
    command = [sys.executable, str(KILLER), str(tmp_path), str(kills), "0"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout.splitlines()[-1])
    expected = content(tmp_path / "undisturbed")
    assert len(counts) == kills
    # some were killed in the middle, and most folders were killed more than once
    assert any(0 < count < len(expected) - 1 for count in counts)
    for folder in tmp_path.glob("killed*"):
        assert content(folder) == expected


@pytest.mark.parametrize(
    ("step", "after"),
    others_in_full([*product(range(5), [False, True])], (0, False), (1, True), (2, False), (4, True)),
)
def test_a_kill_around_a_rename_loses_and_repeats_no_row(tmp_path, monkeypatch, step, after):
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


def test_a_finished_folder_gives_the_table_without_computation(tmp_path, monkeypatch):
    table = sweep(STUDY)
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path), table)
    parts = pd.concat([pd.read_parquet(path) for path in sorted(tmp_path.glob("parts/*.parquet"))])
    assert parts[["draw", "accuracy"]].to_numpy().tolist() == table[["draw", "accuracy"]].to_numpy().tolist()
    assert len(table) == 9 * 250
    assert not table.duplicated(["study", "row_bound", "epsilon", "draw"]).any()
    monkeypatch.setattr("dpml.sweep.run.measure", lambda *_: pytest.fail("it was computed again"))
    steps = []
    again = sweep(STUDY, out=tmp_path, progress=lambda *step: steps.append(step))
    pd.testing.assert_frame_equal(again, table)
    assert steps == []
    pd.testing.assert_frame_equal(stored(tmp_path), table)


def test_a_cancelled_sweep_keeps_its_cells_and_resumes(tmp_path):
    done = []
    with pytest.raises(SweepCancelled, match="of 27 cells") as error:
        sweep(STUDY, out=tmp_path, progress=lambda *step: done.append(step), cancel=lambda: len(done) >= 8)
    assert (error.value.done, error.value.total) == done[-1]
    steps = []
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path, progress=lambda *step: steps.append(step)), sweep(STUDY))
    assert steps[0] == (error.value.done + 1, 27)


# ---- faults of a folder ---------------------------------------------------------------------------------------------


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


def test_a_damaged_file_is_named_and_made_again_once_deleted(tmp_path):
    table = sweep(STUDY, out=tmp_path)
    path = tmp_path / "parts" / "0000003.parquet"
    assert len(pd.read_parquet(path)) == len(pd.read_parquet(tmp_path / "parts" / "0000006.parquet"))
    other = (tmp_path / "parts" / "0000006.parquet").read_bytes()
    for content, message in ((path.read_bytes()[:100], "0000003"), (other, r"0000003.*other rows")):
        path.write_bytes(content)
        for call in (lambda: sweep(STUDY, out=tmp_path), lambda: stored(tmp_path)):
            with pytest.raises(StoreDamaged, match=message):
                call()
    path.unlink()
    with pytest.raises(StoreDamaged, match=r"13 of 14 files: run the sweep to its end"):
        stored(tmp_path)
    pd.testing.assert_frame_equal(sweep(STUDY, out=tmp_path), table)


def test_a_damaged_manifest_is_named(tmp_path):
    sweep(STUDY, out=tmp_path)
    manifest = tmp_path / "manifest.json"
    changed = manifest.read_text().replace('"draws": 250', '"draws": 240')
    for text in ("", "{}", "[1]", "no json", '{"fingerprint": 3}', changed):
        manifest.write_text(text)
        for call in (lambda: sweep(STUDY, out=tmp_path), lambda: stored(tmp_path)):
            with pytest.raises(StoreDamaged, match=r"manifest\.json"):
                call()
    manifest.unlink()
    with pytest.raises(StoreDamaged, match="not the manifest"):
        stored(tmp_path)


def test_a_folder_with_other_files_is_not_written_to(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreDamaged, match="no manifest"):
        sweep(STUDY, out=tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"], "something was made beside it"


def test_a_folder_in_use_is_named(tmp_path):
    declaration = declared(STUDY)
    jobs = batches(list(cells_of(declaration)))
    with Store(tmp_path, declaration, jobs), pytest.raises(StoreBusy, match="another process"):
        sweep(STUDY, out=tmp_path)
    assert len(sweep(STUDY, out=tmp_path)) == 9 * 250
