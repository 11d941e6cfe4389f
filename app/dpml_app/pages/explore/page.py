"""The Explore page: accuracy against ε, a private ROC curve, a private choice of features, and how many to choose.

Three speeds. The browser draws the selection probabilities and moves the markers. The server answers every change with
the values at the current setting. Curves and map come from the worker processes, in small tasks; a newer request makes
the older one stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS

from dpml_app.core.card import BOX_STYLE, Results, here
from dpml_app.core.card_page import CardPage
from dpml_app.data import measures
from dpml_app.data.facts import BinaryFacts, GroupFacts
from dpml_app.drawing.figure import EPSILON_TICKS, FONT, run_script, script
from dpml_app.pages.explore import shipped, words
from dpml_app.pages.explore.accuracy import AccuracyCard
from dpml_app.pages.explore.controls import ExploreControls
from dpml_app.pages.explore.hyperparameters import HyperparametersCard
from dpml_app.pages.explore.lesson import lesson_plot
from dpml_app.pages.explore.main_card import MainCard
from dpml_app.pages.explore.main_figure import RIGHT
from dpml_app.pages.explore.map import MapCard
from dpml_app.pages.explore.roc import RocCard
from dpml_app.pages.explore.selection import SelectionCard
from dpml_app.pages.explore.settings import ExploreSettings, ExploreValues
from dpml_app.pages.explore.who import WhoCard
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Pool, Task

SCRIPT = script("drawing/kernels.js", "pages/explore/page.js")
MAIN_CARD = (
    script("pages/explore/main_card.js")
    .replace("RIGHT", str(RIGHT))
    .replace("TICKS", str(EPSILON_TICKS))
    .replace("FONT", FONT)
)
RUNS = script("pages/explore/runs.js")
DRAG = script("pages/explore/drag.js")
COST_STYLE = script("pages/explore/cost.css")


class ExplorePage(CardPage[ExploreValues, BinaryFacts]):
    """The page of one session."""

    page_id = "explore"
    title = "Cost of ε"
    settings_kind, values_kind = ExploreSettings, ExploreValues
    lesson_plot = staticmethod(lesson_plot)
    question = "What does privacy cost?"
    lead = "Drag <b>ε</b>. Left hides people, right predicts better."
    settings: ExploreSettings
    facts_of = staticmethod(measures.facts)
    controls: ExploreControls
    kinds = (MainCard, HyperparametersCard, SelectionCard, RocCard, MapCard, WhoCard, AccuracyCard)
    main_card = "cost"
    details = ("levers", "selection", "roc", "map")
    sources = ("answer-state", "sweep-state")
    readout_name = "{}-readout"
    what = "curves"
    controls_kind = ExploreControls
    # of which curve the page has said which ε is needed, and for which accuracy
    _needed_of: tuple[Any, float] | None = None

    def __init__(self, settings: ExploreSettings, pool: Pool):
        super().__init__(settings, pool)
        self.headline.param.update(stylesheets=[BOX_STYLE, COST_STYLE], margin=(0, 0, 12, 0))
        self._open()

    def _open(self) -> None:
        """Fill the picture and its sentence with what ships, so that they come with the document."""
        values = self.values()
        self._keep_shipped(values.dataset)
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MainCard)
        main_card.figure.begin(values.epsilon)
        if main_card.open(values):
            self._opened = values.dataset
            facts = shipped.first_facts(values.dataset)
            assert facts is not None
            results = {self.main_card: self._chosen(main_card.work(values, facts))}
            self.headline.object = self.words(values, facts, results)
            self._read_out(self.main_card, main_card.readout(values, facts, results[self.main_card]))
        self.show_risk()

    def side(self) -> list[Any]:
        return [self.headline, *super().side()]

    def sentences(self) -> list[Any]:
        return []  # beside the picture

    def connect(self) -> list[Any]:
        browser = self.controls.tell_browser("browser-controls", "epsilon", "n_features", "selection_share")
        figures = {name: card.figure for name, card in self.cards.items() if card.figure}
        selection = figures["selection"]
        cost = figures["cost"]
        arguments = {
            "controls": browser,
            "scores": selection.scores,
            "shown": selection.shown,
            "unit": selection.unit,
            "selection": selection.drawn,
            "uniform": selection.uniform,
            "readout": self.readouts["selection"],
        }
        run_script(SCRIPT, arguments, browser, selection.unit)
        of_cost = {name: getattr(cost, name) for name in ("plot", "curve", "draws", "gap", "dots", "names", "marker")}
        main_card = run_script(MAIN_CARD, {"controls": browser, **of_cost}, browser, cost.draws, cost.names)
        # where its words find room
        for model, names in ((cost.plot, ("inner_width", "inner_height")), (cost.plot.y_range, ("start", "end"))):
            for name in names:
                model.js_on_change(name, main_card)
        run_script(RUNS, {"plot": cost.plot, "draws": cost.draws, "one": cost.one}, cost.draws, browser)
        dragged = ColumnDataSource({"epsilon": [self.settings.epsilon]}, name="cost-dragged")
        dragged.on_change("data", self._dragged)
        arguments = {"controls": browser, "dragged": dragged, "marker": cost.marker, "steps": list(EPSILONS)}
        cost.marker.js_on_change("location", CustomJS(args=arguments, code=DRAG))
        return [browser, selection.unit, dragged]

    def _dragged(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        """Take the ε to which the marker was dragged."""
        for problem in self.settings.assign({"epsilon": float(new["epsilon"][0])}):
            self.report("epsilon", problem)

    def _keep_shipped(self, name: str) -> None:
        self.pool.keep(shipped.results(name, shipped.RELATION, shipped.SEED))

    async def facts(self, values: ExploreValues) -> BinaryFacts:
        self._keep_shipped(values.dataset)
        return await super().facts(values)

    def _show_needed(self, wanted: float) -> None:
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MainCard)
        curve = main_card.figure.curve.data
        if self._needed_of is not None and self._needed_of[0] is curve and self._needed_of[1] == wanted:
            return
        self._needed_of = curve, wanted
        needed = main_card.needed()
        most = max(curve["mean"], default=0.0)
        self.controls.needed.object = "" if needed is None else words.needed(needed, most)

    def words(self, values: ExploreValues, facts: GroupFacts, results: Mapping[str, Results]) -> str:
        main_results = results.get(self.main_card, {})
        self._show_needed(values.wanted)
        return words.headline(values, facts, here(main_results, "private"), here(main_results, "plain"))

    def adopt(self, task: Task, result: Any) -> None:
        """Keep a statistic that a worker has made."""
        if task.function is measures.statistic:
            measures.adopt(task.arguments, result)
