"""The page Privacy cost: accuracy of the default classifier and of a custom model against ε.

The browser moves the markers. The server answers every change with the values at the chosen setting. Workers compute
the curves.
"""

from collections.abc import Callable, Mapping, Set
from typing import Any, ClassVar, cast

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, CustomJS

from dpml.studies import NeededEpsilon, needed_epsilon
from dpml_app.core.card import DEFERRED, IMMEDIATE, WHOLE, WORKER, Answer, Card, ResultKey, Results, here
from dpml_app.core.layout import BOX_STYLE
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import Controls, note
from dpml_app.data import measures
from dpml_app.data.default_study import default_runs, noiseless_accuracy, non_private, shipped_facts
from dpml_app.data.facts import BinaryFacts, GroupFacts
from dpml_app.drawing.figure import run_script, script
from dpml_app.jobs import Pool, Task
from dpml_app.pages.explore import compute, text
from dpml_app.pages.explore.compute import ExploreSettings, ExploreValues, shipped_results
from dpml_app.pages.explore.figures import (
    CostFigure,
    Private,
    roc_figure,
    roc_tables,
)
from dpml_app.pages.explore.lesson import FIGURES
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import interval, percent

COST_SCRIPT, DRAG_SCRIPT = (script(f"pages/explore/{n}.js") for n in ("cost", "drag"))
COST_STYLE, LEVERS_STYLE = script("pages/explore/cost.css"), script("pages/explore/levers.css")
# so small that the levers are above it on a laptop's screen
RISK_STYLE = ".people { grid-template-columns: repeat(25, 1fr) !important; gap: 2px !important; }"
# both selections in one row
CHOICE_STYLE = (
    ".MuiSelect-select { font-size: 0.88rem; padding-right: 26px !important; padding-left: 10px !important; }"
    "@media (max-width: 340px) { .MuiSelect-select { font-size: 0.82rem; padding: 8px 20px 8px 6px !important; } }"
)
CHOICES_STYLE = (
    ":host { display: grid !important; grid-template-columns: 11fr 13fr; column-gap: 6px; margin-top: 4px; }"
)
# the name of a greyed lever, whose reason must be read
OTHER_STYLE = ".MuiFormLabel-root.Mui-disabled { color: inherit !important; opacity: 0.75; }"
# the lever of one model alone
OWN_LEVER = {"naive-bayes": "threshold_percentile", "logistic": "reg_lambda"}


class ExploreControls(Controls):
    """The widgets of the page."""

    settings: ExploreSettings
    most_classes = 2
    # takes a target accuracy in percent that a person has chosen
    on_target: Callable[[float], None] = staticmethod(lambda wanted: None)

    def middle(self) -> list:
        self.needed = note("")
        return [self.add("wanted", before=self._aim), self.needed]

    def _aim(self, event: Any) -> None:
        # a link brings its ε with it
        if event.new != self.settings.wanted:
            self.on_target(event.new)

    def in_cards(self) -> None:
        """Make the controls of the custom model."""
        self.custom = pn.pane.HTML("", sizing_mode="stretch_width", margin=0, stylesheets=[LEVERS_STYLE])
        title = pn.pane.HTML("<h2>Custom model</h2>", sizing_mode="stretch_width", margin=0, stylesheets=[LEVERS_STYLE])
        look: dict[str, Any] = {"size": "small", "margin": (8, 0, 0, 0)}
        choices = [self.add(name, stylesheets=[CHOICE_STYLE], **look) for name in ("hand_model", "map_score")]
        look["margin"] = (4, 6, 0, 6)
        sliders = [self.add("n_features", **look), self.add("selection_share", format="0%", **look)]
        sliders += [self.add(name, stylesheets=[OTHER_STYLE], **look) for name in OWN_LEVER.values()]
        parts = [title, self.custom, pn.Column(*choices, stylesheets=[CHOICES_STYLE], **WHOLE), *sliders]
        self.levers = pn.Column(*parts, stylesheets=[BOX_STYLE], **{**WHOLE, "margin": (0, 0, 12, 0)})
        self.side.insert(0, self.levers)
        self.settings.param.watch(self._disable_other_lever, "hand_model")
        self._disable_other_lever()

    def _disable_other_lever(self, *_events: Any) -> None:
        """Grey the lever that the chosen model does not use, with the model that uses it."""
        for model, name in OWN_LEVER.items():
            other, label = model != self.settings.hand_model, self.settings.param[name].label
            title = next(title for title, key in self.settings.param.hand_model.names.items() if key == model)
            self.widgets[name].param.update(disabled=other, label=f"{label} ({title})" if other else label)


