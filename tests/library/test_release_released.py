"""Results of a release: a model that works elsewhere, a table, measures with intervals, a privacy report, and files."""

import csv
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import joblib
import numpy as np
import pandas as pd
import pytest
from release_table import CANARY, DATE, FILES, SCHEMA, SHARES, customers, demonstrated, without_label
from sklearn.metrics import roc_auc_score
from test_schema_untrusted import CELL, TEXTS

import dpml
from dpml.audit import recorded_cost
from dpml.classifiers import AutoClassifier, BernoulliNB
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.boundary import generator_of_parts
from dpml.mechanisms.private import opened
from dpml.release import Plan, score
from dpml.release import folder as folders
from dpml.release import released as results
from dpml.release.folder import CONTENTS, MANIFEST, README
from dpml.release.plain_model import plain_model
from dpml.release.records import read_records
from dpml.release.steps import predictions
from dpml.schema import Feature, Schema
from dpml.schema.cells import cell_key


@pytest.fixture(scope="module")
def demonstration():
    return demonstrated()


@pytest.fixture(scope="module")
def released():
    plan = Plan(SCHEMA, 1.0, shares=SHARES, max_grids=40)
    return plan.run(*without_label(customers()))


def test_a_release_holds_no_cell_of_the_table(released, tmp_path):
    assert released.status == "release"
    folder = released.save(tmp_path / "out", date=DATE)
    held = [pickle.dumps(released), *(path.read_bytes() for path in folder.iterdir())]
    assert not any(CANARY.encode() in content for content in held)
    assert not any(b"simulation" in content.lower() for content in held)


def test_a_model_after_a_selection_predicts_from_the_raw_table():
    schema = Schema.binary(5, n_lower=100)
    rng = np.random.default_rng(0)
    X = pd.DataFrame((rng.random((500, 5)) < 0.5).astype(int), columns=schema.feature_names)
    y = X["x3"].to_numpy()
    plan = Plan(schema, 20.0, shares={"selection": 0.3, "training": 0.7}, n_features=1)
    model = plan.run(X, y, secure=False, random_state=0).model
    assert model.named_steps["selection"].get_support().tolist() == [False, False, False, True, False]
    assert model.predict(X[X.columns[::-1]]).tolist() == y.tolist()


def test_the_file_gives_the_same_predictions_in_another_process(tmp_path):
    """At ε = 40 the noise of a count is a few records of 2,000, so both classes are predicted."""
    released = Plan(SCHEMA, 40.0, shares={"training": 1.0}).run(*without_label(customers(2_000)))
    folder = released.save(tmp_path / "out", date=DATE)
    new = without_label(customers(200, seed=5))[0]
    new.to_pickle(tmp_path / "new.pickle")
    code = (
        "import sys, joblib, pandas as pd\n"
        "model = joblib.load(sys.argv[1])\n"
        "print(','.join(model.predict(pd.read_pickle(sys.argv[2]))))\n"
        "assert not {'panel', 'opendp'} & set(sys.modules)\n"
    )
    call = [sys.executable, "-c", code, str(folder / "model.joblib"), str(tmp_path / "new.pickle")]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout.strip().split(",") == released.model.predict(new).tolist()
    assert {"no", "yes"} == set(released.model.predict(new))


def test_a_record_trains_or_evaluates():
    """Of 4,000 records 30 % are held out; a count within 5.5 standard deviations fails once in 20 million seeds."""
    table = customers(3_999)
    records = read_records(SCHEMA, *without_label(table.assign(age=range(4_000))))
    training, held_out = (opened(one.X) for one in records.split(0.3, np.random.default_rng(0)))
    both = [*training["age"], *held_out["age"]]
    assert sorted(both) == list(range(4_000))
    assert abs(len(held_out) - 1_200) < 5.5 * np.sqrt(4_000 * 0.3 * 0.7)


