"""A method looks the same on every page, and methods on one plot can be told apart without colour or by it."""

from dataclasses import replace

import holoviews as hv
import pandas as pd
import pytest
from bokeh.models import Line, Patch, Quad, Scatter, VArea
from dpml_app import views
from dpml_app.drawing.styles import (
    BAND_ALPHA,
    DELTA_DASH,
    NOT_PRIVATE_DASH,
    PALETTE,
    STYLES,
    all_styles,
    style_of,
)
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
from dpml_app.views.curve import CurveFigure
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
    "evaluate errors": lambda: curves(evaluate.ErrorsCard, ROC_STYLES),
    "noise rivals": lambda: curves(noise.RivalsCard),
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
def test_what_is_drawn_is_not_in_the_legend(name):
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


WITHOUT_BANDS = ("explore selection", "select coins", "noise")
SWEPT = pd.DataFrame({"epsilon": [0.1, 1.0], "mean": [0.6, 0.8], "low": [0.5, 0.7], "high": [0.7, 0.9]})
BANDS = {
    **{name: plot for name, plot in PLOTS.items() if not name.startswith(WITHOUT_BANDS)},
    "explore cost": lambda: explore.CostFigure().plot,
    "publish models": lambda: curves(publish.ModelsCard),
    "evaluate success": lambda: curves(evaluate.SuccessCard),
    "a view of curves": lambda: hv.render(views.curve(SWEPT)),
    "a view of a ROC curve": lambda: hv.render(views.roc(exact=([0, 1], [0, 1]), claim=1.0)),
}


def first(plot, *kinds):
    return next(renderer.glyph for renderer in plot.renderers if isinstance(renderer.glyph, kinds))


@pytest.mark.parametrize("name", BANDS)
def test_every_band_has_the_one_opacity(name):
    plot = BANDS[name]()
    drawn = [r.glyph for r in plot.renderers if isinstance(r.glyph, VArea | Patch)]
    samples = {r.glyph for legend in plot.legend for item in legend.items for r in item.renderers}
    assert drawn
    assert {glyph.fill_alpha for glyph in drawn} == {BAND_ALPHA}
    assert {glyph.fill_alpha for glyph in samples if isinstance(glyph, Quad)} <= {BAND_ALPHA}


def test_every_band_is_behind_all_lines():
    drawn = [r.glyph for r in PLOTS["evaluate errors"]().renderers if r.data_source.name]
    for glyphs in (drawn, list(views.curve(pd.concat([SWEPT.assign(of=i) for i in range(3)]), by="of"))):
        bands = [isinstance(glyph, VArea | hv.Area) for glyph in glyphs]
        assert bands == sorted(bands, reverse=True)
        assert sum(bands) > 2


@pytest.mark.parametrize("key", ["row-bounded", "output", "vaidya"])
def test_pages_and_views_draw_a_method_alike(key):
    style = style_of(key)
    p = CurveFigure("some", AXES["epsilon"], AXES["accuracy"], {key: style}, {}, marks=True, look={}).plot
    table = SWEPT.assign(method=key)
    view = hv.render(views.curve(table, by="method"))
    for kinds, wanted in (((Line,), style.line), ((VArea, Patch), style.band), ((Scatter,), style.dot)):
        drawn, page = first(view, *kinds), first(p, *kinds)
        assert [getattr(drawn, name) for name in wanted] == [getattr(page, name) for name in wanted]


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
