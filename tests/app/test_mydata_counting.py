"""A file of too many lines is refused before it is read."""

import time

import pytest
from dpml_app.pages.mydata import counting
from dpml_app.pages.mydata.counting import SPARE, check_lines

from dpml.exceptions import TableTooLarge
from dpml.tables import Limits

MANY = SPARE + 12
LIMITS = Limits(rows=10)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("block", [7, 1 << 22])
def test_lines_are_counted_however_they_end(end, encoding, block, monkeypatch):
    monkeypatch.setattr(counting, "BLOCK", block)
    line = '"a","é"'
    check_lines("a.csv", (f"{line}{end}" * (SPARE + 10)).encode(encoding), LIMITS)
    with pytest.raises(TableTooLarge, match=r"'a\.csv': the file has more than 10,010 lines, the limit is 10 records"):
        check_lines("a.csv", (f"{line}{end}" * (SPARE + 11)).encode(encoding), LIMITS)


@pytest.mark.parametrize("block", [7, 1 << 22])
def test_a_line_end_in_quotes_ends_no_line(block, monkeypatch):
    monkeypatch.setattr(counting, "BLOCK", block)
    check_lines("a.csv", b"a,b\n" + b'"one\ntwo ""and""\r\nthree",1\n' * (MANY // 2), LIMITS)


def test_letters_with_the_byte_of_a_line_end_are_no_lines():
    check_lines("a.csv", ("ਊ" * 50 + "\n").encode("utf-16") + ("ਊ" * MANY).encode("utf-16-le"), LIMITS)


def test_parquet_has_no_lines():
    check_lines("a.parquet", b"PAR1" + b"\n" * MANY, LIMITS)


def test_millions_of_tiny_lines_are_refused_at_once(session):
    """The page says so, and nobody's file waits for a reader."""
    mine, content = session(), b'"",""\n' * 6_000_000
    begun = time.monotonic()
    mine.do(lambda: mine.page._on_file("tiny.csv", content))
    assert "the file has more than 2,010,000 lines, the limit is 2,000,000 records" in mine.said[0]
    assert time.monotonic() - begun < 20  # 0.2 s where nothing else runs; reading took 81 s
    assert mine.page.draft is None
