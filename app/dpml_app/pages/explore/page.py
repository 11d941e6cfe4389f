"""The page Privacy cost: accuracy of the default classifier and of a custom model against ε.

Three speeds. The browser draws the selection probabilities and moves the markers. The server answers every change with
the values at the current setting. Curves and map come from the worker processes, in small tasks; a newer request makes
the older one stop.
"""

from collections.abc import Mapping
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS

from dpml_app.core.card import BOX_STYLE, Card, Results, here
from dpml_app.core.card_page import CardPage
from dpml_app.data import measures
from dpml_app.data.facts import BinaryFacts, GroupFacts
from dpml_app.drawing.figure import EPSILON_TICKS, FONT, run_script, script
from dpml_app.pages.explore import shipped, words
from dpml_app.pages.explore.controls import ExploreControls
from dpml_app.pages.explore.details import AccuracyCard, MapCard, RocCard, SelectionCard
from dpml_app.pages.explore.lesson_figures import figure, lesson_plot
from dpml_app.pages.explore.main_card import MainCard
from dpml_app.pages.explore.main_figure import RIGHT
from dpml_app.pages.explore.settings import ExploreSettings, ExploreValues
from dpml_app.pages.explore.who import WhoCard
from dpml_app.settings import EPSILONS
from dpml_app.work.pool import Pool, Task

SCRIPT = script("drawing/kernels.js", "pages/explore/page.js")
MAIN_CARD = (
    script("drawing/stacked.js", "pages/explore/main_card.js")
    .replace("RIGHT", str(RIGHT))
    .replace("TICKS", str(EPSILON_TICKS))
    .replace("FONT", FONT)
)
RUNS = script("pages/explore/runs.js")
DRAG, DRAG_GOAL = script("pages/explore/drag.js"), script("pages/explore/drag_goal.js")
COST_STYLE = script("pages/explore/cost.css")
# so small that the levers stand above it on a laptop's screen
RISK_STYLE = ".people { grid-template-columns: repeat(25, 1fr) !important; gap: 2px !important; }"


