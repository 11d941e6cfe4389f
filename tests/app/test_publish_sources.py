"""The Publish page refuses texts: read without a browser."""

from html import unescape

import pytest
from dpml_app.shell import Shell


@pytest.mark.parametrize("here", [pytest.param(True, marks=pytest.mark.data), False])
def test_a_data_set_of_words_is_refused_in_words(monkeypatch, tmp_path, here):
    if not here:
        monkeypatch.setenv("DPML_DATA", str(tmp_path / "nothing"))
    shell = Shell()
    shell.link({"page": "publish", "dataset": "newsgroup1"})
    sentence = "newsgroup1 is text, and this page needs a table, so it shows census."
    assert [unescape(alert.object) for alert in shell.shown.alerts] == [sentence]
    assert not shell.shown.controls.data_offer.name  # what it would bring cannot be shown
