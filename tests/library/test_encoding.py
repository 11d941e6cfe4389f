import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from dpml.classifiers import BernoulliNB, LinearClassifier, LogisticRegression
from dpml.encoding import SHARE_GRID, BinaryEncoding, MixedEncoding, cut_rows, share_rows, unit_scale
from dpml.evaluation import private_cross_val_score
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
FRAME = pd.DataFrame({"age": [20.0, 70.0], "job": ["cook", "judge"], "retired": [0, 1]})


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
    assert encoding.encoded_schema.feature_names == names
    assert encoding.encoded_schema.blocks == ["age"] * 3 + ["job"] * 3 + [None]
    assert encoding.encoded_schema.row_bound == 3
    assert (encoding.encoded_schema.classes, encoding.encoded_schema.n_rows) == (("no", "yes"), 3)
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
    X = encoding.set_params(on_invalid="clip").transform(frame)
    assert X[0, encoding.encoded_schema.feature_names.index(column_of_one)] == 1
    assert X.sum() == 2


WRONG_CUTS = [{"age": []}, {"age": [65, 18]}, {"age": [18, 18]}, {"age": [1], "job": [1]}]
# outside the bounds, no table of cut points, and none
WRONG_CUTS += [{"age": [0, 18]}, {"age": [18, 200]}, {"age": 18}, [18, 65], None]


@pytest.mark.parametrize("cuts", WRONG_CUTS)
def test_wrong_cut_points_are_refused(cuts):
    with pytest.raises(InvalidSchema, match="cuts"):
        BinaryEncoding(RAW, cuts).fit(FRAME)


def test_what_is_no_table_or_schema_is_named():
    with pytest.raises(InvalidSchema, match=r"`schema` must be .*Got 'dict'"):
        MixedEncoding({"age": 1}).fit(FRAME)
    for X in ({"age": 50, "job": "cook", "retired": True}, FRAME.iloc[0], np.ones(3), [50, "cook", True], [[50]]):
        with pytest.raises(InvalidData, match=r"X is not a table|X has . dimensions"):
            MixedEncoding(RAW).transform(X)
    lazy = pytest.importorskip("polars").from_pandas(FRAME).lazy()
    with pytest.raises(InvalidData, match=r"pass X.collect\(\)"):
        MixedEncoding(RAW).fit(lazy)
    assert MixedEncoding(RAW).transform([[50, "cook", True]]).tolist() == [[50, 0, 1, 0, 1]]


def test_columns_are_matched_by_name_as_a_classifier_does():
    """Columns of pd.read_csv(..., header=None) are numbers, and a column that is there twice was clipped."""
    schema = Schema((Feature("1", "categorical", ("a", "b")), Feature("0", "numeric", lower=0, upper=9)))
    table = pd.DataFrame({0: [3.0, 9.0], 1: ["a", "b"]})
    encoding = MixedEncoding(schema, on_invalid="clip")
    assert encoding.fit_transform(table).tolist() == [[1.0, 0.0, 3.0], [0.0, 1.0, 9.0]]
    with pytest.raises(InvalidData, match="column '1' occurs 2 times"):
        encoding.transform(table.set_axis(["1", "1"], axis=1))


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


# ---- as a transformer

ENCODINGS = {"binary": BinaryEncoding(RAW, CUTS), "mixed": MixedEncoding(RAW)}


