"""The page Feature selection: selection probabilities, and the accuracy of a classifier on the selected features.

The server answers every change with the exact probabilities. Workers compute the accuracies.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import panel_material_ui as pmui

from dpml_app.core.card import IMMEDIATE, WORKER, Card, ResultKey, Results, here
from dpml_app.core.curves_card import FAR, CurvesCard
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import COLUMNS, Controls
from dpml_app.data import measures
from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.styles import REFERENCE, Style
from dpml_app.jobs import Task
from dpml_app.pages.select import compute, text
from dpml_app.pages.select.compute import KINDS, SELECTOR_STYLES, SelectSettings, SelectValues
from dpml_app.pages.select.figures import OWN_STYLES, ChosenFigure
from dpml_app.pages.select.lesson import FIGURES
from dpml_app.views.frame import AXES


class SelectControls(Controls):
    """The widgets of the page."""

    settings: SelectSettings
    in_top = "n_features"
    most_classes = 2

    def beside(self) -> list:
        return [self.add("selection_share", format="0%")]

    def in_cards(self) -> None:
        self.add("select_order", pmui.RadioBoxGroup, inline=True)
        self.add("select_methods", sx=COLUMNS)


class ChosenCard(Card[SelectValues, BinaryFacts]):
    """Selection probabilities of the features, best first."""

    draw = ChosenFigure
    name, title, caption = "chosen", "Selection probabilities", text.CAPTIONS["chosen"]
    controls = ("select_order",)

    def work(self, values: SelectValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        key = values.selection_key()
        return {(kind, IMMEDIATE): Task(compute.inclusion, (values.dataset, kind, *key)) for kind in KINDS}

    def show(self, values: SelectValues, facts: BinaryFacts, results: Results, wanted: Mapping) -> None:
        chances = {kind: results[kind, IMMEDIATE] for kind in KINDS}
        self.figure.show(facts, values.select_order, chances, values.n_features)

    def readout(self, values: SelectValues, facts: BinaryFacts, results: Results) -> str:
        return f"{text.headline(values, facts, results)} {text.sensitivities(values, facts)}"


class AccuracyCard(CurvesCard[SelectValues, BinaryFacts]):
    """Every chosen method over T, beside the results that do not depend on it."""

    plot_name, x_column, x = "select-accuracy", "n_features", AXES["n_features"]
    levels: ClassVar[Mapping[str, Style]] = {
        "non_private": Style("Naive Bayes, non-private", REFERENCE, "dot"),
        "majority": Style("Majority class", REFERENCE, "dot", "dotted"),
    }
    name, title, caption = "accuracy", "Accuracy by number of features", text.CAPTIONS["accuracy"]
    controls = ("select_methods",)

    def shown(self, values: SelectValues, facts: BinaryFacts) -> dict[str, Style]:
        chosen = {method: style for method, style in SELECTOR_STYLES.items() if method in values.select_methods}
        return {**chosen, **OWN_STYLES}

    def work(self, values: SelectValues, facts: BinaryFacts) -> dict[ResultKey, Task]:
        data, runs = (values.dataset, values.relation), (values.draws, values.seed)
        references: dict[ResultKey, Task] = {
            ("all", 0): Task(compute.accuracy_of_all, (*data, values.epsilon, *runs)),
            ("best", 0): Task(compute.best, (*data, values.epsilon, *runs)),
            # one run, for all are alike
            (text.WITHOUT, WORKER): Task(compute.accuracy_of_all, (*data, compute.NO_NOISE, 1, values.seed)),
        }
        return references | {
            (method, T): Task(compute.accuracy, values.accuracy_key(method, T))
            for method in values.select_methods
            for T in compute.selector_ladder(facts.n_features)
        }

    def show(self, values: SelectValues, facts: BinaryFacts, results: Results, wanted: Mapping) -> None:
        super().show(values, facts, results, wanted)
        self.figure.plot.x_range.update(start=0.9, end=1.1 * compute.selector_ladder(facts.n_features)[-1])

    def series(self, results: Results) -> dict[str, dict[float, Any]]:
        found = {name: dict(points) for name, points in super().series(results).items()}
        # what does not depend on T is a level line
        return {name: dict.fromkeys(FAR, points[0]) if name in OWN_STYLES else points for name, points in found.items()}

    def level_values(self, values: SelectValues, facts: BinaryFacts, results: Results) -> dict[str, float]:
        exact = here(results, text.WITHOUT)
        return {"majority": facts.majority} | ({} if exact is None else {"non_private": float(exact[0])})

    def readout(self, values: SelectValues, facts: BinaryFacts, results: Results) -> str:
        by_method: dict[str, dict[Any, Any]] = {}
        for (method, T), runs in results.items():
            by_method.setdefault(method, {})[T] = runs
        return text.accuracy_readout(values, by_method)


class SelectPage(CardPage[SelectValues, BinaryFacts]):
    """The page of one session."""

    page_id = "select"
    title = "Feature selection"
    settings_kind, values_kind = SelectSettings, SelectValues
    lesson_figures = FIGURES
    question = "Which features does private selection keep?"
    lead = "Drag <b>T</b>, the number of selected features."
    settings: SelectSettings
    facts_of = staticmethod(measures.facts)
    kinds = (ChosenCard, AccuracyCard)
    what = "accuracies"
    controls_kind = SelectControls
    main_card = "chosen"

    def words(self, values: SelectValues, facts: BinaryFacts, results: Mapping[str, Results]) -> str:
        return text.headline(values, facts, results.get(self.main_card, {}))
