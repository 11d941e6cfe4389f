"""The folder of a release, for whoever receives it: each changed byte is found, and each lie that can be computed."""

import json

import numpy as np
import pytest
from release_table import SCHEMA, customers

from dpml.__main__ import main
from dpml.exceptions import DataNotFound
from dpml.release import Plan, verify
from dpml.release.folder import manifest


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    plan = Plan(SCHEMA, 1.0, shares={"training": 0.6, "evaluation": 0.2, "publishing": 0.2})
    released = plan.run(customers(), "left", secure=False, random_state=0)
    return released.save(tmp_path_factory.mktemp("release") / "out")


@pytest.fixture
def folder(written, tmp_path):
    for file in written.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_a_folder_as_it_was_written_has_no_problem_and_its_readme_names_each_file(folder, capsys):
    assert verify(folder) == ()
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"`{file.name}`" in text for file in folder.iterdir() if file.name != "README.md")
    assert main(["verify", str(folder)]) == 0
    assert "all files are unchanged. SHA-256 of manifest.json: " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ledger.json", "statement.html", "model.joblib"])
def test_each_of_a_hundred_changed_bytes_is_found(folder, name):
    content = (folder / name).read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), 100, replace=False):
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        (folder / name).write_bytes(changed)
        assert f"{name} has changed: its SHA-256 digest differs from the manifest." in verify(folder)
    (folder / name).write_bytes(content)
    assert verify(folder) == ()


def test_a_missing_and_a_strange_file_are_named(folder, capsys):
    (folder / "table.csv").unlink()
    (folder / "notes.txt").write_text("x")
    problems = verify(folder)
    assert problems[0] == "table.csv is missing."
    assert "notes.txt does not belong to the release" in problems[1]
    assert main(["verify", str(folder)]) == 1
    assert "problems: 2" in capsys.readouterr().out


def rewrite(folder, name, change):
    """Change a file and the manifest with it, as somebody would who wants it to hold."""
    facts = json.loads((folder / name).read_text(encoding="utf-8"))
    change(facts)
    (folder / name).write_text(json.dumps(facts), encoding="utf-8")
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "manifest.json"}
    (folder / "manifest.json").write_text(manifest(files, "any"))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("ledger.json", lambda facts: facts.update(spent=0.5), "the charges add up to 1, but the stated total is 0.5"),
        ("ledger.json", lambda facts: facts.update(epsilon=0.5), "the spent ε, 1, exceeds the budget, 0.5"),
        (
            "ledger.json",
            lambda facts: facts.update(relation="replace-one"),
            "charges under add-remove, but the relation is replace-one",
        ),
        ("ledger.json", lambda facts: facts.update(status="release"), "statement.html states another status"),
        ("evaluation.json", lambda facts: facts.update(status="release"), "evaluation.json states another status"),
        ("ledger.json", lambda facts: facts.pop("charges"), "ledger.json cannot be read"),
    ],
)
def test_files_that_contradict_each_other_are_found_though_their_digests_fit(folder, name, change, words):
    rewrite(folder, name, change)
    assert any(words in problem for problem in verify(folder))


def test_other_versions_are_named(folder):
    facts = json.loads((folder / "manifest.json").read_text())
    facts["versions"] |= {"numpy": "0.1", "no-such-library": "1"}
    (folder / "manifest.json").write_text(json.dumps(facts))
    problems = verify(folder)
    assert any(problem.startswith("numpy was 0.1 and is ") for problem in problems)
    assert any("no-such-library was 1 and is missing here" in problem for problem in problems)


@pytest.mark.parametrize("text", ["", "{}", "[1]"])
def test_a_folder_without_a_manifest_is_refused(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(DataNotFound, match=r"manifest\.json"):
        verify(folder)
    assert main(["verify", str(folder)]) == 2