def raw_table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(0, 100, n), "job": rng.choice(["cook", "judge"], n), "retired": 0})
    return X, np.where(X["age"] >= 65, "yes", "no")


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_is_cloned_pickled_and_named(encoding):
    for other in (clone(encoding), pickle.loads(pickle.dumps(encoding)), clone(encoding).fit(FRAME)):
        np.testing.assert_array_equal(other.transform(FRAME), encoding.transform(FRAME))
        assert other.get_feature_names_out().tolist() == encoding.encoded_schema.feature_names
    fitted = clone(encoding).fit(FRAME)
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (3, ["age", "job", "retired"])
    assert not hasattr(fitted.fit(FRAME.to_numpy()), "feature_names_in_")
    tags = get_tags(encoding)
    assert not tags.requires_fit
    assert tags.input_tags.categorical
    assert tags.input_tags.string
    assert tags.input_tags.allow_nan


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_gives_what_its_schema_states(encoding):
    named = clone(encoding).set_output(transform="pandas").fit_transform(FRAME)
    assert named.columns.tolist() == encoding.encoded_schema.feature_names
    encoding.encoded_schema.check_features(named, "raise")
    np.testing.assert_array_equal(encoding.transform(FRAME[["retired", "age", "job"]]), named)
    np.testing.assert_array_equal(encoding.transform(FRAME.to_numpy()), named)
    np.testing.assert_array_equal(encoding.transform(FRAME.to_numpy().tolist()), named)
    assert encoding.transform(FRAME[:0]).shape == (0, named.shape[1])
    with pytest.raises(InvalidData, match="X has 2 columns: the schema has 3"):
        encoding.transform(FRAME.to_numpy()[:, :2])


def test_numbers_without_cuts_stay_numbers():
    encoding = MixedEncoding(RAW, on_invalid="clip")
    table = pd.DataFrame({"age": [17.5, 300.0], "job": ["judge", "pilot"], "retired": [0, 1]})
    np.testing.assert_array_equal(encoding.transform(table), [[17.5, 0, 0, 1, 0], [100, 1, 0, 0, 1]])
    assert encoding.encoded_schema.feature_names == ["age", "job=?", "job=cook", "job=judge", "retired"]
    assert encoding.encoded_schema.row_bound == 2
    assert MixedEncoding(RAW, CUTS).encoded_schema == BinaryEncoding(RAW, CUTS).encoded_schema


def test_cuts_of_the_schema_are_the_default():
    features = [Feature("age", "numeric", lower=0, upper=100, cuts=(18, 65)), *RAW.features[1:]]
    for kind in (BinaryEncoding, MixedEncoding):
        encoding = kind(Schema(features))
        np.testing.assert_array_equal(encoding.transform(FRAME), BinaryEncoding(RAW, CUTS).transform(FRAME))
        assert encoding.set_params(cuts={"age": [30]}).get_feature_names_out()[0] == "age<30"


def test_neighbours_stay_neighbours():
    X, _ = raw_table(50)
    for encoding in ENCODINGS.values():
        whole = encoding.transform(X)
        np.testing.assert_array_equal(encoding.transform(X.drop(index=7)), np.delete(whole, 7, axis=0))


@pytest.mark.parametrize("kind", [LinearClassifier, BernoulliNB, LogisticRegression])
def test_a_pipeline_classifies_a_raw_table(kind):
    X, y = raw_table()
    for encoding in ENCODINGS.values():
        if kind is BernoulliNB and type(encoding) is MixedEncoding:
            continue
        classifier = kind(4.0, schema=encoding.encoded_schema, random_state=0)
        model = make_pipeline(encoding, classifier)
        assert model.fit(X, y).score(X, y) > 0.9
        assert clone(model).fit(X, y).score(X, y) > 0.9


def test_a_column_transformer_encodes_a_part():
    X, y = raw_table()
    part = Schema(RAW.features[:2], RAW.classes)
    columns = ColumnTransformer([("raw", BinaryEncoding(part, CUTS), ["age", "job"])], remainder="passthrough")
    names = ["age<18", "18<=age<65", "age>=65", "job=?", "job=cook", "job=judge", "retired"]
    columns.set_params(verbose_feature_names_out=False).fit(X, y)
    assert columns.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(columns.transform(X), ENCODINGS["binary"].transform(X))


def test_a_private_validation_takes_a_raw_table():
    X, y = raw_table()
    encoding = ENCODINGS["binary"]
    model = make_pipeline(encoding, BernoulliNB(4.0, schema=encoding.encoded_schema))
    score = private_cross_val_score(
        model, X, y, 4.0, n_folds=3, classes=("no", "yes"), pos_label="yes", rng=np.random.default_rng(0)
    )
    assert score.score > 0.9
