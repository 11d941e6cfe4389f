"""What a browser sends of a file is not trusted: parts, sizes, numbers of files."""

import asyncio
import threading

import pytest
import uploaded_tables
from dpml_app import uploaded_table
from dpml_app.pages.mydata import page as mydata
from dpml_app.pages.mydata.files import Upload
from dpml_app.serving.limits import ServerFull
from own_session import csv, encoded

from dpml.exceptions import TableTooLarge, TableUnreadable


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
    made._handle_msg({"serial": 1, "name": "a", "size": 101, "data": encoded(b"x"), "last": False})
    assert isinstance(faults[0], TableTooLarge)
    for _ in range(30):
        made._handle_msg({"serial": 2, "name": "a", "size": 1, "data": encoded(b"x" * 60), "last": False})
        assert len(made._parts) <= 100
    assert all(isinstance(fault, TableTooLarge) for fault in faults)
    assert len(faults) == 16
    assert got == []


@pytest.mark.parametrize("message", [None, [], "x", {}, {"serial": "1"}, {"serial": None, "data": "x"}])
def test_what_is_no_part_is_left_alone(message):
    made, got, faults = control()
    made._handle_msg(message)
    assert got == faults == []


def test_a_part_that_is_damaged_is_named():
    made, got, faults = control()
    made._handle_msg({"serial": 1, "name": 7, "size": "many", "data": "not base64!", "last": True})
    assert isinstance(faults[0], TableUnreadable)
    assert got == []


@pytest.mark.parametrize(("said", "most"), [(None, 50e6), ("2.5", 2.5e6)])
def test_the_most_that_is_taken_is_50_mb_or_what_the_server_was_told(said, most, monkeypatch):
    monkeypatch.delenv("DPML_UPLOAD_MB", raising=False)
    if said is not None:
        monkeypatch.setenv("DPML_UPLOAD_MB", said)
    assert uploaded_table.most_bytes() == most


def test_a_session_may_upload_so_many_files(session, monkeypatch):
    monkeypatch.setenv("DPML_UPLOADS", "2")
    mine, content = session(), uploaded_tables.customers().to_csv(index=False).encode()
    for _ in range(2):
        mine.upload(content)
        assert mine.page.draft is not None
        mine.do(mine.page.drop)
    mine.upload(content)
    assert mine.page.draft is None
    assert mine.page._messages["file"][1].endswith("this session has uploaded 2 files, the limit is 2")


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
        while any(each.page._tasks for each in greedy):
            await asyncio.sleep(0.01)

    other.loop.run_until_complete(asyncio.wait_for(main(), 120))
    assert all(each.page.draft is not None for each in greedy)
