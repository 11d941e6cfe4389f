"""``python -m dpml sweep`` and ``python -m dpml data``."""

import re
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from dpml.__main__ import main
from dpml.datasets import NAMES, card
from dpml.exceptions import SweepCancelled
from dpml.sweep import sweep

STUDY = """\
study: naive-bayes
data: {name: toy, n: 60}
epsilon: [0.1, 1.0]
n_features: [2, 4]
draws: 5
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return str(path)


def test_a_sweep_writes_parquet_and_prints_a_table(study, tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    out = tmp_path / "results"
    assert main(["sweep", study, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "4/4" in printed.err
    assert "4 combinations" in printed.out
    kept = pd.concat([pd.read_parquet(path) for path in sorted(out.glob("parts/*.parquet"))])
    assert kept["accuracy"].tolist() == sweep(study)["accuracy"].tolist()
    # the same again has nothing left to do, and says the same
    assert main(["sweep", study, "--out", str(out), "--quiet", "--memory", "100 MiB"]) == 0
    again = capsys.readouterr()
    assert again.out == printed.out
    assert again.err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STUDY.replace("draws: 5", "draws: 0"), "error: `draws` must be .*Got 0"),
        (STUDY.replace("naive-bayes", "naive"), "error: `study` must be .*Got 'naive'"),
        (STUDY + "draws: 6\n", "the key 'draws' stands twice"),
    ],
)
def test_a_bad_file_is_a_wrong_call(study, tmp_path, capsys, text, message):
    (tmp_path / "study.yaml").write_text(text)
    assert main(["sweep", study, "--out", str(tmp_path / "results")]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a process is not told to end there")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.full)]
)
def test_a_signal_ends_the_sweep_and_its_workers(study, tmp_path, number, code):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    text = STUDY.replace("draws: 5", "draws: 200000").replace("n: 60", "n: 1000")
    (tmp_path / "study.yaml").write_text(text)
    command = [sys.executable, "-m", "dpml", "sweep", study, "--out", str(tmp_path / "out"), "--jobs", "2", "--quiet"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **pipes) as run:
        while not list(tmp_path.glob("out/parts/*.parquet")):
            assert run.poll() is None, run.stdout.read()
            time.sleep(0.05)
        run.send_signal(number)
        # the pipe is closed once every worker has ended
        said, _nothing = run.communicate(timeout=60)
    assert run.returncode == code
    assert said.strip() == ("interrupted" if number == signal.SIGINT else "")
    # and the folder goes on
    with pytest.raises(SweepCancelled):
        sweep(study, out=tmp_path / "out", cancel=lambda: True)


# ---- frontier ---------------------------------------------------------------------------------------------------


def test_the_frontier_of_a_standard_study_is_printed(capsys):
    assert main(["frontier", "census"]) == 0
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.startswith(
        "data census, relation add-remove, made by python -m benchmarks.shipped studies census with"
    )
    assert rows[0].split()[:2] == ["epsilon", "study"]
    assert [row.split()[0] for row in rows[1:]] == ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"]


def test_the_epsilon_for_an_accuracy_is_printed(capsys):
    assert main(["frontier", "census", "--wanted", "0.8"]) == 0
    _made, names, row = capsys.readouterr().out.splitlines()
    epsilon, low, high = map(float, row.split()[:3])
    assert names.split()[:3] == ["epsilon", "low", "high"]
    assert 0.01 < low <= epsilon <= high < 1
    assert main(["frontier", "census", "--wanted", "1"]) == 0
    assert "no tested ε reaches the value" in capsys.readouterr().out


def test_the_frontier_of_a_folder_is_printed(study, tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    assert main(["sweep", study, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    (tmp_path / "study.yaml").write_text(STUDY.replace("draws: 5", "draws: 6"))
    assert main(["sweep", study, "--out", str(tmp_path / "out")]) == 2
    assert "draws = 5, not 6: name another folder" in capsys.readouterr().err
    assert main(["frontier", str(tmp_path / "out")]) == 0
    said, names, *rows = capsys.readouterr().out.splitlines()
    assert "toy (n=60)" in said
    assert "n_features" in names.split()
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "`where` must be .*Got 'nowhere'"),
        (["census", "--wanted", "85"], "`wanted` must be a finite number in .0, 1.. Got 85.0"),
        (["census", "--measure", "study"], "`measure` must be .*Got 'study'"),
        (["census", "--seed", "-1"], "`seed` must be .*Got -1"),
    ],
)
def test_bad_options_of_frontier_are_named(arguments, message, capsys):
    assert main(["frontier", *arguments]) == 2
    assert re.search(message, capsys.readouterr().err)


# ---- data -------------------------------------------------------------------------------------------------------


def test_every_data_set_is_listed(tmp_path, capsys):
    assert main(["data", "list", "--folder", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == list(NAMES)
    states = {line.split()[0]: line for line in lines[:-1]}
    assert "is made by the library" in states["census"]
    assert "is missing" in states["adult"]
    (tmp_path / card("skin")["files"][0]).write_text("")
    assert main(["data", "list", "skin", "--folder", str(tmp_path)]) == 0
    assert "is here" in capsys.readouterr().out


def test_missing_and_damaged_files_are_reported(tmp_path, capsys):
    assert main(["data", "check", "skin", "--folder", str(tmp_path)]) == 1
    assert "it is missing" in capsys.readouterr().out
    (tmp_path / card("skin")["files"][0]).write_text("1 2 3 4")
    assert main(["data", "check", "skin", "--folder", str(tmp_path)]) == 1
    assert "expected sha256" in capsys.readouterr().out
    # a damaged file is left where it is, and named
    assert main(["data", "fetch", "skin", "--folder", str(tmp_path)]) == 1
    assert "damaged" in capsys.readouterr().out
    assert main(["data", "check", "census", "toy", "--folder", str(tmp_path)]) == 0


@pytest.mark.data
def test_a_published_file_passes_the_check(data_home, tmp_path, capsys):
    [file] = card("seeds")["files"]
    shutil.copy(data_home / file, tmp_path)
    for action in ("check", "fetch"):
        assert main(["data", action, "seeds", "--folder", str(tmp_path)]) == 0
        assert file in capsys.readouterr().out
