"""Statistics of tables in Parquet equal those in memory, bit for bit; faults of files and columns are named."""

import numpy as np
import pandas as pd
import pytest

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB
from dpml.counts import contingency
from dpml.datasets import load
from dpml.encoding import share_rows
from dpml.exceptions import DataNotFound, InvalidData, InvalidParameter, MissingExtra
from dpml.parquet import LEAST_ROWS, ParquetTable
from dpml.schema import Feature, Schema

pyarrow = pytest.importorskip("pyarrow", reason="the extra large is not installed")
pytest.importorskip("pyarrow.parquet")

# batches of the least size, so that a small table has several
SMALL = {"memory": 1}


@pytest.fixture(scope="module")
def census():
    return load("census", n=2500, seed=1)


def written(folder, X, y, names, *, kind=np.int8, files=1):
    frame = pd.DataFrame(np.asarray(X).astype(kind), columns=names).assign(label=y)
    for number, part in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[part].to_parquet(folder / f"part{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def table(census, tmp_path_factory):
    folder = tmp_path_factory.mktemp("census")
    written(folder, census.X_train, census.y_train, census.feature_names, files=3)
    return ParquetTable(folder, "label", census.schema, **SMALL)


@pytest.mark.parametrize("kind", [np.int8, bool, float, np.int64])
def test_counts_equal_those_in_memory(kind, census, tmp_path):
    folder = written(tmp_path, census.X_train, census.y_train, census.feature_names, kind=kind, files=3)
    table = ParquetTable(folder, "label", census.schema, **SMALL)
    exact = contingency(census.X_train, census.y_train, 2)
    found = table.counts()
    assert len(list(table.batches())) > 2500 // LEAST_ROWS
    np.testing.assert_array_equal(found.on, exact.on)
    np.testing.assert_array_equal(found.n, exact.n)
    assert table.n_rows == 2500


@pytest.mark.parametrize("row_bound", [1, 3, 7])
def test_shared_counts_equal_those_in_memory(table, census, row_bound):
    mask = np.arange(census.schema.n_features) % 3 > 0
    for kept in (None, mask):
        X = census.X_train if kept is None else census.X_train[:, kept]
        exact = contingency(share_rows(X, row_bound), census.y_train, 2)
        np.testing.assert_array_equal(table.shared_counts(row_bound, kept).on, exact.on)


@pytest.mark.parametrize("parameters", [{}, {"selection": "none"}, {"method": "published"}, {"row_bound": 2}])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_naive_bayes_equals_that_from_memory_and_costs_the_same(table, census, parameters, relation):
    frame = pd.DataFrame(census.X_train, columns=census.feature_names)
    budgets = [Budget(3.0, relation=relation) for _ in range(2)]
    models = [
        BernoulliNB(1.5, schema=census.schema, random_state=3, budget=budget, relation=relation, **parameters)
        for budget in budgets
    ]
    in_memory, large = models[0].fit(frame, census.y_train), models[1].fit(table)
    np.testing.assert_array_equal(in_memory.feature_log_prob_, large.feature_log_prob_)
    np.testing.assert_array_equal(in_memory.class_log_prior_, large.class_log_prior_)
    test = pd.DataFrame(census.X_test, columns=census.feature_names)
    np.testing.assert_array_equal(in_memory.predict_proba(test), large.predict_proba(test))
    assert budgets[0].ledger["epsilon"].tolist() == budgets[1].ledger["epsilon"].tolist() == [1.5]


def test_the_canonical_schema_needs_no_statement(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(600, 4)), rng.integers(2, size=600)
    table = ParquetTable(written(tmp_path, X, y, list("abcd")), "label")
    assert table.facts == Schema.binary(4, list("abcd"))
    np.testing.assert_array_equal(table.counts().on, contingency(X, y, 2).on)
    one_file = ParquetTable([tmp_path / "part0.parquet"], "label")
    np.testing.assert_array_equal(one_file.counts().on, table.counts().on)


def test_no_record_is_a_table_too(tmp_path):
    written(tmp_path, np.zeros((0, 2)), np.zeros(0, dtype=int), ["a", "b"])
    counts = ParquetTable(tmp_path, "label").counts()
    assert counts.on.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert counts.n.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("bad", [2, -1, 0.5, np.nan])
def test_a_value_outside_its_domain_is_treated_as_in_memory(tmp_path, bad):
    X, y = np.tile([[0.0, 1.0]], (400, 1)), np.zeros(400, dtype=int)
    X[399, 0] = bad
    folder = written(tmp_path, X, y, ["a", "b"], kind=float)
    with pytest.raises(InvalidData, match="'a'"):
        ParquetTable(folder, "label", **SMALL).counts()
    budget = Budget(1.0)
    with pytest.raises(InvalidData, match="'a'"):
        BernoulliNB(1.0, budget=budget).fit(ParquetTable(folder, "label", **SMALL))
    assert not len(budget.ledger)
    schema = Schema.binary(2, ["a", "b"])
    clipped, codes, _ = schema.check_table(pd.DataFrame(X, columns=["a", "b"]), y, "clip")
    found = ParquetTable(folder, "label", on_invalid="clip", **SMALL).counts()
    np.testing.assert_array_equal(found.on, contingency(clipped, codes, 2).on)


def test_a_label_that_is_no_class_is_named_or_its_record_dropped(tmp_path):
    X, y = np.ones((400, 2)), np.arange(400) % 3
    folder = written(tmp_path, X, y, ["a", "b"])
    with pytest.raises(InvalidData):
        ParquetTable(folder, "label", **SMALL).counts()
    counts = ParquetTable(folder, "label", on_invalid="clip", **SMALL).counts()
    assert counts.n.tolist() == [134.0, 133.0]
    assert counts.on.tolist() == [[134.0, 134.0], [133.0, 133.0]]


def test_a_release_clips_and_reads_whatever_the_table_holds(tmp_path):
    pytest.importorskip("opendp", reason="the extra release is not installed")
    X, y = np.full((300, 2), 7.0), np.arange(300) % 5
    table = ParquetTable(written(tmp_path, X, y, ["a", "b"], kind=float), "label", **SMALL)
    model = BernoulliNB(1.0, release=True, budget=Budget(1.0), schema=Schema.binary(2, ["a", "b"], n_lower=100))
    assert model.fit(table).predict(pd.DataFrame({"a": [0], "b": [1]})).shape == (1,)


def test_what_is_wrong_with_a_table_is_named(tmp_path, monkeypatch):
    folder = written(tmp_path, np.ones((3, 2)), [0, 1, 0], ["a", "b"])
    with pytest.raises(InvalidParameter, match=r"`label` must be .*'a', 'b', 'label'.*Got 'class'"):
        ParquetTable(folder, "class")
    with pytest.raises(DataNotFound, match="nowhere"):
        ParquetTable(tmp_path / "nowhere", "label")
    with pytest.raises(InvalidParameter, match="path"):
        ParquetTable([], "label")
    with pytest.raises(InvalidParameter, match=r"`on_invalid` must be .*Got 'drop'"):
        ParquetTable(folder, "label", on_invalid="drop")
    with pytest.raises(InvalidData, match="'c' is missing"):
        ParquetTable(folder, "label", Schema.binary(3, ["a", "b", "c"]))
    with pytest.raises(InvalidParameter, match="not binary"):
        ParquetTable(folder, "label", Schema((Feature("a", "numeric", lower=0, upper=1),))).counts()
    with pytest.raises(InvalidParameter, match=r"`method` must be .*Got 'partitioned'"):
        BernoulliNB(1.0, method="partitioned").fit(ParquetTable(folder, "label"))
    (tmp_path / "part1.parquet").write_text("no Parquet")
    with pytest.raises(InvalidData, match="not a Parquet file"):
        ParquetTable(folder, "label").counts()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match="large"):
        ParquetTable(folder, "label")


