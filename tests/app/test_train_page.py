"""The Train page in a browser: what is drawn is the library's, and every control moves what it should."""

from functools import partial
from operator import methodcaller

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
press, choose, pick = (partial(methodcaller, name) for name in ("push", "hit", "pick"))
LABELS = """(name) => Bokeh.documents[0].get_model_by_name(name).below
  .filter((model) => model.items).flatMap((legend) => legend.items)
  .filter((item) => item.visible).map((item) => item.label.value ?? item.label)"""
LEVEL = "(name) => Bokeh.documents[0].get_model_by_name(name).location"
# census has both numbers and categories and needs no file; few draws, so that a test does not take long
QUICK = "&draws=10"


def link_of(app):
    # a list may have spaces after its commas, and either quotes
    return {name: value.replace(" ", "").replace("'", '"') for name, value in app.query.items()}


def seen(app, title):
    return app.page.get_by_role("heading", name=title, exact=True).count() == 1


def test_another_family_brings_its_panels_and_controls_and_the_link_restores_them(app, make_app, server):
    app.enter("train", "&dataset=toy" + QUICK)
    expect(app.page.get_by_role("slider", name="λ, linear models", exact=True)).to_have_count(0)
    assert not seen(app, "Regulariser λ: bias against noise")
    app.act(choose("radio", "Linear models"))
    expect(app.page.get_by_role("slider", name="λ, linear models", exact=True)).to_have_count(1)
    expect(app.page.get_by_role("slider", name="Bins of a number", exact=True)).to_have_count(0)
    app.page.get_by_role("heading", name="Regulariser λ: bias against noise", exact=True).wait_for()
    assert not seen(app, "Weight of numbers and categories")
    assert app.read("train-accuracy-objective")["x"] != []
    assert app.read("train-accuracy-binned")["x"] == []
    app.act(press("λ, linear models"))
    assert app.query["train_lambda"] == "0.01"
    other = make_app(server).enter("train", app.search.replace("?page=train", "", 1))
    for name in ("train-accuracy-l1", "train-lambda-output", "train-tuning-disjoint", "train-weights-draws"):
        app.check_becomes(partial(other.read, name), app.read(name))


@pytest.mark.data
def test_many_columns_and_three_classes_are_refused_in_words(app):
    chosen = "&train_family=linear&dataset=sms&train_begin=none&train_linear=functional&train_shown=functional"
    app.enter("train", chosen + QUICK, wait=False)
    app.wait_for_answer(0)
    refused = "Not for this choice: Functional mechanism: too many columns, 8,444; here it is for 400 at most."
    app.scroll()
    # accuracy, size and weights: two of them stand behind "More"
    app.wait_for_text(refused, times=3)
    app.enter("train", "&train_family=linear&dataset=seeds&train_measure=auc" + QUICK)
    app.wait_for_text("A ROC curve is about two classes, and these data have 3: choose accuracy.")
    app.check_becomes(lambda: "against the rest" in app.text, True)