class MainCard(Card[ExploreValues, GroupFacts]):
    """The default classifier and the custom model at each ε, and the non-private baseline."""

    draw: ClassVar[Any] = CostFigure
    name, title, caption = "cost", "Accuracy", text.CAPTIONS["cost"]
    takes = "The script takes seconds if the results ship with dpml_app, else up to half an hour for 30,000 records."
    # the results in the curves: a step of ε among known results changes none of them
    _drawn: tuple[Set[Task | None], Set[Task]] | None = None

    def work(self, values: ExploreValues, facts: GroupFacts) -> dict[ResultKey, Task]:
        name, relation, seed, chosen = values.dataset, values.relation, values.seed, values.epsilon
        # twenty fits take seconds where they do not ship, so they are for the workers
        tasks: dict[ResultKey, Task] = {
            ("private", WORKER): Task(default_runs, (name, relation, chosen, seed)),
            ("exact", WORKER): Task(noiseless_accuracy, (name, relation, chosen)),
            ("best", WORKER): Task(non_private, (name, relation)),
            ("hand", IMMEDIATE): Task(compute.custom_accuracy, values.custom_key(chosen)),
        }
        # every ε of the slider where the results ship, else those of the other curves
        whole = Task(default_runs, (name, relation, EPSILONS[0], seed)) in shipped_results(name)
        for e in EPSILONS if whole else SWEEP_EPSILONS:
            tasks["private", e] = Task(default_runs, (name, relation, e, seed))
            tasks["exact", e] = Task(noiseless_accuracy, (name, relation, e))
        by_model = SWEEP_EPSILONS if values.hand_model == "logistic" else EPSILONS
        return tasks | {("hand", e): Task(compute.custom_accuracy, values.custom_key(e)) for e in by_model}

    def show(self, values: ExploreValues, facts: GroupFacts, results: Results, wanted: Mapping) -> None:
        chosen = values.epsilon
        self.figure.show_point(chosen, results.get(("hand", IMMEDIATE)))
        drawn = {wanted.get(result_key) for result_key in results}, set(wanted.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn

        def points(series: str) -> dict[float, Any]:
            there = {key[1]: result for key, result in results.items() if key[0] == series and key[1] != WORKER}
            return there | ({chosen: results[series, WORKER]} if (series, WORKER) in results else {})

        def complete(*series: str) -> bool:
            return all(result_key in results for result_key in wanted if result_key[0] in series)

        runs, plain, best = points("private"), points("exact"), results.get(("best", WORKER))
        there = [e for e in sorted(runs) if e in plain] if best else []
        draws = np.array([runs[e]["accuracy"] for e in there], dtype=float, ndmin=2)
        known = draws, np.array([plain[e] for e in there]), best["accuracy"] if best else np.nan
        whole = complete("private", "exact", "best")
        self.figure.show(Private(np.array(there), *known, facts.majority, whole))
        custom = {chosen if e == IMMEDIATE else e: each for e, each in points("hand").items()}
        levers = values.dataset, values.relation, values.seed, values.custom_model()
        self.figure.show_custom(levers, custom, complete("hand"))

    def greyed(self, results: Results, wanted: Mapping[ResultKey, Task], computing: bool) -> bool:
        missing = wanted.keys() - results.keys()
        curve = {key for key in missing if key[0] == "hand" and key[1] != IMMEDIATE}
        self.figure.grey_custom(bool(curve), computing)
        return missing != curve

    def needed(self, wanted: float) -> NeededEpsilon | None:
        """Return the ε that an accuracy in percent needs; None until the whole curve is there."""
        private = self.figure.private
        if private is None or not private.whole:
            return None
        return needed_epsilon(private.epsilons, private.draws, wanted / 100)

    def readout(self, values: ExploreValues, facts: GroupFacts, results: Results) -> str:
        runs, best, custom = here(results, "private"), here(results, "best"), here(results, "hand")
        said = "Computing…" if runs is None or best is None else text.cost_by_group(values, facts, runs, best)
        if custom is None:
            return said
        return f"{said} Custom model: accuracy <b>{percent(float(custom.mean()))}</b> ({interval(custom)})."

    def to_pin(self, values: ExploreValues, facts: GroupFacts, results: Results) -> Answer | None:
        runs, best, custom = here(results, "private"), here(results, "best"), here(results, "hand")
        if runs is None or best is None or custom is None:
            return None
        return Answer(text.pinned_numbers(runs["accuracy"], float(best["accuracy"]), custom), within="90% of runs")

    def clear(self) -> None:
        self._drawn = None
        self.figure.clear()


class RocCard(Card[ExploreValues, BinaryFacts]):
    """Exact and private ROC curves of one custom model."""

    draw = roc_figure
    name, title, caption = "roc", "Private ROC curve", text.CAPTIONS["roc"]

    def work(self, values: ExploreValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        # the point of the main picture does not wait for it
        return {("roc", DEFERRED): Task(compute.roc, values.roc_key())}

    def show(self, values: ExploreValues, facts: BinaryFacts, results: Results, wanted: Mapping) -> None:
        for curves in results.values():
            self.figure.show(roc_tables(curves))

    def readout(self, values: ExploreValues, facts: BinaryFacts, results: Results) -> str:
        curves = results.get(("roc", DEFERRED))
        return "Computing…" if curves is None else text.roc_readout(curves)


class ExplorePage(CardPage[ExploreValues, BinaryFacts]):
    """The page of one session."""

    page_id = "explore"
    title = "Privacy cost"
    settings_kind, values_kind = ExploreSettings, ExploreValues
    lesson_figures = FIGURES
    question = "How much accuracy does privacy cost?"
    lead = "Drag <b>ε</b>: smaller values give more privacy, larger values more accuracy."
    settings: ExploreSettings
    facts_of = staticmethod(measures.facts)
    shipped_facts, shipped_results = staticmethod(shipped_facts), staticmethod(shipped_results)
    controls: ExploreControls
    kinds = (MainCard, RocCard)
    main_card = "cost"
    details = ("roc",)
    controls_kind = ExploreControls
    headline_below = False
    # the curve and the target accuracy of which the page shows the needed ε
    _needed_of: tuple[Private | None, float] | None = None

    def __init__(self, settings: ExploreSettings, pool: Pool):
        super().__init__(settings, pool)
        self.controls.on_target = self._aim_at
        self.risk.stylesheets = [*self.risk.stylesheets, RISK_STYLE]
        self.headline.param.update(stylesheets=[BOX_STYLE, COST_STYLE], margin=(0, 0, 12, 0))
        self.regions["side"].insert(0, self.headline)
        cost = self.cards["cost"].figure
        cost.begin(settings.epsilon)
        browser = self.controls.tell_browser("browser-controls", "epsilon")
        names = ("plot", "curve", "hand", "draws", "gap", "dots", "marker", "point")
        arguments = {"controls": browser, **{name: getattr(cost, name) for name in names}}
        moved = run_script(COST_SCRIPT, arguments, browser, cost.draws, cost.hand)
        cost.plot.js_on_change("inner_width", moved)
        dragged = ColumnDataSource({"epsilon": [settings.epsilon], "serial": [0]}, name="cost-dragged")
        dragged.on_change("data", self._dragged)
        arguments = {"controls": browser, "dragged": dragged, "marker": cost.marker, "steps": list(EPSILONS)}
        cost.marker.js_on_change("location", CustomJS(args=arguments, code=DRAG_SCRIPT))
        cost.plot.tags += [browser, dragged]

    def _dragged(self, _attribute: str, _old: Any, new: dict[str, Any]) -> None:
        """Take the ε to which the marker was dragged."""
        for problem in self.settings.assign({"epsilon": float(new["epsilon"][0])}):
            self.alerts.report("epsilon", problem)

    def _aim_at(self, wanted: float) -> None:
        """Move the marker to the ε that an accuracy needs, if the whole curve is there."""
        interval = cast(MainCard, self.cards["cost"]).needed(wanted)
        if interval is not None:
            reached = [epsilon for epsilon in EPSILONS if epsilon >= interval.epsilon * (1 - 1e-9)]
            if reached:
                self.settings.epsilon = reached[0]

    def words(self, values: ExploreValues, facts: GroupFacts, results: Mapping[str, Results]) -> str:
        shown, picture = results.get(self.main_card, {}), cast(MainCard, self.cards["cost"])
        needed_of = picture.figure.private, values.wanted
        if needed_of != self._needed_of:
            self._needed_of = needed_of
            most = max(picture.figure.curve.data["mean"], default=0.0)
            self.controls.needed.object = text.needed_text(picture.needed(values.wanted), most)
        runs, exact, best, custom = (here(shown, name) for name in ("private", "exact", "best", "hand"))
        reached = None if custom is None else float(custom.mean())
        default = None if runs is None else float(runs["accuracy"].mean())
        self.controls.custom.object = text.custom_against_default(reached, default)
        return text.headline(values, facts, runs, exact, best)
