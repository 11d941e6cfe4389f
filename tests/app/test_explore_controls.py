"""Every control changes what it should on the Explore page, and only that; links carry all of it."""

import pytest

pytestmark = pytest.mark.browser
QUERY = "?dataset=toy&draws=20"
METHODS = ("published", "count", "mutual_information", "row-bounded", "logistic")
SELECTING = ("count", "mutual_information")


def curves(*methods):
    return {f"accuracy-{m}" for m in methods}


def now(*methods):
    return {f"accuracy-{m}-now" for m in methods}


ROC, MAP = {"roc-private", "roc-exact"}, {"map-cells"}
# the best cells may or may not move with the others
EITHER = {"map-best"}
# all on one page, in this order
CASES = {
    "epsilon": (
        lambda app: app.press("ε", "ArrowRight"),
        now(*METHODS) | ROC | {"selection-drawn", "map-current"},
    ),
    "relation": (
        lambda app: app.click("radio", "Replace one record"),
        curves(*METHODS) | now(*METHODS) | ROC | MAP | {"selection-drawn"},
    ),
    "n_features": (
        lambda app: app.press("Number of features", "ArrowLeft"),
        curves(*SELECTING) | now(*SELECTING) | {"selection-drawn", "map-current"},
    ),
    "selection_share": (
        lambda app: app.press("Split of the budget", "ArrowRight"),
        curves(*SELECTING) | now(*SELECTING) | {"selection-drawn"} | MAP,
    ),
    "threshold_percentile": (
        lambda app: app.press("Threshold percentile", "ArrowRight"),
        curves("published", *SELECTING) | now("published", *SELECTING) | MAP,
    ),
    "row_bound": (
        lambda app: app.press("Row bound", "ArrowRight", "ArrowRight"),
        curves("row-bounded") | now("row-bounded") | ROC,
    ),
    "reg_lambda": (
        lambda app: app.press("λ", "ArrowLeft"),
        curves("logistic") | now("logistic"),
    ),
    "map_score": (lambda app: app.click("radio", "Mutual information"), MAP),
    "draws": (
        lambda app: app.press("Draws", "ArrowRight"),
        curves(*METHODS) | now(*METHODS) | MAP | {"roc-private"},
    ),
    "seed": (
        lambda app: app.click("button", "Redraw"),
        curves(*METHODS) | now(*METHODS) | ROC | MAP,
    ),
}


def test_each_control_changes_what_it_should_and_nothing_else(app):
    app.open(QUERY)
    before, link = app.everything(), app.query
    for control, (act, expected) in CASES.items():
        act(app)
        after, now = app.everything(), app.query
        assert {name for name in before if before[name] != after[name]} - EITHER == expected, control
        assert {name for name in link if link[name] != now[name]} == {control}
        if control == "seed":
            assert int(now["seed"]) == int(link["seed"]) + 1, "Redraw takes the next seed"
        before, link = after, now


def test_dataset_changes_everything(app):
    app.open("?draws=20")
    before = app.everything()
    app.choose("Toy, generated")
    after = app.everything()
    same = {name for name in before if before[name] == after[name]}
    assert same <= EITHER | {"map-current"}
    assert app.query["dataset"] == "toy"
    assert "1,000 training" in app.text


def test_marker_follows_epsilon(app):
    app.open(QUERY)
    app.press("ε", "ArrowRight", "ArrowRight")
    chosen = float(app.query["epsilon"])
    assert chosen == 0.16
    location = app.page.evaluate("Bokeh.documents[0].get_model_by_name('accuracy-marker').location")
    assert location == chosen
    assert app.read("map-current") == {"epsilon": [chosen], "n_features": [20]}
    body = app.text
    assert "At ε = 0.16" in body
    assert "1.18" in body  # e to the 0.16, never rounded down


def test_zoom_is_kept(app):
    app.open(QUERY)
    app.page.evaluate("Bokeh.documents[0].get_model_by_name('accuracy').y_range.setv({start: 0.7, end: 0.8})")
    app.press("ε", "ArrowRight")
    app.press("Threshold percentile", "ArrowRight")
    zoom = app.page.evaluate(
        "(({start, end}) => [start, end])(Bokeh.documents[0].get_model_by_name('accuracy').y_range)"
    )
    assert zoom == [0.7, 0.8]


# ---- links ------------------------------------------------------------------------------------------------------

LINK = {
    "dataset": "toy",
    "relation": "replace-one",
    "epsilon": "2.5",
    "reg_lambda": "5",
    "threshold_percentile": "80",
    "n_features": "7",
    "selection_share": "0.3",
    "row_bound": "4",
    "draws": "30",
    "seed": "123",
    "map_score": "mutual_information",
}


def test_link_brings_back_controls_and_data(app, make_app, server):
    app.open("?" + "&".join(f"{k}={v}" for k, v in LINK.items()))
    assert {name: app.query[name] for name in LINK} == LINK
    for label, value in (("ε", "2.5"), ("Number of features", "7"), ("Row bound", "4"), ("Draws", "30")):
        assert app.slider(label).get_attribute("aria-valuetext") == value
    assert app.page.get_by_role("radio", name="Replace one record", exact=True).is_checked()
    again = make_app(server).open(app.search)
    assert again.everything() == app.everything()
    assert again.query == app.query


def test_bad_values_in_a_link_are_reported_and_the_good_ones_kept(app):
    app.open("?dataset=toy&epsilon=7&draws=30&relation=swap&seed=5&colour=red")
    text = " ".join(app.alerts)
    assert "epsilon = 7 is not allowed: it must be one of 0.01" in text
    assert "relation = swap is not allowed: it must be one of add-remove, replace-one" in text
    assert "colour" in text
    query = app.query
    assert (query["draws"], query["seed"]) == ("30", "5")
    assert (float(query["epsilon"]), query["relation"]) == (0.1, "add-remove")


def test_what_a_data_set_does_not_have_is_lowered_and_said(app):
    app.open("?dataset=toy&n_features=90&row_bound=60&draws=10")
    text = " ".join(app.alerts)
    assert "n_features = 90 lowered to 40: toy has 40 features" in text
    assert "row_bound = 60 lowered to 10" in text
    assert app.slider("Number of features").get_attribute("aria-valuemax") == "40"
    assert app.query["n_features"] == "40"
