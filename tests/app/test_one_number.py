"""One number for one thing: every page, lesson and document shows the stored study of the default classifier."""

import re
from pathlib import Path

import numpy as np
import pytest
from dpml_app.core.card import WORKER
from dpml_app.data import default_study, measures
from dpml_app.data.default_study import default_runs, non_private, shipped_results
from dpml_app.jobs import Pool, Task
from dpml_app.lessons.figures import read_shipped
from dpml_app.pages.explore.page import ExplorePage
from dpml_app.pages.publish import compute as publish
from dpml_app.pages.train.compute import TrainFacts, TrainValues, train_facts
from dpml_app.pages.train.figures import WITHOUT, MethodsCard
from dpml_app.settings import EPSILONS
from dpml_app.state import Settings
from dpml_app.text.phrases import percent

from dpml.datasets import card
from dpml.studies import needed_epsilon

ROOT = Path(__file__).parents[2]
STORED = sorted(path.stem for path in default_study.SHIPPED.glob("*.json"))
each_stored = [pytest.param(name, marks=[pytest.mark.data] * bool(card(name)["files"])) for name in STORED]


def stored_runs(name, epsilon):
    return shipped_results(name)[Task(default_runs, (name, "add-remove", epsilon, 0))]["accuracy"]


def stored_baseline(name):
    return shipped_results(name)[Task(non_private, (name, "add-remove"))]["accuracy"]


@pytest.mark.parametrize("name", STORED)
def test_privacy_cost_shows_the_stored_study(name):
    page = ExplorePage(Settings(dataset=name), Pool(1))
    curve = page.cards["cost"].figure.curve.data
    needed = needed_epsilon(EPSILONS, np.array([stored_runs(name, epsilon) for epsilon in EPSILONS]), 0.85)
    for column, values in {
        "mean": [stored_runs(name, epsilon).mean() for epsilon in EPSILONS],
        "low": [np.quantile(stored_runs(name, epsilon), 0.05) for epsilon in EPSILONS],
        "high": [np.quantile(stored_runs(name, epsilon), 0.95) for epsilon in EPSILONS],
        "best": [stored_baseline(name)] * len(EPSILONS),
        "guess": [default_study.shipped_facts(name).majority] * len(EPSILONS),
    }.items():
        assert list(curve[column]) == pytest.approx(values, abs=1e-12), column
    assert percent(stored_runs(name, 0.1).mean()) in page.headline.object
    assert percent(stored_baseline(name)) in page.headline.object
    assert page.cards["cost"].needed(85.0) == needed
    assert f"{needed.epsilon:g}" in page.controls.needed.object


@pytest.mark.parametrize("name", each_stored)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_classifiers_shows_the_stored_study(name, epsilon, request):
    if card(name)["files"]:
        request.getfixturevalue("data_home")
    settings = Settings(dataset=name, epsilon=epsilon)
    settings.param.update(train_methods=["auto"])
    values, facts, shown = TrainValues.of(settings), train_facts(name), MethodsCard()
    results = {key: shipped_results(name)[task] for key, task in shown.work(values, facts).items()}
    assert set(results) == {("auto", WORKER), (f"{WITHOUT}auto", WORKER)}
    row, runs = shown.rows(values, facts, results)["auto"], stored_runs(name, epsilon)
    assert (row.mean, row.low, row.high) == pytest.approx((runs.mean(), *np.quantile(runs, [0.05, 0.95])))
    assert row.without == stored_baseline(name)


@pytest.mark.parametrize("name", each_stored)
def test_every_page_has_the_same_majority_class(name, request):
    if card(name)["files"]:
        request.getfixturevalue("data_home")
    facts = [measures.facts(name), train_facts(name), default_study.shipped_facts(name), publish.shipped_facts(name)]
    assert len({known.majority for known in facts if known is not None}) == 1
    assert isinstance(facts[1], TrainFacts)


def test_lessons_name_the_stored_study():
    shipped = read_shipped()
    at = {key: dict(part.split("=") for part in key.split("&")) for key in shipped}
    compared = []
    for key, state in at.items():
        name, epsilon = state.get("dataset", "census"), float(state.get("epsilon", 0.1))
        runs = stored_runs(name, epsilon) if name in STORED else None
        expected = {
            "main number=default": lambda runs=runs: percent(runs.mean()),
            "main number=non-private": lambda name=name: percent(stored_baseline(name)),
            "main number=cost": lambda name=name, runs=runs: f"{100 * (stored_baseline(name) - runs.mean()):.1f}",
            "trained method=auto": lambda runs=runs: 100 * runs.mean(),
            "main_range number=default": lambda runs=runs: " to ".join(map(percent, np.quantile(runs, [0.05, 0.95]))),
            "guess": lambda name=name: 100 * default_study.shipped_facts(name).majority,
        }
        for figure in expected.keys() & shipped[key].keys():
            value = expected[figure]()
            assert shipped[key][figure] == (pytest.approx(value) if isinstance(value, float) else value), (key, figure)
            compared.append(figure)
    assert set(compared) == set(expected)


def cells_of(document, row):
    """Return the cells of a Markdown table's row, by the start of its first cell."""
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    [line] = [line for line in lines if line.startswith(f"| {row}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_documents_print_the_stored_study():
    def mean(name, epsilon):
        return f"{100 * stored_runs(name, epsilon).mean():.1f}"

    accuracies = [re.sub(r" \(.*\)", "", cell) for cell in cells_of("README.md", "**`AutoClassifier`**, the default")]
    assert accuracies[2:4] == [mean("mushrooms", 0.1), mean("adult", 0.1)]
    compared = [re.sub(r" \(.*\)", "", cell) for cell in cells_of("README.md", "dpml 0.1.0, `AutoClassifier`")]
    assert compared[2:6] == [mean(name, epsilon) for name in ("adult", "mushrooms") for epsilon in (0.1, 1.0)]
    without = cells_of("README.md", "`AutoClassifier` without noise, non-private")
    assert without[2:4] == [f"{100 * stored_baseline(name):.1f}" for name in ("mushrooms", "adult")]
    majority = cells_of("README.md", "Majority-class baseline")
    assert majority[2:4] == [f"{100 * default_study.shipped_facts(n).majority:.1f}" for n in ("mushrooms", "adult")]
    for name in ("mushrooms", "adult"):
        shown = cells_of("docs/explanation/results.md", f"{name} |")[1].split(", ")
        assert shown[:3] == [mean(name, epsilon) for epsilon in (0.1, 0.5, 1.0)]
