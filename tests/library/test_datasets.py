import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB

from dpml.datasets import NAMES, _files, card, load
from dpml.datasets._readers import separation
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema

GENERATED = ("toy", "census", "breast_cancer")

# name: training and test rows, ones among training and test labels, columns, fewest and most ones a row, accuracy of
# Bernoulli Naive Bayes with add-one; the first five as pinned, the others measured once
PINNED = {
    "newsgroup1": (5687, 2437, 3239, 1366, 100, 1, 44, 0.9224),
    "newsgroup2": (4663, 1998, 826, 374, 100, 1, 36, 0.8929),
    "newsgroup3": (4663, 1998, 826, 374, 100, 1, 35, 0.8999),
    "mushrooms": (5687, 2437, 2745, 1171, 112, 21, 21, 0.9409),
    "adult": (32561, 16281, 7841, 3846, 126, 14, 14, 0.8035),
    "xwindows": (900, 900, 450, 450, 600, 1, 65, 0.8133),
    "sms": (3901, 1673, 3371, 1456, 8444, 0, 50, 0.9749),
    "bank": (28831, 12357, 3302, 1338, 95, 20, 20, 0.7829),
    "skin": (171539, 73517, 35490, 15368, 24, 3, 3, 0.9154),
    "seeds": (147, 63, 148, 62, 33, 7, 7, 0.8730),
    "glass": (149, 65, 223, 107, 38, 9, 9, 0.6923),
    "breast_cancer": (398, 171, 253, 104, 120, 30, 30, 0.9415),
}


def real(names):
    return [name if name in GENERATED else pytest.param(name, marks=pytest.mark.data) for name in names]


@pytest.fixture(scope="module")
def dataset(request):
    """Load a data set named by the test; those from files need the files."""
    name = request.param
    home = None if name in GENERATED else request.getfixturevalue("data_home")
    return load(name, home)


def every(names):
    return pytest.mark.parametrize("dataset", real(names), indirect=True)


# ---- check values


@every(PINNED)
def test_pinned_rows_columns_and_accuracy(dataset):
    n_train, n_test, ones_train, ones_test, columns, fewest, most, accuracy = PINNED[dataset.name]
    assert dataset.X_train.shape == (n_train, columns)
    assert dataset.X_test.shape == (n_test, columns)
    assert (dataset.y_train.sum(), dataset.y_test.sum()) == (ones_train, ones_test)
    ones = np.asarray(dataset.X_train.sum(axis=1)).ravel()
    assert (ones.min(), ones.max()) == (fewest, most)
    model = BernoulliNB().fit(dataset.X_train, dataset.y_train)
    assert model.score(dataset.X_test, dataset.y_test) == pytest.approx(accuracy, abs=5e-5)


@every(NAMES)
def test_arrays_are_zeros_and_ones_with_codes(dataset):
    codes = set(range(len(dataset.class_names)))
    for X, y in ((dataset.X_train, dataset.y_train), (dataset.X_test, dataset.y_test)):
        assert X.dtype == np.float64
        assert set(np.unique(X.data if sparse.issparse(X) else X)) <= {0.0, 1.0}
        assert y.dtype == np.int64
        assert set(y.tolist()) == codes
        assert X.shape[0] == len(y)
    assert sparse.issparse(dataset.X_train) == (dataset.name == "sms")


@every(NAMES)
def test_schema_fits_the_encoded_data(dataset):
    schema = dataset.schema
    assert schema.is_binary
    assert schema.classes == tuple(range(len(dataset.class_names)))
    assert dataset.feature_names == schema.feature_names
    for X, y in ((dataset.X_train, dataset.y_train), (dataset.X_test, dataset.y_test)):
        _, codes, _ = schema.check_table(X, y)
        np.testing.assert_array_equal(codes, y)
        assert X.sum(axis=1).max() <= schema.row_bound
    assert schema.n_rows == len(dataset.y_train)
    assert str(schema.n_lower) == str(schema.n_rows)[0] + "0" * (len(str(schema.n_rows)) - 1)
    assert Schema.from_json(schema.to_json()) == schema


