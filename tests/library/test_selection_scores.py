"""Scores against naive formulas; sensitivities and ranges against enumeration of all small data sets."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Schema
from dpml.selection import (
    KINDS,
    l1_sensitivity,
    mask_change_range,
    mask_weight,
    scores,
    sensitivity,
)

RELATIONS = ("add-remove", "replace-one")


def naive_score(x, y, kind, n_classes):
    on = [int(((x == 1) & (y == c)).sum()) for c in range(n_classes)]
    off = [int(((x == 0) & (y == c)).sum()) for c in range(n_classes)]
    pairs = list(itertools.combinations(range(n_classes), 2))
    on_gap = max(abs(on[a] - on[b]) for a, b in pairs)
    off_gap = max(abs(off[a] - off[b]) for a, b in pairs)
    if kind == "mutual_information":
        return mutual_info_score(x, y) / np.log(2) if len(y) else 0.0
    return {"total_count": sum(on), "difference_count": on_gap, "count": max(on_gap, off_gap)}[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_equal_their_definitions(kind, n_classes):
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 30):
        X = (rng.random((n, 5)) < 0.4).astype(int)
        y = rng.integers(n_classes, size=n)
        schema = Schema.binary(5, classes=tuple(range(n_classes)))
        expected = [naive_score(X[:, j], y, kind, n_classes) for j in range(5)]
        np.testing.assert_allclose(scores(X, y, kind, schema=schema), expected, atol=1e-12)
        np.testing.assert_allclose(scores(sparse.csr_array(X), y, kind, schema=schema), expected, atol=1e-12)


def test_canonical_labels_and_values_are_checked():
    assert scores([[1], [0], [1]], [0, 1, 2], "difference_count").tolist() == [1.0]
    with pytest.raises(InvalidData, match=r"'x1' has the value 7.0: it must be 0 or 1"):
        scores([[1, 7]], [0], "count")
    with pytest.raises(InvalidData, match=r"label 'a'"):
        scores([[1, 1]], ["a"], "count")
    with pytest.raises(InvalidParameter, match=r"`kind` must be .*Got 'gain'"):
        scores([[1]], [0], "gain")


def data_sets(D, n_classes, most_records, row_bound):
    """All data sets of up to `most_records` records with at most `row_bound` ones, as (X, y), and the record types."""
    types = [(x, c) for x in itertools.product((0, 1), repeat=D) if sum(x) <= row_bound for c in range(n_classes)]
    for n in range(most_records + 1):
        for rows in itertools.combinations_with_replacement(types, n):
            yield list(rows), types


def all_scores(rows, kind, D, n_classes, cache):
    key = tuple(sorted(rows))
    if key not in cache:
        X = np.array([r[0] for r in rows], dtype=int).reshape(-1, D)
        y = np.array([r[1] for r in rows], dtype=int)
        cache[key] = np.array([naive_score_fast(X[:, j], y, kind, n_classes) for j in range(D)])
    return cache[key]


def naive_score_fast(x, y, kind, C):
    table = np.zeros((C, 2))
    np.add.at(table, (y, x), 1)
    if kind == "total_count":
        return table[:, 1].sum()
    gaps = table.max(axis=0) - table.min(axis=0)
    return gaps[1] if kind == "difference_count" else gaps.max()


def changes(kind, relation, D, n_classes, most_records, row_bound):
    """Yield the change of all scores between every two neighbours."""
    cache = {}
    for rows, types in data_sets(D, n_classes, most_records, row_bound):
        before = all_scores(rows, kind, D, n_classes, cache)
        if relation == "add-remove":
            for new in types:
                yield all_scores([*rows, new], kind, D, n_classes, cache) - before
        else:
            for i in range(len(rows)):
                rest = rows[:i] + rows[i + 1 :]
                for new in types:
                    yield all_scores([*rest, new], kind, D, n_classes, cache) - before


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS[:3])
@pytest.mark.parametrize(("D", "n_classes", "most_records"), [(3, 2, 3), (4, 2, 2), (2, 3, 3)])
def test_count_scores_change_exactly_as_much_as_stated(kind, relation, D, n_classes, most_records):
    for row_bound in range(1, D + 1):
        deltas = np.unique(list(changes(kind, relation, D, n_classes, most_records, row_bound)), axis=0)
        assert np.abs(deltas).max() == sensitivity(kind, relation)
        whole = np.abs(deltas).sum(axis=1).max()
        middle = np.abs(deltas - np.median(deltas, axis=1, keepdims=True)).sum(axis=1).max()
        facts = {"row_bound": row_bound, "n_classes": n_classes}
        assert whole <= l1_sensitivity(kind, relation, D, **facts)
        assert middle <= l1_sensitivity(kind, relation, D, up_to_shift=True, **facts) + 1e-12
        if n_classes == 2 and most_records == 3:
            assert whole == l1_sensitivity(kind, relation, D, **facts)
        if D == 4 and (kind, relation) == ("count", "add-remove"):
            # half of the scores rise and half fall: no shift makes less of it
            assert middle == l1_sensitivity(kind, relation, D, up_to_shift=True, **facts) == 2.0
        for T in range(1, D + 1):
            masks = np.array([m for m in itertools.product((0, 1), repeat=D) if sum(m) == T])
            moved = deltas @ masks.T
            widest = (moved.max(axis=1) - moved.min(axis=1)).max()
            stated = mask_change_range(kind, relation, T, D, row_bound, n_classes=n_classes)
            assert widest <= stated + 1e-12
            if n_classes == 2 and not (D == 4 and most_records == 2 and stated > 3):
                # attained, so no smaller constant would do (two records are too few for the widest of four features)
                assert widest == stated


def table_information(table):
    total = table.sum()
    if total == 0:
        return 0.0
    p = table / total
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float((p[p > 0] * np.log2(p[p > 0] / outer[p > 0])).sum())


def information_changes(N, C, relation):
    """Yield, for all tables with the same class counts and the same moved labels, the changes of information."""
    for n in itertools.product(range(N + 1), repeat=C):
        if sum(n) != N:
            continue
        tables = [
            np.array([[k - a, a] for k, a in zip(n, on, strict=True)], float)
            for on in itertools.product(*(range(k + 1) for k in n))
        ]
        base = [table_information(t) for t in tables]
        for new in range(C):
            if relation == "add-remove":
                yield [
                    table_information(t + cell(C, new, v)) - b
                    for t, b in zip(tables, base, strict=True)
                    for v in (0, 1)
                ]
                continue
            for old in range(C):
                result = [
                    table_information(t - cell(C, old, u) + cell(C, new, v)) - b
                    for t, b in zip(tables, base, strict=True)
                    for u in (0, 1)
                    if t[old, u]
                    for v in (0, 1)
                ]
                if result:
                    yield result


def cell(C, c, v):
    table = np.zeros((C, 2))
    table[c, v] = 1
    return table


@pytest.mark.parametrize(("N", "C"), [(1, 2), (2, 2), (3, 2), (7, 2), (12, 2), (2, 3), (5, 3)])
def test_mutual_information_changes_exactly_as_much_as_stated(N, C):
    added = list(information_changes(N, C, "add-remove"))
    assert max(np.abs(d).max() for d in added) == pytest.approx(sensitivity("mutual_information", n_rows=N + 1))
    widest = max(max(d) - min(d) for d in added)
    assert widest <= mask_change_range("mutual_information", "add-remove", 1, 9, n_rows=N + 1, n_classes=C) + 1e-12
    replaced = list(information_changes(N, C, "replace-one"))
    stated = sensitivity("mutual_information", "replace-one", n_rows=N)
    if N > 1:
        assert max(np.abs(d).max() for d in replaced) == pytest.approx(stated)
    widest = max(max(d) - min(d) for d in replaced)
    assert widest <= mask_change_range("mutual_information", "replace-one", 1, 9, n_rows=N, n_classes=C) + 1e-12


def test_mutual_information_falls_with_the_number_of_records():
    values = [sensitivity("mutual_information", n_rows=n) for n in range(1, 2000)]
    assert np.all(np.diff(values) <= 0)
    assert values[0] == 1.0


def test_mutual_information_needs_a_public_number_of_records():
    with pytest.raises(InvalidParameter, match=r"`n_rows` must be .*Got None"):
        sensitivity("mutual_information")


def test_mask_weight_is_epsilon_over_the_range():
    assert mask_weight("total_count", "add-remove", 2.0, 3, 10, 2) == 1.0
    assert mask_weight("count", "add-remove", 1.0, 30, 40) == pytest.approx(0.1)
    assert mask_weight("count", "add-remove", 1.0, 10, 10) == 0.0
    with pytest.raises(InvalidParameter, match=r"`n_features` must be an integer from 1 to 10.*Got 11"):
        mask_weight("count", "add-remove", 1.0, 11, 10)
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got 0"):
        mask_weight("count", "add-remove", 0, 1, 10)
