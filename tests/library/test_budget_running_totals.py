"""Sums are exact, a charge costs the same however many there were, and a worker process is told what to do."""

import math
import pickle
import sqlite3
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpml.budget import Budget
from dpml.budget.ledger import RunningTotals, down, exact, nearest, up
from dpml.exceptions import BudgetExceeded, InvalidParameter

LEAST = 5e-324


@given(st.lists(st.floats(0, 1e308), max_size=8))
def test_sums_are_exact(numbers):
    total = sum(map(exact, numbers))
    fraction = sum(map(Fraction, numbers), Fraction(0))
    assert Fraction(total, 2**1074) == fraction
    if fraction <= Fraction(1.7e308):
        assert nearest(total) == math.fsum(numbers)
        assert Fraction(down(total)) <= fraction <= Fraction(up(total))
        assert up(total) in (down(total), math.nextafter(down(total), math.inf))
    else:
        assert Fraction(down(total)) <= fraction


def test_a_subnormal_charge_counts():
    budget = Budget(3 * LEAST)
    for _ in range(3):
        budget.spend(LEAST)
    assert budget.spent == 3 * LEAST
    with pytest.raises(BudgetExceeded):
        budget.spend(LEAST)
    # added to 0.5 as doubles it would vanish
    budget = Budget(1.0)
    budget.spend(0.5)
    for _ in range(3):
        budget.spend(2.0**-54)
    assert budget.remaining == 0.5 - 3 * 2.0**-54
    budget.spend(2.0**-54)
    assert budget.spent == 0.5 + 2.0**-52
    # no δ is none, not a little
    with pytest.raises(BudgetExceeded, match="δ"):
        budget.spend(0.1, LEAST)


def test_minus_zero_is_zero_in_the_file(tmp_path):
    budget = Budget(1.0, 0.5, path=tmp_path / "ledger.db")
    budget.spend(-0.0, 0.25, rho=-0.0)
    [row] = Budget(1.0, 0.5, path=tmp_path / "ledger.db").ledger.to_dict("records")
    assert math.copysign(1, row["epsilon"]) == math.copysign(1, row["rho"]) == 1


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, -LEAST, True, "1", None, 1j, 10**400, [0.1]])
@pytest.mark.parametrize("name", ["epsilon", "delta", "rho"])
def test_odd_charges_are_refused(tmp_path, name, wrong):
    for budget in (Budget(1.0, 0.5), Budget(1.0, 0.5, path=tmp_path / "ledger.db")):
        with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
            budget.spend(**{"epsilon": 0.5, name: wrong})
        assert budget.ledger.empty
        assert budget.spent == 0


@pytest.mark.parametrize("label", ["", "a\0b", "\ud800", "π'\";--", "x" * 100_000])
def test_any_label_comes_back(tmp_path, label):
    path = tmp_path / "ledger.db"
    Budget(1.0, path=path).spend(0.5, label=label)
    assert Budget(1.0, path=path).ledger["label"].tolist() == [label]


def naive_cost(part, charges, parts, touched):
    """The cost of a part from the definition: its charges, its parts, and of disjoint parts the dearest."""
    sums = [charge for holder, *charge in charges if holder == part]
    groups = {}
    for child, (parent, group) in parts.items():
        if parent == part:
            groups.setdefault(group or child, []).append(naive_cost(child, charges, parts, touched))
    for costs in groups.values():
        sums.append([sum(sorted(column)[-touched:]) for column in zip(*costs, strict=True)])
    return [sum(column) for column in zip(*sums, strict=True)] if sums else [0, 0, 0]


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_running_totals_are_those_of_the_definition(relation):
    rng = np.random.default_rng(0)
    for _ in range(20):
        totals, charges, parts = RunningTotals(b"", relation), [], {}
        for i in range(60):
            if rng.random() < 0.3:
                parent = str(rng.choice(["", *parts]))
                group = None if rng.random() < 0.3 else f"{parent}:{rng.integers(2)}"
                totals.add(RunningTotals.text({"part": f"p{i}", "parent": parent, "disjoint": group}))
                parts[f"p{i}"] = parent, group
            else:
                part = str(rng.choice(["", *parts]))
                cost = rng.choice([0, LEAST, 1e-9, 0.1, 0.2, 1 / 3], 3).tolist()
                charges.append((part, *map(exact, cost)))
                facts = dict(zip(("epsilon", "delta", "rho"), cost, strict=True))
                totals.add(RunningTotals.text({"part": part, "name": "", "label": "", **facts}))
        assert parts != {}
        for part in ("", *parts):
            assert list(totals.parts[part].total) == naive_cost(part, charges, parts, 2 - (relation == "add-remove"))


class Counted:
    """Counts the rows that SQLite hands over, and the whole checks."""

    def __init__(self, monkeypatch):
        self.rows = self.checks = 0
        self.durable = []
        connect = sqlite3.connect
        counted = self

        class Cursor(sqlite3.Cursor):
            def fetchall(self):
                rows = super().fetchall()
                counted.rows += len(rows)
                return rows

        class Connection(sqlite3.Connection):
            def execute(self, statement, *arguments):
                counted.checks += statement == "PRAGMA integrity_check"
                if statement == "COMMIT":
                    # 2 is FULL, 3 EXTRA
                    modes = [self.cursor().execute(f"PRAGMA {m}").fetchone() for m in ("synchronous", "journal_mode")]
                    counted.durable.append((modes[0][0] >= 2, modes[1][0]))
                return self.cursor(Cursor).execute(statement, *arguments)

        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Connection, **k))

    def of(self, use):
        self.rows = self.checks = 0
        use()
        return self.rows, self.checks


def test_a_charge_reads_as_much_after_many_charges_as_after_one(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    budget = Budget(1e3, 1e-3, path=path)
    parts = list(budget.disjoint(*map(str, range(50))).values())
    first, other = parts[0].split(1)[0], Budget(1e3, 1e-3, path=path)
    counted = Counted(monkeypatch)
    # the head alone
    assert counted.of(lambda: first.spend(0.01)) == (1, 0)
    for part in parts:
        part.spend(0.01)
    assert counted.of(lambda: first.spend(0.01)) == (1, 0)
    assert counted.of(lambda: budget.spent) == (1, 0)
    # another user of the file reads the 52 charges that are new to it, and the head
    assert counted.of(lambda: other.spend(0.01)) == (1 + 52, 0)
    assert counted.of(lambda: other.spend(0.01)) == (1, 0)
    assert counted.of(lambda: first.spend(0.01)) == (1 + 2, 0)
    # opening reads all of it: 51 parts and 55 charges, the head, the two tables, SQLite's ok
    assert counted.of(lambda: Budget(1e3, 1e-3, path=path)) == (51 + 55 + 1 + 2 + 1, 1)


def test_every_commit_is_durable(tmp_path, monkeypatch):
    counted = Counted(monkeypatch)
    budget = Budget(1.0, path=tmp_path / "ledger.db")
    budget.spend(0.25)
    budget.split(1, 1)[0].spend(0.25)
    assert counted.durable == [(True, b"delete")] * 4


def test_a_budget_without_a_path_comes_home_from_a_worker(tmp_path):
    """A model that a worker sends back holds the budget that it was sent with."""
    budget = Budget(1.0)
    (tmp_path / "pickled").write_bytes(pickle.dumps(budget))
    program = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    budget = pickle.load(file)
with open(sys.argv[1], "wb") as file:
    pickle.dump(budget, file)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "pickled")], check=True)
    assert pickle.loads((tmp_path / "pickled").read_bytes()) is budget