@every(NAMES)
def test_frame_is_the_raw_table_in_the_order_of_x(dataset):
    frame, n_train = dataset.frame, len(dataset.y_train)
    assert frame is dataset.frame
    assert frame.index.names == ["split", "row"]
    split = frame.index.get_level_values("split")
    assert list(split) == ["train"] * n_train + ["test"] * len(dataset.y_test)
    assert frame.columns.is_unique
    assert frame.index.is_unique
    assert frame.columns[-1] == dataset.card["label"]["name"]
    y = np.concatenate([dataset.y_train, dataset.y_test])
    if dataset.name == "sms":
        assert dataset.frame_schema is None
        assert list(frame.columns) == ["text", "label"]
        assert list(frame["label"]) == [dataset.class_names[code] for code in y]
        return
    np.testing.assert_array_equal(dataset.encoding.transform(frame.loc[["train"]]), dataset.X_train)
    np.testing.assert_array_equal(dataset.encoding.transform(frame.loc[["test"]]), dataset.X_test)
    _, codes, _ = dataset.frame_schema.check_table(frame.iloc[:, :-1], frame.iloc[:, -1])
    np.testing.assert_array_equal(codes, y)
    assert dataset.frame_schema.feature_names == list(frame.columns[:-1])
    assert Schema.from_json(dataset.frame_schema.to_json()) == dataset.frame_schema


@every(NAMES)
def test_card_states_what_the_data_are(dataset):
    facts = dataset.card
    assert facts["row_bound"] == dataset.schema.row_bound
    assert len(facts["label"]["classes"]) == dataset.schema.n_classes
    if dataset.name != "sms":
        assert [a["name"] for a in facts["attributes"]] == dataset.frame_schema.feature_names
    json.dumps(facts)


@pytest.mark.data
def test_the_permutation_is_the_pinned_one(data_home):
    dataset = load("mushrooms", data_home)
    order = np.random.default_rng(0).permutation(8124)
    np.testing.assert_array_equal(dataset.frame.index.get_level_values("row"), order)
    with open(os.path.join(data_home, "agaricus-lepiota.data")) as file:
        line = file.read().split("\n")[order[0]].split(",")
    assert list(dataset.frame.iloc[0]) == line[1:11] + line[12:] + line[:1]


@pytest.mark.data
def test_feature_names_are_readable(data_home):
    names = load("adult", data_home).feature_names
    assert names[:6] == ["age<25", "25<=age<32", "32<=age<40", "40<=age<50", "age>=50", "workclass=?"]
    assert load("newsgroup1", data_home).feature_names[:3] == ["aids", "baseball", "bible"]
    xwindows = load("xwindows", data_home)
    in_class = xwindows.X_train[:, xwindows.feature_names.index("xterm")] @ np.eye(2)[xwindows.y_train]
    # Antonova (2016), table A.3: "xterm" is in 40 documents on X windows and in none on MS Windows
    assert (xwindows.class_names, list(in_class)) == (("MS Windows", "X windows"), [0, 40])


@pytest.mark.data
def test_bank_has_a_three_class_version(data_home):
    dataset = load("bank", data_home, label="poutcome")
    assert dataset.class_names == ("failure", "nonexistent", "success")
    assert dataset.X_train.shape == (28831, 94)
    assert dataset.feature_names[-2:] == ["y=no", "y=yes"]
    assert not [name for name in dataset.feature_names if name.startswith("poutcome")]
    assert dataset.schema.row_bound == dataset.card["row_bound"] == 20
    np.testing.assert_array_equal(np.bincount(np.concatenate([dataset.y_train, dataset.y_test])), [4252, 35563, 1373])
    assert dataset.frame.columns[-1] == "poutcome"
    binary = load("bank", data_home)
    assert list(dataset.frame.loc["train", "y"] == "yes") == list(binary.y_train == 1)


@pytest.mark.data
def test_n_train_moves_rows_and_keeps_their_order(data_home):
    pinned, moved = load("sms", data_home), load("sms", data_home, n_train=5016)
    assert (moved.X_train.shape[0], moved.X_test.shape[0]) == (5016, 558)
    assert (moved.X_train[:3901] != pinned.X_train).nnz == 0
    assert moved.schema.n_rows == 5016
    assert list(moved.frame["text"]) == list(pinned.frame["text"])


# ---- generated sets


def test_toy_bayes_accuracy_is_ninety_per_cent():
    dataset = load("toy", n=100_000, dimension=7, seed=3)
    a = separation(7)
    frame = dataset.frame
    guess = frame.iloc[:, :-1].to_numpy().mean(axis=1) > a / 2
    assert (guess == np.concatenate([dataset.y_train, dataset.y_test])).mean() == pytest.approx(0.9, abs=0.004)
    means = frame.groupby("class").mean().to_numpy()
    np.testing.assert_allclose(means, [[0] * 7, [a] * 7], atol=0.02)
    np.testing.assert_allclose(frame.groupby("class").std().to_numpy(), 1, atol=0.02)


