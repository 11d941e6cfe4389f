"""``python -m dpml release``: refusals before the table is opened, the proof of the folder, and the charge."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

import pytest
from release_table import SCHEMA, customers, files_without

from dpml.__main__ import main
from dpml.budget import Budget
from dpml.release import Plan, folder, plan, verify


@pytest.fixture
def call(tmp_path):
    """Return a call of the command on a table of customers, with more arguments."""
    customers().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.yaml").write_text(SCHEMA.to_yaml(), encoding="utf-8")

    def run(*more, table="table.csv", schema="schema.yaml", epsilon="1", out="out"):
        files = [str(tmp_path / table), str(tmp_path / schema)]
        return main(
            ["release", *files, "--label", "left", "--epsilon", epsilon, "--out", str(tmp_path / out), *map(str, more)]
        )

    return run


def test_a_release_is_written_and_charged(call, tmp_path, capsys):
    ledger = tmp_path / "ledger.db"
    assert call("--ledger", ledger, "--total", 1.5, "--date", "2026-11-22", "--stated-by", "the office") == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == files_without("table.csv")
    assert json.loads((tmp_path / "out" / "ledger.json").read_text())["status"] == "release"
    assert "the office" in (tmp_path / "out" / "statement.html").read_text(encoding="utf-8")
    assert Budget(1.5, path=ledger).spent == pytest.approx(1.0)
    said = capsys.readouterr().out
    assert "release: ε = 1 under add-remove" in said
    assert f"ε = 1 was charged to {str(ledger)!r}, and the files are in {str(tmp_path / 'out')!r}" in said
    # nothing is left of the ledger for another, and nothing is written
    assert call("--ledger", ledger, "--total", 1.5, out="again") == 2
    assert "is too much" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_a_demonstration_run_is_charged_to_no_ledger(call, tmp_path, capsys, recwarn):
    assert call("--dry-run", 0, "--ledger", tmp_path / "ledger.db", "--total", 1) == 0
    assert "simulation, not a release: ε = 1" in capsys.readouterr().out
    assert not (tmp_path / "ledger.db").exists()
    assert "values outside their domain" in str(recwarn.pop().message)


def test_a_preview_opens_no_table(call, tmp_path, capsys):
    assert call("--preview", "--share", "training=0.5", "--share", "publishing=0.7", table="none.csv") == 0
    text = capsys.readouterr().out
    assert "PrivPfC, counts" in text
    assert "problem: the shares of ε must add up to at most 1. Got 1.2" in text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--share", "training=0.9", "--share", "evaluation=0.9"], "the shares of ε must add up to at most 1. Got 1.8"),
        (["--share", "training"], "`--share` must be .*Got 'training'"),
        (["--method", "class-sums-by-width"], "private = False"),
        (["--method", "MixedNB", "--total", "1"], "--total"),
        (["--date", "soon"], "`--date` must be .*Got 'soon'"),
        (["--test-share", "0"], "test_share"),
    ],
)
def test_refusals_come_before_the_table_is_opened(call, tmp_path, capsys, more, told):
    assert call(*more, table="none.csv") == 2
    said = capsys.readouterr().err
    assert re.search(told, said)
    assert said.splitlines()[-1] == "nothing was charged"
    assert not (tmp_path / "out").exists()


def test_full_folders_and_missing_files_are_refused(call, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    assert call() == 2
    assert call(schema="none.yaml", out="new") == 2
    assert call(table="none.csv", out="new") == 2
    assert capsys.readouterr().err.count("error:") == 3
    assert not (tmp_path / "new").exists()


posix = pytest.mark.skipif(os.name == "nt", reason="a process gets no signals and no limits there")

# the function that is named first prints a line and waits for one
PAUSED = """
import importlib, sys
from dpml.__main__ import _leave, main
module, _, name = sys.argv[1].partition(":")
owner = importlib.import_module(module)
real = getattr(owner, name)

def paused(*arguments, **options):
    print("paused", flush=True)
    sys.stdin.readline()
    return real(*arguments, **options)

