"""The linear classifier of a table in Parquet equals that of the same records in memory, within the solver's error."""

from dataclasses import replace

import numpy as np
import pytest
from test_classifiers_automatic_parquet import SMALL, assert_refused_as_in_memory, words, written

from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.classifiers import LinearClassifier
from dpml.classifiers.linear.coded import PACKED_BLOCK, PackedRows
from dpml.exceptions import InvalidData, InvalidSchema, NoSecureSampler
from dpml.parquet import ParquetTable
from dpml.schema import Feature, Schema

pytest.importorskip("pyarrow.parquet", reason="the extra large is not installed")

# both minimisers are within τ/λ of the exact one, with τ = 1e-8 and λ of at least 0.01
NEAR = 2e-6


def table(classes=2, numbers=True, columns=40, **facts):
    """Return binary columns around a number, and labels that depend on both."""
    frame, y, schema = words(columns)
    features = list(schema.features)
    if numbers:
        frame.insert(1, "age", np.random.default_rng(5).uniform(18, 90, len(frame)))
        features.insert(1, Feature("age", "numeric", lower=18, upper=90, missing=30))
        y = y + (frame["age"] > 60).to_numpy() if classes == 3 else y
    return frame, y, Schema(tuple(features), tuple(range(classes)), **{"n_lower": 2500, **facts})


# the table, the parameters, and the fitted method and its norm
CASES = {
    "naive Bayes": (table(numbers=False), {}, "naive-bayes", None),
    "shared ones": (table(numbers=False), {"method": "objective"}, "objective", "l1"),
    "numbers": (table(), {}, "objective", "l1"),
    "three classes": (table(3), {"relation": "replace-one"}, "objective", "l1"),
    "few columns": (table(columns=3), {}, "objective", "l2"),
    "cut ones": (table(columns=4, row_bound=2), {"on_invalid": "clip"}, "objective", "l2"),
}
quiet = pytest.mark.filterwarnings("ignore::dpml.exceptions.FactWarning")


@quiet
@pytest.mark.parametrize("case", CASES)
def test_a_fit_equals_that_in_memory_and_costs_the_same(case, tmp_path):
    (frame, y, schema), options, method, norm = CASES[case]
    budgets = [Budget(2.0, relation=options.get("relation", "add-remove")) for _ in range(2)]
    models = [LinearClassifier(1.0, schema=schema, budget=b, random_state=3, **options) for b in budgets]
    models[0].fit(frame, y)
    models[1].fit(ParquetTable(written(tmp_path, frame, y), "label", **SMALL))
    scores = [model.decision_function(frame) for model in models]
    assert models[0].method_ == models[1].method_ == method
    if method == "naive-bayes":
        np.testing.assert_array_equal(*scores)
    else:
        assert models[1].estimator_.norm == norm
        np.testing.assert_allclose(models[1].estimator_.coef_, models[0].estimator_.coef_, rtol=0, atol=NEAR)
        np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=len(frame.columns) * NEAR)
    assert models[1].feature_names_in_.tolist() == schema.feature_names
    assert budgets[0].ledger["epsilon"].tolist() == budgets[1].ledger["epsilon"].tolist() == [1.0]


@quiet
def test_a_table_without_records_is_one_too(tmp_path):
    frame, y, schema = table(n_lower=1)
    files = ParquetTable(written(tmp_path, frame[:0], y[:0], []), "label", schema, **SMALL)
    in_memory = LinearClassifier(1.0, schema=schema, random_state=0).fit(frame[:0], y[:0])
    found = LinearClassifier(1.0, random_state=0).fit(files).decision_function(frame)
    np.testing.assert_allclose(found, in_memory.decision_function(frame), rtol=0, atol=NEAR)


@quiet
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("case", ["naive Bayes", "shared ones", "numbers", "cut ones"])
def test_a_record_of_files_changes_a_fit_by_what_is_charged(case, relation, tmp_path):
    (frame, y, schema), options, method, _ = CASES[case]
    other = [*range(599), 1] if relation == "replace-one" else range(599)
    folders = []
    for name, rows in (("one", range(600)), ("other", other)):
        (tmp_path / name).mkdir()
        folders.append(written(tmp_path / name, frame.iloc[list(rows)], y[list(rows)]))

    def fit(folder):
        facts = {**options, "method": method, "relation": relation, "on_invalid": "clip", "random_state": 0}
        return LinearClassifier(1.0, schema=schema, **facts).fit(ParquetTable(folder, "label", **SMALL))

    assert 0 < recorded_cost(fit, *folders, pasts=1) <= 1 + 1e-9