def test_generated_sets_have_options_and_seeds():
    dataset = load("toy", n=50, dimension=3, seed=1)
    assert dataset.X_train.shape == dataset.X_test.shape == dataset.X_validation.shape == (50, 12)
    assert (dataset.y_validation.shape, dataset.X_validation.sum()) == ((50,), 150)
    assert dataset.frame.shape == (100, 4)
    assert dataset.card["row_bound"] == dataset.schema.row_bound == 3
    assert (load("toy", n=50, dimension=3, seed=2).X_train != dataset.X_train).any()
    # the cut points are public: the same for every seed and size
    assert load("toy", n=9, dimension=3, seed=2).feature_names == dataset.feature_names
    assert load("toy").X_train.shape == (1000, 40)
    census = load("census", n=10, seed=4)
    assert (len(census.y_train), len(census.y_test)) == (10, 5)
    assert (load("census", n=10, seed=5).X_train != census.X_train).any()


def test_census_follows_its_tables():
    dataset = load("census", n=40_000, seed=5)
    schema = dataset.encoding.encoded_schema
    X = pd.DataFrame(np.vstack([dataset.X_train, dataset.X_test]), columns=schema.feature_names)
    blocks = np.array(schema.blocks)
    for item in dataset.card["attributes"]:
        percent = np.atleast_2d(item["percent"])
        assert (percent.sum(axis=1) == 100).all()
        parents = [X.columns[j] for j in np.flatnonzero(blocks == item.get("parent"))]
        columns = X.columns[blocks == item["name"]]
        for row, expected in enumerate(percent / 100):
            chosen = X.loc[X[parents[row]] == 1, columns] if parents else X[columns]
            deviation = np.sqrt(expected * (1 - expected) / len(chosen))
            assert (np.abs(chosen.mean().to_numpy() - expected) <= 5 * deviation + 1e-12).all(), (item["name"], row)


def test_each_person_is_in_one_group_of_each_attribute():
    census = load("census", n=100)
    assert list(census.groups)[:2] == ["sex=female", "sex=male"]
    assert census.X_test[:, list(census.groups.values())].sum(axis=1).tolist() == [2.0] * 50
    women = census.frame.loc["test"]["sex"] == "female"
    assert census.X_test[:, census.groups["sex=female"]].tolist() == women.tolist()
    assert load("toy", n=10).groups == {}


# ---- the table of sets


def test_names_and_cards_are_complete():
    for name in NAMES:
        facts = card(name)
        for key in ("title", "menu", "summary", "source", "licence", "citation", "split", "domains", "encoding"):
            assert len(facts[key]) > 2, (name, key)
        assert facts["row_bound"] >= 1
        assert facts["row_bound_reason"]
        assert (facts["files"] == []) == (name in GENERATED)
        assert set(facts["files"]) <= set(_files.FILES)
        assert set(facts.get("groups", ())) <= {item["name"] for item in facts["attributes"]}
        for item in facts["attributes"]:
            if item["kind"] == "numeric":
                assert item["lower"] < min(item["cuts"]), (name, item["name"])
                assert max(item["cuts"]) <= item["upper"], (name, item["name"])
    assert {file for name in NAMES for file in card(name)["files"]} == set(_files.FILES)
    for item in card("mushrooms")["attributes"]:
        assert list(item["meaning"]) == item["categories"]


def test_unknown_names_and_options_are_refused():
    with pytest.raises(InvalidParameter, match=r"`name` must be .*'adult'.*Got 'adlut'"):
        load("adlut")
    with pytest.raises(InvalidParameter, match=r"n, dimension, seed.*Got 'size'"):
        load("toy", size=3)
    with pytest.raises(InvalidParameter, match=r"no options.*Got 'n_train'"):
        load("adult", n_train=100)
    with pytest.raises(InvalidParameter, match=r"`dimension` must be .*Got 0"):
        load("toy", dimension=0)
    with pytest.raises(InvalidParameter, match=r"`n_train` must be .*Got 569"):
        load("breast_cancer", n_train=569)


def test_a_dataset_can_be_sent_to_another_process():
    dataset = pickle.loads(pickle.dumps(load("toy", n=20)))
    assert dataset.frame.shape == (40, 11)
    assert repr(dataset) == "<Dataset toy: 20 + 20 rows, 40 columns, 2 classes>"
