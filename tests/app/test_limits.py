"""Limits of a session and of a server: where they come from, and what happens beyond them."""

import math
import os
import re
import subprocess
import sys

import pytest
from app_server import ROOT
from dpml_app.serving import limits
from dpml_app.serving.limits import LIMITS, most
from dpml_app.serving.serve import DEFAULT_IDLE_MINUTES

from dpml.exceptions import InvalidParameter


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
@pytest.mark.parametrize("said", ["0", "-1", "x", "nan", "inf", "1e300", "5 MB"])
def test_a_value_that_is_not_allowed_is_named(limit, said, monkeypatch):
    monkeypatch.setenv(limit.name, said)
    with pytest.raises(InvalidParameter, match=f"`{limit.name}` must be a number above 0.*Got '{said}'"):
        most(limit)
    with pytest.raises(InvalidParameter, match=limit.name):
        limits.check_all()


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_a_limit_is_what_was_said_or_what_is_usual(limit, monkeypatch):
    monkeypatch.setenv(limit.name, " 2.5 ")
    assert most(limit) == 2.5
    monkeypatch.setenv(limit.name, "")
    assert most(limit) == limit.usual
    assert limit.usual < limit.most or math.isinf(limit.usual)


def test_a_server_does_not_start_with_a_limit_that_is_not_allowed():
    command = [sys.executable, "-m", "dpml_app", "--port", "1"]
    told = {**os.environ, "DPML_TABLES_MB": "plenty"}
    ended = subprocess.run(command, capture_output=True, text=True, env=told, timeout=120)
    assert ended.returncode == 2
    assert re.search("`DPML_TABLES_MB` must be .*Got 'plenty'", ended.stderr)
    assert "Traceback" not in ended.stderr


def test_the_docs_have_every_limit():
    text = (ROOT / "docs" / "how_to" / "serve.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `DPML_")}
    assert set(rows) == {limit.name for limit in LIMITS}
    for limit in LIMITS:
        usual = DEFAULT_IDLE_MINUTES if math.isinf(limit.usual) else limit.usual
        assert rows[limit.name].endswith(f" {usual:g} |")