def test_one_record_more_moves_no_other():
    table = customers(200)
    fewer, more = (read_records(SCHEMA, *without_label(part)) for part in (table.iloc[:-1], table))
    first, second = (one.split(0.3, np.random.default_rng(0)) for one in (fewer, more))
    for before, after in zip(first, second, strict=True):
        kept = opened(after.X)["customer"].isin(opened(fewer.X)["customer"])
        assert opened(after.X)[kept]["customer"].tolist() == opened(before.X)["customer"].tolist()


def test_with_little_noise_the_measures_are_exact():
    """At an ε of a million the noise is far below one record, so the measures are exact. The split is the seed's."""
    table = customers(2_000).iloc[:-1]
    plan = Plan(SCHEMA, 1e6, shares={"training": 0.5, "evaluation": 0.5}, test_share=0.4)
    released = plan.run(*without_label(table), secure=False, random_state=3)
    held_out = generator_of_parts(np.random.default_rng(3)).random(len(table)) < 0.4
    X, y = without_label(table[held_out])
    accuracy = (released.model.predict(X) == y).mean()
    found = released.evaluation.set_index("measure").loc["accuracy"]
    assert found["value"] == pytest.approx(accuracy, abs=1e-4)
    assert found["low"] < found["noise_low"] <= found["value"] <= found["noise_high"] < found["high"]
    assert released.histogram.n_records() == pytest.approx(held_out.sum(), abs=0.01)


def test_intervals_hold_the_measure_of_the_held_out_records():
    """Of 40 intervals at 95 % fewer than 33 hold once in 1,000 times; the seeds are fixed."""
    table, held = customers(600).iloc[:-1], 0
    X, y = without_label(table)
    for seed in range(40):
        released = Plan(SCHEMA, 2.0, method="MixedNB").run(X, y, secure=False, random_state=seed)
        chosen = np.random.default_rng(seed).random(len(table)) < 0.3
        exact = (released.model.predict(X[chosen]) == y[chosen]).mean()
        found = released.evaluation.set_index("measure").loc["accuracy"]
        held += found["noise_low"] <= exact <= found["noise_high"]
    assert held >= 33


