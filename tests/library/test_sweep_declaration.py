"""The declaration of a sweep, a dict or a YAML file: its points, and every fault by name."""

import re

import numpy as np
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.studies import STUDIES, NamedStudy, RowBoundedNBStudy, frontier, register
from dpml.studies.named import RESERVED
from dpml.sweep import declared, sweep
from dpml.sweep.declaration import cells_of, points_of

GOOD = {"study": "naive-bayes", "data": "census", "epsilon": [0.1, 1.0], "n_features": [5, 10], "draws": 4, "seed": 1}


def test_a_file_and_a_dict_declare_the_same(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("study: naive-bayes\ndata: census\nn_features: [5, 10]\nepsilon: [1e-1, 1]\ndraws: 4\nseed: 1\n")
    assert declared(path) == declared(str(path)) == declared(GOOD)
    assert declared(path).facts() == declared(GOOD).facts()


def test_points_are_the_product_of_all_lists():
    declaration = declared(
        {
            "study": ["row-bounded-naive-bayes", {"name": "naive-bayes", "n_features": [1, 2], "score": ["count"]}],
            "data": ["toy", {"name": "census", "seed": 3, "n": 50}],
            "relation": ["add-remove", "replace-one"],
            "epsilon": [1, 2, 3],
            "draws": 250,
        }
    )
    points = [point.row() for point in points_of(declaration)]
    assert len(points) == 2 * 2 * 3 * (1 + 2)
    assert len({str(point) for point in points}) == len(points)
    assert points[0] == {"study": "row-bounded-naive-bayes", "data": "toy", "relation": "add-remove", "epsilon": 1.0}
    assert {point["data"] for point in points} == {"toy", "census (n=50, seed=3)"}
    cells = list(cells_of(declaration))
    assert [(cell.first, cell.draws) for cell in cells[:3]] == [(0, 100), (100, 100), (200, 50)]
    assert len(cells) == 3 * len(points)


def test_every_study_runs_with_every_parameter():
    """One value of each: a study refuses a parameter that it does not have."""
    asked = {"study": list(STUDIES), "data": {"name": "census", "n": 1000}, "epsilon": 1.0, "draws": 2, "auc": True}
    table = sweep(asked)
    assert table["study"].tolist() == [name for name in STUDIES for _ in range(2)]
    assert table[["accuracy", "auc"]].to_numpy().min() > 0.2
    values = {"score": "mutual_information", "row_bound": 2, "deals": 2, "method": None, "n_features": 3, "n_bins": 4}
    values |= {"selection_share": 0.3, "threshold_percentile": 70, "pseudocount": 2, "auc": False, "class_share": 0.2}
    values |= {"shrinkage": 0.1, "reg_lambda": 2.0, "trim": 1, "grids": 1, "epsilon": 1.0}
    methods = {"logistic-regression": "objective", "moments-naive-bayes": "global"}
    for name, study in STUDIES.items():
        own = {key: methods[name] if key == "method" else values[key] for key in (*study.fixed, *study.settings)}
        table = sweep({"study": name, "data": {"name": "census", "n": 300}, "draws": 1, **own})
        own.pop("auc")  # a measure, not a setting
        assert "auc" not in table
        assert table[list(own)].iloc[0].tolist() == list(own.values())


# ---- faults ---------------------------------------------------------------------------------------------------------

BAD = [
    ({"study": None}, "`study` must be .*Got None"),
    ({"study": "naive-base"}, "`study` must be .*'naive-bayes', 'row-bounded-naive-bayes'.*Got 'naive-base'"),
    ({"study": ["naive-bayes", "naive-bayes"]}, "`study` must be .*asked for once"),
    ({"study": {"name": "naive-bayes", "colour": 1}}, "`key` must be .*a parameter of 'naive-bayes'.*Got 'colour'"),
    ({"study": "auto"}, "`key` must be .*a parameter of 'auto', which has epsilon, grids, auc.*Got 'n_features'"),
    ({"data": "censos"}, "`data` must be .*'census'.*Got 'censos'"),
    ({"data": {"name": "census", "n": 1.5}}, r"data: n must be .*Got 1\.5"),
    ({"data": {"name": "census", "data_home": "x"}}, "data: data_home must be .*DPML_DATA.*Got 'x'"),
    ({"data": {"name": "census", "size": 3}}, "`option` must be .*one of n, seed.*Got 'size'"),
    ({"relation": "remove"}, "`relation` must be .*'add-remove', 'replace-one'.*Got 'remove'"),
    ({"epsilon": [1, 1.0]}, r"`epsilon` must be .*listed once.*Got 1\.0"),
    ({"epsilon": 0}, "`epsilon` must be .*Got 0"),
    ({"epsilon": float("nan")}, "`epsilon` must be .*Got nan"),
    ({"epsilon": 10**400}, "`epsilon` must be .*Got 1000"),
    ({"n_features": 9999}, "`n_features` must be .*from 1 to.*Got 9999"),
    ({"draws": 0}, "`draws` must be .*Got 0"),
    ({"draws": 10**12}, "`draws` must be .*Got 1000000000000"),
    ({"draws": 10**7, "block": 1, "n_features": 3, "epsilon": 1.0}, "`block` must be .*at most 1,000,000 b.*Got 1"),
    ({"auc": [True, False]}, r"`auc` must be .*one value.*Got \[True, False\]"),
    ({"nfeatures": [5]}, "`key` must be .*did you mean 'n_features'.*Got 'nfeatures'"),
    ({"epsilon": list(range(1, 2001)), "n_features": list(range(1, 1001))}, "`points` must be .*Got 2000000"),
]


def test_the_auc_is_a_measure_and_no_setting():
    asked = {"study": ["naive-bayes", "row-bounded-naive-bayes"], "data": {"name": "toy", "n": 300}, "draws": 4}
    asked |= {"epsilon": [0.1, 10.0], "auc": True}
    table, means = sweep(asked), sweep(asked, summaries=True)
    assert table.columns.tolist() == ["study", "data", "relation", "epsilon", "draw", "accuracy", "auc"]
    assert len(means) == 2 * 4
    areas = means[means["measure"] == "auc"].set_index(["study", "epsilon"])["mean"]
    for (study, epsilon), area in areas.items():
        mine = table[(table["study"] == study) & (table["epsilon"] == epsilon)]
        assert area == pytest.approx(mine["auc"].mean())
    best = frontier(table, measure="auc", rng=np.random.default_rng(0))
    assert best["candidates"].tolist() == [2, 2]
    # the draws are those of the same study without it, also where points are not paired
    for paired in (True, False):
        with_it, without = (sweep({**asked, "auc": auc, "paired": paired}) for auc in (True, False))
        assert with_it["accuracy"].tolist() == without["accuracy"].tolist()


@pytest.mark.parametrize(("change", "message"), BAD)
def test_a_fault_is_named_before_any_computation(change, message, monkeypatch):
    monkeypatch.setattr("dpml.sweep.run.measure", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(InvalidParameter, match=message):
        sweep({**GOOD, **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "top level is NoneType"),
        ("study: naive-bayes\nstudy: auto\n", "line 2, column 1: the key 'study' stands twice"),
        ("study: !!python/object/apply:os.getcwd []", "line 1, column 8"),
        ("a: &a [1, 2]\nb: *a\n", "anchors are not read"),
        ("? [1, 2]\n: 3\n", "a key is not text"),
        ("[" * 20_000, "a YAML file"),
    ],
)
def test_a_file_without_a_mapping_is_named(tmp_path, text, message):
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=message):
        declared(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"study: na\xefve")
    (tmp_path / "huge.yaml").write_bytes(b"#" * 1_000_001)
    faults = {"none.yaml": "No such file", "": "directory", "latin.yaml": "YAML", "huge.yaml": "at most 1,000,000"}
    for name, message in faults.items():
        with pytest.raises(InvalidParameter, match=message):
            declared(tmp_path / name)