# ---- odd files --------------------------------------------------------------------------------------------------


def parquet(folder, columns, name="table.parquet"):
    """Write columns, given as (name, values) pairs, and return the file's path."""
    names, values = zip(*columns, strict=True)
    pyarrow.parquet.write_table(
        pyarrow.Table.from_arrays([pyarrow.array(v) for v in values], names=names), folder / name
    )
    return folder / name


@pytest.mark.parametrize("doubled", ["a", "y"])
def test_a_column_that_stands_twice_is_named(tmp_path, doubled):
    path = parquet(tmp_path, [("a", [0, 1]), ("y", [0, 1]), (doubled, [1, 1])])
    with pytest.raises(InvalidData, match=f"the column '{doubled}' stands 2 times"):
        ParquetTable(path, "y", Schema.binary(1, ["a"]))


def test_a_later_file_with_other_columns_is_named(tmp_path):
    parquet(tmp_path, [("a", [0, 1]), ("y", [0, 1])], "1.parquet")
    parquet(tmp_path, [("b", [0, 1]), ("y", [0, 1])], "2.parquet")
    with pytest.raises(InvalidData, match=r"the column 'a' is missing in .*2\.parquet"):
        ParquetTable(tmp_path, "y").counts()


def test_a_file_that_is_damaged_in_the_middle_is_named(tmp_path):
    path = parquet(tmp_path, [("a", [0, 1] * 50), ("y", [0, 1] * 50)])
    kept = path.read_bytes()
    path.write_bytes(kept[:10] + b"\xff" * 20 + kept[30:])
    with pytest.raises(InvalidData, match="damaged: not all of its records can be read"):
        ParquetTable(path, "y").counts()


