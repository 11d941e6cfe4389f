"""A budget never pays out more than its total: to charges, parts, copies, threads or processes."""

import copy
import math
import pickle
import subprocess
import sys
import threading

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from dpml.budget import Budget
from dpml.exceptions import BudgetExceeded, InvalidParameter, RelationMismatch

RELATIONS = ["add-remove", "replace-one"]


@pytest.mark.parametrize(
    ("total", "epsilon", "delta", "symbol"),
    [((1.0, 1e-5), 0.6, 0.0, "ε"), ((1.0, 1e-5), 0.1, 2e-5, "δ"), ((1.0,), 0.5, 1e-9, "δ")],
)
def test_overspending_is_refused_and_charges_nothing(total, epsilon, delta, symbol):
    budget = Budget(*total)
    budget.spend(0.5, label="first")
    before = budget.ledger
    with pytest.raises(BudgetExceeded, match=f"a charge of {symbol} = "):
        budget.spend(epsilon, delta)
    pd.testing.assert_frame_equal(budget.ledger, before)
    assert budget.spent == 0.5


@pytest.mark.parametrize("relation", RELATIONS)
def test_cost_under_the_other_relation_is_refused(relation):
    (other,) = set(RELATIONS) - {relation}
    budget = Budget(1.0, relation=relation)
    budget.spend(0.25, relation=relation)
    with pytest.raises(RelationMismatch, match=f"under {other} cannot be charged to a budget under {relation}"):
        budget.spend(0.25, relation=other)
    with pytest.raises(InvalidParameter, match=r"`relation` must be .*Got 'both'"):
        budget.spend(0.25, relation="both")
    assert budget.spent == 0.25


def test_ledger_has_one_row_a_charge_oldest_first():
    budget = Budget(1.0, 1e-5, "replace-one")
    assert budget.ledger.columns.tolist() == ["label", "part", "epsilon", "delta", "rho", "relation"]
    assert budget.ledger.empty
    train = budget.split(train=1)["train"]
    budget.spend(0.25, label="scores")
    train.spend(0.5, 1e-6, label="weights")
    assert budget.ledger.to_dict("records") == [
        {"label": "scores", "part": "", "epsilon": 0.25, "delta": 0.0, "rho": 0.0, "relation": "replace-one"},
        {"label": "weights", "part": "train", "epsilon": 0.5, "delta": 1e-6, "rho": 0.0, "relation": "replace-one"},
    ]
    assert train.ledger["label"].tolist() == ["weights"]
    assert train.ledger.index.tolist() == [0]


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6), st.floats(1e-3, 10), st.floats(0, 0.5))
def test_split_shares_by_weight_and_all_of_it_can_be_spent(weights, epsilon, delta):
    budget = Budget(epsilon, delta)
    parts = budget.split(*weights)
    for part, weight in zip(parts, weights, strict=True):
        assert part.epsilon == pytest.approx(epsilon * weight / sum(weights), rel=1e-9)
        assert part.delta == pytest.approx(delta * weight / sum(weights), rel=1e-9)
        part.spend(part.epsilon, part.delta)
    assert budget.spent == pytest.approx(epsilon, rel=1e-9)


def test_split_by_names_and_nested():
    budget = Budget(1.0, relation="replace-one")
    parts = budget.split(select=1, train=3)
    assert {name: part.epsilon for name, part in parts.items()} == {"select": 0.25, "train": 0.75}
    first, second = parts["train"].split(2, 1)
    assert (first.epsilon, second.epsilon) == (0.5, 0.25)
    assert first.relation == "replace-one"
    first.spend(0.5)
    assert first.ledger["part"].tolist() == ["train / part 1"]
    assert [b.spent for b in (budget, parts["train"], first, second, parts["select"])] == [0.5, 0.5, 0.5, 0, 0]
    with pytest.raises(BudgetExceeded, match=r"'train / part 1' has 0 of 0\.5 left"):
        first.spend(0.01)


def test_part_cannot_pass_what_its_parents_have_left():
    budget = Budget(1.0)
    left, right = budget.split(1, 1)
    (inner,) = left.split(1)
    left.spend(0.25)
    with pytest.raises(BudgetExceeded, match=r"'part 1' has 0\.25 of 0\.5 left"):
        inner.spend(0.5)
    budget.spend(0.5)
    with pytest.raises(BudgetExceeded, match=r"there is 0\.25 of 1 left"):
        right.spend(0.5)
    assert budget.spent == 0.75


