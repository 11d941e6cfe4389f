import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpml.encoding import SHARE_GRID, BinaryEncoding, cut_rows, share_rows, unit_scale
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema
from dpml.schema import Feature, Schema

RAW = Schema(
    (
        Feature("age", "numeric", lower=0, upper=100),
        Feature("job", "categorical", ("?", "cook", "judge"), missing="?"),
        Feature("retired", "binary"),
    ),
    classes=("no", "yes"),
    n_rows=3,
)
CUTS = {"age": [18, 65]}


def random_rows(n=200, d=12, seed=0):
    return (np.random.default_rng(seed).random((n, d)) < 0.5).astype(float)


# ---- one-hot and cut points


def test_a_cut_point_belongs_to_the_interval_above_it():
    frame = pd.DataFrame({"age": [17.9, 18, 64, 65], "job": ["cook"] * 4, "retired": [0, 0, 0, 1]})
    X = BinaryEncoding(RAW, CUTS).transform(frame)
    np.testing.assert_array_equal(X[:, :3], [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(X[:, 6], [0, 0, 0, 1])


def test_columns_follow_the_domain_not_the_data():
    encoding = BinaryEncoding(RAW, CUTS)
    names = ["age<18", "18<=age<65", "age>=65", "job=?", "job=cook", "job=judge", "retired"]
    assert encoding.binary_schema.feature_names == names
    assert encoding.binary_schema.blocks == ["age"] * 3 + ["job"] * 3 + [None]
    assert encoding.binary_schema.row_bound == 3
    assert (encoding.binary_schema.classes, encoding.binary_schema.n_rows) == (("no", "yes"), 3)
    assert encoding.transform(pd.DataFrame({"age": [1], "job": ["cook"], "retired": [0]})).shape == (1, 7)


@pytest.mark.parametrize(
    ("column", "value", "column_of_one"), [("job", "pilot", "job=?"), ("age", 300, "age>=65"), ("age", -1, "age<18")]
)
def test_a_value_outside_the_domain_is_named_or_clipped(column, value, column_of_one):
    frame = pd.DataFrame({"age": [20.0], "job": ["cook"], "retired": [0]}).astype({"job": object})
    frame[column] = [value]
    encoding = BinaryEncoding(RAW, CUTS)
    with pytest.raises(InvalidData, match=f"'{column}' has the value .*{value}"):
        encoding.transform(frame)
    X = encoding.transform(frame, on_invalid="clip")
    assert X[0, encoding.binary_schema.feature_names.index(column_of_one)] == 1
    assert X.sum() == 2


@pytest.mark.parametrize("cuts", [{}, {"age": []}, {"age": [65, 18]}, {"age": [18, 18]}, {"age": [1], "job": [1]}])
def test_wrong_cut_points_are_refused(cuts):
    with pytest.raises(InvalidSchema):
        BinaryEncoding(RAW, cuts)


# ---- fewer ones a record


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("row_bound", [1, 3, 6, 11])
def test_cut_rows_keeps_the_bound_and_nothing_new(kind, row_bound):
    X = random_rows()
    cut = cut_rows(kind(X), row_bound, rng=np.random.default_rng(1))
    assert type(cut) is type(kind(X))
    assert cut.dtype == X.dtype
    dense = cut.toarray() if sparse.issparse(cut) else cut
    np.testing.assert_array_equal(dense.sum(axis=1), np.minimum(X.sum(axis=1), row_bound))
    assert ((dense == 0) | (dense == X)).all()
    short = X.sum(axis=1) <= row_bound
    np.testing.assert_array_equal(dense[short], X[short])


def test_dense_and_sparse_are_cut_alike_and_stay_unchanged():
    X = random_rows()
    dense, rows = X.copy(), sparse.csr_array(X)
    cut = cut_rows(dense, 3, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(cut_rows(rows, 3, rng=np.random.default_rng(5)).toarray(), cut)
    np.testing.assert_array_equal(dense, X)
    np.testing.assert_array_equal(rows.toarray(), X)


def test_nothing_to_cut_returns_the_same_object():
    rng, fresh = np.random.default_rng(3), np.random.default_rng(3)
    for X in (random_rows(), sparse.csr_array(random_rows()), np.zeros((0, 4)), sparse.csr_array((3, 4))):
        assert cut_rows(X, 12, rng=rng) is X
    assert rng.random() == fresh.random()


def test_every_pair_of_ones_is_kept_equally_often():
    n = 60_000
    X = np.zeros((n, 6), dtype=np.int8)
    X[:, 1:5] = 1
    cut = cut_rows(X, 2, rng=np.random.default_rng(0))
    pairs = np.bincount(cut @ (1 << np.arange(6)), minlength=64)
    pairs = pairs[pairs > 0]
    assert len(pairs) == 6
    # six pairs, each n/6 times: five standard deviations of a binomial
    assert np.abs(pairs - n / 6).max() < 5 * np.sqrt(n * (1 / 6) * (5 / 6))


def test_long_tables_are_cut_in_blocks_with_the_same_result(monkeypatch):
    X = random_rows(500, 40)
    whole = cut_rows(X, 5, rng=np.random.default_rng(0))
    monkeypatch.setattr("dpml.encoding._CELLS", 100)
    np.testing.assert_array_equal(cut_rows(X, 5, rng=np.random.default_rng(0)), whole)


def test_stored_zeros_and_unsorted_columns_do_not_count():
    X = sparse.csr_array((np.array([1.0, 0.0, 1.0]), np.array([3, 1, 0]), np.array([0, 3])), shape=(1, 4))
    np.testing.assert_array_equal(cut_rows(X, 2, rng=np.random.default_rng(0)).toarray(), [[1, 0, 0, 1]])
    assert cut_rows(X, 1, rng=np.random.default_rng(0)).nnz == 1


@pytest.mark.parametrize("row_bound", [0, -1, 1.5, True])
def test_a_wrong_row_bound_is_refused(row_bound):
    with pytest.raises(InvalidParameter, match="row_bound"):
        cut_rows(random_rows(), row_bound, rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match="row_bound"):
        unit_scale(random_rows(), row_bound)


def test_one_dimension_is_refused():
    with pytest.raises(InvalidData, match="1 dimension"):
        cut_rows(np.ones(4), 2, rng=np.random.default_rng(0))
    with pytest.raises(InvalidData, match="1 dimension"):
        unit_scale(np.ones(4), 2)


# ---- unit length


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [True, False])
def test_unit_scale_by_the_public_bound_only(kind, intercept):
    X = random_rows()
    X[0], X[1] = 0, 1
    scaled = unit_scale(kind(X), 12, intercept=intercept)
    assert sparse.issparse(scaled) == sparse.issparse(kind(X))
    if sparse.issparse(scaled):
        assert type(scaled) is type(kind(X))
        scaled = scaled.toarray()
    unit = 1 / np.sqrt(12 + intercept)
    expected = np.column_stack([X, np.ones(len(X))]) if intercept else X
    np.testing.assert_allclose(scaled, expected * unit, rtol=1e-15)
    # a record with as many ones as the bound lies on the sphere
    assert np.linalg.norm(scaled[1]) == pytest.approx(1, abs=1e-15)
    assert np.linalg.norm(scaled, axis=1).max() <= 1 + 1e-15


# ---- sharing ----


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("row_bound", [1, 2, 3, 7])
def test_shares_add_up_to_the_bound_and_average_the_cuts(kind, row_bound):
    rng = np.random.default_rng(0)
    X = (rng.random((60, 12)) < 0.4).astype(float)
    shared = share_rows(kind(X), row_bound)
    dense = shared.toarray() if sparse.issparse(shared) else shared
    ones = X.sum(axis=1)
    assert (dense.sum(axis=1) <= row_bound + 1e-12).all()
    assert (dense.sum(axis=1) > np.minimum(ones, row_bound) - 12 / SHARE_GRID).all()
    assert ((dense > 0) == (X > 0)).all()
    np.testing.assert_array_equal(dense * SHARE_GRID, np.rint(dense * SHARE_GRID))
    np.testing.assert_array_equal(dense[ones <= row_bound], X[ones <= row_bound])
    if kind is np.asarray:
        kept = np.mean([cut_rows(X, row_bound, rng=rng) for _ in range(800)], axis=0)
        assert np.abs(kept - dense).max() < 5 * 0.5 / np.sqrt(800) + 1 / SHARE_GRID
