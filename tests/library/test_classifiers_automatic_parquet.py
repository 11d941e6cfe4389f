"""The default classifier of a table in Parquet equals that of the same records in memory, bit for bit."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from dpml import parquet
from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.classifiers import AutoClassifier, LogisticRegression
from dpml.exceptions import FactWarning, InvalidData, InvalidParameter, InvalidSchema
from dpml.parquet import ParquetTable
from dpml.schema import Feature, Schema
from dpml.tuning import BestSelector

pytest.importorskip("pyarrow.parquet", reason="the extra large is not installed")

SMALL = {"memory": 1}
MIXED = (
    Feature("age", "numeric", lower=18, upper=90),
    Feature("gain", "numeric", lower=-10, upper=10, missing=0),
    Feature("visits", "numeric", lower=0, upper=9, missing=0),
    Feature("job", "categorical", ("none", "part", "full"), missing="none"),
    Feature("code", "categorical", (0, 1, 2)),
    Feature("owner"),
)


def mixed_table(n=3000, classes=2, seed=0):
    """Return numbers with and without missing values, texts, codes, a binary column, and labels."""
    rng = np.random.default_rng(seed)
    age, gain = rng.uniform(18, 90, n), rng.normal(0, 3, n).clip(-10, 10)
    table = pd.DataFrame({
        "age": age,
        "gain": np.where(rng.random(n) < 0.1, np.nan, gain),
        "visits": pd.array(rng.integers(10, size=n), dtype="Int64"),
        "job": rng.choice(np.array(["none", "part", "full", None], dtype=object), n),
        "code": rng.integers(3, size=n).astype(np.int8),
        "owner": rng.random(n) < 0.5,
    })  # fmt: skip
    table.loc[rng.random(n) < 0.05, "visits"] = pd.NA
    score = (age - 54) / 20 + gain / 3 + rng.logistic(size=n)
    labels = np.array([f"class {c}" for c in range(classes)])
    return table, labels[np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))], labels


def mixed(classes=2, **facts):
    table, y, labels = mixed_table(classes=classes)
    return table, y, Schema(MIXED, tuple(labels.tolist()), **{"n_lower": 2500, **facts})


def numbers(n_numbers=30):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 255, (3000, n_numbers))
    features = tuple(Feature(f"p{j}", "numeric", lower=0, upper=255) for j in range(n_numbers))
    return pd.DataFrame(X, columns=[f.name for f in features]), (X[:, 0] > 99).astype(int), features


def shared(classes=(0, 1)):
    table, y, features = numbers()
    return table, y, Schema(features, classes, n_lower=2500)


def words(D=90, rate=0.04, n=3000):
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=n)
    X = rng.random((n, D)) < np.where(np.arange(D) < 9, 3 * rate * y[:, None], rate)
    names = [f"w{j}" for j in range(D)]
    return pd.DataFrame(X.astype(np.int8), columns=names), y, Schema.binary(D, names, n_lower=2500)


CASES = {
    "grid": (mixed(), 0.01, {}, "grid"),
    "weights": (mixed(), 3.0, {}, "grid and weights"),
    "noisy number of records": (mixed(n_lower=1), 3.0, {}, "grid and weights"),
    "replace-one": (mixed(n_lower=1), 3.0, {"relation": "replace-one"}, "grid and weights"),
    "Gaussian": (shared(), 3.0, {"delta": 1e-5}, "grid and weights"),
    "shared histogram": (shared(), 3.0, {}, "grid and weights"),
    "three classes, counts": (mixed(3), 0.5, {}, "grid and counts"),
    "three classes, weights": (mixed(3), 9.0, {}, "grid and weights"),
    "eight classes, counts": (mixed(8), 0.5, {}, "counts"),
    "eight classes, weights": (mixed(8), 5.0, {}, "weights"),
    "words": (words(), 1.0, {}, "words"),
    "few words": (words(70), 9.0, {}, "words"),
    "many words": (words(450, 0.02), 5.0, {}, "words"),
    "dense": (words(70, 0.2), 5.0, {}, "grid and weights"),
    "columns": (words(450, 0.2), 1.0, {}, "grid and weights"),
}
quiet = pytest.mark.filterwarnings("ignore::dpml.exceptions.FactWarning")


def written(folder, table, y, sizes=(1, 700, 0, 1)):
    """Write files of these many records, and one of the rest."""
    ends = [0, *np.cumsum(sizes), len(table)]
    for number, (start, end) in enumerate(pairwise(ends)):
        part = table.iloc[start:end].assign(label=y[start:end])
        part.to_parquet(folder / f"part{number}.parquet", index=False)
    return folder


def assert_equal(one, other, table):
    assert one.plan_ == other.plan_
    pd.testing.assert_frame_equal(one.explain(), other.explain())
    np.testing.assert_array_equal(one.predict_proba(table), other.predict_proba(table))


@quiet
@pytest.mark.parametrize("case", CASES)
def test_a_fit_equals_that_in_memory_and_costs_the_same(case, tmp_path):
    (table, y, schema), epsilon, options, method = CASES[case]
    facts = {"relation": options.get("relation", "add-remove"), "delta": options.get("delta", 0.0)}
    budgets = [Budget(2 * epsilon, **facts) for _ in range(2)]
    models = [AutoClassifier(epsilon, schema=schema, budget=b, random_state=3, **options) for b in budgets]
    models[0].fit(table, y)
    models[1].fit(ParquetTable(written(tmp_path, table, y), "label", **SMALL))
    assert models[0].method_ == method
    assert (models[0].plan_.least_numbers > 1) == (case in ("shared histogram", "Gaussian"))
    assert_equal(*models, table)
    assert models[1].feature_names_in_.tolist() == schema.feature_names
    assert budgets[0].ledger["epsilon"].tolist() == budgets[1].ledger["epsilon"].tolist() == [epsilon]


@quiet
@pytest.mark.parametrize("case", ["weights", "words"])
def test_batches_of_one_record_give_the_same_model(case, tmp_path, monkeypatch):
    (table, y, schema), epsilon, options, _ = CASES[case]
    table, y, schema = table[:200], y[:200], replace(schema, n_lower=150)
    monkeypatch.setattr(parquet, "LEAST_ROWS", 1)
    files = ParquetTable(written(tmp_path, table, y, [3]), "label", schema, **SMALL)
    assert len(list(files.batches())) == 200
    in_memory = AutoClassifier(20 * epsilon, schema=schema, random_state=0, **options).fit(table, y)
    assert_equal(in_memory, AutoClassifier(20 * epsilon, random_state=0, **options).fit(files), table)


@quiet
@pytest.mark.parametrize("case", ["weights", "words"])
def test_a_table_without_records_is_one_too(case, tmp_path):
    (table, y, schema), epsilon, options, _ = CASES[case]
    schema = replace(schema, n_lower=1)
    files = ParquetTable(written(tmp_path, table[:0], y[:0], []), "label", schema, **SMALL)
    options = {**options, "on_invalid": "clip", "random_state": 0}
    in_memory = AutoClassifier(epsilon, schema=schema, **options).fit(table[:0], y[:0])
    assert_equal(in_memory, AutoClassifier(epsilon, **options).fit(files), table[:20])


@quiet
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("case", ["grid", "weights", "three classes, counts", "words", "dense", "columns"])
def test_a_record_of_files_changes_a_fit_by_what_is_charged(case, relation, tmp_path):
    (table, y, schema), epsilon, _, _ = CASES[case]
    # the last record is absent from the other files, or replaced by another
    other = [*range(599), 1] if relation == "replace-one" else range(599)
    folders = []
    for name, rows in (("one", range(600)), ("other", other)):
        (tmp_path / name).mkdir()
        folders.append(written(tmp_path / name, table.iloc[list(rows)], y[list(rows)]))

    def fit(folder):
        options = {"relation": relation, "on_invalid": "clip", "random_state": 0}
        return AutoClassifier(epsilon, schema=schema, **options).fit(ParquetTable(folder, "label", **SMALL))

    cost = recorded_cost(fit, *folders, pasts=1)
    assert 0 < cost <= epsilon * (1 + 1e-9)


def spoilt(column, value):
    table, y, schema = mixed()
    table = table.astype({"age": float})
    y = y.astype(object)
    if column == "label":
        y[2900] = value
    else:
        table.loc[2900, column] = value
    return table, y, schema


def assert_refused_as_in_memory(kind, table, y, schema, folder):
    budget = Budget(3.0)
    model = kind(3.0, schema=schema, budget=budget, random_state=0)
    in_memory = pd.read_parquet(written(folder, table, y))
    with pytest.raises(InvalidData) as expected:
        model.fit(in_memory.drop(columns="label"), in_memory["label"])
    with pytest.raises(InvalidData) as error:
        model.fit(ParquetTable(folder, "label", **SMALL))
    assert str(error.value) == str(expected.value)
    assert not len(budget.ledger)


BAD = [
    ("age", 200.0),
    ("age", np.nan),
    ("gain", -11.0),
    ("job", "often"),
    ("code", 7),
    ("label", "class 9"),
    ("label", None),
]


@pytest.mark.parametrize(("column", "value"), BAD)
def test_a_bad_cell_is_refused_before_the_charge(column, value, tmp_path):
    assert_refused_as_in_memory(AutoClassifier, *spoilt(column, value), tmp_path)


@pytest.mark.parametrize(("column", "value"), BAD)
def test_a_bad_cell_is_clipped_as_in_memory(column, value, tmp_path):
    table, y, schema = spoilt(column, value)
    model = AutoClassifier(3.0, schema=schema, on_invalid="clip", random_state=0)
    with pytest.warns(FactWarning, match=f"{column}.: 1") as expected:
        in_memory = model.fit(table, y).predict_proba(table)
    with pytest.warns(FactWarning, match=f"{column}.: 1") as found:
        model.fit(ParquetTable(written(tmp_path, table, y), "label", **SMALL))
    assert [str(w.message) for w in found] == [str(w.message) for w in expected]
    np.testing.assert_array_equal(model.predict_proba(table), in_memory)


def test_fewer_records_than_stated_are_refused_before_the_charge(tmp_path):
    table, y, schema = mixed(n_lower=5000)
    budget = Budget(3.0)
    with pytest.raises(InvalidData, match="X has 3000 records"):
        AutoClassifier(3.0, schema=schema, budget=budget).fit(ParquetTable(written(tmp_path, table, y), "label"))
    assert not len(budget.ledger)


def test_a_release_clips_and_refuses_the_schema_of_files_that_nobody_confirmed(tmp_path):
    pytest.importorskip("opendp", reason="the extra release is not installed")
    table, y, schema = spoilt("age", 1e9)
    files = ParquetTable(written(tmp_path, table, y), "label", schema, **SMALL)
    budget = Budget(3.0)
    model = AutoClassifier(3.0, release=True, budget=budget)
    assert model.fit(files).predict_proba(table).shape == (3000, 2)
    assert budget.ledger["epsilon"].tolist() == [3.0]
    derived = replace(files, schema=replace(schema, data_derived=("classes",)))
    with pytest.raises(InvalidSchema, match="data_derived"):
        model.fit(derived)
    assert budget.ledger["epsilon"].tolist() == [3.0]


def test_what_cannot_be_fitted_is_refused_before_the_charge(tmp_path):
    table, y, schema = words()
    wide = Schema((*schema.features, Feature("age", "numeric", lower=0, upper=1)), (0, 1), n_lower=2500)
    files = ParquetTable(written(tmp_path, table.assign(age=0.5), y), "label", wide)
    budget = Budget(3.0)
    with pytest.raises(InvalidParameter, match="for a table that is read in batches"):
        AutoClassifier(3.0, budget=budget).fit(files)
    with pytest.raises(InvalidParameter, match="`y` must be None for a ParquetTable"):
        AutoClassifier(3.0, budget=budget).fit(files, y)
    for model in (LogisticRegression(3.0, budget=budget), BestSelector(3.0, budget=budget)):
        with pytest.raises(InvalidParameter, match="LinearClassifier and BernoulliNB read files"):
            model.fit(files)
    with pytest.raises(InvalidData, match="y is None"):
        AutoClassifier(3.0, schema=schema, budget=budget).fit(table)
    assert not len(budget.ledger)
