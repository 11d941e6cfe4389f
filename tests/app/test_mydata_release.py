"""The step Release of the page My data: what is in the way, what is charged and once, and where its files are."""

import asyncio
import io
import json
import logging
import re
import tempfile
import threading
import zipfile
from unittest.mock import Mock

import joblib
import pandas as pd
import pytest
import uploaded_tables
from dpml_app.pages.mydata import release as releases
from dpml_app.pages.mydata.words import INSTALL
from own_session import csv, mode, release, say
from release_table import FILES, files_without

from dpml.exceptions import BudgetExceeded, InvalidData, NotPrivate
from dpml.release import Released


def test_the_mode_is_entered_by_a_button_and_shown_to_the_browser_of_that_session_alone(session):
    one, other = session(), session()
    page = one.page
    assert not page.to_release.visible
    one.upload(csv())
    one.use()
    assert page.to_release.visible
    assert mode(one) == ""
    one.do(lambda: page.to_release.param.trigger("clicks"))
    assert mode(one) == "releasing"
    assert "charges the privacy budget" in page.release.mode.data["says"][0]
    assert page.release.whole.visible
    assert page.from_release.visible
    assert not page.steps.visible
    assert not page.uploading.visible
    assert not page.advice.whole.visible
    assert mode(other) == ""
    one.do(lambda: page.from_release.param.trigger("clicks"))
    assert mode(one) == ""
    assert not page.release.whole.visible
    assert page.steps.visible
    assert page.advice.whole.visible


def test_what_will_be_spent_on_what_is_shown_before_it_is(ready):
    one = ready()
    step = one.page.release
    say(one, epsilon=0.8)
    one.do(lambda: step.shares._move("publishing", 50))
    plan = step.plan.object
    for part in ("Training", "Evaluation", "Publishing"):
        assert f"<th scope='row'>{part}</th>" in plan
    assert "Selection" not in plan
    assert "<b>0.8</b>" in plan
    assert "add or remove one record" in plan
    assert step.budget is None
    assert step.spent.object == ""
    # each charge stands behind it, and they add up
    charges = plan.partition("aria-label='Charges'")[2]
    each = [float(epsilon) for epsilon in re.findall(r"<td>([\d.]+)</td></tr>", charges)]
    assert len(each) >= 5
    assert sum(each) == pytest.approx(0.8, rel=0.01)


def test_nothing_is_released_while_something_is_in_the_way(ready):
    one = ready(confirmed=False)
    step = one.page.release
    say(one, sure=True)
    assert "5 metadata entries are data-derived. <b>Go back to the table" in step.problems.object
    assert step.button.disabled
    one.do(step.start)
    for left in range(4, -1, -1):
        assert step.button.disabled
        one.page.draft.confirm(*one.page.draft.unconfirmed[0][:2])
        assert len(one.page.draft.unconfirmed) == left
        one.do(step.refresh)
    assert "Ready." in step.problems.object
    assert not step.button.disabled
    say(one, sure=False)
    assert "Read the metadata, then tick the box" in step.problems.object
    one.do(step.start)
    say(one, sure=True, epsilon=2.0)
    assert "ε = 2 exceeds the remaining budget of 1. <b>Choose a smaller ε" in step.problems.object
    one.do(step.start)
    say(one, epsilon=0.5)
    one.do(lambda: setattr(step.shares.locks["selection"], "value", False))
    one.do(lambda: step.shares._move("selection", 30))
    assert "share of selection must be 0 for this schema" in step.problems.object
    assert "<b>Change the sliders.</b>" in step.problems.object
    one.do(step.start)
    one.do(lambda: step.shares._move("selection", 0))
    one.do(lambda: step.shares._move("training", 0))
    assert "share of training must be greater than 0" in step.problems.object
    one.do(step.start)
    assert step.budget is None
    assert step.done == []


def test_no_browser_can_release_what_was_not_ticked(ready):
    """The switched-off button is the browser's; the server looks again."""
    one = ready()
    step = one.page.release
    say(one, sure=True)
    one.page.draft.say("age", lower=0.0, upper=200.0)
    one.do(step.start)
    assert step.done == []
    assert not step.sure.value
    say(one, sure=True)
    one.page.draft.confirm("", "classes", sure=False)
    one.do(step.start)
    assert step.done == []
    assert step.budget is None


