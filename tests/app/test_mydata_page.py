"""The page My data, driven as a browser drives it: a file in parts, its facts, then a data set of that session."""

import asyncio
import base64
import logging
import re
import threading

import bad_uploads
import numpy as np
import pytest
import uploaded_tables
from dpml_app import uploaded_table
from dpml_app.pages.mydata import page as mydata
from dpml_app.pages.mydata.page import Upload
from dpml_app.serving.limits import ServerFull
from first_use import with_gaps
from own_session import csv, encoded

from dpml.exceptions import TableTooLarge, TableUnreadable
from dpml.schema import Schema
from dpml.tables import Limits, safe_csv


def test_from_a_file_to_a_data_set_of_this_session_alone(session, caplog):
    one, other = session(), session()
    with caplog.at_level(logging.DEBUG):
        one.upload(csv())
        assert one.said == []
        assert "zanzibar-plan" in one.page.facts.every.object
        one.confirm()
        one.use()
    assert one.said == []
    name = one.shell.settings.uploaded.table.name
    assert one.shell.settings.dataset == name
    assert uploaded_table.dataset(name).frame_schema.n_lower == 280
    assert "Pages with a data set list it as" in one.page.status.object
    # another session knows nothing of it
    assert other.shell.settings.uploaded.table is None
    assert name not in other.shell.settings.param["dataset"].objects
    assert other.shell.settings.assign({"dataset": name}) != []
    assert other.page.draft is None
    # and nothing of it is in a link or a log
    for text in (caplog.text, one.shell.address["query"], one.shell.messages.pins):
        assert not any(
            secret in text for secret in (*uploaded_tables.SECRETS, name, name.removeprefix(uploaded_table.PREFIX))
        )


def test_a_file_that_comes_before_the_page_is_ready_is_read_once_it_is(session):
    one = session()
    page = one.page
    page.sender.doc = None
    one.upload(csv())
    assert page.draft is None
    one.do(lambda: page.sender.spawn(page.start()))
    assert page.draft.file == "customers.csv"
    assert page.steps.objects[1:] == [page.questions.whole, page.facts.whole]


def test_advice_is_given_at_three_epsilons_and_goes_with_the_table(session):
    one = session()
    one.upload(csv())
    assert not one.page.advice.whole.visible
    one.use()
    said = one.page.advice.text.object
    assert one.said == []
    assert said.count("<th scope='row'>") == 3
    assert "estimate" not in said
    assert "attack accuracy up to 52.5%" in said
    assert "Start with" in said or "Too few records" in said
    assert not any(secret in said for secret in uploaded_tables.SECRETS)
    one.do(one.page.drop)
    assert not one.page.advice.whole.visible
    assert one.page.advice.text.object == ""


def test_it_goes_when_it_is_removed_replaced_or_its_session_ends(session):
    one = session()
    names = []
    for seed in range(2):
        one.upload(csv(seed))
        one.use()
        names.append(one.shell.settings.uploaded.table.name)
    assert not uploaded_table.here(names[0])
    assert uploaded_table.here(names[1])
    one.do(one.page.drop)
    assert not uploaded_table.here(names[1])
    assert one.shell.settings.dataset == "census"
    assert one.page.draft is None
    one.upload(csv())
    one.use()
    last = one.shell.settings.uploaded.table.name
    one.shell.stop()
    assert not uploaded_table.here(last)


def test_form_says_what_a_person_says(session):
    one = session()
    one.upload(csv())
    draft = one.page.draft
    one.edit("plan", "categories", 'basic, zanzibar-plan, "student, poor", basic')
    one.edit("quokka-count", "lower", "-6")
    one.edit("quokka-count", "upper", "5e1")
    one.edit("", "classes", "stays, leaves-by-sea, returns")
    one.edit("", "n_lower", "300")
    assert draft.columns["plan"].categories == ("basic", "zanzibar-plan", "student, poor")
    assert (draft.columns["quokka-count"].lower, draft.columns["quokka-count"].upper) == (-6.0, 50.0)
    assert draft.proposed == []
    assert draft.classes == ("stays", "leaves-by-sea", "returns")
    assert draft.n_lower == 300
    one.edit("age", "kind", "ignored")
    assert draft.columns["age"].kind == "ignored"
    assert not one.page.facts.typed["lower"].visible


