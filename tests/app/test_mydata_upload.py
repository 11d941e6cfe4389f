"""What a browser sends of a file is not trusted: parts, sizes, numbers of files."""

import pytest
import uploaded_tables
from dpml_app import uploaded_table
from dpml_app.pages.mydata.files import Upload
from own_session import encoded

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
    assert mine.page._messages["file"][1].endswith("this session has uploaded 2 files, and at most 2 are taken")
