"""The views of tidy tables: what is drawn is what the table says, its spread included, in the app's styles."""

import re
from functools import partial

import holoviews as hv
import numpy as np
import pandas as pd
import panel as pn
import pytest
from dpml_app import views
from dpml_app.drawing.styles import style_of
from dpml_app.views import display

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.sweep import summarise


def draws(**settings):
    """Return ten draws at each of two ε: 0.50, 0.51, ... at the first, 0.70, 0.71, ... at the second."""
    rows = [(e, d, first + d / 100) for e, first in ((0.1, 0.5), (1.0, 0.7)) for d in range(10)]
    return pd.DataFrame(rows, columns=["epsilon", "draw", "accuracy"]).assign(**settings)


def part(view, kind, label=None):
    return next(p for p in view if type(p).__name__ == kind and label in (None, p.label))


def drawn(view):
    return hv.renderer("bokeh").get_plot(view).state


def test_a_view_in_a_cell_asks_no_other_host():
    text = display.plain(views.curve(draws()) + views.curve(draws()))["text/html"]
    assert text.count('"GridPlot"') == 1
    assert re.findall(r"https?://[^\s\"'\\\\]+", text) == []


def test_interactive_plot_has_sliders_and_a_plain_one_has_none(monkeypatch):
    monkeypatch.setattr(pn.config, "inline", True)
    monkeypatch.setattr(pn.extension, "_loaded", True)
    plot, still = views.interactive(lambda n=2: views.curve(draws().query("draw < @n")), n=[2, 5]), views.curve(draws())
    for view in (plot, still + plot):
        bundle, _ = display.with_sliders(view)
        assert "panel-widget-box" in bundle["text/html"]
        assert '"ImportedStyleSheet"' not in bundle["text/html"]
    assert display.with_sliders(still).keys() == {"text/html"}
    assert "panel-widget-box" not in display.plain(plot)["text/html"]


def test_moved_slider_calls_the_function_with_its_setting():
    shown = []

    def picture(n=5):
        shown.append(n)
        return views.curve(draws().query("draw < @n"))

    pane = pn.pane.HoloViews(views.interactive(picture, n=[2, 5, 10]))
    pane.get_root()
    [slider] = pane.widget_box
    assert (slider.name, slider.value) == ("number of records", 5)
    slider.value = 2
    assert (shown[0], shown[-1]) == (5, 2)


def test_a_band_holds_the_share_of_draws_that_it_says():
    view = views.curve(draws())
    area = part(view, "Area")
    # the 5 % quantile of 0, 1, ... 9 hundredths is 0.45 of them, the 95 % one 8.55
    assert area["low"] == pytest.approx([0.5045, 0.7045])
    assert area["high"] == pytest.approx([0.5855, 0.7855])
    assert part(view, "Curve")["accuracy"] == pytest.approx([0.545, 0.745])
    assert drawn(view).yaxis[0].axis_label == "test accuracy, mean and 90% of runs"


def test_a_band_of_standard_errors_is_that_of_the_mean():
    area = part(views.curve(draws(), band="error"), "Area")
    # the variance of 0, 1, ... 9 with ddof 1 is 55 / 6
    half = 1.96 * np.sqrt(55 / 6) / 100 / np.sqrt(10)
    assert area["low"] == pytest.approx([0.545 - half, 0.745 - half])
    assert area["high"] == pytest.approx([0.545 + half, 0.745 + half])


@pytest.mark.parametrize("band", ["draws", "error"])
def test_a_summarised_table_gives_the_same_band(band):
    of_draws = part(views.curve(draws(), band=band), "Area")
    summarised = part(views.curve(summarise(draws(), ["epsilon"]), band=band), "Area")
    for column in ("low", "high"):
        assert summarised[column] == pytest.approx(of_draws[column])


def test_draws_of_different_settings_are_not_mixed():
    table = pd.concat([draws(n_features=3), draws(n_features=10)])
    with pytest.raises(InvalidData, match=r"epsilon and draw several times.*n_features differ"):
        views.curve(table)
    labels = [p.label for p in views.curve(table, by="n_features") if isinstance(p, hv.Scatter)]
    assert labels == ["T = 3", "T = 10"]