def test_multiclass_measures_share_epsilon_equally():
    rng = np.random.default_rng(0)
    classes = ("no", "yes", "maybe")
    X = pd.DataFrame({"at": rng.integers(0, 30, 3000)})
    y = np.array(classes)[np.where(rng.random(3000) < 0.8, X["at"] // 10, rng.integers(0, 3, 3000))]
    schema = Schema((Feature("at", "numeric", lower=0, upper=30),), classes, n_lower=3000)
    plan = Plan(schema, 1e4, shares={"training": 0.5, "evaluation": 0.5})
    released = plan.run(X, y, secure=False, random_state=0)
    rows = released.evaluation.set_index("measure")
    assert rows.index.tolist() == ["accuracy", "majority_accuracy", "macro_auc"]
    assert released.histogram.counts.shape == (3, 3)
    assert released.ledger["epsilon"].tolist()[-2:] == [2500.0, 2500.0]
    # of the records that were held out: the order of the scores is that of the classes
    exact = roc_auc_score(y, released.model.predict_proba(X)[:, np.argsort(classes)], multi_class="ovr")
    area = rows.loc["macro_auc"]
    assert area["value"] == pytest.approx(exact, abs=0.03)
    assert area["low"] < area["noise_low"] <= area["value"] <= area["noise_high"] < area["high"]
    counts = json.loads(released.files()["evaluation.json"])["noisy_counts_of_scores"]
    assert [np.shape(each["counts"]) for each in counts] == [(2, 16)] * 3
    assert "each class against the rest: mean of all classes" in released.statement()


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_multiclass_evaluation_costs_at_most_its_share(relation):
    rng = np.random.default_rng(0)
    schema = Schema((Feature("at", "numeric", lower=0, upper=30),), ("no", "yes", "maybe"), n_lower=100)
    table = pd.DataFrame({"at": rng.integers(0, 30, 300), "left": rng.choice(schema.classes, 300)})
    other = table.copy()
    if relation == "replace-one":
        other.loc[299] = 29 - table["at"][299], "yes" if table["left"][299] != "yes" else "no"
    else:
        other = other[:-1]
    shares = {"training": 0.1, "evaluation": 0.9}
    # nearly every record is held out, and so is the one that differs
    plan = Plan(schema, 1.0, shares=shares, test_share=0.95, relation=relation)
    cost = recorded_cost(lambda data: plan.run(data, "left", secure=False, random_state=0), table, other, pasts=4)
    # more than the half that is for the table of classes, or that for the scores, and no more than both
    assert 0.46 < cost <= 0.9 + 1e-9


class Tied:
    """A model whose scores are at even odds for every record; it says "no" at a tie, as argmax does."""

    def predict(self, X):
        return np.array(["no", "yes", "no"])

    def decision_function(self, X):
        return np.array([0.0, 0.0, -1.0])


def test_a_tie_counts_as_what_the_model_predicts():
    predicted, scores = predictions(Tied(), np.zeros((3, 1)), ("no", "yes"))
    assert predicted.tolist() == [0, 1, 0]
    # a histogram takes a score of 0 for the second class
    assert (scores >= 0).tolist() == [False, True, False]


def test_everything_is_written(demonstration, tmp_path):
    folder = demonstration.save(tmp_path / "a" / "out", date=DATE)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    # the README says of each what it is
    assert set(FILES) == {*CONTENTS, MANIFEST, README}
    assert [path.name for path in folder.parent.iterdir()] == ["out"]
    assert Schema.from_yaml((folder / "schema.yaml").read_text(encoding="utf-8")) == SCHEMA
    ledger = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    assert [row["epsilon"] for row in ledger["charges"]] == demonstration.ledger["epsilon"].tolist()
    measured = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert measured["measures"] == demonstration.evaluation.to_dict(orient="records")
    assert measured["noisy_counts"]["thresholds"][0] == "inf"
    assert joblib.load(folder / "model.joblib").status_ == demonstration.status


def test_an_empty_folder_is_taken_and_one_with_content_refused(demonstration, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    demonstration.save(folder, date=DATE)
    with pytest.raises(InvalidParameter, match="folder"):
        demonstration.save(folder, date=DATE)
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InvalidParameter, match="folder"):
        demonstration.save(file, date=DATE)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("broken", ["safe_csv", "_write", "joblib"])
def test_a_fault_in_the_middle_leaves_nothing(demonstration, tmp_path, monkeypatch, broken):
    class Full:
        def __call__(self, *args, **options):
            raise OSError("no space left on device")

        dump = __call__

    monkeypatch.setattr(folders if broken == "_write" else results, broken, Full())
    with pytest.raises(OSError, match="no space left"):
        demonstration.save(tmp_path / "out", date=DATE)
    assert not list(tmp_path.iterdir())


class Page(HTMLParser):
    """The texts of a page, and its tags with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_statement_names_every_charge_and_loads_nothing(released):
    page = Page(released.statement(date=DATE, stated_by="the data office"))
    text = " ".join(page.texts)
    for row in released.ledger.to_dict(orient="records"):
        assert row["released"] in page.texts
        assert f"{row['epsilon']:.6g}" in page.texts
        assert row["source"] in page.texts
    assert "2026-11-22" in text
    assert f"dpml {dpml.__version__}" in text
    assert "Declared by the data office" in text
    assert "OpenDP" in text
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    assert not any(name.startswith("on") or name in ("src", "href") for _, attrs in page.tags for name in attrs)
    assert CANARY not in text


def test_every_text_in_the_statement_is_escaped():
    evil = "<script>alert('&')</script>"
    features = (Feature(evil, "categorical", (evil, "b")), *SCHEMA.features[:1])
    schema = Schema(features, ("no", evil), n_lower=10, ignored=("<img src=x>",))
    table = pd.DataFrame({evil: ["b"] * 20, "age": range(20)})
    plan = Plan(schema, 1.0, shares={"training": 1.0})
    statement = plan.run(table, ["no"] * 20, secure=False, random_state=0).statement(date=DATE, stated_by=evil)
    tags = {tag for tag, _ in Page(statement).tags}
    assert not tags & {"script", "img"}
    assert Page(statement).texts.count(evil) == 1  # the name of the column; elsewhere it is in a longer text


def mixed_table(n, classes, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(classes), n)
    frame = pd.DataFrame({
        "age": np.where(rng.random(n) < 0.05, np.nan, rng.normal(40 + 15 * codes, 9).round(1)),
        "paid": np.exp(rng.normal(2 + codes, 1, n)).round(2),
        "rooms": rng.choice([1, 2, 3], n),
        "plan": np.where(rng.random(n) < 0.5, np.array(["a", "b", "c"])[codes % 3], "a"),
        "owner": (rng.random(n) < 0.3 + 0.2 * (codes > 0)).astype(int),
    })  # fmt: skip
    blocks = rng.integers(0, 2, n)
    return frame.assign(f=1 - blocks, m=blocks), np.array(classes)[codes]


def schema_of(classes, **facts):
    features = (
        Feature("age", "numeric", lower=0, upper=90, missing=40),
        Feature("paid", "numeric", lower=0, upper=500),
        Feature("rooms", "categorical", (1, 2, 3)),
        Feature("plan", "categorical", ("a", "b", "c"), missing="b"),
        Feature("owner"),
        Feature("f", block="sex", exhaustive=True),
        Feature("m", block="sex", exhaustive=True),
    )
    return Schema(features, classes, n_lower=2000, **facts)


def by_script(model, frame):
    """Return the probabilities that the script gives the cells of a CSV file."""
    facts = json.loads(plain_model(model, "release"))
    records = csv.DictReader(frame.to_csv(index=False).splitlines())
    return np.array([score.probabilities(facts, record) for record in records])


@pytest.mark.parametrize("classes", [("no", "yes"), ("low", "middle", "high")])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_the_json_gives_the_same_probabilities(classes, epsilon):
    X, y = mixed_table(3000, classes)
    model = AutoClassifier(epsilon, schema=schema_of(classes), on_invalid="clip", random_state=0).fit(X, y)
    new, _ = mixed_table(500, classes, seed=1)
    new.loc[:3, "plan"] = [None, "unknown", "c", "a"]
    new.loc[:3, "age"] = [-5, 200, np.nan, 90]
    np.testing.assert_allclose(by_script(model, new), model.predict_proba(new), rtol=0, atol=1e-12)


def test_the_script_reads_cells_by_value():
    for value in (*CELL, *TEXTS):
        if isinstance(value, (str, int, float, type(None))) and value != "1j":
            assert score.key(value) == cell_key(value), value


def test_the_script_predicts_without_any_library(tmp_path):
    released = Plan(SCHEMA, 1.0).run(customers(), "left", secure=False, random_state=0)
    folder = released.save(tmp_path / "out")
    new = customers(100, seed=1).drop(columns=["left", "customer"])
    new.to_csv(tmp_path / "new.csv", index=False)
    command = [sys.executable, "-S", "-E", "score.py", str(tmp_path / "new.csv")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    labels = [line.split()[0] for line in lines]
    model = joblib.load(folder / "model.joblib")
    assert labels == model.predict(pd.read_csv(tmp_path / "new.csv", dtype=object)).tolist()
    assert json.loads((folder / "model.json").read_text(encoding="utf-8"))["status"] == released.status


def test_another_model_has_no_json():
    X = np.random.default_rng(0).integers(0, 2, (50, 4))
    assert plain_model(BernoulliNB(1.0, random_state=0).fit(X, X[:, 0]), "release") is None


def test_the_statement_asks_the_question_of_its_relation(released):
    present, replaced = (replace(released, relation=r).statement(date=DATE) for r in ("add-remove", "replace-one"))
    assert "who asks whether one person's record is in the table" in present
    assert "who asks which of two possible contents one person's record has" in replaced
    assert "removes one record and adds another" in present
    assert "removes one record and adds another" not in replaced