def test_a_release_gives_its_files_and_they_can_be_used_elsewhere(ready):
    one = ready()
    step = one.page.release
    say(one, who=" Ada <b>Example</b> ")
    release(one)
    assert "Done in" in step.said.object
    assert "Privacy budget ε = 1: <b>0.5</b> spent" in step.spent.object
    [made] = step.done
    every = zipfile.ZipFile(io.BytesIO(made.files["release-1.zip"][1]))
    assert sorted(every.namelist()) == [f"release-1/{name}" for name in FILES]
    # what is read together with the others is in the archive alone
    for name in files_without("README.md", "manifest.json", "model.json", "score.py"):
        assert every.read(f"release-1/{name}") == made.files[f"release-1-{name}"][1]
    # the model predicts raw records
    model = joblib.load(io.BytesIO(made.files["release-1-model.joblib"][1]))
    fresh = uploaded_tables.customers(seed=7).drop(columns="label")
    assert set(model.predict(fresh)) <= set(uploaded_tables.SCHEMA.classes)
    table = pd.read_csv(io.BytesIO(made.files["release-1-table.csv"][1]))
    # columns that the grid does not tell apart are left out
    assert {"label"} <= set(table.columns) <= {*uploaded_tables.customers().columns}
    # the ledgers say what was charged
    ledger = json.loads(made.files["release-1-ledger.json"][1])
    assert ledger["status"] == "release"
    assert sum(charge["epsilon"] for charge in ledger["charges"]) == pytest.approx(0.5)
    whole = json.loads(step.files._files["release-session-ledger.json"])
    assert whole["spent"] == pytest.approx(0.5)
    assert len(whole["charges"]) == len(ledger["charges"]) == len(step.budget.ledger)
    assert b"Ada &lt;b&gt;Example&lt;/b&gt;" in made.files["release-1-statement.html"][1]
    assert b"simulation" not in made.files["release-1-statement.html"][1].lower()
    assert "Accuracy" in step.ledger.object


def test_it_runs_once_however_often_its_button_is_pressed_and_nothing_waits_for_it(ready, monkeypatch):
    one = ready()
    step = one.page.release
    begun, go_on, runs = threading.Event(), threading.Event(), []
    usual = releases.run

    def slow(*arguments):
        runs.append(arguments)
        begun.set()
        assert go_on.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(releases, "run", slow)
    say(one, sure=True)

    async def press():
        for _ in range(3):
            step.button.param.trigger("clicks")
        while not begun.is_set():
            await asyncio.sleep(0.01)
        # the loop is free: other settings are taken, and clicks as well
        step.button.disabled = False
        step.button.param.trigger("clicks")
        step.shares._move("training", 30)
        assert "progress" in step.bar.object
        assert one.page.working.data["running"] == [True]
        go_on.set()

    one.run(press)
    assert len(runs) == len(step.done) == 1
    assert step.budget.spent == pytest.approx(0.5)
    assert step.bar.object == ""
    assert one.page.working.data["running"] == [False]


def test_a_second_release_adds_up_and_what_is_too_much_is_refused(ready):
    one = ready()
    step = one.page.release
    release(one)
    assert not step.sure.value
    assert step.total.disabled
    # its files are shown, and another one is asked for
    assert (step.before.visible, step.after.visible) == (False, True)
    one.do(lambda: step.again.param.trigger("clicks"))
    assert (step.before.visible, step.after.visible) == (True, False)
    # the total of a session is what it was when the first release was made
    say(one, epsilon=0.4, total=10.0)
    release(one)
    assert step.budget.epsilon == 1.0
    assert step.budget.spent == pytest.approx(0.9)
    assert "2 releases in this session. Privacy budget ε = 1: <b>0.9</b> spent, <b>0.1</b> left" in step.spent.object
    assert step.which.options == ["Release 1", "Release 2"]
    assert "release-2.zip" in step.files.names
    say(one, which="Release 1")
    assert "release-1.zip" in step.files.names
    release(one)
    assert "ε = 0.4 exceeds the remaining budget of 0.1" in step.problems.object
    assert len(step.done) == 2
    say(one, epsilon=0.1)
    release(one)
    assert len(step.done) == 3
    assert step.budget.remaining == pytest.approx(0, abs=1e-9)
    say(one, epsilon=0.01, sure=True)
    assert step.button.disabled


def test_what_was_spent_stays_spent_when_the_table_goes_and_for_the_next_one(ready):
    one = ready()
    step = one.page.release
    release(one)
    one.do(one.page.drop)
    assert mode(one) == ""
    assert step.budget.spent == pytest.approx(0.5)
    # its files can still be saved
    assert one.page.to_release.visible
    one.do(step.enter)
    assert "release-1.zip" in step.files.names
    assert step.button.disabled
    assert "No table is in use" in step.problems.object
    say(one, sure=True)
    one.do(step.start)
    one.do(step.leave)
    one.upload(csv(1))
    one.confirm()
    one.use()
    one.do(step.enter)
    assert "<b>0.5</b> left" in step.spent.object
    release(one)
    assert step.budget.spent == pytest.approx(1.0)
    assert len(step.done) == 2


def test_a_loaded_schema_does_not_change_the_facts_that_are_ticked(ready):
    one = ready()
    before = one.page.draft.schema()
    one.upload(b"features: [{name: age, kind: numeric, lower: 0, upper: 9}]\n", "s.yaml", one.page.schema_upload)
    assert one.page.draft.schema() == before
    assert any("Go back to the table first" in text for text in one.said)


