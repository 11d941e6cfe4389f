"""A Dask DataFrame is read by partitions, and gives the models of the same records in memory."""

import numpy as np
import pandas as pd
import pytest
from test_classifiers_automatic_parquet import CASES, SMALL, mixed, words
from test_classifiers_linear_batches import NEAR, table

from dpml.budget import Budget
from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier, LogisticRegression
from dpml.encoding import MixedEncoding
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.parquet import BatchTable
from dpml.publishing import PrivPfC
from dpml.schema import Schema

quiet = pytest.mark.filterwarnings("ignore::dpml.exceptions.FactWarning")


class Parts:
    """The part of a Dask DataFrame that is used. The whole table cannot be computed."""

    def __init__(self, frame, ends=(0, 1, 1, 1500), broken=None):
        self.frame, self.ends, self.broken = frame, (*ends, len(frame)), broken
        self.columns, self.npartitions, self.shape = frame.columns, len(ends), (None, len(frame.columns))

    def __getitem__(self, names):
        return Parts(self.frame[names], self.ends[:-1], self.broken)

    def get_partition(self, k):
        return Part(self.frame.iloc[self.ends[k] : self.ends[k + 1]], k == self.broken)


class Part:
    def __init__(self, frame, broken):
        self.frame, self.broken = frame, broken

    def compute(self):
        if self.broken:
            raise ValueError("the value of a record")
        return self.frame


def dask_parts(frame):
    dask = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    return dask.from_pandas(frame, npartitions=3)


SOURCES = {
    "stand-in": Parts,
    "function": lambda frame: lambda: (frame.iloc[start : start + 700] for start in range(0, len(frame), 700)),
    "Dask": dask_parts,
}


@quiet
@pytest.mark.parametrize("source", SOURCES)
def test_a_fit_by_partitions_equals_that_in_memory(source):
    made, options = SOURCES[source], {"random_state": 3}
    for case in ("grid", "weights", "words"):
        (frame, y, schema), epsilon, _, _ = CASES[case]
        batches = BatchTable(made(frame.assign(label=y)), "label", schema, **SMALL)
        model = AutoClassifier(epsilon, **options).fit(batches)
        in_memory = AutoClassifier(epsilon, schema=schema, **options).fit(frame, y)
        np.testing.assert_array_equal(model.predict_proba(frame), in_memory.predict_proba(frame))
        assert model.feature_names_in_.tolist() == schema.feature_names
    frame, y, schema = words(40)
    found = BernoulliNB(1.0, **options).fit(BatchTable(made(frame.assign(label=y)), "label", schema))
    expected = BernoulliNB(1.0, schema=schema, **options).fit(frame, y)
    np.testing.assert_array_equal(found.feature_log_prob_, expected.feature_log_prob_)
    frame, y, schema = table()
    model = LinearClassifier(1.0, **options).fit(BatchTable(made(frame.assign(label=y)), "label", schema))
    in_memory = LinearClassifier(1.0, schema=schema, **options).fit(frame, y)
    np.testing.assert_allclose(model.estimator_.coef_, in_memory.estimator_.coef_, rtol=0, atol=NEAR)


def test_a_bad_cell_or_partition_is_refused_before_the_charge():
    frame, y, schema = mixed()
    budget = Budget(3.0)
    model = AutoClassifier(3.0, budget=budget)
    whole = frame.assign(label=y)
    spoilt = whole.assign(age=whole["age"].where(whole.index != 2900, 200.0))
    with pytest.raises(InvalidData, match="'age'"):
        model.fit(BatchTable(Parts(spoilt), "label", schema))
    with pytest.raises(InvalidData, match=r"^partition 2 of the Dask DataFrame cannot be computed$"):
        model.fit(BatchTable(Parts(whole, broken=2), "label", schema))
    with pytest.raises(InvalidData, match="'label' is missing in the Dask DataFrame"):
        model.fit(BatchTable(Parts(frame), "label", schema))
    twice = pd.concat([whole, whole[["age"]]], axis=1)
    for source, where in ((Parts(twice), "the Dask DataFrame"), (lambda: [twice], "a batch")):
        with pytest.raises(InvalidData, match=f"'age' stands 2 times in {where}"):
            model.fit(BatchTable(source, "label", schema))
    with pytest.raises(InvalidParameter, match="`y` must be None for a BatchTable"):
        model.fit(BatchTable(Parts(whole), "label", schema), y)
    with pytest.raises(InvalidParameter, match=r"`X` must be a table in memory.*Got 'BatchTable'"):
        LogisticRegression(1.0, budget=budget).fit(BatchTable(Parts(whole), "label", schema))
    with pytest.raises(InvalidParameter, match=r"`X` must be a table in memory for PrivPfC"):
        PrivPfC(1.0, budget=budget).fit(BatchTable(Parts(whole), "label", schema), "label")
    assert not len(budget.ledger)


@pytest.mark.parametrize("made", [Parts, dask_parts])
def test_a_dask_frame_alone_is_refused_with_the_remedy(made):
    frame, y, schema = mixed()
    with pytest.raises(InvalidData, match=r"X is a Dask DataFrame.*BatchTable\(X, label, schema\)"):
        AutoClassifier(3.0, schema=schema).fit(made(frame), y)


