"""``python -m dpml release``: the same refusals as the library, before the table is opened, and the same files."""

import json
import re

import pandas as pd
import pytest
from release_table import CANARY, SCHEMA, customers, files_without

from dpml.__main__ import main
from dpml.budget import Budget


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
    assert "release: ε = 1 under add-remove" in capsys.readouterr().out
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
    assert re.search(told, capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_facts_of_the_data_in_a_saved_schema_are_refused(call, tmp_path, capsys):
    (tmp_path / "marked.yaml").write_text(SCHEMA.to_yaml() + "data_derived: [classes]\n", encoding="utf-8")
    assert call(schema="marked.yaml") == 2
    assert "confirmed as public by a person" in capsys.readouterr().err


def test_a_folder_with_content_and_files_that_are_missing_are_refused(call, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    assert call() == 2
    assert call(schema="none.yaml", out="new") == 2
    assert call(table="none.csv", out="new") == 2
    assert capsys.readouterr().err.count("error:") == 3
    assert not (tmp_path / "new").exists()


def test_a_full_disk_is_told_and_leaves_nothing(call, tmp_path, capsys, monkeypatch):
    from dpml.release import files

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_write", full)
    assert call() == 3
    assert "No space left" in capsys.readouterr().err
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def test_a_file_with_an_odd_cell_says_nothing_of_it(call, tmp_path, capsys):
    pd.concat([customers(50)] * 2).assign(age=CANARY).to_csv(tmp_path / "odd.csv", index=False)
    assert call(table="odd.csv") == 0
    assert CANARY not in "".join(capsys.readouterr())


def test_decimal_commas_are_stated_or_the_file_is_refused(call, tmp_path, capsys):
    table = customers()
    text = table.astype(str).replace("nan", "")
    for name in (f.name for f in SCHEMA.features if f.kind == "numeric"):
        text[name] = text[name].str.replace(".", ",", regex=False)
    text.to_csv(tmp_path / "german.csv", index=False, sep=";")
    assert call("--dry-run", 0) == 0
    assert call("--dry-run", 0, "--decimal", ",", table="german.csv", out="german") == 0
    measures = [json.loads((tmp_path / out / "evaluation.json").read_text()) for out in ("out", "german")]
    assert measures[0] == measures[1]
    assert call("--dry-run", 0, table="german.csv", out="unsaid") == 2
    assert "--decimal ," in capsys.readouterr().err
