"""A classifier, a selector and a publisher that are registered before the app is loaded appear in its lists.

Nothing else is edited. It runs in a process of its own, for the lists of a page are made when the page is loaded.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import contextlib, io, json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import made_up_methods
made_up_methods.register()
out = {}

from dpml.__main__ import main
text = io.StringIO()
with contextlib.redirect_stdout(text):
    main(["catalogue"])
kinds = ("classifier", "selector", "publisher")
out["catalogue"] = [kind for kind in kinds if f"Made-up {kind}: as" in text.getvalue()]

from dpml.studies import advise, advised, frontier
from dpml.sweep import sweep
table = sweep({"study": ["made-up", "row-bounded-naive-bayes"], "data": "toy", "epsilon": [1.0], "draws": 4})
out["sweep"] = sorted(set(table["study"]))
best = frontier(table[table["study"] == "made-up"], rng=np.random.default_rng(0))
out["frontier"] = [best["study"].iloc[0], int(frontier(table, rng=np.random.default_rng(0))["candidates"].iloc[0])]
from dpml.datasets import load
found = advise(load("toy"), 1.0, draws=4, rng=np.random.default_rng(0))
out["advice"] = [one.method for one in found.methods]

from dpml.release.methods import method_named, method_problems, offered
name, model = method_named("made-up")
out["release"] = ["made-up" in offered(), type(model).__name__, len(method_problems(name, model, "add-remove", True))]

from dpml_app.state import Settings
from dpml_app.pages.train.compute import TrainValues, train_facts
from dpml_app.pages.train.figures import WORKER, AccuracyCard, MethodsCard
settings = Settings()
out["list"] = settings.param["train_methods"].get_range().get("Made-up classifier")
settings.param.update(dataset="toy", train_methods=["auto", "binned", "made-up"], draws=10)
values, facts, card = TrainValues.of(settings), train_facts("toy"), AccuracyCard()
tasks = {place: task for (series, place), task in card.work(values, facts).items() if series == "made-up"}
results = {("made-up", place): task.function(*task.arguments) for place, task in tasks.items()}
card.show(values, facts, results, {("made-up", place): task for place, task in tasks.items()})
out["curve"] = len(card.figure.sources["made-up"].data["mean"])
out["places"] = len(tasks)
[legend] = card.figure.plot.legend
out["legend"] = [item.label.value for item in legend.items if "Made-up" in item.label.value]
out["words"] = MethodsCard().readout(values, facts, {("made-up", WORKER): results["made-up", 1.0]})

from dpml_app.pages.mydata.figures import advice_figure
out["my data"] = "made-up" in advice_figure().sources

from dpml_app.data import measures
from dpml_app.pages.select import text as select_words
from dpml_app.pages.select.page import AccuracyCard as SelectCard
from dpml_app.pages.select.compute import SelectValues
settings.select_methods = ["made-up", "joint"]
values, facts, card = SelectValues.of(settings), measures.facts("toy"), SelectCard()
card.show(values, facts, {}, card.work(values, facts))
tasks = {place: task for place, task in card.work(values, facts).items() if place[0] == "made-up"}
accuracies = {place[1]: task.function(*task.arguments) for place, task in tasks.items()}
out["select"] = [settings.param["select_methods"].get_range().get("Made-up selector"), "made-up" in card.figure.sources]
out["select words"] = select_words.accuracy_readout(values, {"made-up": accuracies})

from dpml_app.pages.publish import compute as publish
from dpml_app.pages.publish.figures import ModelsCard
settings.publish_draws = 5
values, card = publish.PublishValues.of(settings), ModelsCard()
work = {place: one for place, one in card.work(values, None).items() if place == ("made-up", "soon")}
results = {place: one.function(*one.arguments) for place, one in work.items()}
out["publish"] = [len(results), "made-up" in card.figure.sources, card.readout(values, None, results)]

from dpml_app.jobs import Pool
pool, (T, task) = Pool(1), (next(iter(accuracies)), next(iter(tasks.values())))
out["in a worker"] = bool((pool.submit(task).result() == accuracies[T]).all())
pool.stop()

print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def seen():
    tests = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", SCRIPT, tests], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_command_line_and_the_studies_know_it(seen):
    assert seen["catalogue"] == ["classifier", "selector", "publisher"]
    assert seen["sweep"] == ["made-up", "row-bounded-naive-bayes"]
    assert seen["frontier"] == ["made-up", 2]
    assert "made-up" in seen["advice"]


def test_the_release_offers_it_and_has_nothing_against_it(seen):
    assert seen["release"] == [True, "MadeUp", 0]


def test_the_train_page_lists_draws_and_names_it(seen):
    assert seen["list"] == "made-up"
    assert seen["curve"] == seen["places"] > 5
    assert seen["legend"] == ["Made-up classifier"]
    assert "Not private" not in seen["words"]
    assert "Made-up" in seen["words"]


def test_the_advice_draws_it(seen):
    assert seen["my data"]


def test_the_select_page_lists_draws_and_names_a_selector(seen):
    assert seen["select"] == ["made-up", True]
    assert "Made-up selector <b>" in seen["select words"]
    assert "not private" not in seen["select words"]


def test_the_synthetic_data_page_draws_and_names_a_publisher(seen):
    number, drawn, words = seen["publish"]
    assert (number, drawn) == (1, True)
    assert "Made-up publisher <b>" in words


def test_a_worker_knows_what_was_registered_before_it_started(seen):
    assert seen["in a worker"]