def test_charges_at_once_count_for_the_whole_budget():
    whole = Budget(1.0)
    part, _ = whole.split(1, 1)
    part.spend_all({"one": 0.125, "two": 0.125}, relation="add-remove")
    assert whole.spent == part.spent == 0.25
    assert whole.ledger["label"].tolist() == ["one", "two"]
    whole.spend(0.625)  # the whole has less left than the part
    for budget in (part, whole):
        with pytest.raises(BudgetExceeded):
            budget.spend_all({"three": 0.125, "four": 0.125})
    with pytest.raises(InvalidParameter):
        whole.spend_all({"three": 0.0})
    assert whole.spent == 0.875


def test_split_divides_what_is_left():
    budget = Budget(1.0)
    budget.spend(0.5)
    assert [part.epsilon for part in budget.split(1, 1)] == [0.25, 0.25]
    budget.spend(0.5)
    with pytest.raises(BudgetExceeded, match="nothing is left to split: 1 of 1 is taken"):
        budget.split(1, 1)


@pytest.mark.parametrize(
    ("weights", "names"),
    [((), {}), ((0,), {}), ((1, -1), {}), ((1, math.nan), {}), (("1",), {}), ((True,), {}), ((1,), {"train": 1}),
     ((), {"train": 0, "test": 1})],
)  # fmt: skip
def test_split_needs_positive_weights_or_names(weights, names):
    with pytest.raises(InvalidParameter, match=r"weights|part \d|either positional or named|`train` must be .*Got 0"):
        Budget(1.0).split(*weights, **names)


def test_copies_and_clones_spend_from_the_same_inner_budget():
    budget = Budget(1.0)
    assert copy.copy(budget) is budget
    assert copy.deepcopy({"budget": [budget]})["budget"][0] is budget
    assert clone(budget) is budget
    assert clone(DummyClassifier(constant=budget)).constant is budget


@pytest.mark.parametrize("of", [lambda budget: budget, lambda budget: budget.split(1)[0]], ids=["whole", "part"])
def test_an_unpickled_budget_is_the_same_in_its_process(of):
    budget = Budget(1.0)
    mine = of(budget)
    assert pickle.loads(pickle.dumps(mine)) is mine
    pickle.loads(pickle.dumps(mine)).spend(0.5)
    assert budget.remaining == 0.5


@pytest.mark.parametrize("of", [lambda budget: budget, lambda budget: budget.split(1)[0]], ids=["whole", "part"])
def test_budget_without_a_path_is_refused_in_another_process(of, tmp_path):
    (tmp_path / "budget").write_bytes(pickle.dumps(of(Budget(1.0))))
    program = """
import pickle, sys
from dpml.exceptions import DpmlError
budget = pickle.load(open(sys.argv[1], "rb"))
budget = pickle.loads(pickle.dumps(budget))
for use in (lambda: budget.spend(0.5), lambda: budget.spent, lambda: budget.ledger, lambda: budget.split(1)):
    try:
        use()
    except DpmlError as error:
        print(error)
"""
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "budget")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == 4
    assert all("belongs to the process that made it" in line and "Budget(..., path=...)" in line for line in said)


def test_file_keeps_its_totals(tmp_path):
    path = tmp_path / "ledger.db"
    Budget(1.0, path=path).spend(0.75)
    assert Budget(1.0, path=path).remaining == 0.25
    with pytest.raises(InvalidParameter, match=r"ledger\.db was started with"):
        Budget(2.0, path=path)
    with pytest.raises(InvalidParameter, match="replace-one"):
        Budget(1.0, relation="replace-one", path=path)


def spend_many(budget, epsilon, times):
    accepted = 0
    for _ in range(times):
        try:
            budget.spend(epsilon)
        except BudgetExceeded:
            continue
        accepted += 1
    return accepted


@pytest.mark.parametrize(("charges", "fits"), [(100, 800), (101, 800)])
def test_threads_never_overspend(charges, fits):
    total = 0.7
    budget = Budget(total)
    accepted = []
    begin = threading.Barrier(8)

    def work():
        begin.wait()
        accepted.append(spend_many(budget, total / fits, charges))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(accepted) == len(budget.ledger) == fits
    assert budget.spent <= total * (1 + 1e-12)


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30))
def test_no_order_of_charges_overspends(costs):
    budget = Budget(1.0)
    accepted = []
    for cost in costs:
        fits = math.fsum([*accepted, cost]) <= 1.0
        try:
            budget.spend(cost)
        except BudgetExceeded:
            assert not fits
        else:
            accepted.append(cost)
    assert budget.ledger["epsilon"].tolist() == accepted
    assert math.fsum(accepted) <= 1.0 + 1e-12
