"""The step Release of the page My data: what is in the way, what is charged and once, and where its files are."""

import asyncio
import base64
import io
import json
import logging
import re
import threading
import zipfile
from pathlib import Path

import joblib
import own_tables
import pandas as pd
import pytest
from dpml_app.mydata import release as releases
from dpml_app.mydata import release_words as words
from dpml_app.mydata.budget_bar import COLOURS, BudgetBar, drawn
from dpml_app.mydata.draft import Draft
from dpml_app.mydata.page import MyDataPage
from dpml_app.mydata.release import MODES
from dpml_app.mydata.save import Save
from dpml_app.mydata.shares import PARTS
from dpml_app.shell import STYLES
from own_session import csv

from dpml.exceptions import BudgetExceeded, InvalidData, InvalidSchema, NotPrivate
from dpml.release import plan as plans

# the width of the widest thing that could be scrolled sideways
SCROLL = """() => Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth)"""
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def ready(session, monkeypatch):
    """A session with a table in use, all of whose facts are said to be public, in the release mode."""

    async def quiet(_page, _name):
        """Advice takes seconds, and is not what is tested here."""

    monkeypatch.setattr(MyDataPage, "_advise", quiet)

    def new(*, confirmed=True, seed=0):
        one = session()
        one.upload(csv(seed))
        if confirmed:
            one.confirm()
        one.use()
        one.do(one.page.release.enter)
        return one

    return new


def say(one, **values):
    """Change widgets of the release."""
    for name, value in values.items():
        one.do(lambda name=name, value=value: setattr(getattr(one.page.release, name), "value", value))


def release(one):
    say(one, sure=True)
    one.do(one.page.release.start)


def mode(one):
    return one.page.release.mode.data["mode"][0]


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
    assert "charged" in page.release.mode.data["says"][0]
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
    assert "5 facts are proposed from the data. <b>Leave this mode" in step.problems.object
    assert step.button.disabled
    one.do(step.start)
    for left in range(4, -1, -1):
        assert step.button.disabled
        one.page.draft.confirm(*one.page.draft.unconfirmed[0][:2])
        assert len(one.page.draft.unconfirmed) == left
        one.do(step.refresh)
    assert "Nothing is in the way" in step.problems.object
    assert not step.button.disabled
    say(one, sure=False)
    assert "Read the facts, then tick the box" in step.problems.object
    one.do(step.start)
    say(one, sure=True, epsilon=2.0)
    assert "ε = 2 is more than the 1 that is left. <b>Choose a smaller ε" in step.problems.object
    one.do(step.start)
    say(one, epsilon=0.5)
    one.do(lambda: setattr(step.shares.locks["selection"], "value", False))
    one.do(lambda: step.shares._move("selection", 30))
    assert "only columns of 0 and 1 can be selected" in step.problems.object
    assert "<b>Move the sliders.</b>" in step.problems.object
    one.do(step.start)
    one.do(lambda: step.shares._move("selection", 0))
    one.do(lambda: step.shares._move("training", 0))
    assert "without a model" in step.problems.object
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
    assert "<b>0.5</b> of ε = 1 spent" in step.spent.object
    [made] = step.done
    every = zipfile.ZipFile(io.BytesIO(made.files["release-1.zip"][1]))
    names = {"model.joblib", "table.csv", "evaluation.json", "ledger.json", "statement.html", "schema.yaml"}
    assert set(every.namelist()) == {f"release-1/{name}" for name in names}
    for name in names:
        assert every.read(f"release-1/{name}") == made.files[f"release-1-{name}"][1]
    # the model predicts raw records
    model = joblib.load(io.BytesIO(made.files["release-1-model.joblib"][1]))
    fresh = own_tables.customers(seed=7).drop(columns="label")
    assert set(model.predict(fresh)) <= set(own_tables.SCHEMA.classes)
    table = pd.read_csv(io.BytesIO(made.files["release-1-table.csv"][1]))
    assert set(table.columns) == {*own_tables.customers().columns}
    # the ledgers say what was charged
    ledger = json.loads(made.files["release-1-ledger.json"][1])
    assert ledger["status"] == "release"
    assert sum(charge["epsilon"] for charge in ledger["charges"]) == pytest.approx(0.5)
    whole = json.loads(step.files._files["release-session-ledger.json"])
    assert whole["spent"] == pytest.approx(0.5)
    assert len(whole["charges"]) == len(ledger["charges"]) == len(step.budget.ledger)
    assert b"Ada &lt;b&gt;Example&lt;/b&gt;" in made.files["release-1-statement.html"][1]
    assert b"demonstration run" not in made.files["release-1-statement.html"][1].lower()
    assert "Right" in step.ledger.object


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
    assert "2 releases in this session: <b>0.9</b> of ε = 1 spent, <b>0.1</b> left" in step.spent.object
    assert step.which.options == ["Release 1", "Release 2"]
    assert "release-2.zip" in step.files.names
    say(one, which="Release 1")
    assert "release-1.zip" in step.files.names
    release(one)
    assert "ε = 0.4 is more than the 0.1 that is left" in step.problems.object
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
    assert any("Leave the release first" in text for text in one.said)


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
    name = one.shell.settings.own.table.name
    for text in (
        caplog.text,
        one.shell.address.data["query"][0],
        str(one.shell.pins.data),
        repr(one.page.release.done),
    ):
        assert not any(secret in text for secret in (*own_tables.SECRETS, name))


