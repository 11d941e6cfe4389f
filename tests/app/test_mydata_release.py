"""The step Release of My data: what is in the way, what is charged and once, where its files are, and cancelling."""

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
import numpy as np
import pandas as pd
import pytest
import uploaded_tables
from dpml_app.pages.mydata import compute
from dpml_app.pages.mydata import release as releases
from dpml_app.pages.mydata import text as words
from dpml_app.pages.mydata.compute import Draft
from dpml_app.pages.mydata.text import INSTALL
from own_session import csv, release, saved, say
from release_table import FILES

from dpml.exceptions import BudgetExceeded, InvalidData, InvalidSchema, NotPrivate
from dpml.release import Released
from dpml.release import plan as plans
from dpml.release.forecast import Forecast, TableWarning


def weigh(one, part, weight):
    one.do(lambda: setattr(one.page.release.shares.sliders[part], "value", weight))


def test_release_is_entered_and_left_by_buttons(session):
    one, other = session(), session()
    page = one.page
    assert not page.to_release.visible
    one.upload(csv())
    one.use()
    assert page.to_release.visible
    one.do(lambda: page.to_release.param.trigger("clicks"))
    assert page.release.whole.visible
    assert page.from_release.visible
    assert not page.steps.visible
    assert not page.uploading.visible
    assert not page.advice.whole.visible
    assert not other.page.release.on
    one.do(lambda: page.from_release.param.trigger("clicks"))
    assert not page.release.whole.visible
    assert page.steps.visible
    assert page.advice.whole.visible


def test_what_will_be_spent_on_what_is_shown_before_it_is(ready):
    one = ready()
    step = one.page.release
    say(one, epsilon=0.8)
    weigh(one, "publishing", 50)
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
    weigh(one, "selection", 30)
    assert "share of selection must be 0 for this schema" in step.problems.object
    assert "<b>Change the sliders.</b>" in step.problems.object
    one.do(step.start)
    weigh(one, "selection", 0)
    weigh(one, "training", 0)
    assert "share of training must be greater than 0" in step.problems.object
    one.do(step.start)
    assert step.budget is None
    assert step.done is None


def test_no_browser_can_release_what_was_not_ticked(ready):
    """The switched-off button is the browser's; the server looks again."""
    one = ready()
    step = one.page.release
    say(one, sure=True)
    one.page.draft.say("age", lower=0.0, upper=200.0)
    one.do(step.start)
    assert step.done is None
    assert not step.sure.value
    say(one, sure=True)
    one.page.draft.confirm("", "classes", sure=False)
    one.do(step.start)
    assert step.done is None
    assert step.budget is None


def test_a_release_gives_its_files_and_they_can_be_used_elsewhere(ready):
    one = ready()
    step = one.page.release
    say(one, who=" Ada <b>Example</b> ")
    release(one)
    assert "Done in" in step.said.object
    assert "Privacy budget ε = 1: <b>0.5</b> spent" in step.spent.object
    files = saved(one)
    assert sorted(files) == sorted(FILES)
    # the model predicts raw records
    model = joblib.load(io.BytesIO(files["model.joblib"]))
    fresh = uploaded_tables.customers(seed=7).drop(columns="label")
    assert set(model.predict(fresh)) <= set(uploaded_tables.SCHEMA.classes)
    table = pd.read_csv(io.BytesIO(files["table.csv"]))
    # columns that the grid does not tell apart are left out
    assert {"label"} <= set(table.columns) <= {*uploaded_tables.customers().columns}
    # the ledgers say what was charged
    ledger = json.loads(files["ledger.json"])
    assert ledger["status"] == "release"
    assert sum(charge["epsilon"] for charge in ledger["charges"]) == pytest.approx(0.5)
    assert len(ledger["charges"]) == len(step.budget.ledger)
    assert b"Ada &lt;b&gt;Example&lt;/b&gt;" in files["statement.html"]
    assert b"simulation" not in files["statement.html"].lower()
    assert "Accuracy" in step.ledger.object


