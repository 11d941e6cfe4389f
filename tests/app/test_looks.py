"""A method looks the same on every page, and methods on one plot can be told apart without colour or by it."""

from dataclasses import replace

import holoviews as hv
import pandas as pd
import pytest
from bokeh.models import Line, Patch, Quad, Scatter, VArea
from bokeh.plotting import figure
from dpml_app import views
from dpml_app.drawing.legend import PlotLegend, stroke
from dpml_app.drawing.styles import (
    BAND_ALPHA,
    DELTA_DASH,
    FAINT_BAND_ALPHA,
    NOT_PRIVATE_DASH,
    PALETTE,
    REFERENCE,
    STYLES,
    all_styles,
    style_of,
)
from dpml_app.drawing.sweep import Line as Swept
from dpml_app.drawing.sweep import Sweep
from dpml_app.lessons import export
from dpml_app.pages.evaluate import figures as evaluate
from dpml_app.pages.evaluate.compute import ROC_STYLES
from dpml_app.pages.explore import figures as explore
from dpml_app.pages.noise import page as noise
from dpml_app.pages.publish import figures as publish
from dpml_app.pages.select import figures as select
from dpml_app.pages.select import page as select_page
from dpml_app.pages.select.compute import SELECTOR_STYLES
from dpml_app.pages.train.compute import METHODS
from dpml_app.pages.train.figures import AccuracyCard, LambdaCard
from dpml_app.views.curve import curve_figure
from dpml_app.views.frame import AXES


def curves(kind, styles=None):
    """Return the figure of a card of curves, with all of its series."""
    if styles:
        kind = type(kind.__name__, (kind,), {"styles": styles})
    return kind().plots[0]


PLOTS = {
    "select accuracy": lambda: curves(select_page.AccuracyCard, {**SELECTOR_STYLES, **select.OWN_STYLES}),
    "train accuracy": lambda: curves(AccuracyCard, {key: method.look for key, method in METHODS.items()}),
    "train lambda": lambda: curves(LambdaCard),
    "publish weights, ε": lambda: curves(publish.WeightsQueryCard),
    "evaluate errors": lambda: curves(evaluate.ErrorsCard, ROC_STYLES),
    "noise rivals": lambda: curves(noise.RivalsCard),
    "noise calibrations": lambda: curves(noise.CalibrationsCard),
}


def dash_of(pattern):
    return Line(line_dash=pattern).line_dash


def glyphs(item):
    return [renderer.glyph for renderer in item.renderers]


def colors(glyph):
    found = {getattr(glyph, name, None) for name in ("line_color", "fill_color")}
    return {color for color in found if isinstance(color, str)} - {"white"}


@pytest.mark.parametrize("name", PLOTS)
def test_a_method_looks_on_each_plot_as_the_table_says(name):
    plot = PLOTS[name]()
    by_label = {style.label: style for style in all_styles()}
    (legend,) = plot.legend
    found = 0
    for item in legend.items:
        style = by_label.get(item.label.value)
        if style is None:
            continue
        found += 1
        for glyph in glyphs(item):
            assert colors(glyph) <= {style.color}
            if isinstance(glyph, Line) and "coins" not in name:
                assert glyph.line_dash == dash_of(style.dash)
            if isinstance(glyph, Scatter):
                assert glyph.marker == Scatter(marker=style.marker).marker
    assert found > 1


@pytest.mark.parametrize("name", PLOTS)
def test_what_is_drawn_looks_like_its_sample_and_is_not_in_the_legend(name):
    plot = PLOTS[name]()
    (legend,) = plot.legend
    samples = {renderer for item in legend.items for renderer in item.renderers}
    drawn = [renderer for renderer in plot.renderers if renderer not in samples]
    assert drawn
    assert samples <= set(plot.renderers)
    assert len({renderer.data_source for renderer in samples}) == 1
    # nothing that the browser's legend view reaches from an item changes with the data
    sources = {renderer.data_source for renderer in drawn}
    for item in legend.items:
        assert not sources & item.references()
    (clicked,) = legend.js_event_callbacks["legend_item_click"]
    assert clicked.args["items"] == legend.items
    for item, shown in zip(legend.items, clicked.args["shown"], strict=True):
        sampled = set().union(*map(colors, glyphs(item)))
        for model in shown:
            # grey stands for marks of every method
            assert sampled == {REFERENCE} or colors(getattr(model, "glyph", model)) <= sampled


