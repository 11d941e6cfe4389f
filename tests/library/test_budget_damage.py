"""A ledger's file is cut or changed in 600 ways, a fifth of them at each commit: it is never read below its charges."""

import os
import sqlite3

import numpy as np
import pytest

from dpml.budget import Budget
from dpml.exceptions import BudgetExceeded, DpmlError, LedgerDamaged

TOTALS = 2.0, 1e-3, "replace-one"
PAGE = 4096
each_fifth = pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.full)])


def fill(path):
    """Charge a budget, its parts and disjoint parts, enough for several pages; return what was spent."""
    budget = Budget(*TOTALS, path=path)
    # the second label is longer than a page
    for label in ("scores", "long " * 1500):
        budget.spend(0.125, 1e-5, label=label)
    train, test = budget.split(3, 1)
    for i in range(40):
        train.spend(1 / 128, label=f"weights of fold {i}")
        if i % 5 == 0:
            for place, part in enumerate(train.disjoint("north", "south", "west").values()):
                part.spend(2.0 ** -(6 + place), 1e-7, label="counts")
    inner = test.disjoint("a", "b")
    inner["a"].spend(1 / 64)
    inner["b"].spend(1 / 32)
    return budget.spent


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "ledger.db"
    spent = fill(path)
    # directly, 40 folds, eight times the two dearest of three disjoint parts, and the inner ones
    assert spent == 0.25 + 40 / 128 + 8 * (1 / 64 + 1 / 128) + 1 / 64 + 1 / 32
    return path.read_bytes(), spent


def lengths(size, rng):
    """Return 250 lengths to cut a file to: around its header, its pages and its end, and anywhere."""
    near = {0, 1, 15, 16, 28, 99, 100, 101, 511, 512, 1023, 1024, *range(size - 24, size)}
    for page in range(0, size, PAGE):
        near |= {page - 1, page, page + 1, page + 8, page + PAGE // 2}
    near = sorted(length for length in near if 0 <= length < size)
    return near + rng.integers(0, size, 250 - len(near)).tolist()


def places(content, rng):
    """Return 350 places to change: all of the header, then pages' beginnings, what is stored, empty space, anywhere."""
    size = len(content)
    stored = np.flatnonzero(np.frombuffer(content, np.uint8))
    beginnings = [page + i for page in range(0, size, PAGE) for i in range(12)]
    known = [*range(100), *beginnings, *rng.choice(stored, 60).tolist()]
    return known + rng.integers(0, size, 350 - len(known)).tolist()


def write(path, content):
    """Write a file a minute ago: file systems tell two changes apart by their times, and those are some ms coarse."""
    path.write_bytes(content)
    then = path.stat().st_mtime_ns - 60 * 10**9
    os.utime(path, ns=(then, then))


def use(budget):
    """Return what is read as spent, after a charge of 1/1024 that fits."""
    budget.spend(1 / 1024)
    return budget.spent


def check_damage(path, content, spent, harm, charges=True):
    """Harm the file before it is opened, and under a budget that has it open; then charge it, if it can be read."""
    outcomes = []
    for is_open in (False, True):
        write(path, content)
        budget = Budget(*TOTALS, path=path) if is_open else None
        harm(path)
        try:
            budget = budget or Budget(*TOTALS, path=path)
            assert budget.spent == spent
            assert len(budget.ledger) == 2 + 40 + 24 + 2
            with pytest.raises(BudgetExceeded):
                budget.spend(TOTALS[0] - spent + 1e-6)
            if charges:
                assert use(budget) == spent + 1 / 1024
                # the charge that was granted stays too
                assert Budget(*TOTALS, path=path).spent == spent + 1 / 1024
            outcomes.append("read")
        except DpmlError as error:
            outcomes.append(type(error).__name__)
            named = str(error)
        assert outcomes[-1] == "read" or str(path) in named
    return outcomes


@each_fifth
def test_no_cut_file_is_read_below_what_was_spent(whole, tmp_path, step):
    content, spent = whole
    path = tmp_path / "ledger.db"
    for length in lengths(len(content), np.random.default_rng(0))[::step]:
        outcomes = check_damage(path, content, spent, lambda path, length=length: os.truncate(path, length))
        assert outcomes == ["LedgerDamaged", "LedgerDamaged"], length


@each_fifth
def test_no_changed_file_is_read_below_what_was_spent(whole, tmp_path, step):
    content, spent = whole
    path = tmp_path / "ledger.db"
    rng = np.random.default_rng(1)
    seen = []
    for i, place in enumerate(places(content, rng)[::step]):
        # a bit, a byte, and every other byte to 0
        change = (content[place] ^ (1 << rng.integers(8)), content[place] ^ rng.integers(1, 256), 0)[i % 3]

        def harm(path, place=place, change=change):
            with open(path, "r+b") as file:
                file.seek(place)
                file.write(bytes([change]))

        seen += check_damage(path, content, spent, harm, charges=i % 4 == 0)
        for name in ("-wal", "-shm", "-journal"):
            assert not (tmp_path / f"ledger.db{name}").exists(), place
    # empty space and counters hold no charge: they may change; stored entries may not
    assert 0 < seen.count("read") < 0.7 * len(seen)
    assert seen.count("LedgerDamaged") > 0.3 * len(seen)


def test_a_row_that_was_taken_out_is_missed(whole, tmp_path):
    """SQLite finds no fault in such a file."""
    path = tmp_path / "ledger.db"
    for change in (
        "DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)",
        "DELETE FROM entry WHERE id = 2",
        "UPDATE entry SET facts = (SELECT facts FROM entry WHERE id = 1) WHERE id = 2",
        "DELETE FROM head",
        "CREATE TRIGGER forget AFTER INSERT ON entry BEGIN DELETE FROM entry; END",
    ):
        write(path, whole[0])
        budget = Budget(*TOTALS, path=path)
        connection = sqlite3.connect(path)
        connection.execute(change)
        connection.commit()
        connection.close()
        with pytest.raises(LedgerDamaged):
            budget.spend(1 / 1024)
        with pytest.raises(LedgerDamaged):
            Budget(*TOTALS, path=path)


def test_an_older_copy_is_seen_by_a_budget_that_had_the_newer_one(tmp_path):
    path = tmp_path / "ledger.db"
    budget = Budget(1.0, path=path)
    budget.spend(0.25)
    older = path.read_bytes()
    budget.spend(0.5)
    path.write_bytes(older)
    with pytest.raises(LedgerDamaged, match="charges that were there before are missing"):
        budget.spend(0.25)
    # a copy that has gone its own way is as long, but another one
    other = Budget(1.0, path=path)
    other.spend(0.125)
    with pytest.raises(LedgerDamaged, match="charges that were there before are missing"):
        assert budget.spent
    other.spend(0.125)
    with pytest.raises(LedgerDamaged):
        assert budget.spent