def test_it_runs_once_however_often_its_button_is_pressed_and_nothing_waits_for_it(ready, monkeypatch):
    one = ready()
    step = one.page.release
    begun, go_on, runs = threading.Event(), threading.Event(), []
    usual = compute.run

    def slow(*arguments):
        runs.append(arguments)
        begun.set()
        assert go_on.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(compute, "run", slow)
    say(one, sure=True)

    async def press():
        for _ in range(3):
            step.button.param.trigger("clicks")
        while not begun.is_set():
            await asyncio.sleep(0.01)
        # the loop is free: other settings are taken, and clicks as well
        step.button.disabled = False
        step.button.param.trigger("clicks")
        step.shares.sliders["training"].value = 30
        assert "progress" in step.bar.object
        assert one.page.working.data["running"] == [True]
        go_on.set()

    one.run(press)
    assert len(runs) == step.count == 1
    assert step.budget.spent == pytest.approx(0.5)
    assert step.bar.object == ""
    assert one.page.working.data["running"] == [False]


def test_a_second_release_adds_up_and_what_is_too_much_is_refused(ready):
    one = ready()
    step = one.page.release
    release(one)
    assert not step.sure.value
    assert step.total.disabled
    # the total of a session is what it was when the first release was made
    say(one, epsilon=0.4, total=10.0)
    release(one)
    assert step.budget.epsilon == 1.0
    assert step.budget.spent == pytest.approx(0.9)
    assert "2 releases in this session. Privacy budget ε = 1: <b>0.9</b> spent, <b>0.1</b> left" in step.spent.object
    [save] = step.files.objects
    assert save.filename == "release-2.zip"
    release(one)
    assert "ε = 0.4 exceeds the remaining budget of 0.1" in step.problems.object
    assert step.count == 2
    say(one, epsilon=0.1)
    release(one)
    assert step.count == 3
    assert step.budget.remaining == pytest.approx(0, abs=1e-9)
    say(one, epsilon=0.01, sure=True)
    assert step.button.disabled


