"""Columns are found by name, whoever made the table; cells are what they are; messages are short."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from binary_tables import told_by_all as table
from public_estimators import KINDS, PUBLISHING, made
from scipy import sparse
from sklearn.base import clone

from dpml.classifiers import BernoulliNB
from dpml.encoding import BinaryEncoding
from dpml.exceptions import DpmlError, FactWarning, InvalidData
from dpml.schema import Feature, Schema

CLASSIFIERS = [name for name, kind in KINDS.items() if hasattr(kind, "predict")]


# ---- columns by name -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_frame_after_an_array_is_read_by_position(name):
    X, y = table()
    frame = pd.DataFrame(X, columns=["d", "c", "b", "a"])

    def fitted():
        return made(name, 50.0, random_state=0).fit(X, y)

    model = fitted()
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
        found = model.predict(frame)
    np.testing.assert_array_equal(found, fitted().predict(X))
    with pytest.raises(InvalidData, match="X has 3 columns: the model was fitted with 4"):
        model.predict(frame.iloc[:, :3])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_names_that_were_stated_or_fitted_are_looked_up(name):
    X, y = table()
    names = ["d", "c", "b", "a"]
    frame = pd.DataFrame(X, columns=names)
    schema = Schema.binary(4, names)
    for model, data in (
        (made(name, 50.0, random_state=0), frame),
        (made(name, 50.0, random_state=0, schema=schema), X),
    ):
        expected = clone(model).fit(data, y).predict(frame)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FactWarning)
            np.testing.assert_array_equal(clone(model).fit(data, y).predict(frame[["a", "b", "c", "d"]]), expected)
        with pytest.raises(InvalidData, match="column 'a' is missing"):
            model.fit(data, y).predict(frame.rename(columns={"a": "e"}))


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_polars_are_looked_up_by_name(name):
    X, y = table(600)
    schema = Schema.binary(4, ["d", "c", "b", "a"])
    frame = pd.DataFrame(X, columns=schema.feature_names)
    turned = frame[["a", "b", "c", "d"]]
    model = made(name, 50.0, random_state=0, schema=schema)
    results = []
    for fit_on, ask in ((turned, turned), (pl.DataFrame(turned.to_dict("list")), pl.DataFrame(turned.to_dict("list")))):
        fitted = clone(model).fit(fit_on, y)
        assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        if name in PUBLISHING:  # its columns are in the table's order, and so are its grids
            results.append(sorted(fitted.sample(0).columns[:-1]))
            continue
        results.append(fitted.predict(ask) if name in CLASSIFIERS else fitted.get_support())
    np.testing.assert_array_equal(*results)
    if name in CLASSIFIERS:
        fitted = clone(model).fit(frame, y)
        again = clone(model).fit(frame, y)
        np.testing.assert_array_equal(fitted.predict(pl.DataFrame(turned.to_dict("list"))), again.predict(frame))


def test_a_table_of_polars_with_what_is_missing():
    schema = Schema(
        [Feature("n", "numeric", lower=0, upper=8), Feature("t", "categorical", ("x", "y"), missing="y"), Feature("b")]
    )
    table = pl.DataFrame({"b": [True, None, False], "n": [1, None, 9], "t": ["x", None, "z"]})
    clean, found = schema.check_features(table, "clip")
    assert found.feature_names == ["b", "n", "t"]
    assert clean.to_numpy().tolist() == [[1.0, 1.0, "x"], [0.0, 4.0, "y"], [0.0, 8.0, "y"]]
    nothing, _ = schema.check_features(table.clear(), "clip")
    assert nothing.shape == (0, 3)
    with pytest.raises(InvalidData, match="column 'b' has the value None"):
        schema.check_features(table)


class Arrow:
    """A table whose `columns` are its values, and its names `column_names`."""

    column_names = ("b", "a")
    shape = (2, 2)
    columns = (np.array([1, 0]), np.array([1, 1]))

    def __getitem__(self, name):
        return self.columns[self.column_names.index(name)]


@pytest.mark.parametrize("on_invalid", ["raise", "clip"])
def test_a_table_of_arrow_is_known_by_the_names_of_its_columns(on_invalid):
    clean, found = Schema.binary(2, ["a", "b"]).check_features(Arrow(), on_invalid)
    assert found.feature_names == ["b", "a"]
    assert clean.tolist() == [[1, 1], [0, 1]]
    with pytest.raises(InvalidData, match="column 'b' is not in the schema"):
        Schema.binary(2, ["a", "c"]).check_features(Arrow(), on_invalid)


# ---- cells -----------------------------------------------------------------------------------------------------------


def test_no_message_is_as_long_as_a_cell():
    long = "x" * 100_000
    schema = Schema([Feature("a", "categorical", ("u", "v"))])
    calls = [
        lambda: schema.check_features(pd.DataFrame({"a": [long]})),
        lambda: schema.check_labels([long]),
        lambda: schema.check_features(pd.DataFrame({long: [0]})),
        lambda: Schema.binary(1).check_features(np.array([[long]])),
        lambda: Schema.binary(1).check_features(pd.DataFrame({"x0": [list(range(10_000))]})),
        lambda: BernoulliNB(1.0, method=long).fit([[0]], [0]),
        lambda: BernoulliNB(list(range(10_000))).fit([[0]], [0]),
        lambda: BernoulliNB(10**5000).fit([[0]], [0]),
        lambda: Schema.binary(2).subset([long]),
    ]
    for call in calls:
        with pytest.raises(DpmlError) as caught:
            call()
        assert len(str(caught.value)) < 300


def test_what_is_missing_among_integer_categories_is_missing():
    """Pandas makes one array of integers of these two columns, and -2^63 of what is missing."""
    frame = pd.DataFrame({"x0": pd.Categorical([1, None, 0]), "x1": [1, 0, 1]})
    with pytest.raises(InvalidData, match="column 'x0' has the value nan: it must be 0 or 1"):
        Schema.binary(2).check_features(frame)
    named = Schema([Feature("x0", missing=1), Feature("x1")])
    for on_invalid in ("raise", "clip"):
        assert named.check_features(frame, on_invalid)[0].tolist() == [[1, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dok", "lil", "dia", "bsr"])
def test_a_complex_cell_is_no_number_in_a_sparse_table_either(kind):
    X = sparse.coo_array(np.array([[1j, 1.0], [0.0, 1 + 1j]])).asformat(kind)
    for other in (X, X.toarray()):
        with pytest.raises(InvalidData, match="column 'x0' has the value"):
            Schema.binary(2).check_features(other)
        clean, _ = Schema.binary(2).check_features(other, "clip")
        clean = clean.toarray() if sparse.issparse(clean) else clean
        assert clean.tolist() == [[0, 1], [0, 0]]


def test_a_cell_without_a_hash_is_clipped_by_an_encoding():
    encoding = BinaryEncoding(Schema([Feature("a", "categorical", (0, 1)), Feature("b")]))
    frame = pd.DataFrame({"a": [[1], {}, 1], "b": [[0], set(), 1]})
    assert clone(encoding).set_params(on_invalid="clip").transform(frame).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 1]]
    with pytest.raises(InvalidData, match=r"column 'a' has the value \[1\]"):
        encoding.transform(frame)
    assert encoding.transform(pl.DataFrame({"b": [1], "a": [1]})).tolist() == [[0, 1, 1]]


def test_a_cell_that_is_a_list_is_a_cell_without_a_schema_too():
    X, y = [[1, [2]], [0, 1]], [0, 1]
    model = BernoulliNB(1.0, on_invalid="clip", random_state=0).fit(X, y)
    assert model.feature_log_prob_.shape == (2, 2)
    assert model.predict(X).shape == (2,)
    with pytest.raises(InvalidData, match=r"column 'x1' has the value \[2\]: it must be 0 or 1"):
        BernoulliNB(1.0).fit(X, y)
