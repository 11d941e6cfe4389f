"""A classifier that is registered before the app is loaded appears wherever methods are listed, with no other edit.

It runs in a process of its own, for the lists of the Train page are made when the page is loaded.
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
import made_up_classifier
made_up_classifier.register()
out = {}

from dpml.__main__ import main
text = io.StringIO()
with contextlib.redirect_stdout(text):
    main(["catalogue"])
out["catalogue"] = "made-up" in text.getvalue() and "Made-up classifier" in text.getvalue()

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
from dpml_app.pages.train.accuracy import AccuracyCard
from dpml_app.pages.train.card import IMMEDIATE, WORKER
from dpml_app.pages.train.compute import nb_facts
settings = Settings()
out["list"] = settings.param["train_begin"].get_range().get("Made-up classifier")
settings.param.update(dataset="toy", train_begin=["auto", "made-up"], train_methods=["binned"], draws=10)
values, facts, card = settings.train_values(), nb_facts("toy"), AccuracyCard()
chunks = {place: chunk for (series, place), chunk in card.work(values, facts).items() if series == "made-up"}
results = {("made-up", place): chunk.function(*chunk.arguments) for place, chunk in chunks.items()}
card.prepare(values, facts, {})
card.show(results, {("made-up", place): chunk for place, chunk in chunks.items()})
out["curve"] = len(card.figure.curves["made-up"].data["x"])
out["places"] = sum(place not in (IMMEDIATE, WORKER) for place in chunks)
out["legend"] = card.figure.items["made-up"].label.value
out["words"] = card.readout(values, facts, results)

from dpml_app.pages.mydata.advice_card import AdviceFigure
out["my data"] = "made-up" in AdviceFigure().sources
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def seen():
    tests = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", SCRIPT, tests], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_command_line_and_the_studies_know_it(seen):
    assert seen["catalogue"]
    assert seen["sweep"] == ["made-up", "row-bounded-naive-bayes"]
    assert seen["frontier"] == ["made-up", 2]
    assert "made-up" in seen["advice"]


def test_the_release_offers_it_and_has_nothing_against_it(seen):
    assert seen["release"] == [True, "MadeUp", 0]


def test_the_train_page_lists_draws_and_names_it(seen):
    assert seen["list"] == "made-up"
    assert seen["curve"] == seen["places"] > 5
    assert seen["legend"] == "Made-up"
    assert "Not private" not in seen["words"]
    assert "Made-up" in seen["words"]


def test_the_advice_draws_it(seen):
    assert seen["my data"]