def test_what_was_spent_stays_spent_when_the_table_goes_and_for_the_next_one(ready):
    one = ready()
    step = one.page.release
    release(one)
    one.do(one.page.drop)
    assert not step.on
    assert step.budget.spent == pytest.approx(0.5)
    # its files can still be saved
    assert one.page.to_release.visible
    one.do(step.enter)
    assert [save.filename for save in step.files.objects] == ["release-1.zip"]
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
    assert step.count == 2


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
    assert other.page.release.done is None
    name = one.shell.settings.uploaded.table.name
    for text in (
        caplog.text,
        one.shell.address["query"],
        one.shell.messages.pins,
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
            changed.setattr(compute, "run", Mock(side_effect=fault))
            release(one)
        assert "Not released" in step.said.object
        assert "Nothing was charged." in step.said.object
        shown = step.said.object + step.problems.object + caplog.text
        assert not any(secret in shown for secret in uploaded_tables.SECRETS)
        assert step.done is None
    release(one)
    assert step.count == 1


def test_a_fault_after_the_charge_says_what_was_charged(ready, monkeypatch):
    one = ready()
    step = one.page.release
    monkeypatch.setattr(Released, "files", Mock(side_effect=OSError("no space left on device")))
    release(one)
    assert f"ε = {step.budget.spent:g} was charged, but nothing was released." in step.said.object
    assert step.done is None


def test_a_release_needs_no_room_on_the_disk(ready, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file" / "none"))
    one = ready()
    release(one)
    assert one.page.release.count == 1


@pytest.mark.filterwarnings("error::dpml.exceptions.FactWarning")
def test_without_secure_noise_there_are_demonstration_runs_only_and_every_file_says_so(ready, monkeypatch, caplog):
    monkeypatch.setattr(releases, "has_noise", lambda: False)
    with caplog.at_level(logging.DEBUG):
        one = ready(confirmed=False)
        step = one.page.release
        assert step.whole.objects[0].object.startswith("<h2>Simulate</h2><p>Do not publish")
        assert step.button.label == "Simulate"
        assert INSTALL in step.problems.object
        # what was read off the data may be tried; how many cells do not fit is told to no log: a warning would be
        # an error here
        one.page.draft.say("age", lower=18.0, upper=40.0)
        one.do(step.refresh)
        release(one)
    assert "1 simulation in this session" in step.spent.object
    assert step.done.name == "simulation-1"
    files = saved(one)
    assert joblib.load(io.BytesIO(files.pop("model.joblib"))).status_ == "simulation, not a release"
    for name in ("README.md", "statement.html", "ledger.json", "table.csv", "evaluation.json", "schema.yaml"):
        assert b"simulation, not a release" in files[name].lower(), name
    assert not any(secret in caplog.text for secret in ("clipped", *uploaded_tables.SECRETS))


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


# ---- words and files -------------------------------------------------------------------------------------------------


# the width of the widest thing that could be scrolled sideways
SCROLL = """() => Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth)"""
EVIL = "<img src=x onerror=alert(1)>"


def test_a_problem_of_a_fact_names_it_without_its_value():
    assert words.against(InvalidSchema("categories of 'plan'", ("01", "1"), "different")) == (
        "categories of 'plan' must be different",
        "Go back to the table and correct it.",
    )


def test_warnings_of_a_forecast_are_sentences_without_markup():
    warning = TableWarning("leak", "<b>", "", "column '<b>' predicts 'left' alone (`ignored`).")
    text = words.forecast_html(Forecast(0.8, 0.7, 0.75, 0.6, 100, (warning,)))
    assert "<b>80.0%</b> (majority-class baseline 60.0%)" in text
    assert "Column &#x27;&lt;b&gt;&#x27; predicts &#x27;left&#x27; alone (<code>ignored</code>)." in text


def test_no_text_of_the_table_is_markup():
    frame = pd.DataFrame({"a": [EVIL, "b"] * 3, EVIL: [1, 2] * 3, "left": ["no", EVIL] * 3})
    preview = pd.DataFrame([{"part": EVIL, "released": EVIL, "epsilon": 1.0, "relation": "add-remove", "noise": EVIL}])
    charges = pd.DataFrame([{"label": EVIL, "epsilon": 1.0}])
    found = [words.against(NotPrivate(EVIL))]
    measures = pd.DataFrame([{"measure": EVIL, "value": 0.5, "low": 0.1, "high": 0.9}])
    draft = Draft(frame, EVIL)
    texts = [words.facts(draft), words.status(draft, True), words.status(draft, False)]
    texts += [words.plan(preview), words.ledger(charges)]
    for text in [*texts, words.problems(found, known=True), words.evaluation(measures)]:
        assert "<img" not in text
        assert "&lt;img" in text


def test_a_part_that_is_left_out_has_no_file(ready):
    one = ready()
    weigh(one, "publishing", 0)
    release(one)
    assert {"table.csv", "model.joblib"} & set(saved(one)) == {"model.joblib"}
    weigh(one, "publishing", 100)
    weigh(one, "training", 0)
    weigh(one, "evaluation", 0)
    release(one)
    assert {"table.csv", "model.joblib", "evaluation.json"} & set(saved(one)) == {"table.csv"}


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_release_by_keyboard_to_its_downloads(make_app, server, tmp_path):
    """The bar is moved by keys, what is in the way is put right, and the files are saved from a page that says so."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    (tmp_path / "customers.csv").write_bytes(csv())
    app = make_app(server, width=1440, height=900)
    page = app.page
    app.enter("mydata", wait=False)
    page.locator("section.shown input[type=file]").first.set_input_files(tmp_path / "customers.csv")
    page.get_by_role("checkbox", name="From a public source: labels, number of records").check()
    for entries in ("lower bound, upper bound", "categories"):
        page.get_by_role("button", name="Next column to check").click()
        page.get_by_role("checkbox", name=f"From a public source: {entries}").check()
    page.get_by_role("button", name="Use this table").click()
    page.get_by_role("button", name="Plan a release").click()
    head = page.get_by_text("A release charges the privacy budget.")
    expect(head).to_be_in_viewport()
    expect(app.slider("Selection, share of ε")).to_be_disabled()
    training = "Training, share of ε"
    expect(app.slider(training)).to_have_attribute("aria-valuetext", "40")
    app.push(training, "PageUp")
    app.push(training, "PageUp")
    expect(app.slider(training)).to_have_attribute("aria-valuetext", "60")
    plan = page.get_by_role("table", name="Plan")
    expect(plan).to_contain_text("0.3")
    button = page.get_by_role("button", name="Release", exact=True)
    expect(button).to_be_disabled()
    grave = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]]) for v in grave] == []
    page.get_by_role("checkbox", name="This metadata is public").check()
    expect(button).to_be_enabled()
    button.dblclick()
    expect(page.get_by_text("1 release in this session")).to_be_visible()

    def save():
        with page.expect_download() as kept:
            page.get_by_role("button", name="Save all files of release-1 (zip)").click()
        assert kept.value.suggested_filename == "release-1.zip"
        assert "release-1/statement.html" in zipfile.ZipFile(kept.value.path()).namelist()

    save()
    # a phone: nothing is wider than it
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"() => ({SCROLL})() <= 390")
    save()
    page.get_by_role("button", name="Back to the table").click()
    expect(head).to_be_hidden()


# ---- the forecast ----------------------------------------------------------------------------------------------------


RECORDS = 1200


def table(*, leak):
    """Return a table of which 5% of the labels are yes; with `leak` a column tells them."""
    rng = np.random.default_rng(0)
    label = np.where(rng.random(RECORDS) < 0.05, "yes", "no")
    code = np.where(label == "yes", "closed", "open") if leak else rng.choice(["open", "closed"], RECORDS)
    return pd.DataFrame({"age": rng.integers(18, 90, RECORDS), "state": code, "label": label}).to_csv(index=False)


@pytest.fixture
def entered(session, without_advice):
    def new(content):
        one = session()
        one.upload(content.encode())
        one.confirm()
        one.do(one.page.release.enter)
        return one

    return new


@pytest.mark.parametrize(("leak", "warning"), [(False, "no better than the majority-class"), (True, "state")])
def test_a_warning_is_named_before_the_charge_and_stops_nobody(entered, leak, warning):
    step = entered(table(leak=leak)).page.release
    assert "Warning." in step.forecast.object
    assert warning in step.forecast.object
    assert step.budget is None
    # only what was not confirmed stops the owner
    assert "tick the box" in step.problems.object


def test_button_waits_for_the_forecast(entered, monkeypatch):
    seen, go_on = [], threading.Event()
    one = entered(table(leak=False))
    step = one.page.release
    forecast = compute.forecast

    def slow(plan, draft):
        go_on.wait(60)
        return forecast(plan, draft)

    monkeypatch.setattr(compute, "forecast", slow)

    async def look():
        step.sure.value = True
        step.refresh()
        while not step.forecasting:
            await asyncio.sleep(0.01)
        seen.append((step.button.disabled, "Ready." in step.problems.object))
        go_on.set()

    one.run(look)
    assert seen == [(True, False)]
    assert not step.button.disabled


def test_failed_forecast_does_not_stop_a_release(entered, monkeypatch):
    def fail(_plan, _draft):
        raise ValueError("a record")

    monkeypatch.setattr(compute, "forecast", fail)
    one = entered(table(leak=False))
    step = one.page.release
    one.do(lambda: setattr(step.sure, "value", True))
    assert step.forecast.object == ""
    assert not step.button.disabled


# ---- cancelling ------------------------------------------------------------------------------------------------------


def test_it_is_gone_when_the_session_ends_also_while_it_runs(ready, monkeypatch):
    one = ready()
    step = one.page.release
    release(one)
    begun, go_on = threading.Event(), threading.Event()
    usual = compute.run

    def slow(*arguments):
        begun.set()
        assert go_on.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(compute, "run", slow)
    say(one, sure=True)
    page = one.page

    async def end():
        step.start()
        while not begun.is_set():
            await asyncio.sleep(0.01)
        one.shell.stop()
        assert step.done is None
        go_on.set()
        while page.sender.tasks:
            await asyncio.sleep(0.01)

    one.loop.run_until_complete(asyncio.wait_for(end(), 120))
    assert step.done is None
    assert step.budget is None


class Gate:
    """A release waits here until it is let go; what came of it is kept."""

    def __init__(self):
        self.begun, self.go_on, self.ends = threading.Event(), threading.Event(), []

    def before(self, function):
        """Return a function that waits, and then does what another does."""

        def gated(*arguments, **options):
            self.begun.set()
            assert self.go_on.wait(60)
            try:
                result = function(*arguments, **options)
            except BaseException as error:
                self.ends.append(type(error).__name__)
                raise
            self.ends.append("whole")
            return result

        return gated


def cancel(one, gate):
    """Release, cancel while it waits at a gate, and let it go."""
    step = one.page.release
    say(one, sure=True)

    async def press():
        step.start()
        while not gate.begun.is_set():
            await asyncio.sleep(0.01)
        assert not step.cancel.disabled
        for _ in range(2):
            step.cancel.param.trigger("clicks")
        assert step.cancel.disabled
        gate.go_on.set()

    one.run(press)
    assert step.cancel.disabled
    assert not step.running
    assert step.bar.object == ""
    assert step.done is None


def test_a_release_that_is_cancelled_once_it_has_begun_is_spent_and_shows_nothing(ready, monkeypatch):
    """Its charges are made before its first draw, and a refund would need a proof that nothing was learned."""
    one, gate = ready(), Gate()
    step = one.page.release
    with monkeypatch.context() as changed:
        changed.setattr(plans, "carry_out", gate.before(plans.carry_out))
        cancel(one, gate)
    # plans are tried out afterwards, on no records
    assert gate.ends[0] == "Stopped"
    assert "Cancelled. ε = 0.5 was charged, but nothing was released." in step.said.object
    assert step.budget.spent == pytest.approx(0.5)
    assert "0 releases in this session. Privacy budget ε = 1: <b>0.5</b> spent" in step.spent.object
    # what is spent is seen, and nothing else
    assert "Ledger of this session" in step.ledger.object
    assert step.files.objects == []
    # and the next one takes what is left
    release(one)
    assert step.count == 1
    assert step.budget.spent == pytest.approx(1.0)


def test_a_release_that_is_cancelled_before_it_begins_is_free(ready, monkeypatch):
    """It waits for that of another session; the one in front goes on."""
    first, second, gate = ready(), ready(seed=1), Gate()
    step = second.page.release
    say(second, sure=True)
    with monkeypatch.context() as changed:
        changed.setattr(compute, "run", gate.before(compute.run))
        front = releases.LONG.call(gate.before(dict), owner="releases")

        async def press():
            step.start()
            while not gate.begun.is_set() or step._task is None:
                await asyncio.sleep(0.01)
            step.cancel.param.trigger("clicks")
            while step.running:
                await asyncio.sleep(0.01)
            assert not front.done()
            gate.go_on.set()

        second.run(press)
        assert front.result(60) == {}
    assert gate.ends == ["whole"]
    assert "Cancelled. Nothing was charged." in step.said.object
    # the total of a session is fixed by its first charge
    assert step.budget is None
    assert not step.total.disabled
    release(second)
    assert step.count == 1
    assert step.budget.spent == pytest.approx(0.5)
    assert first.page.release.budget is None


def test_a_cancel_that_comes_between_the_click_and_the_thread_is_heard_before_any_charge(ready):
    one = ready()
    step = one.page.release
    say(one, sure=True)

    def both():
        step.start()
        step.stop()

    one.do(both)
    assert "Cancelled. Nothing was charged." in step.said.object
    assert step.done is None
    assert step.budget is None


def test_a_tab_that_closes_while_its_file_is_read_leaves_no_fault_and_no_table(session):
    one = session()
    page = one.page

    async def closed():
        reading = asyncio.create_task(page._read("table.csv", csv(0)))
        await asyncio.sleep(0)
        page.stop()
        page.state.data = {}  # as the document leaves it that is let go
        await reading

    one.run(closed)
    assert page.draft is None
