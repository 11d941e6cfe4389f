"""Card: the largest error of many answers, beside what the thesis' theorem says of it."""

from __future__ import annotations

from typing import Any

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import across
from dpml_app.drawing.styles import Style
from dpml_app.pages.noise import compute, words
from dpml_app.pages.noise.draws import MECHANISM, numbers_of
from dpml_app.pages.noise.figures import CurveFigure
from dpml_app.pages.noise.models import has_scale
from dpml_app.pages.noise.settings import MECHANISMS, NoiseValues
from dpml_app.work.pool import Task

STYLES = {
    "bound": Style("Theorem 2.2.2", "#E69F00", "square", "dashed"),
    "exact": Style("Laplace, exact", "#0072B2", "circle", "solid"),
    "own": Style("Chosen mechanism", "#D55E00", "triangle", "dotted"),
}


class TailsCard(Card[NoiseValues, NoFacts]):
    """One person counts in one of the queries."""

    name, title, caption = "tails", "The largest error of many answers", words.CAPTIONS["tails"]
    controls = ("noise_queries", "noise_failure")
    depends = MECHANISM | {"noise_queries", "noise_failure"}

    def __init__(self):
        label, axis = "probability of a larger error (log scale)", "largest error, in units of Δ/ε"
        options: dict[str, Any] = {"x_range": (0, 25), "x_axis_label": axis}
        super().__init__(CurveFigure("noise-tails", STYLES, label, (-4, 0), values="probability", **options))
        self.level = across(self.figure.plot, "width", 0.05, line_dash="dotted")

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        arguments = values.noise_mechanism, numbers_of(values), values.noise_queries
        return {("tails", IMMEDIATE): Task(compute.tails, arguments)}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        epsilon, sensitivity, *_rest = numbers_of(values)
        failure = values.noise_failure
        self.figure.show(now["tails", IMMEDIATE], compute.ERRORS)
        bounds = compute.accuracy_bounds(epsilon, sensitivity, values.noise_queries, failure)
        bound, true = (t * epsilon / sensitivity for t in bounds)
        self.figure.mark(bound, {"bound": failure})
        self.figure.here.data = {"x": [bound, true], "y": [failure] * 2}
        self.level.location = failure

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        name, why = values.noise_mechanism, ""
        if name not in ("laplace", "norm-1") and "own" not in results["tails", IMMEDIATE]:
            known = has_scale(name, numbers_of(values)[3])
            why = "has no closed form for its largest coordinate" if known else "has no scale at this β"
            why = f" {MECHANISMS[name]} noise {why} and is not drawn."
        return words.tail_words(values, why)
