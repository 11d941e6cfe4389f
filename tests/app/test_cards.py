"""What every page of cards keeps to, and what is answered at once."""

import asyncio
import importlib
import pkgutil

import numpy as np
import panel as pn
import pytest
from bokeh.core.property.vectorization import Field
from bokeh.document import Document
from bokeh.document.models import DocumentModelManager
from bokeh.models import ColumnDataSource, Glyph, GlyphRenderer, HoverTool
from bokeh.plotting import figure
from dpml_app import page_list
from dpml_app.core.card import Card
from dpml_app.core.curves_card import CurvesCard
from dpml_app.core.layout import INSET, figure_pane, under
from dpml_app.core.page import CardPage
from dpml_app.core.sending import adding_models, one_message
from dpml_app.drawing.figure import new_figure
from dpml_app.jobs import Pool
from dpml_app.pages.evaluate.page import EvaluatePage
from dpml_app.pages.explore.page import ExplorePage
from dpml_app.pages.publish.page import PublishPage
from dpml_app.pages.train.page import TrainPage
from dpml_app.settings import EPSILONS
from dpml_app.state import Settings
from panel.io.state import set_curdoc

PAGES = [page for page in page_list.PAGES.values() if issubclass(page, CardPage)]
# settings that one drags or clicks in a figure or a table, or steps on by a button, and widgets that only help there


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.page_id)
def test_every_card_in_the_folder_of_a_page_is_on_it(page):
    folder = page.__module__.rpartition(".")[0]
    for module in pkgutil.iter_modules(importlib.import_module(folder).__path__, f"{folder}."):
        importlib.import_module(module.name)
    own, bases = set(), [Card]
    while bases:
        below = bases.pop().__subclasses__()
        bases += below
        own |= {kind for kind in below if kind.__module__.startswith(f"{folder}.") and hasattr(kind, "title")}
    assert own == {kind for kind in page.kinds if hasattr(kind, "title")}


def in_drawer(column):
    """Return the widgets of a column and of those in it."""
    found = []
    for part in column:
        found += in_drawer(part) if hasattr(part, "objects") else [part]
    return found


# what the label of an inactive lever says besides its name
REASONS = {"reg_lambda": " (Logistic)", "threshold_percentile": " (Naive Bayes)"}


def opened(kind, **settings):
    """Return a page with all of its cards."""
    page = kind(Settings(**settings), Pool(1))
    for place in page.slots.values():
        place.mount()
    return page


@pytest.fixture(scope="module", params=PAGES, ids=lambda kind: kind.__name__)
def page(request):
    return opened(request.param)


def test_each_setting_has_one_widget_in_one_place(page):
    # the browser never finishes drawing a widget that stands in two
    assert set(page.values_kind.names()) == set(page.controls.widgets)
    in_cards = [page.controls.widgets[name] for made in page.cards.values() for name in made.controls]
    beside = [*in_drawer(page.controls.side), *in_drawer(page.controls.advanced)]
    places = [*in_cards, *beside, page.controls.widgets[page.controls.in_top]]
    assert all(places.count(widget) == 1 for widget in page.controls.widgets.values())
    for name, widget in page.controls.widgets.items():
        assert widget.label == Settings.param[name].label + widget.disabled * REASONS.get(name, "")


def test_each_card_keeps_to_the_contract(page):
    assert set(page.cards) == {card.name for card in page.kinds}
    assert {page.main_card, *page.details} <= set(page.cards)
    for card in page.cards.values():
        assert isinstance(card, Card)
        assert card.title
        assert card.caption
        assert card.content() or card.controls
        card.clear()  # also where nothing has been shown
    plots = [plot for card in page.cards.values() for plot in card.plots]
    assert len(set(plots)) == len(plots)
    assert page.state in page.cards[page.main_card].plots[0].tags
    assert page.progress.state in page.cards[page.main_card].plots[0].tags


