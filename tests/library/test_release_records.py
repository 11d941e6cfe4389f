"""Reading of records for a release: each cell and each line by itself, and no table makes a release fail or speak."""

import io
import json
import pickle
import re
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from fuzz_cells import kind_of_labels, kind_of_table, labels, pick, table
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_lines import ODD
from release_table import FILES, files_without

from dpml.__main__ import main
from dpml.audit import recorded_cost
from dpml.classifiers import BernoulliNB, MixedNB
from dpml.evaluation import private_confusion_matrix, release_evaluation
from dpml.exceptions import InvalidSchema, NotPrivate
from dpml.mechanisms.private import opened
from dpml.publishing import UniformGrid
from dpml.release import Plan
from dpml.release.records import read_records
from dpml.schema import Feature, Schema
from dpml.tables import read_table

SCHEMA = Schema(
    (Feature("rooms", "categorical", (1, 2, 3)), Feature("zone", "categorical", ("07", "12")), Feature("flat")),
    (0, 1),
    n_lower=20,
)
LINES = "".join(f"{i % 3 + 1},{'07' if i % 2 else '12'},{i % 2},{i % 2}\n" for i in range(40))


def table_of(lines, release=False):
    return read_table(("rooms,zone,flat,sold\n" + lines).encode(), release=release)