def test_a_fault_is_said_in_the_table_and_the_table_is_not_used(session):
    one = session()
    one.upload(csv())
    for wrong in ("10,000", "many", "1.5", "0"):
        one.edit("", "n_lower", wrong)
    assert one.said == []
    one.use()
    assert any("number of records" in text for text in one.said)
    assert one.shell.settings.uploaded.table is None
    one.edit("", "n_lower", "700")
    assert one.said == []
    one.edit("quokka-count", "lower", "low")
    assert "lower must be a finite number" in one.page.facts.every.object
    assert one.page.facts.typed["lower"].value == "low"
    one.edit("quokka-count", "lower", "99")
    assert "must be two numbers, lower &lt; upper" in one.page.facts.every.object
    one.edit("quokka-count", "lower", "-5")
    assert "must be" not in one.page.facts.every.object
    one.edit("plan", "kind", "numeric")
    assert "bounds must be two numbers" in one.page.facts.every.object
    assert one.said == []
    one.use()
    assert any("bounds of 'plan' must be two numbers" in text for text in one.said)
    assert one.shell.settings.uploaded.table is None


def test_another_label_is_chosen(session):
    one = session()
    one.upload(csv())
    one.do(lambda: setattr(one.page.facts.which, "value", "plan"))
    one.edit("", "label", "plan")
    assert (one.page.draft.label, one.page.draft.classes) == ("plan", ("basic", "zanzibar-plan"))
    # the labels that were guessed first are a column again
    assert one.page.draft.columns["label"].kind == "categorical"
    assert one.page.facts.which.options == list(one.page.draft.columns)
    assert one.page.facts.which.value == "age"


def test_numbers_are_written_as_the_file_writes_them(session):
    one = session()
    one.upload(b"height;left\n" + b"".join(b"%d,5;no\n%d,5;yes\n" % (i, i + 1) for i in range(150, 180)))
    assert one.page.facts.typed["lower"].value == "143"
    for text, value in (("120,5", 120.5), ("1.200", 1200.0), ("1.5", "1.5")):
        one.edit("height", "lower", text)
        assert one.page.draft.columns["height"].lower == value


def test_next_column_to_check_is_one_that_lacks_a_source(session):
    one = session()
    one.upload(csv())
    form = one.page.facts
    assert (form.which.value, form.known["column"].visible) == ("age", False)
    seen = []
    while not form.next.disabled:
        one.do(lambda: form.next.param.trigger("clicks"))
        seen.append(form.which.value)
        one.do(lambda: setattr(form.known["column"], "value", True))
    assert seen == ["quokka-count", "plan"]
    assert [each.column for each in one.page.draft.unconfirmed] == ["", ""]
    assert form.known["table"].label == "From a public source: labels, number of records"


def test_late_tick_confirms_no_other_column(session):
    one = session()
    one.upload(csv())
    form = one.page.facts
    one.do(lambda: setattr(form.which, "value", "quokka-count"))
    seen, labels = form.known["column"], form.known["table"]
    one.do(lambda: form.next.param.trigger("clicks"))
    assert form.which.value == "plan"
    one.do(lambda: setattr(seen, "value", True))
    assert {each.column for each in one.page.draft.unconfirmed} == {"plan", ""}
    assert not form.known["column"].value
    one.do(lambda: setattr(form.label, "value", "plan"))
    assert form.known["table"] is not labels


def test_reading_is_cancelled(session, monkeypatch):
    one = session()
    usual, page = mydata.examine_table, one.page

    def slow(*arguments, **options):
        assert page.cancel.visible
        page._stop.set()
        return usual(*arguments, **options)

    monkeypatch.setattr(mydata, "examine_table", slow)
    one.upload(csv())
    assert page.draft is None
    assert one.said == ["Cancelled: customers.csv was not read"]
    assert not page.cancel.visible


