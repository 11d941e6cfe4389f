"""``python -m dpml``."""

import subprocess
import sys

import pytest

from dpml.__main__ import main
from dpml.catalogue import CATALOGUE, Method


def test_the_catalogue_prints_every_method(capsys):
    assert main(["catalogue"]) == 0
    text = capsys.readouterr().out
    for name, entry in CATALOGUE.items():
        assert name in text
        assert entry.cost in text
    assert text.count("NOT private") == sum(not entry.private for entry in CATALOGUE.values())


def test_markdown_has_a_row_for_each(capsys):
    assert main(["catalogue", "--markdown"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == len(CATALOGUE) + 2
    assert {line.count(" | ") for line in lines[2:]} == {4}


def test_the_table_is_written_into_a_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- catalogue -->\nold\n<!-- /catalogue -->\nafter\n", encoding="utf-8")
    for _ in range(2):  # a second time changes nothing
        assert main(["catalogue", "--into", str(page)]) == 0
        before, rest = page.read_text(encoding="utf-8").split("<!-- catalogue -->\n")
        table, after = rest.split("\n<!-- /catalogue -->")
        assert (before, after) == ("before\n", "\nafter\n")
        assert main(["catalogue", "--markdown"]) == 0
        assert table == capsys.readouterr().out.strip()


@pytest.mark.parametrize("text", [None, "no marks", "<!-- catalogue -->\nno end"])
def test_a_page_without_a_place_for_the_table_is_left_as_it_is(tmp_path, capsys, text):
    page = tmp_path / "page.md"
    if text is not None:
        page.write_text(text, encoding="utf-8")
    assert main(["catalogue", "--into", str(page)]) == 2
    assert str(page) in capsys.readouterr().err
    assert (page.read_text(encoding="utf-8") if page.exists() else None) == text


def test_audits_say_what_they_found(capsys):
    assert main(["audit", "laplace", "noisy-cut"]) == 0
    text = capsys.readouterr().out
    assert "laplace, add-remove: a claim of ε = 1 holds; ε is 1 exactly" in text
    assert "noisy-cut, add-remove: a claim of ε = 1 does not hold" in text


def test_an_audit_that_contradicts_the_catalogue_fails(capsys, monkeypatch):
    from dataclasses import replace

    wrong = replace(CATALOGUE["private-threshold-testing"], private=True, true_epsilon=float)
    assert isinstance(wrong, Method)
    monkeypatch.setitem(CATALOGUE, wrong.name, wrong)
    assert main(["audit", wrong.name]) == 1
    assert "not what the catalogue says" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["audit", "nope"], "name = 'nope'"), (["audit", "laplace", "--epsilon", "0"], "epsilon = 0.0")],
)
def test_wrong_calls_are_named(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_it_starts_as_a_module():
    run = subprocess.run([sys.executable, "-m", "dpml", "catalogue"], capture_output=True, text=True, check=True)
    assert "row-bounded" in run.stdout.lower()