setattr(owner, name, paused)
_leave(main(sys.argv[2:]))
"""
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@pytest.fixture
def arguments(tmp_path):
    """Return the arguments of a release into `out`, charged to a ledger."""
    customers().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.yaml").write_text(SCHEMA.to_yaml(), encoding="utf-8")
    inputs = [str(tmp_path / name) for name in ("table.csv", "schema.yaml")]
    fixed = ["release", *inputs, "--label", "left", "--epsilon", "1", "--total", "3"]
    fixed += ["--ledger", str(tmp_path / "ledger.db")]
    return lambda *more, out="out": [*fixed, "--out", str(tmp_path / out), *more]


def spent(folder):
    path = folder / "ledger.db"
    return round(Budget(3.0, path=path).spent, 9) if path.exists() else 0.0


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name not in ("table.csv", "schema.yaml", "ledger.db"))


@pytest.mark.parametrize("out", ["table.csv/out", "x" * 300, "new/" + "x" * 300, "a\0b"])
def test_a_folder_that_cannot_be_written_costs_nothing(arguments, tmp_path, capsys, out):
    assert main(arguments(out=out)) in (2, 3)
    assert capsys.readouterr().err.endswith("nothing was charged\n")
    assert spent(tmp_path) == 0


@posix
def test_a_limit_below_the_files_costs_nothing(arguments, tmp_path):
    """The ledger fits into 100 kB, and the table of 20,000 records does not."""
    options = ["--share", "publishing=1", "--records", "20000"]
    done = subprocess.run(
        [sys.executable, "-m", "dpml", *arguments(*options)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "File too large" in done.stderr
    assert done.stderr.endswith("cannot be written\nnothing was charged\n")
    assert (spent(tmp_path), names(tmp_path)) == (0, [])


def test_a_folder_that_another_release_holds_costs_nothing(arguments, tmp_path, capsys):
    with folder.HeldFolder(tmp_path / "out"):
        assert main(arguments()) == 2
    assert "nothing was charged" in capsys.readouterr().err
    assert (spent(tmp_path), names(tmp_path)) == (0, [])


def test_a_disk_that_fills_while_it_is_written_is_rescued(arguments, tmp_path, capsys, monkeypatch):
    """Nothing more fits beside the folder, and the system's temporary folder has room."""
    elsewhere, write, begun = tmp_path / "tmp", folder._write, []
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))

    def filling(path, content):
        begun.append(path.name == "schema.yaml")
        if any(begun) and elsewhere not in path.parents:
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(folder, "_write", filling)
    assert main(arguments()) == 3
    [rescued] = elsewhere.iterdir()
    assert verify(rescued) == ()
    message = capsys.readouterr().err
    assert f"No space left on device: {str(tmp_path / 'out')!r} could not be written" in message
    assert repr(str(rescued)) in message
    assert f"ε = 1 was charged to {str(tmp_path / 'ledger.db')!r}" in message
    assert (spent(tmp_path), names(tmp_path)) == (1, ["tmp"])


def test_a_folder_that_somebody_fills_is_left_and_rescued(arguments, tmp_path, capsys, monkeypatch):
    run = Plan.run

    def filled(*arguments, **options):
        (tmp_path / "out" / "mine").write_text("mine")
        return run(*arguments, **options)

    monkeypatch.setattr(Plan, "run", filled)
    assert main(arguments()) == 3
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
    [rescued] = tmp_path.glob("out-rescued-*")
    assert verify(rescued) == ()
    assert str(rescued) in capsys.readouterr().err


def test_a_fault_after_the_charge_says_what_was_charged(arguments, tmp_path, capsys, monkeypatch):
    real = plan.carry_out

    def fault(*given, **options):
        # the plan's trial comes before the charge
        return 1 / 0 if spent(tmp_path) else real(*given, **options)

    monkeypatch.setattr(plan, "carry_out", fault)
    assert main(arguments()) == 4
    said = capsys.readouterr().err.rstrip().splitlines()[-1]
    assert said.startswith(f"ε = 1 was charged to {str(tmp_path / 'ledger.db')!r}, but nothing was released")
    assert names(tmp_path) == []


@posix
@pytest.mark.parametrize(
    ("number", "code", "paused", "epsilon", "told"),
    [
        (signal.SIGINT, 130, "dpml.tables:read_table", 0, "nothing was charged"),
        (signal.SIGTERM, 143, "dpml.release.released:page", 1, "nothing was delivered"),
        (signal.SIGINT, 130, "dpml.release.folder:_fill", 1, "the files are in"),
    ],
    ids=["before", "after", "writing"],
)
def test_a_signal_says_what_was_charged(arguments, tmp_path, number, code, paused, epsilon, told):
    command = [sys.executable, "-c", PAUSED, paused, *arguments()]
    with subprocess.Popen(command, **PIPES) as process:
        assert process.stdout.readline() == "paused\n"
        process.send_signal(number)
        _, message = process.communicate("\n", timeout=120)
    assert process.returncode == code, message
    *warned, line = message.splitlines()
    assert all(text.startswith("warning: ") for text in warned)
    assert told in line
    assert ("ε = 1 was charged to" in line) == bool(epsilon)
    assert spent(tmp_path) == epsilon
    if told == "the files are in":
        assert verify(tmp_path / "out") == ()
    else:
        assert names(tmp_path) == []


@posix
def test_a_process_that_is_killed_leaves_no_whole_folder(arguments, tmp_path):
    command = [sys.executable, "-c", PAUSED, "dpml.release.folder:_sync_folder", *arguments()]
    with subprocess.Popen(command, **PIPES) as process:
        assert process.stdout.readline() == "paused\n"
        process.kill()
        process.communicate()
    assert spent(tmp_path) == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == [folder.HOLD]
    assert main(["verify", str(tmp_path / "out")]) == 2