def test_whatever_is_changed_goes_as_one_message(session):
    """A widget changes outside the document's lock, where the server refuses a source's change that is not held."""
    one = session()
    one.upload(csv())
    page, seen = one.page, []

    def watch(source):
        source.on_change("data", lambda _attr, _old, _new: seen.append((source.name, one.doc.callbacks.hold_value)))

    for source in (page.state, page.step):
        watch(source)
    one.edit("age", "lower", "18")
    one.confirm()
    one.use()
    for button in (page.to_release, page.from_release, page.remove):
        one.do(lambda button=button: button.param.trigger("clicks"))
    assert {name for name, _held in seen} == {"mydata-state", "mydata-step"}
    assert {held for _name, held in seen} == {"combine"}


def test_what_a_gap_counts_as_is_typed_for_each_kind_of_column(session):
    one = session()
    one.upload(safe_csv(with_gaps()).encode())
    form, draft = one.page.facts, one.page.draft
    one.edit("plan", "missing", "basic")
    assert draft.columns["plan"].missing == "basic"
    one.edit("age", "missing", "30")
    assert (draft.columns["age"].missing, form.typed["missing"].value) == (30, "30")
    one.edit("age", "missing", "none")
    assert "missing must be a" in form.every.object
    one.edit("age", "missing", "")
    assert draft.columns["age"].missing is None
    assert form.typed["missing"].placeholder == "midpoint"
    one.edit("age", "kind", "binary")
    one.edit("age", "missing", "1")
    assert draft.columns["age"].missing == 1
    one.do(lambda: setattr(form.which, "value", "quokka-count"))
    assert not form.typed["missing"].visible
    assert one.said == []


def test_a_schema_is_saved_and_loaded(session, monkeypatch):
    one, threads, owners = session(address="192.0.2.1"), [], []
    read, call = Schema.from_yaml, mydata.LONG.call
    monkeypatch.setattr(Schema, "from_yaml", lambda text: threads.append(threading.current_thread()) or read(text))
    monkeypatch.setattr(mydata.LONG, "call", lambda *a, owner=None: owners.append(owner) or call(*a, owner=owner))
    one.upload(csv())
    one.do(lambda: one.page.draft.say("plan", categories=("basic", "zanzibar-plan", "x")))
    one.do(one.page._show)
    link = re.search(r'href="data:text/yaml;base64,([^"]+)"', one.page.schema_file.object)
    text = base64.b64decode(link[1]).decode()
    one.upload(csv(1))
    assert one.page.draft.columns["plan"].categories == ("basic", "zanzibar-plan")
    one.upload(text.encode(), "schema.yaml", one.page.schema_upload)
    assert one.page.draft.columns["plan"].categories == ("basic", "zanzibar-plan", "x")
    one.upload(b"features: [", "schema.yaml", one.page.schema_upload)
    assert any("line 1" in said for said in one.said)
    one.upload(b"\xff", "schema.yaml", one.page.schema_upload)
    assert any("must be UTF-8 text" in said for said in one.said)
    assert len(threads) == 2
    assert threading.main_thread() not in threads
    assert set(owners) == {"192.0.2.1"}, "a client has one turn, in whatever sessions"