@pytest.mark.parametrize("kind", PAGES)
def test_all_but_the_picture_is_made_when_it_is_asked_for(kind):
    page = kind(Settings(), Pool(1))
    assert set(page.cards) == {page.main_card}
    name = next(name for name, place in page.cards.slots.items() if not place.objects)
    page.slots[name].mount()
    assert set(page.cards) == {page.main_card, name}
    assert page.state.data["due"] == [True]


@pytest.mark.parametrize(
    ("page_id", "query", "name"),
    [
        ("evaluate", "&dataset=toy&draws=10", "success"),
        ("publish", "&dataset=toy&publish_draws=5&publish_grids=10", "chances"),
    ],
)
def test_a_card_is_answered_without_the_picture(alone, page_id, query, name):
    page = alone.enter(page_id, query, only=(name,)).page
    page.slots[page.main_card].objects = []  # as in a notebook that shows one card
    before = page.cards.readouts[name].text
    alone.act(epsilon=0.5)
    assert alone.alerts == []
    assert page.cards.readouts[name].text not in ("", before)


def test_a_page_may_have_no_card_that_is_open_below_its_picture(monkeypatch):
    noise = page_list.PAGES["noise"]
    monkeypatch.delattr(noise, "details")
    page = noise(Settings(), Pool(1))
    assert set(page.cards) == {page.main_card}
    assert page.regions["details"].objects == []


def test_all_cards_of_a_page_are_made_as_one_message_whose_models_are_gathered_once(monkeypatch):
    """Each renderer that came gathered all models of the document anew: nine of the twelve seconds of this page."""
    gathered = []
    recompute = DocumentModelManager.recompute
    monkeypatch.setattr(DocumentModelManager, "recompute", lambda self: gathered.append(recompute(self)))
    doc = Document()
    with set_curdoc(doc):
        page = TrainPage(Settings(dataset="toy"), Pool(1))
        doc.add_root(pn.Column(*page.regions.values()).get_root(doc))
        del gathered[:]
        with one_message(doc), adding_models(doc):
            for place in page.slots.values():
                place.mount()
            made = page.cards["accuracy"].figure
            for series in ("one", "two", "three"):
                made.plot.line([0], [1], name=series)
        assert len(gathered) == 1
        assert {"one", "two", "three"} <= {model.name for model in doc.models}
        with one_message(doc), one_message(doc):
            for source in made.plot.select(ColumnDataSource):
                source.data = dict(source.data)
    assert len(gathered) == 1  # new numbers bring no model


@pytest.mark.parametrize(
    ("name", "query", "moved"),
    [
        ("explore", "&dataset=toy&draws=10", {"epsilon": (0.5, 2.0)}),
        ("select", "&dataset=toy&draws=10", {"n_features": (4, 7)}),
        ("train", "&dataset=toy&draws=10&train_methods=binned.algorithm-1", {"epsilon": (0.5, 2.0)}),
        ("noise", "", {"noise_epsilon": (0.5, 2.0)}),
        ("publish", "&dataset=toy&publish_draws=5&publish_grids=10", {"epsilon": (0.5, 2.0)}),
        ("evaluate", "&dataset=toy&draws=10", {"epsilon": (0.5, 2.0)}),
    ],
)
def test_an_answer_brings_numbers_and_no_model(alone, name, query, moved):
    """Of one that came, all of the document's models were gathered anew: half of an answer's cost."""
    alone.enter(name, query)
    [(setting, values)] = moved.items()
    found = []
    for value in values:
        alone.act(**{setting: value})
        found.append(
            {model for card in alone.page.cards.values() for plot in card.plots for model in plot.references()}
        )
    assert [type(model).__name__ for model in found[0] ^ found[1]] == []


