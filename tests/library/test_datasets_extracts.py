"""Extracts of a reader's own: small files of the stated form are read, and others are refused by name."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpml.datasets import extracts
from dpml.datasets.extracts import EXTRACTS, read_extract
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Feature, Schema

AGES = Schema((Feature("AGE", "numeric", lower=0, upper=100),), ("a", "b"), n_lower=30)


@pytest.fixture(autouse=True)
def few_records(monkeypatch):
    small = {name: replace(extract, records=40) for name, extract in EXTRACTS.items()}
    monkeypatch.setattr(extracts, "EXTRACTS", small)


def tweets(path, text="good day number{}", polarity=("0", "4")):
    rows = [(polarity[i % len(polarity)], i, "date", "none", "user", text.format(i)) for i in range(60)]
    pd.DataFrame(rows).to_csv(path, header=False, index=False, encoding="latin-1")
    return path


def census(path, **columns):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"YEAR": 2010, "AGE": rng.integers(0, 90, 60), "INCTOT": np.arange(60) * 2000})
    table["SCHLTYPE"] = np.arange(60) % 2
    table.assign(**columns).to_csv(path, index=False)
    return path


def test_tweets_are_sampled_and_bounded(tmp_path):
    data = read_extract("twitter", tweets(tmp_path / "tweets.csv"))
    assert data.X_train.shape[0] + data.X_test.shape[0] == 40
    assert data.class_names == ("negative", "positive")
    assert data.schema.row_bound == 20
    assert "good" in data.feature_names
    other = read_extract("twitter", tmp_path / "tweets.csv", seed=1)
    assert other.feature_names != data.feature_names


def test_articles_are_labelled_by_their_topic(tmp_path):
    articles = [
        f"<REUTERS ID={i}><TOPICS>{'<D>earn</D>' if i % 4 == 0 else '<D>grain</D>'}</TOPICS>"
        f"<BODY>profit number{i}</BODY></REUTERS>"
        for i in range(40)
    ]
    (tmp_path / "reut2-000.sgm").write_text("".join(articles[:20]) + "<REUTERS><TITLE>none</TITLE></REUTERS>")
    (tmp_path / "reut2-001.sgm").write_text("".join(articles[20:]))
    data = read_extract("reuters", tmp_path)
    labels = np.concatenate([data.y_train, data.y_test])
    assert [data.class_names[code] for code in (0, 1)] == ["earn", "other"]
    assert (labels == 0).sum() == 10
    assert data.schema.row_bound == data.schema.n_features


def test_a_census_has_the_paper_s_label(tmp_path):
    path = census(tmp_path / "us.csv")
    data = read_extract("ipums-us", path, schema=AGES)
    assert data.class_names == ("at most 50000", "above 50000")
    labels = np.concatenate([data.y_train, data.y_test])
    assert labels.sum() == 60 - 26  # 0, 2000, ..., 50000 are at most 50,000
    kept = read_extract("ipums-us", path, schema=replace(AGES, classes=(0, 1)), label="SCHLTYPE")
    assert kept.class_names == ("0", "1")


def test_persons_who_were_not_asked_are_left_out(tmp_path):
    income = np.r_[np.full(10, 9_999_999), np.arange(50) * 2000]
    data = read_extract("ipums-us", census(tmp_path / "us.csv", INCTOT=income), schema=AGES)
    assert len(data.y_train) + len(data.y_test) == 50


def test_other_tables_are_refused_by_name(tmp_path):
    with pytest.raises(InvalidData, match="the column 'YEAR' has another value than 2010"):
        read_extract("ipums-us", census(tmp_path / "us.csv", YEAR=2000), schema=AGES)
    path = census(tmp_path / "us.csv")
    with pytest.raises(InvalidData, match="no column 'COUNTRY', which BR"):
        read_extract("ipums-br", path, schema=AGES)
    pd.read_csv(path).head(30).to_csv(path, index=False)
    with pytest.raises(InvalidData, match=r"there are 30 records: Su et al. 2018 have 40 or more"):
        read_extract("ipums-us", path, schema=AGES)
    with pytest.raises(InvalidData, match="another polarity"):
        read_extract("twitter", tweets(tmp_path / "tweets.csv", polarity=("1",)))
    with pytest.raises(InvalidData, match="more than 20 words"):
        read_extract("twitter", tweets(tmp_path / "tweets.csv", text=" ".join(f"word{i}" for i in range(30)) + "{}"))
    with pytest.raises(InvalidData, match="it must have polarity, id, date"):
        read_extract("twitter", path)
    with pytest.raises(InvalidData, match=r"no file \*\.sgm"):
        read_extract("reuters", tmp_path)


def test_what_a_paper_does_not_state_is_asked_for(tmp_path):
    path = census(tmp_path / "wyoming.csv", YEAR=1940, STATEFIP=56)
    with pytest.raises(InvalidParameter, match=r"`label` must be a column.*Got None"):
        read_extract("ipums-1940", path, schema=AGES)
    with pytest.raises(InvalidParameter, match=r"`schema` must be .*Got None"):
        read_extract("ipums-1940", path, label="SCHLTYPE")
    data = read_extract("ipums-1940", path, schema=replace(AGES, classes=(0, 1)), label="SCHLTYPE")
    assert data.card["title"].startswith("Wyoming, Nevada")
    with pytest.raises(InvalidParameter, match=r"`name` must be .*Got 'facebook'"):
        read_extract("facebook", path)