def test_it_is_gone_when_the_session_ends_also_while_it_runs(ready, monkeypatch):
    one = ready()
    step = one.page.release
    release(one)
    begun, go_on = threading.Event(), threading.Event()
    usual = releases.run

    def slow(*arguments):
        begun.set()
        assert go_on.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(releases, "run", slow)
    say(one, sure=True)
    page = one.page

    async def end():
        step.start()
        while not begun.is_set():
            await asyncio.sleep(0.01)
        one.shell.stop()
        assert step.done == []
        assert step.files._files == {}
        go_on.set()
        while page._tasks:
            await asyncio.sleep(0.01)

    one.loop.run_until_complete(asyncio.wait_for(end(), 120))
    assert step.done == []
    assert step.files._files == {}
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

    def after(self, function):
        """Return a function that does what another does, and then waits."""

        def gated(*arguments, **options):
            result = function(*arguments, **options)
            self.begun.set()
            assert self.go_on.wait(60)
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
    assert step.done == []


@pytest.mark.parametrize("place", ["first draw", "last file"])
def test_a_release_that_is_cancelled_once_it_has_begun_is_spent_and_shows_nothing(ready, monkeypatch, place):
    """Its charges are made before its first draw, and a refund would need a proof that nothing was learned."""
    one, gate = ready(), Gate()
    step = one.page.release
    with monkeypatch.context() as changed:
        if place == "first draw":
            changed.setattr(plans, "carry_out", gate.before(plans.carry_out))
        else:
            changed.setattr(releases, "run", gate.after(releases.run))
        cancel(one, gate)
    # plans are tried out afterwards, on no records
    assert gate.ends[0] == ("Stopped" if place == "first draw" else "whole")
    assert "It had begun, so its <b>ε = 0.5</b> is spent" in step.said.object
    assert step.budget.spent == pytest.approx(0.5)
    assert "0 releases in this session: <b>0.5</b> of ε = 1 spent" in step.spent.object
    # what is spent is seen, and nothing else
    assert step.after.visible
    assert step.files.names == ["release-session-ledger.json"]
    assert json.loads(step.files._files["release-session-ledger.json"])["spent"] == pytest.approx(0.5)
    # and the next one takes what is left
    release(one)
    assert len(step.done) == 1
    assert step.budget.spent == pytest.approx(1.0)