class ExplorePage(CardPage[ExploreValues, BinaryFacts]):
    """The page of one session."""

    page_id = "explore"
    title = "Privacy cost"
    settings_kind, values_kind = ExploreSettings, ExploreValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "How much accuracy does privacy cost?"
    lead = "Drag <b>ε</b>: smaller values give more privacy, larger values more accuracy."
    settings: ExploreSettings
    facts_of = staticmethod(measures.facts)
    controls: ExploreControls
    kinds = (MainCard, SelectionCard, RocCard, MapCard, WhoCard, AccuracyCard)
    main_card = "cost"
    details = ("selection", "roc", "map")
    sources = ("answer-state", "sweep-state")
    readout_name = "{}-readout"
    what = "curves"
    controls_kind = ExploreControls
    # of which curve the page has said which ε is needed, and for which accuracy
    _needed_of: tuple[int, bool, float] | None = None
    # the accuracy whose ε the marker goes to once the curve is there
    _aim: float | None = None

    def __init__(self, settings: ExploreSettings, pool: Pool):
        # of each data set, relation and ε, which levers have been tried by hand, and the best accuracy
        self._tried: dict[tuple, dict[tuple, float]] = {}
        super().__init__(settings, pool)
        self.controls.on_goal = self._aim_at
        settings.param.watch(self._forget_aim, ["epsilon", "dataset"])
        self.risk.stylesheets = [*self.risk.stylesheets, RISK_STYLE]
        self.headline.param.update(stylesheets=[BOX_STYLE, COST_STYLE], margin=(0, 0, 12, 0))
        self._open()

    def _open(self) -> None:
        """Fill the picture and its sentence with what ships, so that they come with the document."""
        values = self.values()
        self._keep_shipped(values.dataset)
        main_card = self._picture
        main_card.figure.begin(values.epsilon)
        if main_card.open(values):
            self._opened = values.dataset
            facts = shipped.first_facts(values.dataset)
            assert facts is not None
            results = {self.main_card: self._chosen(main_card.work(values, facts))}
            self.headline.object = self.words(values, facts, results)
            self._read_out(self.main_card, main_card.readout(values, facts, results[self.main_card]))
        self.show_risk()

    def still_steps(self) -> Mapping[float, str]:
        curve = self._picture.figure.curve.data
        points = zip(curve["epsilon"], curve["mean"], curve["best"], strict=True)
        return {e: f"ε = {e:g} costs {max(100 * (best - mean), 0):.1f} percentage points" for e, mean, best in points}

    def side(self) -> list[Any]:
        return [self.headline, *super().side()]

    def sentences(self) -> list[Any]:
        return []  # beside the picture

    def connect(self) -> list[Any]:
        browser = self.controls.tell_browser("browser-controls", "epsilon", "n_features", "selection_share", "wanted")
        self._browser, cost = browser, self._picture.figure
        names = ("plot", "curve", "hand", "draws", "gap", "dots", "names", "marker", "point", "goal", "goal_words")
        of_cost = {name: getattr(cost, name) for name in names}
        sources = (browser, cost.draws, cost.hand, cost.names, cost.goal_words)
        main_card = run_script(MAIN_CARD, {"controls": browser, **of_cost}, *sources)
        # where its words find room
        for model, ends in ((cost.plot, ("inner_width", "inner_height")), (cost.plot.y_range, ("start", "end"))):
            for name in ends:
                model.js_on_change(name, main_card)
        run_script(RUNS, {"plot": cost.plot, "draws": cost.draws, "one": cost.one}, cost.draws, browser)
        dragged = ColumnDataSource({"epsilon": [self.settings.epsilon]}, name="cost-dragged")
        dragged.on_change("data", self._dragged)
        arguments = {"controls": browser, "dragged": dragged, "marker": cost.marker, "steps": list(EPSILONS)}
        cost.marker.js_on_change("location", CustomJS(args=arguments, code=DRAG))
        aimed = ColumnDataSource({"wanted": [self.settings.wanted]}, name="cost-goal-dragged")
        aimed.on_change("data", self._goal_dragged)
        arguments = {"controls": browser, "dragged": aimed, "goal": cost.goal, "range": cost.plot.y_range}
        cost.goal.js_on_change("location", CustomJS(args=arguments, code=DRAG_GOAL))
        return [browser, dragged, aimed]

    def connect_card(self, card: Card[ExploreValues, BinaryFacts]) -> None:
        if isinstance(card, MapCard | AccuracyCard):
            self._card(SelectionCard)  # its script moves their markers
        elif isinstance(card, SelectionCard):
            selection = card.figure
            arguments = {
                "controls": self._browser,
                "scores": selection.scores,
                "shown": selection.shown,
                "unit": selection.unit,
                "selection": selection.drawn,
                "uniform": selection.uniform,
                "readout": self.readouts["selection"],
            }
            run_script(SCRIPT, arguments, self._browser, selection.unit)

    def _dragged(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        """Take the ε to which the marker was dragged."""
        for problem in self.settings.assign({"epsilon": float(new["epsilon"][0])}):
            self.report("epsilon", problem)

    def _goal_dragged(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        """Take the accuracy to which the goal was dragged, as its slider would."""
        self.controls.widgets["wanted"].value = float(new["wanted"][0])

    def _aim_at(self, wanted: float) -> None:
        """Move the marker to the ε that an accuracy needs, at once or when the curve is there."""
        self._aim = wanted
        interval = self._picture.needed(wanted)
        if interval is not None:
            self._aim = None
            reached = [epsilon for epsilon in EPSILONS if epsilon >= interval.epsilon * (1 - 1e-9)]
            if reached:
                self.settings.epsilon = reached[0]

    def _forget_aim(self, _event: Any) -> None:
        self._aim = None

    @property
    def _picture(self) -> MainCard:
        main_card = self.cards[self.main_card]
        assert isinstance(main_card, MainCard)
        return main_card

    @classmethod
    def shipped_results(cls, values: ExploreValues) -> Mapping[Task, Any]:
        """Return what ships of the values' data set."""
        return shipped.results(values.dataset, values.relation, values.seed)

    def _keep_shipped(self, name: str) -> None:
        self.pool.keep(shipped.results(name, shipped.RELATION, shipped.SEED))

    async def facts(self, values: ExploreValues) -> BinaryFacts:
        self._keep_shipped(values.dataset)
        return await super().facts(values)

    def _show_needed(self, wanted: float) -> None:
        figure = self._picture.figure
        curve = figure.curve.data, figure.private is not None and figure.private.whole
        if self._needed_of == (id(curve[0]), curve[1], wanted):
            return
        self._needed_of = id(curve[0]), curve[1], wanted
        if self._aim is not None:
            self._aim_at(self._aim)
        interval = self._picture.needed(wanted)
        self.controls.needed.object = words.needed(interval, max(curve[0]["mean"], default=0.0))
        figure.say_goal(words.goal(wanted, interval))

    def words(self, values: ExploreValues, facts: GroupFacts, results: Mapping[str, Results]) -> str:
        shown = results.get(self.main_card, {})
        self._show_needed(values.wanted)
        runs, exact, best, hand = (here(shown, name) for name in ("private", "exact", "best", "hand"))
        reached = None if hand is None else float(hand.mean())
        tried = self._tried.setdefault((values.dataset, values.relation, values.epsilon), {})
        if reached is not None:
            tried[values.by_hand()] = reached
        most = max(tried.values()) if len(tried) > 1 else None
        default = None if runs is None else float(runs["accuracy"].mean())
        self.controls.by_hand.object = words.by_hand(reached, default, most)
        return words.headline(values, facts, runs, exact, best)

    def adopt(self, task: Task, result: Any) -> None:
        """Keep a statistic that a worker has made."""
        if task.function is measures.statistic:
            measures.adopt(task.arguments, result)