def test_a_source_that_cannot_be_read_again_is_refused():
    frame = pd.DataFrame({"a": [0, 1], "label": [0, 1]})
    for source in (frame, iter([frame]), [frame]):
        with pytest.raises(InvalidParameter, match="`source` must be a Dask DataFrame, or a function"):
            BatchTable(source, "label", Schema.binary(1, ["a"]))
    with pytest.raises(InvalidParameter, match="`schema` must be"):
        BatchTable(lambda: [frame], "label", None)
    with pytest.raises(InvalidParameter, match="on_invalid"):
        BatchTable(lambda: [frame], "label", Schema.binary(1, ["a"]), on_invalid="drop")


@quiet
def test_a_function_may_yield_tables_of_other_libraries():
    frame, y, schema = mixed()
    frame = frame.assign(label=y)
    expected = AutoClassifier(3.0, schema=schema, random_state=0).fit(frame.drop(columns="label"), y)
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for table_of in (polars.from_pandas, pyarrow.Table.from_pandas):
        batches = BatchTable(lambda table_of=table_of: [table_of(frame)], "label", schema)
        model = AutoClassifier(3.0, random_state=0).fit(batches)
        np.testing.assert_array_equal(
            model.predict_proba(frame[:50].drop(columns="label")),
            expected.predict_proba(frame[:50].drop(columns="label")),
        )
    for wrong, name in ((None, "NoneType"), (frame, "str"), ([{"age": 1}], "dict")):
        with pytest.raises(InvalidData, match=f"`source` yields {name}: it must yield DataFrames"):
            AutoClassifier(3.0).fit(BatchTable(lambda wrong=wrong: wrong, "label", schema))
    with pytest.raises(InvalidParameter, match=r"`X` must be a table in memory\. Predict"):
        expected.predict(batches)
    with pytest.raises(InvalidParameter, match="`label` must be a column that is no feature"):
        BatchTable(lambda: [frame], "owner", schema)
    with pytest.raises(InvalidData, match="X is a path or text"):
        expected.fit("table.parquet", y)


@quiet
def test_a_release_by_partitions_clips():
    pytest.importorskip("opendp", reason="the extra release is not installed")
    frame, y, schema = mixed()
    frame = frame.assign(label=y)
    frame.loc[2900, "age"] = 1e9
    budget = Budget(3.0)
    model = AutoClassifier(3.0, release=True, budget=budget).fit(BatchTable(Parts(frame), "label", schema))
    assert model.predict(frame.drop(columns="label")).shape == (3000,)
    assert budget.ledger["epsilon"].tolist() == [3.0]


def test_records_of_all_partitions_are_counted():
    frame = pd.DataFrame({"a": [0, 1, 1, 1], "label": [0, 0, 1, 1]})
    batches = BatchTable(Parts(frame, (0, 3)), "label", Schema.binary(1, ["a"]))
    assert batches.n_rows == 4
    assert batches.shape == (4, 1)
    assert batches.counts().on.tolist() == [[1.0], [2.0]]
    assert batches.violations() == {}


@quiet
def test_categories_are_encoded_batch_by_batch():
    frame, y, schema = mixed()
    encoding = MixedEncoding(schema).set_output(transform="pandas")

    def encoded():
        for start in range(0, len(frame), 700):
            rows = slice(start, start + 700)
            yield encoding.fit_transform(frame[rows]).assign(label=y[rows])

    batches = BatchTable(encoded, "label", encoding.encoded_schema)
    model = LinearClassifier(1.0, random_state=0).fit(batches)
    in_memory = LinearClassifier(1.0, schema=encoding.encoded_schema, random_state=0).fit(encoding.transform(frame), y)
    assert model.method_ == "objective"
    np.testing.assert_allclose(model.estimator_.coef_, in_memory.estimator_.coef_, rtol=0, atol=NEAR)


def moving(frame, change):
    """Return a function that gives other records, or another order, at each call."""
    calls = []

    def parts():
        calls.append(None)
        return change(frame, len(calls))

    return parts


MOVING = {
    "order": lambda frame, k: [frame.iloc[k:], frame.iloc[:k]],
    "fewer": lambda frame, k: [frame.iloc[: len(frame) - k]],
    "one cell": lambda frame, k: [frame.assign(w7=np.where(frame.index == k, 1 - frame["w7"], frame["w7"]))],
}


@quiet
@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("kind", [AutoClassifier, LinearClassifier, BernoulliNB])
@pytest.mark.parametrize("change", [*MOVING, "iterator"])
def test_a_source_that_changes_is_refused_before_the_charge(change, kind, release):
    if release:
        pytest.importorskip("opendp")
    X, y, schema = words()
    frame, once = X.assign(y=y), iter([X.assign(y=y)])
    source = (lambda: once) if change == "iterator" else moving(frame, MOVING[change])
    budget = Budget(2.0)
    model = kind(2.0, schema=schema, release=release, budget=budget, random_state=None if release else 0)
    with pytest.raises(InvalidData, match="gave other records, or another order"):
        model.fit(BatchTable(source, "y", schema))
    assert budget.spent == 0


def test_other_parts_of_the_same_records_are_the_same_table():
    X, y, schema = words()
    frame = X.assign(y=y, w1=pd.Series([None, b"\xff", object(), 1.5] * (len(X) // 4), dtype=object))
    source = moving(frame, lambda frame, k: [frame.iloc[: 100 * k], frame.iloc[100 * k :]])
    table = BatchTable(source, "y", schema, on_invalid="clip")
    assert table.n_rows == table.n_rows == len(frame)
    table.read_again()
