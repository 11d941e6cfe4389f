"""Each control of the Publish page changes what it should, and drawing again goes on: read without a browser."""

import pytest
from dpml_app.shell import Shell

FIGURES = {
    "table": ["publish-cost-table", "publish-models-table"],
    "cells": ["publish-models-cells"],
    "linear": ["publish-models-linear"],
    "gap": ["publish-gap"],
    "drawn": ["publish-marginals"],
    "release": ["publish-chances-bars"],
    "shares": ["publish-shares-table"],
}
FEW = "&dataset=toy&publish_draws=5&publish_grids=100"
# in this order on one page: what is changed, and which figures that moves
TABLES = {"table", "gap", "shares"}
CONTROLS = [
    ({"publish_draw": 2}, {"drawn"}),
    ({"epsilon": 1.25}, {"gap", "drawn", "release", "shares"}),
    ({"publish_share": 0.47}, (TABLES - {"shares"}) | {"cells", "drawn", "release"}),
    ({"publish_grids": 300}, TABLES | {"cells", "drawn", "release"}),
    ({"publish_classifier": "logistic"}, TABLES),
    ({"seed": 1}, set(FIGURES) - {"release"}),
    ({"relation": "replace-one"}, set(FIGURES)),
    ({"publish_draws": 10}, TABLES | {"cells", "linear"}),
]


def figures(alone):
    return {name: [alone.read(source) for source in sources] for name, sources in FIGURES.items()}


# at each commit two, whose figures are nearly all
@pytest.mark.parametrize(
    "controls", [[CONTROLS[0], CONTROLS[2]], pytest.param(CONTROLS, marks=pytest.mark.full)], ids=["two", "all"]
)
def test_each_control_changes_what_it_should_and_nothing_else(alone, short_curves, controls):
    alone.enter("publish", FEW + "&epsilon=1")
    before, chosen = figures(alone), alone.settings
    for change, expected in controls:
        alone.act(**change)
        after, now = figures(alone), alone.settings
        assert {name for name in before if before[name] != after[name]} == expected, change
        assert {name: now[name] for name in now if chosen[name] != now[name]} == change
        before, chosen = after, now


@pytest.mark.parametrize("here", [pytest.param(True, marks=pytest.mark.data), False])
def test_a_data_set_of_words_is_refused_in_words(monkeypatch, tmp_path, here):
    if not here:
        monkeypatch.setenv("DPML_DATA", str(tmp_path / "nothing"))
    shell = Shell()
    shell.link({"page": "publish", "dataset": "newsgroup1"})
    sentence = "newsgroup1 is text, and this page needs a table, so it shows census."
    assert [text for _severity, text in shell.shown._messages.values()] == [sentence]
    assert not shell.shown.controls.data_offer.get.visible  # what it would bring cannot be shown


def test_drawing_again_shows_the_next_of_the_drawn_tables_and_begins_anew_after_the_last(alone, short_curves):
    alone.enter("publish", FEW + "&epsilon=1&publish_draw=4")
    page, shown = alone.page, []
    for _click in range(3):
        shown.append(page.cards["tables"].rows.object)
        alone.act(publish_draw=alone.settings["publish_draw"] % 5 + 1)
    assert ["Synthetic table 4 of 5" in shown[0], "Synthetic table 5 of 5" in shown[1]] == [True, True]
    assert "Synthetic table 1 of 5" in shown[2]
    assert len(set(shown)) == 3