WITHOUT_BANDS = ("explore selection", "select coins", "noise")
SWEEP = Sweep("accuracy", "ε", (0.1, 1.0), 1.0, [Swept(style_of("output"), [60, 80], [50, 70], [70, 90])], True)
SWEPT = pd.DataFrame({"epsilon": [0.1, 1.0], "mean": [0.6, 0.8], "low": [0.5, 0.7], "high": [0.7, 0.9]})
BANDS = {
    **{name: plot for name, plot in PLOTS.items() if not name.startswith(WITHOUT_BANDS)},
    "explore cost": lambda: explore.CostFigure().plot,
    "publish models": lambda: curves(publish.ModelsCard),
    "evaluate success": lambda: curves(evaluate.SuccessCard),
    "a lesson's export": lambda: export.drawn(SWEEP, "step")[0],
    "a view of curves": lambda: hv.render(views.curve(SWEPT)),
    "a view of a ROC curve": lambda: hv.render(views.roc(exact=([0, 1], [0, 1]), claim=1.0)),
}


def first(plot, *kinds):
    return next(renderer.glyph for renderer in plot.renderers if isinstance(renderer.glyph, kinds))


@pytest.mark.parametrize("name", BANDS)
def test_every_band_has_the_one_opacity(name):
    plot = BANDS[name]()
    drawn = [r.muted_glyph if r.muted else r.glyph for r in plot.renderers if isinstance(r.glyph, VArea | Patch)]
    samples = {r.glyph for legend in plot.legend for item in legend.items for r in item.renderers}
    # the first is seen, the others when the pointer is on their curve; the first page compares two
    rest = BAND_ALPHA if name == "explore cost" else FAINT_BAND_ALPHA
    assert [glyph.fill_alpha for glyph in drawn] == [BAND_ALPHA] + [rest] * (len(drawn) - 1)
    assert {glyph.fill_alpha for glyph in samples if isinstance(glyph, Quad)} <= {BAND_ALPHA}


@pytest.mark.parametrize("key", ["row-bounded", "output", "vaidya"])
def test_pages_views_and_exports_draw_a_method_alike(key):
    style = style_of(key)
    p = curve_figure("some", AXES["epsilon"], AXES["accuracy"], {key: style}, {}, marks=True).plot
    table = SWEPT.assign(method=key)
    sweep = replace(SWEEP, lines=[Swept(style, [60, 80], [50, 70], [70, 90])])
    others = hv.render(views.curve(table, by="method")), export.drawn(sweep, "step")[0]
    for other in others:
        for kinds, wanted in (((Line,), style.line), ((VArea, Patch), style.band)):
            drawn, page = first(other, *kinds), first(p, *kinds)
            assert [getattr(drawn, name) for name in wanted] == [getattr(page, name) for name in wanted]
    assert [getattr(first(others[0], Scatter), n) for n in style.dot] == [
        getattr(first(p, Scatter), n) for n in style.dot
    ]


def test_same_methods_of_different_pages_are_the_same_style():
    assert replace(publish.STYLES["linear"], label="") == replace(style_of("rule"), label="")
    # row-bounded naive Bayes on all features
    assert replace(select.OWN_STYLES["all"], label="") == replace(METHODS["row-bounded"].look, label="")


def test_every_look_is_of_the_palette_and_a_methods_own():
    own = {style_of(key).color for key in STYLES["classifier"]}
    assert {style.color for style in all_styles()} <= {*PALETTE, *own}
    looks = [(style.color, style.marker) for style in all_styles()]
    assert len(set(looks)) == len(looks)
    labels = [style.label for style in all_styles()]
    assert len(set(labels)) == len(labels)
    for style in all_styles():
        assert style.dash == NOT_PRIVATE_DASH or "not private" not in style.label


def test_train_dashes_say_what_holds():
    for method in METHODS.values():
        assert (method.look.dash == NOT_PRIVATE_DASH) == (not method.claim_holds)
        assert (method.look.dash == DELTA_DASH) == (not method.pure)


def test_items_of_a_legend_keep_their_order_and_what_they_stand_for():
    p = figure(name="order")
    legend = PlotLegend(p, hides=True)
    lines = [p.line([0, 1], [0, 1]) for _ in range(3)]
    late = legend.item("late", [stroke("black")], [lines[2]])
    first, second = (legend.add(str(i), [stroke("black")], [lines[i]]) for i in range(2))
    legend.place([late, first, second])
    assert p.legend[0].items == [late, first, second]
    (passed,) = p.legend[0].js_event_callbacks["legend_item_click"]
    assert passed.args["items"] == [late, first, second]
    assert passed.args["shown"] == [[lines[2]], [lines[0]], [lines[1]]]
