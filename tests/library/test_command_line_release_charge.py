"""``python -m dpml release --ledger``: the folder is proven before the charge, and each exit says what was charged."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from release_table import SCHEMA, customers

from dpml.__main__ import main
from dpml.budget import Budget
from dpml.release import Plan, files, plan, verify

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


# ---- before the charge ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["table.csv/out", "x" * 300, "new/" + "x" * 300, "a\0b"])
def test_a_folder_that_cannot_be_written_costs_nothing(arguments, tmp_path, capsys, out):
    assert main(arguments(out=out)) in (2, 3)
    assert capsys.readouterr().err.endswith("nothing was charged\n")
    assert spent(tmp_path) == 0


@posix
def test_a_link_to_no_folder_costs_nothing(arguments, tmp_path):
    (tmp_path / "out").symlink_to(tmp_path / "none")
    assert main(arguments()) == 2
    assert spent(tmp_path) == 0


@posix
def test_the_root_of_a_mount_costs_nothing(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    assert main(arguments()) == 3
    assert "Choose a new folder inside it" in capsys.readouterr().err
    assert (spent(tmp_path), names(tmp_path)) == (0, [])


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
    with files.HeldFolder(tmp_path / "out"):
        assert main(arguments()) == 2
    assert "nothing was charged" in capsys.readouterr().err
    assert (spent(tmp_path), names(tmp_path)) == (0, [])


def test_a_folder_with_the_longest_name_is_written(arguments, tmp_path):
    assert main(arguments(out="x" * 250)) == 0
    assert verify(tmp_path / ("x" * 250)) == ()


# ---- after the charge -----------------------------------------------------------------------------------------------


def test_a_disk_that_fills_while_it_is_written_is_rescued(arguments, tmp_path, capsys, monkeypatch):
    """Nothing more fits beside the folder, and the system's temporary folder has room."""
    elsewhere, write, begun = tmp_path / "tmp", files._write, []
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))

    def filling(path, content):
        begun.append(path.name == "schema.yaml")
        if any(begun) and elsewhere not in path.parents:
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(files, "_write", filling)
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


def test_a_release_says_what_was_charged(arguments, tmp_path, capsys):
    assert main(arguments()) == 0
    charged = f"ε = 1 was charged to {str(tmp_path / 'ledger.db')!r}, and the files are in {str(tmp_path / 'out')!r}"
    assert charged in capsys.readouterr().out


def test_a_refusal_says_that_nothing_was_charged(arguments, tmp_path, capsys):
    assert main(arguments("--test-share", "0")) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "nothing was charged"


# ---- signals --------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    ("paused", "epsilon", "told"),
    [
        ("dpml.tables:read_table", 0, "nothing was charged"),
        ("dpml.release.released:page", 1, "nothing was delivered"),
        ("dpml.release.files:_fill", 1, "the files are in"),
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
    [line] = message.splitlines()
    assert told in line
    assert ("ε = 1 was charged to" in line) == bool(epsilon)
    assert spent(tmp_path) == epsilon
    if told == "the files are in":
        assert verify(tmp_path / "out") == ()
    else:
        assert names(tmp_path) == []


@posix
def test_a_process_that_is_killed_leaves_no_whole_folder(arguments, tmp_path):
    command = [sys.executable, "-c", PAUSED, "dpml.release.files:_sync_folder", *arguments()]
    with subprocess.Popen(command, **PIPES) as process:
        assert process.stdout.readline() == "paused\n"
        process.kill()
        process.communicate()
    assert spent(tmp_path) == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == [files.HOLD]
    assert main(["verify", str(tmp_path / "out")]) == 2


def test_a_folder_that_is_there_keeps_its_permissions(arguments, tmp_path):
    (tmp_path / "out").mkdir(mode=0o700)
    assert main(arguments()) == 0
    assert Path(tmp_path / "out").stat().st_mode & 0o777 == 0o700
