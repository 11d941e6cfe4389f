"""Card: one count with a person and without, and releases of it. The page's picture."""

from __future__ import annotations

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.pages.noise import compute, words
from dpml_app.pages.noise.count_figure import CountFigure
from dpml_app.pages.noise.draws import MECHANISM, no_scale, numbers_of
from dpml_app.pages.noise.settings import NoiseValues
from dpml_app.work.pool import Task


class CountCard(Card[NoiseValues, NoFacts]):
    """Two densities, what they share, and releases that fall one by one."""

    draw = CountFigure
    name, title, caption = "count", "A count with you and without you", words.CAPTIONS["count"]
    depends = MECHANISM | {"noise_seed"}

    def refusal(self, values: NoiseValues, facts: NoFacts) -> str:
        return no_scale(values)

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        arguments = values.noise_mechanism, numbers_of(values), values.noise_seed
        return {("pair", IMMEDIATE): Task(compute.pair, arguments)}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        self.figure.show(now["pair", IMMEDIATE], values.noise_epsilon, values.noise_sensitivity, values.noise_seed)

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return words.pair_words(values, results["pair", IMMEDIATE])
