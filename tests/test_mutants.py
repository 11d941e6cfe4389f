"""The tests notice when the library is broken: a part of the mutants, in at most two minutes, and all of them apply.

`python tests/mutants` runs all of them.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mutants.lists import MUTANTS
from mutants.mutant import DoesNotApply

ROOT = Path(__file__).parents[1]
ONE = next(m for m in MUTANTS if m.function == "dpml.mechanisms.laplace.Laplace._sample")


def test_there_are_mutants_in_every_room_and_each_is_another():
    assert len(MUTANTS) >= 40
    # a fault that the tests of its module and the audit must both see is listed twice
    assert len({(m.function, m.old, m.new, m.tests) for m in MUTANTS}) == len(MUTANTS)
    rooms = {m.function.split(".")[1] for m in MUTANTS}
    assert rooms >= {
        "schema", "budget", "mechanisms", "encoding", "counts", "selection", "classifiers", "evaluation", "auditing",
        "catalogue", "tuning", "estimators",
    }  # fmt: skip
    assert {node.split("::")[0] for m in MUTANTS for node in m.node_ids} <= {
        f"tests/{path.name}" for path in (ROOT / "tests").glob("test_*.py")
    }


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m.function}: {m.kind}" for m in MUTANTS])
def test_every_mutant_still_applies(mutant):
    assert mutant.changed().co_name == mutant.function.rpartition(".")[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"old": "no such text"}, "0 times"),
        ({"old": "noise"}, "times in its source"),
        ({"old": "scale=self.scale", "new": "scale=(self.scale)"}, "is the same"),
        ({"old": "scale=self.scale", "new": "scale=("}, "cannot be read"),
        ({"function": "dpml.mechanisms.laplace.Laplace._gone"}, "has no '_gone'"),
        ({"function": "dpml.mechanisms.nowhere.Laplace"}, "is not there"),
        ({"function": "dpml.mechanisms.Laplace._sample"}, "is no function of dpml.mechanisms"),
    ],
)
def test_a_mutant_that_does_not_apply_says_so(change, message):
    with pytest.raises(DoesNotApply, match=message):
        replace(ONE, **change).changed()


def test_the_part_of_the_mutants_is_killed():
    """In a process of its own, for a fork of one that has threads could wait for ever."""
    done = subprocess.run(
        [sys.executable, "tests/mutants", "--part", "--jobs", "1"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("killed by tests/") == sum(m.quick for m in MUTANTS) >= 15


VERDICTS = """
import sys
sys.path[:0] = ["tests", "."]
from mutants import engine
from mutants.lists._tests import law
from mutants.mutant import Mutant

LAPLACE, TESTS = "dpml.mechanisms.laplace.Laplace._sample", (law("Laplace"),)
ONES = [
    Mutant(LAPLACE, "nothing changed", "noise += statistic", "noise += statistic + 0.0", TESTS),
    Mutant(LAPLACE, "no such name", "scale=self.scale", "scale=no_such_name", TESTS),
    Mutant(LAPLACE, "no such text", "no such text", "", TESTS),
    Mutant(LAPLACE, "a third", "scale=self.scale", "scale=self.scale / 3", TESTS),
    Mutant(
        "dpml.selection.ranking.NoisyScoreSelector._masks",
        "exact scores",
        "return noisy >=",
        "return values >=",
        ("test_selection_ranking.py::test_a_large_epsilon_keeps_what_reaches_the_threshold[scores]",),
    ),
]
engine.prepare(ONES)
assert engine.baseline(ONES).verdict == "survived"
for outcome in engine.outcomes(ONES, lambda mutant: mutant.node_ids, 1):
    print(f"{outcome.mutant.kind}: {outcome.verdict}")
"""


def test_what_survives_or_does_not_run_or_does_not_apply_is_no_kill():
    done = subprocess.run([sys.executable, "-c", VERDICTS], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    survived, unfair, gone, killed, exact = done.stdout.splitlines()
    assert survived == "nothing changed: survived"
    assert unfair.startswith("no such name: a test failed by another exception: NameError")
    assert gone.startswith("no such text: DoesNotApply")
    assert killed == "a third: killed"
    assert exact == "exact scores: killed"