def test_a_value_without_spread_must_be_called_exact():
    table = pd.DataFrame({"epsilon": [0.1, 1.0], "accuracy": [0.5, 0.6], "method": "bound"})
    with pytest.raises(InvalidData, match=r"epsilon = 0\.1 says nothing of its spread"):
        views.curve(table, by="method")
    assert [type(p).__name__ for p in views.curve(table, by="method", exact=True)] == ["Curve", "Scatter"]
    both = pd.concat([table, draws(method="row-bounded")])
    assert len([p for p in views.curve(both, by="method", exact=True) if isinstance(p, hv.Area)]) == 1
    # a summary of one draw has no spread either
    with pytest.raises(InvalidData, match="method = bound, epsilon = 0"):
        views.curve(summarise(both, ["method", "epsilon"]), by="method")


def test_a_method_looks_as_it_does_in_the_app():
    table = pd.concat([draws(study=study) for study in ("row-bounded-naive-bayes", "auto", "of my own", "functional")])
    view = views.curve(table, by="study")
    looks = {}
    for p in view:
        if isinstance(p, hv.Scatter):
            style = hv.Store.lookup_options("bokeh", p, "style").kwargs
            looks[p.label] = style["fill_color"], style["marker"]
    for name in ("row-bounded", "auto", "functional"):
        assert looks[style_of(name).label] == (style_of(name).color, style_of(name).marker)
    assert len({color for color, _marker in looks.values()}) == len(looks) == 4


def test_axes_have_names_and_units():
    figure = drawn(views.curve(draws(), levels={"majority": 0.5}))
    assert "ε (log scale)" in figure.xaxis[0].axis_label
    assert figure.yaxis[0].formatter.format.endswith("%")
    assert [item.label.value for item in figure.legend[0].items] == ["mean", "majority"]


def test_what_is_missing_is_named():
    with pytest.raises(InvalidData, match=r"no column 'auc'\. Its columns are epsilon, draw, accuracy"):
        views.curve(draws(), y="auc")
    with pytest.raises(InvalidData, match="no row"):
        views.curve(draws().iloc[:0])
    with pytest.raises(InvalidParameter, match=r"a DataFrame \(views\.tidy"):
        views.curve({"epsilon": [1]})
    with pytest.raises(InvalidParameter, match="band"):
        views.curve(draws(), band="sd")


def test_tidy_takes_dictionaries_and_arrays():
    table = views.tidy({"a": {1: [0.1, 0.2]}, "b": ([1, 2], np.array([[0.3, 0.4], [0.5, 0.6]]))}, "n", "error")
    assert table["error"].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert table[["method", "n", "draw"]].iloc[-1].tolist() == ["b", 2, 1]
    for wrong in ({"a": 3}, {"a": {1: [[0.1, 0.2]]}}):
        with pytest.raises(InvalidData, match="'a'"):
            views.tidy(wrong)


def test_a_region_is_what_a_claim_admits():
    region = part(views.roc(exact=([0, 1], [0, 1]), claim=1.0), "Area")
    at = region["fpr"]
    assert region["high"] == pytest.approx(np.minimum(np.e * at, 1 - (1 - at) / np.e))


def test_one_released_curve_needs_its_band():
    curve = ([0, 0.5, 1], [0, 0.9, 1])
    with pytest.raises(InvalidData, match="one draw says nothing"):
        views.roc(curve)
    many = ([curve[0], [0, 1]], [curve[1], [0, 1]])  # draws may have different numbers of points
    assert len([p for p in views.roc(many) if p.label == "released"]) == 2
    with pytest.raises(InvalidData, match="not from 0 to 1"):
        views.roc(exact=([0, 2], [0, 1]))
    with pytest.raises(InvalidParameter, match="released"):
        views.roc()


VIEWS = {
    "curve": partial(views.curve, draws(), levels={"majority": 0.5}),
    "roc": partial(views.roc, exact=([0, 1], [0, 1]), claim=0.5),
}
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


@each_view
def test_each_view_is_drawn_without_a_warning(view):
    assert drawn(view()).renderers


@each_view
def test_each_view_takes_the_options_of_its_frame(view):
    shown = drawn(view(title="a title", xlabel="across", ylabel="up", width=500, height=300, show_legend=False))
    assert shown.title.text.startswith("a title")
    assert (shown.xaxis.axis_label, shown.yaxis.axis_label) == ("across", "up")
    assert (shown.width, shown.height) == (500, 300)