def test_a_release_that_is_cancelled_before_it_begins_is_free(ready, monkeypatch):
    """It waits for that of another session; the one in front goes on."""
    first, second, gate = ready(), ready(seed=1), Gate()
    step = second.page.release
    say(second, sure=True)
    with monkeypatch.context() as changed:
        changed.setattr(releases, "run", gate.before(releases.run))
        front = releases.RELEASING.submit(gate.before(dict))

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
    assert "Cancelled before it began: nothing is spent." in step.said.object
    # the total of a session is fixed by its first charge
    assert step.budget is None
    assert not step.total.disabled
    assert step.before.visible
    release(second)
    assert len(step.done) == 1
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
    assert "Cancelled before it began" in step.said.object
    assert step.done == []
    assert step.budget is None


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("zanzibar-plan"),
        InvalidData("column 'plan' has the value 'zanzibar-plan'"),
        RuntimeError("quokka-count"),
        BudgetExceeded("there is 0 left"),
        NotPrivate("a part charged something else"),
    ],
)
def test_a_fault_shows_no_value_from_the_data_and_the_next_try_is_open(ready, monkeypatch, caplog, fault):
    one = ready()
    step = one.page.release

    def broken(*_arguments):
        raise fault

    with caplog.at_level(logging.DEBUG), monkeypatch.context() as changed:
        changed.setattr(releases, "run", broken)
        release(one)
    assert "Not released" in step.said.object
    shown = step.said.object + step.problems.object + caplog.text
    assert not any(secret in shown for secret in own_tables.SECRETS)
    assert step.done == []
    release(one)
    assert len(step.done) == 1


@pytest.mark.filterwarnings("error::dpml.exceptions.FactWarning")
def test_without_secure_noise_there_are_demonstration_runs_only_and_every_file_says_so(ready, monkeypatch, caplog):
    monkeypatch.setattr(releases, "has_noise", lambda: False)
    with caplog.at_level(logging.DEBUG):
        one = ready(confirmed=False)
        step = one.page.release
        assert mode(one) == "demonstrating"
        assert "not a release" in step.mode.data["says"][0]
        assert step.button.label == "Demonstrate"
        assert words.INSTALL in step.problems.object
        # what was read off the data may be tried; how many cells do not fit is told to no log: a warning would be
        # an error here
        one.page.draft.say("age", lower=18.0, upper=40.0)
        one.do(step.refresh)
        release(one)
    assert "1 demonstration run in this session" in step.spent.object
    [made] = step.done
    assert made.title == "Demonstration 1"
    assert all(name.startswith("demonstration-") for name in step.files.names)
    for name, (_title, content) in made.files.items():
        if name.endswith((".zip", ".joblib")):
            continue
        assert b"demonstration run, not a release" in content.lower(), name
    assert (
        joblib.load(io.BytesIO(made.files["demonstration-1-model.joblib"][1])).status_
        == "demonstration run, not a release"
    )
    assert (
        json.loads(step.files._files["demonstration-session-ledger.json"])["status"]
        == "demonstration run, not a release"
    )
    assert not any(secret in caplog.text for secret in ("clipped", *own_tables.SECRETS))


def test_a_session_keeps_only_so_many_releases(ready, monkeypatch):
    monkeypatch.setattr(releases, "MOST_KEPT", 1)
    one = ready()
    release(one)
    say(one, sure=True)
    assert "keeps no more releases" in one.page.release.problems.object
    assert one.page.release.button.disabled


# ---- the bar ---------------------------------------------------------------------------------------------------------


def total(bar):
    return sum(bar.shares.values())