BAD = [("age", 200.0), ("w3", 2), ("w3", None), ("label", 9), ("label", "no class")]


def spoilt(column, value):
    frame, y, schema = table()
    frame, y = frame.astype(object), y.astype(object)
    if column == "label":
        y[2900] = value
    else:
        frame.loc[2900, column] = value
    # Parquet has one type for a column, in which the cell is no number
    if isinstance(value, str):
        y = y.astype(str)
    return frame, y, schema


@pytest.mark.parametrize(("column", "value"), BAD)
def test_a_bad_cell_is_refused_before_the_charge(column, value, tmp_path):
    assert_refused_as_in_memory(LinearClassifier, *spoilt(column, value), tmp_path)


@quiet
@pytest.mark.parametrize(("column", "value"), BAD)
def test_a_bad_cell_is_clipped_as_in_memory(column, value, tmp_path):
    frame, y, schema = spoilt(column, value)
    model = LinearClassifier(1.0, schema=schema, on_invalid="clip", random_state=0)
    in_memory = model.fit(frame, y).decision_function(frame)
    model.fit(ParquetTable(written(tmp_path, frame, y), "label", **SMALL))
    np.testing.assert_allclose(model.decision_function(frame), in_memory, rtol=0, atol=50 * NEAR)


def test_more_ones_than_stated_are_refused_before_the_charge(tmp_path):
    frame, y, schema = table(row_bound=1)
    budget = Budget(1.0)
    with pytest.raises(InvalidData, match="ones: the schema's row_bound is 1"):
        LinearClassifier(1.0, schema=schema, budget=budget).fit(ParquetTable(written(tmp_path, frame, y), "label"))
    assert not len(budget.ledger)


@quiet
def test_a_release_clips_and_refuses_what_has_no_secure_noise(tmp_path):
    pytest.importorskip("opendp", reason="the extra release is not installed")
    frame, y, schema = table(numbers=False)
    frame = frame.astype(object)
    frame.loc[2900, "w3"] = 7
    files = ParquetTable(written(tmp_path, frame, y), "label", schema, **SMALL)
    budget = Budget(2.0)
    with pytest.raises(NoSecureSampler):
        LinearClassifier(1.0, method="objective", release=True, budget=budget).fit(files)
    with pytest.raises(InvalidSchema, match="data_derived"):
        LinearClassifier(1.0, release=True, budget=budget).fit(
            replace(files, schema=replace(schema, data_derived=("classes",)))
        )
    assert not len(budget.ledger)
    assert LinearClassifier(1.0, release=True, budget=budget).fit(files).predict(frame[:5]).shape == (5,)
    assert budget.ledger["epsilon"].tolist() == [1.0]


def test_a_release_with_numbers_names_the_ways_on():
    frame, y, schema = table()
    with pytest.raises(NoSecureSampler, match="BinaryEncoding, or use AutoClassifier"):
        LinearClassifier(1.0, schema=schema, release=True).fit(frame, y)


@pytest.mark.parametrize("n", [0, 5, PACKED_BLOCK + 7])
def test_packed_rows_have_the_products_of_a_dense_table(n):
    rng = np.random.default_rng(0)
    ones, numbers = rng.integers(2, size=(n, 11), dtype=np.uint8), rng.normal(size=(n, 2))
    rows = PackedRows(np.packbits(ones, axis=1), numbers, 11, lambda some, more: np.hstack([2.0 * some, more]))
    dense, weights, theta = np.hstack([2.0 * ones, numbers]), rng.random((n, 3)), rng.normal(size=(13, 3))
    assert rows.shape == dense.shape
    np.testing.assert_array_equal(rows.toarray(), dense)
    close = {"rtol": 1e-12, "atol": 1e-9}
    np.testing.assert_allclose(rows @ theta, dense @ theta, **close)
    np.testing.assert_allclose(rows.sums(weights).astype(float), weights.T @ dense, **close)
    weight = weights[:, 0]
    np.testing.assert_allclose(rows.square(weight), dense.T @ (weight[:, None] * dense), **close)
    np.testing.assert_allclose(rows.squares(weight), weight @ dense**2, **close)
