"""Small tables that a person typed, and the methods of the catalogue that run on them."""

import itertools
from collections import Counter

import numpy as np
import pytest

from dpml.__main__ import main
from dpml.audit.cases import AUDITED, audited_pairs, read_neighbours, read_table
from dpml.audit.cases.typed import CLASSES, FEATURES, MOST_RECORDS, check_neighbours
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Laplace
from dpml.schema import Schema
from dpml.selection import MaskSelector, scores

EDITABLE = [name for name, entry in AUDITED.items() if entry.typed is not None]
RELATIONS = ("add-remove", "replace-one")
PAIRS = [(name, relation) for name in EDITABLE for relation in AUDITED[name].relations]
TABLE, RECORD = "nab.nb.yc.yac", "yab"


def bag(table):
    """Return a table as records with how often each stands there."""
    X, codes = table
    return frozenset(Counter(zip(map(tuple, X.tolist()), codes.tolist(), strict=True)).items())


def normalised(record):
    """Return what a typed record says, read letter by letter."""
    return tuple(float(letter in record[1:]) for letter in "abcd"), {"n": 0, "y": 1}[record[0]]


SOME = ("n", "y", "nab", "yab", "ycd")


@pytest.mark.parametrize("records", [*itertools.product(SOME, repeat=1), *itertools.combinations(SOME, 3)])
def test_typed_neighbours_are_all_neighbours_and_no_others(records):
    table = ".".join(records)
    every = [c + "".join(f) for c in CLASSES for k in range(5) for f in itertools.combinations(FEATURES, k)]
    own = [normalised(record) for record in records]
    added = {frozenset(Counter([*own, normalised(record)]).items()) for record in every}
    replaced = {
        frozenset(Counter([*own[:i], normalised(record), *own[i + 1 :]]).items())
        for i in range(len(own))
        for record in every
    }
    assert {bag(read_neighbours(table, record)[1]) for record in every} == added
    typed = [read_neighbours(table, record, "replace-one", replaced=i + 1) for i in range(len(own)) for record in every]
    assert {bag(neighbour) for _, neighbour in typed} == replaced
    assert all(bag(data) == frozenset(Counter(own).items()) for data, _ in typed)


def test_tables_of_two_features_are_neighbours_by_definition():
    records = [(x, c) for x in itertools.product((0.0, 1.0), repeat=2) for c in (0, 1)][:5]
    tables = [t for n in (1, 2, 3) for t in itertools.combinations_with_replacement(records, n)]

    def arrays(table):
        return np.array([x for x, _ in table]), np.array([c for _, c in table])

    for one, two in itertools.product(tables, repeat=2):
        first, second = Counter(one), Counter(two)
        by_hand = {
            "add-remove": any(first + Counter([r]) == second or second + Counter([r]) == first for r in records),
            "replace-one": any(first - Counter([r]) + Counter([s]) == second for r in one for s in two),
        }
        for relation in RELATIONS:
            if by_hand[relation]:
                check_neighbours(arrays(one), arrays(two), relation)
            else:
                with pytest.raises(InvalidParameter, match="neighbour"):
                    check_neighbours(arrays(one), arrays(two), relation)


@pytest.mark.parametrize(
    "text", ["", "x", "nba", "naa", "n.", "n..y", "n,y", "N", "n\n", None, 3, ".".join("n" * (MOST_RECORDS + 1))]
)
def test_a_text_that_is_no_table_is_refused_by_name(text):
    with pytest.raises(InvalidParameter, match="table"):
        read_table(text)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("record", {"record": "n.y"}),
        ("record", {"record": ""}),
        ("record", {"record": None}),
        ("relation", {"relation": "remove"}),
        ("replaced", {"relation": "replace-one", "replaced": 5}),
        ("replaced", {"relation": "replace-one", "replaced": 0}),
        ("replaced", {"relation": "replace-one", "replaced": True}),
    ],
)
def test_what_is_no_neighbour_is_refused_by_name(name, arguments):
    with pytest.raises(InvalidParameter, match=f"^`{name}` must be "):
        read_neighbours(**{"table": TABLE, "record": RECORD, **arguments})


X, CODES = np.eye(3), np.array([0, 1, 1])


@pytest.mark.parametrize(
    "table",
    [None, X, (X,), (X, CODES[:2]), (2 * X, CODES), (X, CODES + 1), (X[:, :1], CODES), (X[:0], CODES[:0]), (X[0], 1)],
)
def test_what_is_no_small_table_is_refused_by_name(table):
    with pytest.raises(InvalidParameter, match=r"^`data` must be "):
        check_neighbours(table, (X, CODES), "replace-one")
    with pytest.raises(InvalidParameter, match=r"^`neighbour` must be "):
        check_neighbours((X, CODES), table, "replace-one")