def test_sliders_move_each_other_and_locked_ones_stay():
    changes = []
    bar = BudgetBar(0.5, lambda: changes.append(total(bar)))
    bar.sliders["training"].value = 70
    assert bar.sliders["selection"].value == pytest.approx(10)
    assert bar.sliders["publishing"].value == pytest.approx(10)
    bar.locks["training"].value = True
    assert bar.sliders["training"].disabled
    bar.sliders["selection"].value = 90
    # there is no more room, and the slider says so
    assert bar.sliders["selection"].value == pytest.approx(30)
    assert bar.shares["training"] == pytest.approx(0.7)
    assert bar.shares["publishing"] == 0.0
    bar.sliders["training"].value = 10
    assert bar.sliders["training"].value == pytest.approx(70)
    bar.locks["publishing"].value = bar.locks["evaluation"].value = True
    assert all(slider.disabled for slider in bar.sliders.values())
    assert changes == pytest.approx([1.0] * len(changes))
    assert len(changes) == 3


@pytest.mark.parametrize("junk", [None, -3.0, 1e300, float("nan"), float("inf")])
def test_what_a_browser_says_of_a_slider_is_not_trusted(junk):
    bar = BudgetBar(0.5, lambda: None)
    bar._move("training", junk)
    assert total(bar) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in bar.shares.values())


def test_the_bar_says_what_each_part_has_and_what_is_left_out():
    said = drawn(2.0, {"selection": 0.0, "training": 0.75, "evaluation": 0.0, "publishing": 0.25}, {"publishing"})
    assert "Selection left out" in said
    assert "Training <b>1.5</b>" in said
    assert "Publishing <b>0.5</b> (locked)" in said
    assert "width:75.000%" in said
    assert "Parts of ε = 2" in said


def test_each_slider_and_lock_has_a_name_of_its_own():
    bar = BudgetBar(0.5, lambda: None)
    named = [widget.label for widget in (*bar.sliders.values(), *bar.locks.values())]
    assert len(set(named)) == 2 * len(PARTS)


# ---- files and words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message", [None, [], "x", {}, {"name": None}, {"name": ["a"]}, {"name": "../a"}, {"name": "b"}]
)
def test_only_what_is_offered_is_handed_over(message):
    made, sent = Save(), []
    made._send_msg = sent.append
    made.offer({"a.csv": ("A", b"1"), "b.zip": ("B", b"2")})
    made.offer({"a.csv": ("A", b"1")})
    made._handle_msg(message)
    assert sent == []
    made._handle_msg({"name": "a.csv"})
    assert sent == [{"name": "a.csv", "kind": "text/csv", "content": base64.b64encode(b"1").decode()}]
    made.forget()
    made._handle_msg({"name": "a.csv"})
    assert len(sent) == 1


def test_a_problem_of_a_fact_names_it_without_its_value():
    assert words.against(InvalidSchema("categories of 'plan'", ("01", "1"), "different")) == (
        "categories of 'plan' must be different",
        "Leave this mode, and state it.",
    )


def test_no_text_of_the_table_is_markup():
    frame = pd.DataFrame({"a": [EVIL, "b"] * 3, EVIL: [1, 2] * 3, "left": ["no", EVIL] * 3})
    preview = pd.DataFrame([{"part": EVIL, "released": EVIL, "epsilon": 1.0, "relation": "add-remove", "noise": EVIL}])
    charges = pd.DataFrame([{"label": EVIL, "epsilon": 1.0}])
    found = [words.against(NotPrivate(EVIL))]
    measures = pd.DataFrame([{"measure": EVIL, "value": 0.5, "low": 0.1, "high": 0.9}])
    texts = [words.facts(Draft(frame, EVIL)), words.plan(preview), words.ledger(charges)]
    for text in [*texts, words.problems(found, known=True), words.evaluation(measures)]:
        assert "<img" not in text
        assert "&lt;img" in text


def test_a_part_that_is_left_out_has_no_file(ready):
    one = ready()
    step = one.page.release
    one.do(lambda: step.shares._move("publishing", 0))
    release(one)
    [made] = step.done
    assert "release-1-table.csv" not in made.files
    assert "release-1-model.joblib" in made.files
    one.do(lambda: step.shares._move("publishing", 100))
    release(one)
    assert "release-2-table.csv" in step.done[1].files
    assert not {"release-2-model.joblib", "release-2-evaluation.json"} & set(step.done[1].files)


