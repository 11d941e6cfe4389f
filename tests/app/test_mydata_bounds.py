"""What the bounds of a column cost: drawn before one pays, from the draft as it is."""

import re

import numpy as np
import pandas as pd
import pytest
from dpml_app.pages.mydata import bounds
from dpml_app.pages.mydata.bounds import DRAWS, WIDTHS, bound_loss, bounded
from dpml_app.pages.mydata.published import distance, published

from dpml.exceptions import InvalidData
from dpml.schema import Feature, Schema

N = 3000


def people(seed=0):
    """Return a table in which one number says the label: the young stay."""
    age = np.random.default_rng(seed).integers(20, 60, N)
    return pd.DataFrame({"age": age, "left": np.where(age < 40, "no", "yes")})


def schema(lower, upper):
    return Schema((Feature("age", "numeric", lower=lower, upper=upper, missing=30),), ("no", "yes"), n_lower=1000)


def loss(lower, upper, end="upper"):
    return bound_loss(people(), "left", schema(lower, upper), "age", end, 1.0, "add-remove", lambda: None)


@pytest.mark.parametrize(
    ("upper", "best"),
    # bins that are a whole range wide tell nobody apart; a bound below 40 clips those who leave to those who stay
    [(60 * 32, range(0, 300)), (60, range(40, 200)), (30, range(40, 300))],
)
def test_a_bound_too_wide_or_too_narrow_loses_and_a_better_one_is_found(upper, best):
    one = loss(20, upper)
    means = {width: values.mean() for width, values in one.accuracies.items()}
    assert all(len(values) == DRAWS for values in one.accuracies.values())
    assert int(one.bounds[one.best]) in best
    assert means[one.best] > 0.9
    widest = max(means)
    if upper >= 60:
        assert means[widest] < means[one.best] - 0.2


def test_one_bound_moves_and_the_other_stays():
    for end, other in (("upper", "lower"), ("lower", "upper")):
        for width in WIDTHS:
            before, after = schema(20, 60).features[0], bounded(schema(20, 60), "age", end, width).features[0]
            assert getattr(after, other) == getattr(before, other)
            assert after.upper - after.lower == pytest.approx(40 * width)
    # a value for gaps that is no longer inside goes
    assert bounded(schema(20, 60), "age", "lower", 0.25).features[0].missing is None
    assert bounded(schema(20, 60), "age", "lower", 2.0).features[0].missing == 30


def test_a_table_too_large_for_an_estimate_is_refused(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_CELLS", N - 1)
    with pytest.raises(InvalidData, match="tables of at most 2,999 cells"):
        loss(20, 60)


def test_the_picture_is_made_when_it_is_opened_follows_each_edit_and_goes_with_the_table(session):
    one = session()
    one.upload(people().to_csv(index=False).encode())
    card = one.page.bounds
    assert card.whole.visible
    assert card.figure is None
    one.edit("age", "lower", "20")
    one.edit("age", "upper", "2000")
    one.do(card.show)
    assert list(card.bound.options) == ["age: upper bound", "age: lower bound"]
    assert "<b>too wide</b>" in card.text.object
    assert re.search(r"would add <b>\d+\.\d points</b>", card.text.object), card.text.object
    assert len(card.figure.curves["bound"].data["mean"]) == len(WIDTHS)
    one.edit("age", "upper", "25")
    assert "<b>too narrow</b>" in card.text.object
    one.edit("age", "upper", "60")
    assert "No other width is clearly better" in card.text.object
    before = card.loss
    one.do(lambda: setattr(card.epsilon, "value", 0.1))
    assert (before.epsilon, card.loss.epsilon) == (0.5, 0.1)
    one.edit("age", "upper", "x")
    assert "upper of &#x27;age&#x27;" in card.text.object
    # with nothing to show of the bounds there is nothing of the tables either
    assert (card.table_text.object, list(card.tables.bars.data["column"])) == ("", [])
    one.edit("age", "upper", "60")
    assert "Synthetic table at ε = 0.1" in card.table_text.object
    assert set(card.tables.bars.data["column"]) == {"left", "age"}
    one.do(one.page.drop)
    assert (card.table_text.object, list(card.tables.bars.data["column"])) == ("", [])
    assert (card.loss, card.text.object, card.whole.visible) == (None, "", False)
    assert len(card.figure.curves["bound"].data["mean"]) == 0


def test_a_published_table_is_nearer_to_the_true_one_at_a_larger_epsilon():
    facts = people(), "left", schema(20, 60)
    far, near = (sum(distance(published(*facts, epsilon, "add-remove")).values()) for epsilon in (0.01, 5.0))
    assert near < 0.2 < far