def test_tables_of_other_columns_are_no_neighbours():
    with pytest.raises(InvalidParameter, match=r"`neighbour` must be .*Got 'array of shape \(3, 2\)'"):
        check_neighbours((X, CODES), (X[:, :2], CODES), "replace-one")


def test_a_method_that_runs_on_no_table_says_so():
    with pytest.raises(InvalidParameter, match=r"`name` must be .*Got 'gaussian'"):
        AUDITED["gaussian"].audit(tables=read_neighbours(TABLE, RECORD))
    with pytest.raises(InvalidParameter, match=r"`relation` must be .*Got 'replace-one'"):
        AUDITED["noisy-cut"].case_on(*read_neighbours(TABLE, RECORD, "replace-one"), 1.0, "replace-one")


def pairs_of(relation):
    rng = np.random.default_rng(4)
    for _ in range(25):
        n = int(rng.integers(2, 7))
        data = (rng.random((n, 3)) < 0.5).astype(float), rng.integers(0, 2, n)
        record = (rng.random((1, 3)) < 0.5).astype(float), rng.integers(0, 2, 1)
        keep = n if relation == "add-remove" else n - 1
        yield data, tuple(np.concatenate([part[:keep], new]) for part, new in zip(data, record, strict=True))


@pytest.mark.parametrize("relation", RELATIONS)
def test_exact_costs_by_the_definition(relation):
    """Tables of three features: numbers of cells with Laplace noise, and masks by the exponential mechanism."""
    moved = 0
    for data, neighbour in pairs_of(relation):
        cells = [
            np.array([np.sum((X[:, 0] == a) & (codes == c)) for c in (0, 1) for a in (0, 1)])
            for X, codes in (data, neighbour)
        ]
        scale = Laplace(0.7, 1 if relation == "add-remove" else 2).scale
        expected = np.abs(cells[0] - cells[1]).sum() / scale
        found = AUDITED["laplace"].audit(0.7, relation, tables=(data, neighbour))
        assert found.epsilon_lower == pytest.approx(expected, abs=1e-9)
        n = min(len(data[1]), len(neighbour[1]))
        schema = Schema.binary(3, n_lower=n)
        weight = MaskSelector(0.7, 2, "count", relation=relation, schema=schema).weight(schema)
        logs = []
        for table in (data, neighbour):
            gains = scores(*table, "count")
            q = weight * np.array([gains[[0, 1]].sum(), gains[[0, 2]].sum(), gains[[1, 2]].sum()])
            logs.append(q - np.logaddexp.reduce(q))
        found = AUDITED["mask-count"].audit(0.7, relation, tables=(data, neighbour))
        assert found.epsilon_lower == pytest.approx(np.abs(logs[0] - logs[1]).max(), abs=1e-9)
        moved += found.epsilon_lower > 0.01
    assert moved >= 5


@pytest.mark.parametrize(("name", "relation"), PAIRS)
def test_draws_have_the_outputs_whose_probabilities_are_known(name, relation):
    case = AUDITED[name].case_on(*read_neighbours(TABLE, RECORD, relation), 1.0, relation)
    assert case.seen
    draws = 4_000
    outputs = case.sample(case.data, draws=draws, rng=np.random.default_rng(0))
    assert len(outputs) == draws
    if not hasattr(case.exact, "log_probabilities"):
        return
    logs = case.exact.log_probabilities(case.data)
    numbers = np.array([sum(1 << i for i, on in enumerate(mask) if on) for mask in logs])
    p = np.exp(list(logs.values()))
    assert p.sum() == pytest.approx(1)
    share = np.array([(outputs == number).mean() for number in numbers])
    # five standard errors of each share
    assert (np.abs(share - p) <= 5 * np.sqrt(p * (1 - p) / draws) + 1e-9).all()


def test_what_holds_and_what_is_claimed():
    assert len(audited_pairs()) == sum(len(entry.relations) for entry in AUDITED.values())
    assert AUDITED["laplace"].holds(0.1)
    assert AUDITED["mask-published"].holds(1.0)
    assert not AUDITED["noisy-cut"].holds(1.0)
    assert not AUDITED["resampled-count"].holds(1.0)  # private, at a larger ε than is claimed


def test_the_command_line_audits_a_typed_table(capsys):
    options = ["--table", TABLE, "--record", "nab", "--relation", "replace-one"]
    assert main(["audit", "laplace", "mask-count", *options]) == 0
    assert capsys.readouterr().out.count("ε is 0 exactly") == 2
    # all methods that run on a table; that one of them passes here, which is not private, is no surprise
    assert main(["audit", "--table", "nab", "--record", "nab"]) == 0
    text = capsys.readouterr().out
    assert {line.partition(",")[0] for line in text.splitlines()} == set(EDITABLE)
