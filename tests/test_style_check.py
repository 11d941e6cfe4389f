"""The style check of `.ci/style.py` finds each kind of fault, and reads every class of text."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("style", ROOT / ".ci" / "style.py")
style = importlib.util.module_from_spec(spec)
spec.loader.exec_module(style)


def faults(root, *paths):
    return list(style.faults(style.by_class(root), list(paths)))


@pytest.fixture
def checkout(tmp_path):
    """Return a function that writes files into an empty checkout and returns its faults."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return faults(tmp_path)

    return write


def test_every_class_of_text_is_read():
    classes = style.by_class(ROOT)
    classes.pop("commits")  # none in a copy without history
    assert {kind for kind, texts in classes.items() if len(texts) < 3} == set()
    assert {"README.md", "dpml/budget/budget.py"} <= {text.path for texts in classes.values() for text in texts}


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("The thesis has a table.", "Antonova (2016)"),
        ("It is read by whoever asks.", "a noun"),
        ("The accuracy is 84 %.", "84%"),
        ("The error is .3 here.", "a zero before the point"),
    ],
)
def test_a_banned_phrase_is_shown_with_its_replacement(checkout, sentence, shown):
    [message] = checkout(README_dot_md=f"# Title\n\n{sentence}\n")
    assert message.startswith("README.md:3: ")
    assert shown in message


@pytest.mark.parametrize("sentence", ["`the thesis`", "$.3$", "`84 %`", "The mean of 0.3 and 84%.", "See 3.5.3."])
def test_code_formulas_and_numbers_are_no_faults(checkout, sentence):
    assert checkout(README_dot_md=f"{sentence}\n") == []


def test_a_long_caption_is_a_fault(checkout):
    path = "app__dpml_app__pages__noise__captions_dot_yaml"
    assert checkout(**{path: f"count: {'word ' * 40}\n"}) == []
    [message] = checkout(**{path: f"count: {'word ' * 41}\n"})
    assert "a caption of 41 words" in message


def test_a_high_density_is_a_fault_with_its_places(checkout):
    [message] = checkout(README_dot_md="It shows what it does; it shows what it costs.\n")
    assert message.startswith("readme: what 200.0 per 1,000 words")
    assert message.count("README.md:1") == 2


def test_semicolons_between_citations_are_no_faults(checkout):
    assert checkout(README_dot_md="(Su et al. 2018; Ji and Elkan 2013; Antonova 2016)\n") == []


def test_strings_and_docstrings_of_a_module_are_read(checkout):
    code = '"""Whoever reads it."""\n\nTEXT = f"{1} of the published table"\nSTYLE = "p { margin: 0; }"\n'
    messages = checkout(dpml__one_dot_py=code)
    assert sorted(message.split("'")[1] for message in messages) == ["Whoever", "published table"]


def test_a_wrong_subject_of_a_commit_is_a_fault(checkout, tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subjects = ["start", "docs: describe the budget", "Describe the budget.", f"docs: {'x' * 70}"]
    for subject in subjects:
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", subject], check=True)
    monkeypatch.setitem(style.RULES, "commits", {**style.RULES["commits"], "since": "HEAD~3"})
    messages = checkout()
    assert sorted(message.split("'")[1] for message in messages) == sorted(subjects[2:])
