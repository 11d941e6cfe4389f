"""``python -m dpml verify`` as an attacker sees it: each tampered folder is refused with one plain line."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from release_attacks import ATTACKS, edited, seal
from release_table import DATE, FILES, SCHEMA, SHARES, customers, without_label

from dpml.__main__ import main
from dpml.exceptions import DataNotFound
from dpml.release import Plan, verify
from dpml.schema import Feature, Schema

# each folder in turn: its exit code, its lines, and the seconds
VERIFY = """
import contextlib, io, json, sys, time
from dpml.__main__ import main
for folder in sys.stdin.read().splitlines():
    out, begun = io.StringIO(), time.perf_counter()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(["verify", folder])
    print(json.dumps([folder, code, out.getvalue(), time.perf_counter() - begun]), flush=True)
"""
KINDS = {"release": True, "simulation, not a release": False}
posix = pytest.mark.skipif(os.name == "nt", reason="pipes and devices are files on POSIX")


def made(folder, *, secure, schema=SCHEMA, table=None, shares=SHARES, **options):
    plan = Plan(schema, 1.0, shares=shares, max_grids=40, **options)
    data = without_label(customers()) if table is None else table
    seed = {} if secure else {"random_state": 0}
    return plan.run(*data, secure=secure, **seed).save(folder, date=DATE)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return one real folder of each status."""
    parent = tmp_path_factory.mktemp("releases")
    return {status: made(parent / f"{secure}", secure=secure) for status, secure in KINDS.items()}


@pytest.fixture(scope="module")
def results(folders, tmp_path_factory):
    """Return of each status and attack the exit code and what is printed. One process checks all of them."""
    places = {}
    for status, folder in folders.items():
        for i, (name, attack) in enumerate(ATTACKS.items()):
            place = tmp_path_factory.mktemp(f"attack{i}") / "out"
            shutil.copytree(folder, place)
            attack(place)
            places[str(place)] = status, name
    done = subprocess.run(
        [sys.executable, "-c", VERIFY], input="\n".join(places), capture_output=True, text=True, timeout=300, check=True
    )
    rows = map(json.loads, done.stdout.splitlines())
    return {places[place]: (code, text) for place, code, text, _seconds in rows}


@posix
@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("status", KINDS)
def test_a_tampered_folder_is_refused_with_one_line(results, status, name):
    code, text = results[status, name]
    assert code in (1, 2), text
    assert text.count("\n") == 1
    assert text.rstrip("\n").isprintable()
    assert "Traceback" not in text


@pytest.mark.parametrize("status", KINDS)
def test_a_healthy_folder_states_its_status(folders, status, capsys):
    assert verify(folders[status]) == ()
    assert main(["verify", str(folders[status])]) == 0
    assert capsys.readouterr().out.startswith(f"{status}, ε = 1, δ = 0, add-remove: all files are unchanged. SHA-256")


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize(
    ("shares", "left_out"),
    [
        ({"training": 1.0}, {"evaluation.json", "table.csv"}),
        ({"publishing": 1.0}, {"evaluation.json", "model.joblib", "model.json", "score.py"}),
        ({"training": 0.3, "evaluation": 0.3}, {"table.csv"}),
        ({"training": 1 / 3, "evaluation": 2 / 3}, {"table.csv"}),
    ],
)
def test_a_release_of_some_parts_is_healthy(tmp_path, secure, shares, left_out):
    folder = made(tmp_path / "out", secure=secure, shares=shares)
    assert verify(folder) == ()
    assert {path.name for path in folder.iterdir()} == {*FILES} - left_out


@pytest.mark.parametrize(
    ("secure", "relation", "classes"),
    [
        (True, "add-remove", (0, 1)),
        (False, "replace-one", (True, False)),
        (True, "replace-one", ("a", "b", "<c> ε = 3")),
        (False, "add-remove", ("a", "b", "<c> ε = 3")),
    ],
)
def test_a_release_of_other_columns_is_healthy(tmp_path, secure, relation, classes):
    rng = np.random.default_rng(0)
    features = (
        Feature("=age ε", "numeric", lower=-1e-9, upper=1e9, missing=0.1),
        Feature("naïve & <b>", "categorical", (1, "1x", "ε = 2", "δ = 1")),
        Feature("owner"),
    )
    schema = Schema(features, classes, n_lower=200)
    X = pd.DataFrame({"=age ε": rng.uniform(0, 1e9, 300), "naïve & <b>": "1x", "owner": rng.integers(0, 2, 300)})
    y = np.array(classes, dtype=object)[rng.integers(0, len(classes), 300)]
    assert verify(made(tmp_path / "out", secure=secure, schema=schema, table=(X, y), relation=relation)) == ()