def cost_of(plan, one, two):
    """Return the exact cost of a plan for two tables."""

    def call(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plan.run(*data, secure=False, random_state=0)

    return recorded_cost(call, *((table.drop(columns="sold"), table["sold"]) for table in (one, two)), pasts=4)


LINES_OF_NO_RECORD = ['2,"07,1,1\n', '"\n', "2,07\n", "\n", "2,07,\0,1\n", f"2,{'7' * 10_001},1,1\n"]


@pytest.mark.parametrize("odd", others_in_full(LINES_OF_NO_RECORD, first=3))
def test_a_line_that_is_no_record_costs_nothing(odd):
    """Here it opens a quotation mark that another record closes, if lines are joined."""
    plan = Plan(SCHEMA, 0.5, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20)
    rest = LINES + '3,"12",0,0\n'
    one, two = table_of(rest, True), table_of(odd + rest, True)
    assert cost_of(plan, one, two) == 0


def test_a_model_reads_any_spelling():
    table = table_of(LINES)
    X, y = table.drop(columns="sold"), table["sold"]
    model = Plan(SCHEMA, 1e4, shares={"training": 1.0}).run(X, y, secure=False, random_state=0).model
    spelt = pd.DataFrame({"rooms": X["rooms"].map(float), "zone": X["zone"].map(int), "flat": X["flat"].map(str)})
    texts = X.map(str)
    assert model.predict(spelt).tolist() == model.predict(X).tolist() == model.predict(texts).tolist()
    assert model.predict(X).tolist() == y.tolist()


def as_read(records):
    table = pd.read_csv(io.StringIO("rooms,zone,flat,sold\n" + "".join(records)), dtype={"zone": str})
    return table.drop(columns="sold"), table["sold"]


def as_array(records):
    lines = (line.strip().split(",") for line in records)
    table = np.array([[*map(_number, line[:2]), _number(line[2]), _number(line[3])] for line in lines])
    return table[:, :3], table[:, 3]


def _number(text):
    return int(text) if text.isdecimal() else text


RETYPING = [
    (read, odd, at)
    for odd in ("x,y,z,w\n", "2,07,1,w\n", "2.5,7,True,0\n", "1,12,x,1\n")
    for at in (0, 20, 40)
    for read in (as_read, as_array)
]


# at each commit each line, each place and each way of reading twice or more
@pytest.mark.parametrize(("read", "odd", "at"), others_in_full(RETYPING, *RETYPING[::3]))
def test_a_record_that_changes_types_costs_no_more(read, odd, at):
    """Recorded 15.7 for a charge of 1 where only columns of objects were normalised."""
    plan = Plan(SCHEMA, 0.5, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20)
    records = LINES.splitlines(keepends=True)
    one, two = read(records), read([*records[:at], odd, *records[at:]])
    types = [str(X.dtypes if isinstance(X, pd.DataFrame) else X.dtype) for X, _ in (one, two)]
    assert types[0] != types[1] or str(one[1].dtype) != str(two[1].dtype)

    def call(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plan.run(*data, secure=False, random_state=0)

    assert recorded_cost(call, one, two, pasts=2) <= 0.5 * (1 + 1e-12)


def test_labels_that_are_text_are_the_classes_that_they_spell():
    """A file that is read for a release has texts; all labels were dropped, and the accuracy was 0.489."""
    table = table_of("".join(f"1,07,{i % 2},{i % 2}\n" for i in range(2_000)), release=True)
    assert table["sold"].tolist()[:2] == ["0", "1"]
    schema = Schema((Feature("flat"),), (0, 1), n_lower=1_000)
    model = BernoulliNB(5.0, schema=schema, release=True).fit(table[["flat"]], table["sold"])
    assert model.predict(table[["flat"]]).tolist() == [0, 1] * 1_000


FALSE_AND_ZERO = Schema((Feature("height", "categorical", ("0", "10", "FALSE")),), ("no", "yes"), n_lower=100)


@pytest.mark.parametrize(
    "refused",
    [
        lambda X, y: MixedNB(1.0, schema=FALSE_AND_ZERO, release=True).fit(X, y),
        lambda X, y: UniformGrid(1.0, schema=FALSE_AND_ZERO, release=True).fit(X, y),
        lambda X, y: Plan(FALSE_AND_ZERO, 1.0).run(X, y),
        lambda X, y: release_evaluation(y, [0.5] * 4, 1.0, classes=("0", "FALSE"), pos_label="0", release=True),
        lambda X, y: private_confusion_matrix(y, y, 1.0, classes=("0", "FALSE", "2"), release=True),
    ],
)
def test_a_release_names_the_two_stated_values_that_are_one(refused):
    table = pd.DataFrame({"height": ["0", "10", "FALSE", "0"]})
    with pytest.raises(InvalidSchema, match="'0', 'FALSE'"):
        refused(table, ["no", "yes", "no", "yes"])
    # nothing is released of a study, and what is stated is itself
    model = MixedNB(1e6, schema=FALSE_AND_ZERO, random_state=0).fit(table.loc[[0, 2] * 60], ["no", "yes"] * 60)
    assert model.predict(table).tolist()[::2] == ["no", "yes"]


PEOPLE = Schema(
    (
        Feature("age", "numeric", lower=0, upper=120),
        Feature("plan", "categorical", ("basic", "family")),
        Feature("spent", "numeric", lower=0, upper=300, missing=40),
    ),
    ("no", "yes"),
    n_lower=30,
)
ROWS = [f"{20 + i},{'basic' if i % 2 else 'family'},{i}.5,{'yes' if i % 3 else 'no'}".encode() for i in range(40)]


def file_of(lines):
    return b"\n".join([b"age,plan,spent,left", *lines, b""])


@pytest.fixture
def ended(tmp_path, capfd):
    """Return how the command ends for lines of a file, and what it has written."""
    (tmp_path / "schema.yaml").write_text(PEOPLE.to_yaml(), encoding="utf-8")
    calls = []

    def run(lines, *more):
        out = tmp_path / f"out{len(calls)}"
        calls.append(out)
        (tmp_path / "table.csv").write_bytes(file_of(lines))
        asked = ["--label", "left", "--epsilon", "1", "--out", str(out), "--share", "training=0.5", *more]
        code = main(["release", str(tmp_path / "table.csv"), str(tmp_path / "schema.yaml"), *asked])
        written = sorted(path.name for path in out.iterdir()) if out.exists() else []
        return code, written, capfd.readouterr(), out

    return run


def test_no_record_ends_the_command(ended):
    """Nor does it write or say anything else than it does without the record."""

    def told(code, written, said, out):
        # the manifest is of files with noise in them
        printed = re.sub(r"SHA-256 of .*|out\d+", "", said.out)
        return code, written, printed, said.err, json.loads((out / "ledger.json").read_text())

    without = told(*ended(ROWS))
    assert without[:2] == (0, files_without("evaluation.json", "table.csv"))
    for kind, odd in ODD.items():
        assert told(*ended([*ROWS[:7], odd, *ROWS[7:]])) == without, kind


@pytest.mark.parametrize("lines", [[], [b",,,"], [b""] * 3, list(ODD.values())], ids=["none", "null", "blank", "odd"])
def test_a_table_without_any_record_is_released(ended, lines):
    code, written, _said, out = ended(lines, "--share", "evaluation=0.2", "--share", "publishing=0.3")
    assert (code, written) == (0, FILES)
    person = pd.DataFrame({"age": [1], "plan": ["basic"], "spent": [0]})
    assert joblib.load(out / "model.joblib").predict(person)[0] in ("no", "yes")


@settings(max_examples=8)
@given(st.integers(0, 40), st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), st.booleans())
def test_any_line_leaves_other_records_unchanged(tmp_path_factory, place, odd, add):
    folder = tmp_path_factory.mktemp("release")
    (folder / "schema.yaml").write_text(PEOPLE.to_yaml(), encoding="utf-8")
    place = min(place, len(ROWS) - 1)
    changed = [*ROWS[:place], odd, *ROWS[place + (not add) :]]
    records = []
    for number, lines in enumerate((ROWS, changed)):
        (folder / "table.csv").write_bytes(file_of(lines))
        asked = ["--label", "left", "--epsilon", "1", "--share", "training=1", "--out", str(folder / f"out{number}")]
        assert main(["release", str(folder / "table.csv"), str(folder / "schema.yaml"), *asked]) == 0
        assert (folder / f"out{number}" / "model.joblib").exists()
        read = read_records(PEOPLE, read_table(folder / "table.csv", release=True), "left")
        checked, _ = PEOPLE.check_features(opened(read.X), "clip")
        codes = PEOPLE.check_labels(opened(read.y), "clip")
        rows = zip(checked.astype(object).values.tolist(), codes.tolist(), strict=True)
        records.append([pickle.dumps(row) for row in rows])
    one, two = records
    assert one[:place] == two[:place]
    assert one[place + (not add) :] == two[place + 1 :]


class Strange(ArithmeticError):
    """What a method may raise."""


@pytest.mark.parametrize("secure", [False, True])
def test_what_fails_on_no_records_is_told_as_it_is(monkeypatch, secure):
    """With the part that fails, which need not be the classifier, and the error itself."""
    from dpml.publishing import PrivPfC

    def broken(self, X, y):
        raise Strange("the widths of 7 bins are 0")

    monkeypatch.setattr(PrivPfC, "fit", broken)
    plan = Plan(PEOPLE, 1.0, shares={"training": 0.5, "publishing": 0.5})
    [problem] = plan.problems(secure)
    assert isinstance(problem, NotPrivate)
    assert "publishing fails on a table without records: Strange: the widths of 7 bins are 0" in str(problem)
    assert isinstance(problem.__cause__, Strange)
    assert "AutoClassifier" not in str(problem)


MIXED = Schema(
    [
        Feature("n", "numeric", lower=0, upper=1e6, missing=3),
        Feature("t", "categorical", ("x", "yes", 1, 0.5, "?"), missing="?"),
        Feature("b", missing=0),
        Feature("i", "categorical", (0, 1)),
    ],
    classes=(0, 1, "yes"),
)
BINARY = Schema.binary(3, classes=("yes", 0), n_lower=50)
FUZZED = [
    Plan(MIXED, 1.0, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20),
    Plan(MIXED, 1.0, method="MixedNB", relation="replace-one"),
    Plan(
        BINARY, 1.0, shares={"selection": 0.2, "training": 0.3, "evaluation": 0.5}, n_features=2, method="BernoulliNB"
    ),
    Plan(BINARY, 1.0, shares={"training": 0.5, "evaluation": 0.5}, method="DiffPC45"),
]


@pytest.mark.parametrize("start", others_in_full(range(0, 200, 25), 0))
def test_no_table_makes_a_release_fail_or_speak(start, capsys):
    made = 0
    for seed in range(start, start + 25):
        rng = np.random.default_rng(seed)
        plan, n = FUZZED[seed % len(FUZZED)], int(pick(rng, [0, 1, 2, 3, 12, 40]))
        kind = kind_of_table(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of those who make such tables
            X, y = table(rng, kind, n, plan.schema.feature_names), labels(rng, kind_of_labels(rng), n)
        if X is None or y is None:
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            released = plan.run(X, y)
        assert not told, (seed, kind, [str(each.message) for each in told])
        assert "SECRET" not in released.statement() + released.files()["evaluation.json"].decode()
        made += 1
    assert made > 20
    assert capsys.readouterr() == ("", "")