def assert_declared_or_named(study):
    """Check for a declaration, or for a short message with a name, a rule and a value."""
    message = None
    try:
        assert declared(study).families
    except InvalidParameter as error:
        message = str(error)
    assert message is None or (re.search(r"(?s) must be \S.*Got ", message) and len(message) < 2000)


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates() | st.binary(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(SCALARS, part, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*GOOD, "relation", "block", "paired", "score", "auc", "name", "study "]) | st.text(max_size=5)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sets(st.sampled_from(list(GOOD)), max_size=2))
@example({"epsilon": [float("inf")]}, set())
def test_any_mapping_is_a_sweep_or_a_named_error(change, removed):
    asked = {**GOOD, **change}
    assert_declared_or_named({key: value for key, value in asked.items() if key not in removed})


TEXT = yaml.safe_dump(GOOD)
PIECES = st.sampled_from([*"[]{}:,-&*!|>'\"%@`#?~\n\t ", "1e-3", "0x", "1:60", "<<: ", "null", "\x00", "é", "---\n"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 4), PIECES), min_size=1, max_size=4))
def test_any_file_is_a_sweep_or_a_named_error(tmp_path_factory, edits):
    text = TEXT
    for place, cut, piece in edits:
        text = text[:place] + piece + text[place + cut :]
    path = tmp_path_factory.getbasetemp() / "fuzzed.yaml"
    path.write_text(text, encoding="utf-8")
    assert_declared_or_named(path)


# ---- registered studies ---------------------------------------------------------------------------------------------


def test_a_registered_study_is_swept_by_its_name():
    register("mine", NamedStudy(RowBoundedNBStudy, {}, {"epsilon": STUDIES["naive-bayes"].settings["epsilon"]}))
    try:
        table = sweep({"study": "mine", "data": {"name": "toy", "n": 50}, "epsilon": 1.0, "draws": 3})
    finally:
        del STUDIES["mine"]
    expected = RowBoundedNBStudy(load("toy", n=50))(1.0, draws=3, rng=np.random.default_rng(0))
    assert table["accuracy"].tolist() == expected["accuracy"].tolist()


@pytest.mark.parametrize(
    ("name", "fixed", "kept", "message"),
    [
        ("naive-bayes", {}, {"epsilon": float}, "`name` must be .*Got 'naive-bayes'"),
        (" ", {}, {"epsilon": float}, "`name` must be .*Got ' '"),
        ("mine", {}, {}, "a setting 'epsilon'"),
        ("mine", {"epsilon": float}, {"epsilon": float}, "each name once"),
        *[("mine", {}, {"epsilon": float, name: int}, f"`study` must be .*Got '{name}'") for name in RESERVED],
    ],
)
def test_a_study_that_cannot_be_registered_is_named(name, fixed, kept, message):
    with pytest.raises(InvalidParameter, match=message):
        register(name, NamedStudy(RowBoundedNBStudy, fixed, kept))
    assert "mine" not in STUDIES
