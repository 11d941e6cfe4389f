"""The weights that divide one ε among the parts of a release."""

import pytest
from dpml_app.pages.mydata.compute import START, shares_of
from dpml_app.pages.mydata.figures import ShareSliders


def test_shares_are_weights_of_their_sum():
    assert shares_of(START) == {part: weight / 100 for part, weight in START.items()}
    assert shares_of(dict.fromkeys(START, 0.0)) == dict.fromkeys(START, 0.0)


def test_a_slider_changes_all_shares():
    changes = []
    made = ShareSliders(lambda: changes.append(made.shares))
    made.sliders["training"].value = 90
    assert changes == [{"selection": 20 / 150, "training": 0.6, "evaluation": 20 / 150, "publishing": 20 / 150}]
    made.offer(selection=False)
    assert made.shares == {"selection": 0.0, "training": 90 / 130, "evaluation": 20 / 130, "publishing": 20 / 130}
    assert made.sliders["selection"].disabled
    made.offer(selection=True)
    assert made.shares["selection"] == 20 / 150


@pytest.mark.parametrize("junk", [None, -3.0, 1e300, float("nan"), float("inf")])
def test_what_a_browser_says_of_a_slider_is_not_trusted(junk):
    shares = shares_of({**START, "training": junk})
    assert shares["training"] == 0
    assert sum(shares.values()) == pytest.approx(1.0)