def test_another_session_sees_nothing_of_it_and_nothing_is_in_a_link_or_a_log(ready, session, caplog):
    other = session()
    with caplog.at_level(logging.DEBUG):
        one = ready()
        release(one)
        other.upload(csv(1))
        other.confirm()
        other.use()
        other.do(other.page.release.enter)
    assert other.page.release.spent.object == ""
    assert other.page.release.files.names == []
    assert other.page.release.done == []
    name = one.shell.settings.uploaded.table.name
    for text in (
        caplog.text,
        one.shell.address.data["query"][0],
        str(one.shell.pins.data),
        repr(one.page.release.done),
    ):
        assert not any(secret in text for secret in (*uploaded_tables.SECRETS, name))


FAULTS = (
    ValueError("zanzibar-plan"),
    InvalidData("column 'plan' has the value 'zanzibar-plan'"),
    RuntimeError("quokka-count"),
    BudgetExceeded("there is 0 left"),
    NotPrivate("a part charged something else"),
)


def test_a_fault_shows_no_value_from_the_data_and_the_next_try_is_open(ready, monkeypatch, caplog):
    one = ready()
    step = one.page.release
    for fault in FAULTS:
        step.said.object = ""
        with caplog.at_level(logging.DEBUG), monkeypatch.context() as changed:
            changed.setattr(releases, "run", Mock(side_effect=fault))
            release(one)
        assert "Not released" in step.said.object
        assert "Nothing was charged." in step.said.object
        shown = step.said.object + step.problems.object + caplog.text
        assert not any(secret in shown for secret in uploaded_tables.SECRETS)
        assert step.done == []
    release(one)
    assert len(step.done) == 1


def test_a_fault_after_the_charge_says_what_was_charged(ready, monkeypatch):
    one = ready()
    step = one.page.release
    monkeypatch.setattr(Released, "files", Mock(side_effect=OSError("no space left on device")))
    release(one)
    assert f"ε = {step.budget.spent:g} was charged, but nothing was released." in step.said.object
    assert step.done == []


def test_a_release_needs_no_room_on_the_disk(ready, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file" / "none"))
    one = ready()
    release(one)
    assert len(one.page.release.done) == 1


@pytest.mark.filterwarnings("error::dpml.exceptions.FactWarning")
def test_without_secure_noise_there_are_demonstration_runs_only_and_every_file_says_so(ready, monkeypatch, caplog):
    monkeypatch.setattr(releases, "has_noise", lambda: False)
    with caplog.at_level(logging.DEBUG):
        one = ready(confirmed=False)
        step = one.page.release
        assert mode(one) == "demonstrating"
        assert step.mode.data["says"][0].startswith("Simulation: do not publish")
        assert step.button.label == "Simulate"
        assert INSTALL in step.problems.object
        # what was read off the data may be tried; how many cells do not fit is told to no log: a warning would be
        # an error here
        one.page.draft.say("age", lower=18.0, upper=40.0)
        one.do(step.refresh)
        release(one)
    assert "1 simulation in this session" in step.spent.object
    [made] = step.done
    assert made.title == "Simulation 1"
    assert all(name.startswith("simulation-") for name in step.files.names)
    for name, (_title, content) in made.files.items():
        if name.endswith((".zip", ".joblib")):
            continue
        assert b"simulation, not a release" in content.lower(), name
    assert joblib.load(io.BytesIO(made.files["simulation-1-model.joblib"][1])).status_ == "simulation, not a release"
    assert json.loads(step.files._files["simulation-session-ledger.json"])["status"] == "simulation, not a release"
    assert not any(secret in caplog.text for secret in ("clipped", *uploaded_tables.SECRETS))


def test_a_session_keeps_only_so_many_releases(ready, monkeypatch):
    monkeypatch.setattr(releases, "MOST_KEPT", 1)
    one = ready()
    release(one)
    say(one, sure=True)
    assert "cannot store more releases" in one.page.release.problems.object
    assert one.page.release.button.disabled


def test_noise_is_imported_where_models_are_fitted_before_a_plan_is_made(ready, monkeypatch):
    # OpenDP imports polars, and scikit-learn fails in another thread that meets it half imported
    threads = []
    monkeypatch.setattr(releases, "import_noise", lambda: threads.append(threading.current_thread()))
    one = ready()
    [imported] = set(threads)
    assert imported is releases.FORMULAS.call(threading.current_thread).result()
    assert one.page.release.plan.object


@pytest.mark.parametrize("installed", [True, False])
def test_that_nothing_can_be_released_is_said_before_a_table_is_uploaded(session, monkeypatch, installed):
    monkeypatch.setattr(releases, "has_noise", lambda: installed)
    page = session().page
    assert ("You can simulate a release, but not make one" in page.status.object) is not installed
    assert (INSTALL in page.status.object) is not installed
    assert page.to_release.label == ("Plan a release" if installed else "Plan a simulation")