def test_a_release_after_a_selection_is_healthy(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame((rng.random((500, 5)) < 0.5).astype(int), columns=[f"x{i}" for i in range(5)])
    schema = Schema.binary(5, n_lower=100)
    shares = {"selection": 0.3, "training": 0.7}
    released = Plan(schema, 2.0, shares=shares, n_features=1).run(X.set_axis(schema.feature_names, axis=1), X["x3"])
    assert released.epsilon == pytest.approx(released.ledger["epsilon"].sum()) == pytest.approx(2.0)
    assert verify(released.save(tmp_path / "out", stated_by="ε & <co>")) == ()


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    for name in ("none", "file", "a\0b", "\x1b[2J"):
        assert main(["verify", str(tmp_path / name)]) == 2
        text = capsys.readouterr().err
        assert text.count("\n") == 1
        assert text.rstrip("\n").isprintable()


def test_files_that_are_made_anew_to_agree_are_not_found(folders, tmp_path):
    """The limit that the documentation states: nothing is signed."""
    place = tmp_path / "out"
    shutil.copytree(folders["release"], place)
    edited("evaluation.json", lambda facts: facts["noisy_counts"]["counts"][0].reverse())(place)
    seal(place)
    assert verify(place) == ()


@pytest.fixture
def folder(folders, tmp_path):
    """Return a copy of the simulation's folder."""
    return shutil.copytree(folders["simulation, not a release"], tmp_path / "out")


@pytest.mark.parametrize("name", ["ledger.json", "statement.html", "model.joblib"])
def test_each_changed_byte_is_found(folder, name):
    content = (folder / name).read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), 30, replace=False):
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        (folder / name).write_bytes(changed)
        assert f"{name} has changed: its SHA-256 digest differs from the manifest." in verify(folder)
    (folder / name).write_bytes(content)
    assert verify(folder) == ()


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("ledger.json", {"spent": 0.5}, "the charges add up to 1, but the stated total is 0.5"),
        ("ledger.json", {"epsilon": 0.5}, "the spent ε, 1, exceeds the budget, 0.5"),
        ("ledger.json", {"relation": "replace-one"}, "charges under add-remove, but the relation is replace-one"),
        ("ledger.json", {"status": "release"}, "statement.html states another status"),
        ("evaluation.json", {"status": "release"}, "evaluation.json states another status"),
        ("ledger.json", {"charges": None}, "ledger.json cannot be read"),
    ],
)
def test_contradicting_files_are_named(folder, name, change, words):
    edited(name, lambda facts: facts.update(change))(folder)
    assert any(words in problem for problem in verify(folder))


@pytest.mark.parametrize("text", ["", "{}", "[1]"])
def test_a_folder_without_a_manifest_is_refused(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(DataNotFound, match=r"manifest\.json"):
        verify(folder)
    assert main(["verify", str(folder)]) == 2


def test_a_missing_and_a_strange_file_are_named(folder, capsys):
    (folder / "table.csv").unlink()
    (folder / "notes.txt").write_text("x")
    problems = verify(folder)
    assert problems[0] == "table.csv is missing."
    assert "notes.txt does not belong to the release" in problems[1]
    assert main(["verify", str(folder)]) == 1
    assert "problems: 2" in capsys.readouterr().out


def test_other_versions_are_named(folder):
    facts = json.loads((folder / "manifest.json").read_text())
    facts["versions"] |= {"numpy": "0.1", "no-such-library": "1"}
    (folder / "manifest.json").write_text(json.dumps(facts))
    problems = verify(folder)
    assert any(problem.startswith("numpy was 0.1 and is ") for problem in problems)
    assert any("no-such-library was 1 and is missing here" in problem for problem in problems)
