"""The Publish page refuses texts, and drawing again goes on: read without a browser."""

import pytest
from dpml_app.shell import Shell

FEW = "&dataset=toy&publish_draws=5&publish_grids=100"


@pytest.mark.parametrize("here", [pytest.param(True, marks=pytest.mark.data), False])
def test_a_data_set_of_words_is_refused_in_words(monkeypatch, tmp_path, here):
    if not here:
        monkeypatch.setenv("DPML_DATA", str(tmp_path / "nothing"))
    shell = Shell()
    shell.link({"page": "publish", "dataset": "newsgroup1"})
    sentence = "newsgroup1 is text, and this page needs a table, so it shows census."
    assert [text for _severity, text in shell.shown._messages.values()] == [sentence]
    assert not shell.shown.controls.data_offer.name  # what it would bring cannot be shown


def test_drawing_again_shows_the_next_of_the_drawn_tables_and_begins_anew_after_the_last(alone, short_curves):
    alone.enter("publish", FEW + "&epsilon=1&publish_draw=4")
    page, shown = alone.page, []
    for _click in range(3):
        shown.append(page.cards["tables"].rows.object)
        alone.act(publish_draw=alone.settings["publish_draw"] % 5 + 1)
    assert ["Synthetic table 4 of 5" in shown[0], "Synthetic table 5 of 5" in shown[1]] == [True, True]
    assert "Synthetic table 1 of 5" in shown[2]
    assert len(set(shown)) == 3