@pytest.mark.parametrize("number", range(0, len(bad_uploads.FAULTS), 4), ids=list(bad_uploads.FAULTS)[::4])
def test_a_bad_file_ends_in_a_message_or_in_the_table_of_facts(session, number):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    one = session()
    one.page.limits = Limits(**bad_uploads.LIMITS)
    _kind, content, expected = bad_uploads.upload(number)
    one.upload(content, "upload.csv")
    if expected == {None}:
        assert one.page.facts is not None
    else:
        assert one.page.facts is None
        [said] = one.said
        assert said.startswith("'upload.csv'")
    assert one.page.bar.object == ""


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_two_browsers_one_table(make_app, server, tmp_path):
    """The table is uploaded in one browser, used and shown there, and the other one is offered nothing of it."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect
    from waiting import wait

    (tmp_path / "customers.csv").write_bytes(csv())
    pages, told = [], []
    for number in range(2):
        page = make_app(server, width=1440, height=900).page
        if number:  # all that the other browser is told
            page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: told.append(str(frame))))
        page.goto(f"{server.url}?page=mydata")
        pages.append(page)
    mine, theirs = pages
    mine.locator("section.shown input[type=file]").first.set_input_files(tmp_path / "customers.csv")
    expect(mine.get_by_role("textbox", name="Records, at least")).to_have_value("400")
    # a fault comes once a number is typed, and goes as it is corrected
    lower = mine.get_by_role("textbox", name="Lower bound")
    for typed, faults in (("x", 1), ("18", 0)):
        lower.fill(typed)
        lower.press("Enter")
        expect(mine.get_by_text("lower must be a finite number")).to_have_count(faults)
    mine.get_by_role("button", name="Next column to check").click()
    expect(mine.get_by_role("checkbox", name="From a public source: lower bound, upper bound")).to_be_visible()
    mine.get_by_role("button", name="Next column to check").click()
    expect(mine.get_by_role("textbox", name="Categories")).to_have_value("basic, zanzibar-plan")
    grave = [v for v in Axe().run(mine).response["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]]) for v in grave] == []
    mine.get_by_role("button", name="Use this table").click()
    mine.get_by_role("button", name="Open Classifiers").click()
    expect(mine.get_by_role("combobox", name="Data set")).to_have_text("My table")
    assert "own-" not in mine.url
    theirs.get_by_role("link", name="Classifiers", exact=True).click()
    theirs.get_by_role("combobox", name="Data set").click()
    expect(theirs.get_by_role("menuitem", name="Toy, generated")).to_be_visible()
    expect(theirs.get_by_role("menuitem", name="My table")).to_have_count(0)
    wait(theirs, lambda: len(told) > 5)
    assert not any(
        secret in message for message in told for secret in (*uploaded_tables.SECRETS, uploaded_table.PREFIX)
    )


# ---- what a browser sends of a file is not trusted -------------------------------------------------------------------


def control(most=100):
    got, faults = [], []
    made = Upload(most=most, on_file=lambda name, content: got.append((name, content)), on_fault=faults.append)
    return made, got, faults


def test_parts_become_a_file_and_a_new_file_begins_anew():
    made, got, faults = control()
    made._handle_msg({"serial": 1, "name": "a", "size": 9, "data": encoded(b"begun"), "last": False})
    made._handle_msg({"serial": 2, "name": "b", "size": 4, "data": encoded(b"ab"), "last": False})
    made._handle_msg({"serial": 2, "name": "b", "size": 4, "data": encoded(b"cd"), "last": True})
    assert got == [("b", b"abcd")]
    assert faults == []
    assert not made._parts


def test_no_more_is_kept_than_is_allowed_whatever_the_browser_says_of_it():
    made, got, faults = control()
    for size in (101, np.inf, 10**400):
        made._handle_msg({"serial": 1, "name": "a", "size": size, "data": encoded(b"x"), "last": False})
    for _ in range(30):
        made._handle_msg({"serial": 2, "name": "a", "size": 1, "data": encoded(b"x" * 60), "last": False})
        assert len(made._parts) <= 100
    assert all(isinstance(fault, TableTooLarge) for fault in faults)
    made._handle_msg({"serial": 3, "name": 7, "size": "many", "data": "not base64!", "last": True})
    assert isinstance(faults.pop(), TableUnreadable)
    assert len(faults) == 18
    assert got == []


@pytest.mark.parametrize("message", [None, [], "x", {}, {"serial": "1"}, {"serial": None, "data": "x"}])
def test_what_is_no_part_is_left_alone(message):
    made, got, faults = control()
    made._handle_msg(message)
    assert got == faults == []


# ---- memory ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_held(monkeypatch):
    """Count what a test uploads alone."""
    for name in ("_HELD", "_CLIENTS", "_UPLOADS"):
        monkeypatch.setattr(uploaded_table, name, {})


def test_parts_that_have_come_count(nothing_held, monkeypatch):
    monkeypatch.setenv("DPML_TABLES_MB", "0.00015")
    first, _, faults = control()
    second, got, refused = control()
    part = {"serial": 1, "name": "a", "size": 100, "data": encoded(b"x" * 80), "last": False}
    first._handle_msg(part)
    assert uploaded_table._held_bytes() == 80
    second._handle_msg(part)
    assert faults == got == []
    assert [type(fault) for fault in refused] == [ServerFull]
    first.free()
    second._handle_msg({**part, "serial": 2, "last": True})
    assert got == [("a", b"x" * 80)]
    assert uploaded_table._held_bytes() == 0


def test_a_table_that_is_not_used_yet_counts(nothing_held, session):
    mine, content = session(), csv()
    mine.upload(content)
    held = uploaded_table._held_bytes()
    assert held == len(content) + mine.page.draft.frame.memory_usage().sum()
    mine.upload(content, name="again.csv")
    assert uploaded_table._held_bytes() == held
    mine.do(mine.page.drop)
    assert uploaded_table._held_bytes() == 0
    mine.upload(content)
    mine.close()
    assert uploaded_table._held_bytes() == 0


def test_a_file_that_has_no_room_is_refused(nothing_held, session, monkeypatch):
    mine, content = session(), csv()
    monkeypatch.setenv("DPML_TABLES_MB", f"{len(content) / 1e6}")
    mine.upload(content)
    assert mine.page.draft is None
    assert mine.said == ["the server has no memory left for tables. Try again later"]
    assert uploaded_table._held_bytes() == 0


def test_one_address_holds_so_much(nothing_held, session, monkeypatch):
    content = csv()
    first, second, other = (session(address=address) for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2"))
    first.upload(content)
    monkeypatch.setenv("DPML_CLIENT_MB", f"{1.5 * uploaded_table._held_bytes() / 1e6}")
    for each in (second, other):
        each.do(lambda each=each: each.page._on_file("mine.csv", content))
    assert [each.page.draft is None for each in (first, second, other)] == [False, True, False]
    assert "MB (DPML_CLIENT_MB). " in second.said[0]
    assert second.said[0].endswith("Remove a table, or close other windows of this app")


# ---- turns -----------------------------------------------------------------------------------------------------------


def test_a_session_reads_the_last_of_its_files_alone(session, monkeypatch):
    one, begun, read = session(), [], mydata.examine_table
    noted = lambda content, *, name, **options: begun.append(name) or read(content, name=name, **options)  # noqa: E731
    monkeypatch.setattr(mydata, "examine_table", noted)
    one.do(lambda: [one.page._on_file(f"{number}.csv", csv()) for number in range(20)])
    assert begun == [one.page.draft.file] == ["19.csv"]


def test_one_client_has_one_reader(session, monkeypatch):
    """While one client's file is read, the files that it has sent after it wait, and another client's is read."""
    begun, go_on, read = [], threading.Event(), mydata.examine_table

    def slow(content, *, name, **options):
        begun.append(name)
        if name.startswith("greedy"):
            assert go_on.wait(60)
        return read(content, name=name, **options)

    monkeypatch.setattr(mydata, "examine_table", slow)
    other = session(address="192.0.2.2")
    greedy = [session(address="192.0.2.1", loop=other.loop) for _ in range(3)]

    async def main():
        for number, each in enumerate(greedy):
            each.page._on_file(f"greedy-{number}.csv", csv())
        while not begun:
            await asyncio.sleep(0.01)
        other.page._on_file("other.csv", csv())
        while other.page.draft is None:
            await asyncio.sleep(0.01)
        assert begun == ["greedy-0.csv", "other.csv"]
        go_on.set()
        while any(each.page.sender.tasks for each in greedy):
            await asyncio.sleep(0.01)

    other.loop.run_until_complete(asyncio.wait_for(main(), 120))
    assert all(each.page.draft is not None for each in greedy)