def test_an_error_leaves_no_document_frozen():
    doc = Document()
    with set_curdoc(doc):
        column = pn.Column()
        doc.add_root(column.get_root(doc))
        with pytest.raises(ZeroDivisionError), one_message(doc), adding_models(doc):
            raise ZeroDivisionError
        doc.add_root(ColumnDataSource(name="later"))
    assert "later" in {model.name for model in doc.models}


def test_a_slider_of_what_is_on_the_axis_stands_under_it():
    page = TrainPage(Settings(), Pool(1))
    control = page.controls.widgets["epsilon"]
    # the axis goes on by a factor of 1.15 on both sides of ε = 0.01 to 10
    plot = new_figure("some", x_axis_type="log", x_range=(0.01 / 1.15, 10 * 1.15), min_border_left=84)
    share = np.log(1.15) / np.log(1000 * 1.15**2)
    before = plot.min_border_left - INSET - share * (plot.min_border_left + plot.min_border_right + 8)
    assert f"calc({before:.1f}px + {100 * share:.2f}%)" in under(plot, control).values()
    # an axis of accuracies, and a curve over false positives, have no ε
    assert "calc" not in " ".join(under(page.cards["methods"].plots[0], control).values())
    page = EvaluatePage(Settings(), Pool(1))
    assert "calc" not in " ".join(under(page.cards["roc"].plots[0], page.controls.widgets["epsilon"]).values())


@pytest.mark.parametrize(("kind", "source"), [(ExplorePage, "cost-curve"), (PublishPage, "publish-accuracy-table")])
def test_a_picture_that_came_filled_stays_while_its_data_are_loaded(kind, source):
    page = kind(Settings(dataset="census"), Pool(1))
    shown, lengths = page.cards[page.main_card].plots[0].select_one({"name": source}), []
    shown.on_change("data", lambda _attribute, _old, new: lengths.append(len(new["epsilon"])))

    async def load():
        page._call = lambda task: asyncio.to_thread(task.function, *task.arguments)
        await page._load()

    asyncio.run(load())
    assert len(shown.data["epsilon"]) == len(EPSILONS)
    assert 0 not in lengths
    # another data set's does not stay
    page.settings.dataset = "toy"
    asyncio.run(load())
    assert len(shown.data["epsilon"]) == 0


def test_no_tooltip_writes_epsilon_with_an_exponent():
    plot = figure()
    plot.add_tools(HoverTool(tooltips=[("ε", "@epsilon"), ("of", "@epsilon{0.0} @label")]))
    figure_pane(plot)
    (tool,) = plot.select(HoverTool)
    assert tool.tooltips == [("ε", "@epsilon{0.0[00]}"), ("of", "@epsilon{0.0} @label")]


KINDS = [kind for page in page_list.PAGES.values() for kind in getattr(page, "kinds", ())]
POSITIONS = {"x", "y", "x0", "y0", "x1", "y1", "left", "right", "top", "bottom"}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.__init__ in (Card.__init__, CurvesCard.__init__)])
def test_every_field_of_a_glyph_is_a_column_of_its_source(kind):
    drawn = [r for plot in kind().plots for r in plot.renderers if isinstance(r, GlyphRenderer)]
    for renderer in drawn:
        for glyph in (renderer.glyph, renderer.hover_glyph, renderer.muted_glyph):
            for name in glyph.dataspecs() if isinstance(glyph, Glyph) else ():
                value = getattr(glyph, name)
                column = value.field if isinstance(value, Field) else value if name in POSITIONS else None
                if isinstance(column, str):
                    assert column in renderer.data_source.column_names, (type(glyph).__name__, name)


@pytest.mark.parametrize("page_class", PAGES, ids=lambda page: page.page_id)
def test_a_plot_shares_its_name_with_no_other_model(page_class):
    plots = [plot for kind in page_class.kinds for plot in kind().plots]
    named = [model.name for model in {model for plot in plots for model in plot.references()}]
    # the numbers of a plot are asked for by its name
    assert {plot.name: named.count(plot.name) for plot in plots} == {plot.name: 1 for plot in plots}