@pytest.mark.parametrize("path", [3, None, b"table.parquet", [None]])
def test_what_is_no_path_is_named(path):
    with pytest.raises(InvalidParameter, match="`path` must be "):
        ParquetTable(path, "y")


def test_an_index_of_pandas_is_a_column_like_any_other(tmp_path):
    """Pandas writes an index with names as a column, and hides it again when it reads."""
    frame = pd.DataFrame({"a": [0, 1, 1], "y": [0, 1, 1]}, index=["q", "r", "s"])
    frame.to_parquet(tmp_path / "table.parquet")
    table = ParquetTable(tmp_path, "y")
    assert table.facts.n_features == 2
    with pytest.raises(InvalidData, match="column '__index_level_0__' has the value 'q'"):
        table.counts()
    assert table.counts(on_invalid="clip").on.shape == (2, 2)
    assert ParquetTable(tmp_path, "y", Schema.binary(1, ["a"])).counts().on.tolist() == [[0.0], [2.0]]


@pytest.mark.parametrize("encode", [lambda text: text, lambda text: text.dictionary_encode()])
def test_a_cell_that_is_no_text_or_date_changes_no_other(encode, tmp_path):
    """Parquet checks neither bytes of texts nor the range of dates, and one record must not make a release fail."""
    ends = np.arange(5, dtype=np.int32)
    text = encode(pyarrow.StringArray.from_buffers(4, *map(pyarrow.py_buffer, (ends.tobytes(), b"bb\xffa"))))
    day = pyarrow.array([0, 1, 2**31 - 1, 3], pyarrow.int32()).cast(pyarrow.date32())
    schema = Schema([Feature(name, "categorical", ("a", "b")) for name in ("text", "day")], ("a", "b"))
    path = parquet(tmp_path, [("text", text), ("day", day), ("y", text)])
    with pytest.raises(InvalidData, match="column 'text' has the value None"):
        ParquetTable(path, "y", schema).codes()
    ((X, codes),) = ParquetTable(path, "y", schema, on_invalid="clip").batches()
    assert X["text"].tolist() == ["b", "b", "a"]
    assert codes.tolist() == [1, 1, 0]
