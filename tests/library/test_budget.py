"""Composition, searches and worker processes, and a ledger that survives a killed process."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from dpml.budget import Budget, charge, zcdp_epsilon
from dpml.classifiers import BernoulliNB
from dpml.exceptions import BudgetExceeded, InvalidParameter


def table(n=60):
    rng = np.random.default_rng(0)
    return (rng.random((n, 4)) < 0.5).astype(float), np.arange(n) % 2


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_grid_search_of_seven_fits_is_charged_seven(n_jobs, tmp_path):
    """Three settings times two folds, and the refit: a peer's accountant, copied by clone, ends at 0 here."""
    budget = Budget(7.0, path=tmp_path / "ledger.sqlite") if n_jobs else Budget(7.0)
    search = GridSearchCV(
        BernoulliNB(1.0, budget=budget, random_state=0), {"pseudocount": [0.5, 1.0, 2.0]}, cv=2, n_jobs=n_jobs
    )
    search.fit(*table())
    assert budget.spent == 7.0
    assert budget.ledger["epsilon"].tolist() == [1.0] * 7
    with pytest.raises(BudgetExceeded):
        BernoulliNB(1.0, budget=budget).fit(*table())


def test_disjoint_parts_cost_the_dearest_ones():
    for relation, expected in (("add-remove", 0.5), ("replace-one", 0.9)):
        budget = Budget(1.0, 1e-3, relation)
        parts = budget.disjoint("a", "b", "c")
        for part, epsilon in zip(parts.values(), (0.5, 0.4, 0.1), strict=True):
            part.spend(epsilon, 1e-4)
        assert budget.spent == pytest.approx(expected)
        budget.spend(0.1)
        assert budget.spent == pytest.approx(expected + 0.1)
        assert len(budget.ledger) == 4
        assert budget.ledger["part"].tolist() == ["a", "b", "c", ""]


def test_disjoint_parts_nest_and_are_refused_together():
    budget = Budget(1.0)
    left, right = budget.disjoint("left", "right").values()
    inner = left.disjoint("x", "y")
    inner["x"].spend(0.6)
    inner["y"].spend(0.7)
    right.spend(0.9)
    assert left.spent == 0.7
    assert budget.spent == 0.9
    with pytest.raises(BudgetExceeded, match=r"0\.3 of 1 left"):
        inner["y"].spend(0.4)
    assert budget.spent == 0.9
    with pytest.raises(InvalidParameter, match="names"):
        budget.disjoint("same", "same")


def test_locked_parts_keep_their_epsilon_and_the_rest_is_split():
    parts = Budget(1.0).split(locked={"roc": 0.25}, train=2, select=1)
    assert {k: p.epsilon for k, p in parts.items()} == pytest.approx({"roc": 0.25, "train": 0.5, "select": 0.25})
    with pytest.raises(BudgetExceeded):
        Budget(1.0).split(locked={"roc": 1.0}, train=1)
    with pytest.raises(InvalidParameter, match=r"`roc` must be .*Got 0"):
        Budget(1.0).split(locked={"roc": 0}, train=1)


def test_locked_parts_above_the_total_are_refused():
    """Also where nothing else is split off; a sum that exceeds it by rounding alone is fine."""
    for locked in ({"train": 1.5}, {"train": 0.6, "evaluate": 0.5}):
        with pytest.raises(BudgetExceeded, match="nothing is left to split"):
            Budget(1.0).split(locked=locked)
    parts = Budget(0.3).split(locked={"train": 0.1, "evaluate": 0.2})
    assert [part.epsilon for part in parts.values()] == [0.1, 0.2]


def test_group_privacy():
    epsilon, delta = Budget(0.5, 1e-6).for_group(3)
    assert epsilon == 1.5
    assert delta == pytest.approx(1e-6 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert Budget(0.5).for_group(4) == (2.0, 0.0)
    with pytest.raises(InvalidParameter, match=r"`size` must be .*Got 0"):
        Budget(1.0).for_group(0)


def test_concentrated_charges_add_up_before_they_are_converted():
    together = zcdp_epsilon(0.1, 1e-5)
    budget = Budget(together + 0.5, 1e-5)
    budget.spend(0.5)
    for _ in range(10):
        budget.spend(rho=0.01, label="gaussian")
    assert budget.spent == pytest.approx(together + 0.5)
    assert together < 10 * zcdp_epsilon(0.01, 1e-5) / 2
    # at most the textbook conversion, and at least the exact mean of the privacy loss
    assert 0.1 < together <= 0.1 + 2 * math.sqrt(0.1 * math.log(1e5))
    with pytest.raises(BudgetExceeded, match="ρ = 5"):
        budget.spend(rho=5.0)
    assert len(budget.ledger) == 11


def test_a_pure_delta_charge_and_the_json_form():
    budget = Budget(1.0, 1e-3)
    budget.spend(0.0, 1e-4, label="coin")
    budget.spend(0.25, label="counts")
    facts = json.loads(budget.to_json())
    assert facts["spent"] == 0.25
    assert [c["label"] for c in facts["charges"]] == ["coin", "counts"]
    assert facts["charges"][0]["delta"] == 1e-4
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got 0"):
        budget.spend(0.0)
    assert charge(None, "add-remove", 1.0, label="nothing") is None


RELEASER = """
import sys
import numpy as np
from dpml.budget import Budget

budget = Budget(1e6, path=sys.argv[1])
rng = np.random.default_rng()
print("ready", flush=True)
while True:
    budget.spend(1.0, label="count")
    print(rng.laplace(), flush=True)
"""


@pytest.mark.parametrize("attempts", [5, pytest.param(50, marks=pytest.mark.full)])
def test_a_killed_process_loses_no_charge(tmp_path, attempts):
    """Several kill -9 at random moments: every value that came out has been charged, and at most one charge more."""
    rng = np.random.default_rng(0)
    released_in_all = 0
    for attempt in range(attempts):
        path = tmp_path / f"ledger{attempt}.sqlite"
        process = subprocess.Popen(
            [sys.executable, "-c", RELEASER, str(path)], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stdout.readline() == "ready\n"
        # some are waited for, so that a slow machine has releases to look at too
        lines = [process.stdout.readline() for _ in range(rng.integers(4))]
        time.sleep(rng.uniform(0, 0.03))
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.read().split("\n")
        process.stdout.close()
        process.wait()
        released = len([line for line in lines if line])
        charged = len(Budget(1e6, path=path).ledger)
        assert released <= charged <= released + 1
        released_in_all += released
    assert released_in_all > attempts