# ---- colours ---------------------------------------------------------------------------------------------------------


def luminance(colour):
    """Return the relative luminance of WCAG 2.2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_read_in_its_colour_and_seen_on_both_pages(part):
    assert contrast("#ffffff", COLOURS[part]) >= 4.5
    for page in ("#ffffff", "#121212"):
        assert contrast(page, COLOURS[part]) >= 3


def test_the_strip_and_the_pages_of_both_modes_are_read_in_light_and_dark():
    strips = re.findall(r"#mode \{\s*display: block; background: [^#;]*(#\w{6})[^#;]*(#\w{6})?", STYLES)
    assert len(strips) == 2
    for colour in filter(None, (colour for strip in strips for colour in strip)):
        assert contrast("#ffffff", colour) >= 4.5
    mixed = re.findall(r"color-mix\(in srgb, var\(--panel-background-color, #f6f8fa\) (\d+)%, (#\w{6})\)", STYLES)
    assert len(mixed) == 2
    for share, tint in mixed:
        for page, written in (("#f6f8fa", "#16202c"), ("#121212", "#ffffff")):
            assert contrast(between(page, tint, int(share) / 100), written) >= 7


def between(one, other, share):
    """Return the colour that has a share of one and the rest of another."""
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


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
    for _step in range(2):
        page.get_by_role("button", name="Next", exact=True).click()
    facts = page.get_by_role("radiogroup", name="Tick each").get_by_role("checkbox")
    expect(facts).to_have_count(5)
    for fact in facts.all():
        fact.check()
    expect(page.get_by_text("Every fact is stated, or confirmed by you.")).to_be_visible()
    page.get_by_role("button", name="Use this table").click()
    page.get_by_role("button", name="Release something").click()
    strip = page.locator("#mode")
    expect(strip).to_have_text(MODES["releasing"])
    # a part takes from those that are not locked
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "50%")
    page.get_by_role("checkbox", name="Lock publishing").check()
    expect(app.slider("Publishing")).to_be_disabled()
    app.push("Training")
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "51%")
    expect(app.slider("Evaluation")).to_have_attribute("aria-valuetext", "24%")
    app.push("Training", "End")
    expect(app.slider("Evaluation")).to_have_attribute("aria-valuetext", "0%")
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "75%")
    app.push("Evaluation", "PageUp")
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "65%")
    expect(app.slider("Publishing")).to_have_attribute("aria-valuetext", "25%")
    parts = page.get_by_role("list", name="Parts of ε = 0.5")
    expect(parts).to_contain_text("Training 0.325")
    plan = page.get_by_role("table", name="Plan")
    expect(plan).to_contain_text("0.325")
    button = page.get_by_role("button", name="Release", exact=True)
    expect(button).to_be_disabled()
    grave = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]]) for v in grave] == []
    page.get_by_role("checkbox", name="The facts above are public").check()
    expect(button).to_be_enabled()
    button.dblclick()
    expect(page.get_by_text("1 release in this session")).to_be_visible()
    for title, name in (("All files (zip)", "release-1.zip"), ("Model (joblib)", "release-1-model.joblib")):
        for _again in range(2):
            with page.expect_download() as kept:
                page.get_by_role("button", name=title, exact=True).click()
            assert kept.value.suggested_filename == name
            content = Path(kept.value.path()).read_bytes()
        if title.startswith("All"):
            assert "release-1/statement.html" in zipfile.ZipFile(io.BytesIO(content)).namelist()
        else:
            assert joblib.load(io.BytesIO(content)).status_ == "release"
    # a phone: nothing is wider than it, and the strip stays
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"() => ({SCROLL})() <= 390")
    expect(strip).to_be_in_viewport()
    # the mode is of this page
    app.turn("noise")
    expect(strip).to_be_hidden()
    app.turn("mydata")
    expect(strip).to_be_visible()
    page.get_by_role("button", name="Leave this mode").click()
    expect(strip).to_be_hidden()
