"""Readers of the original files and generators of synthetic data: one function for each data set."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import io, sparse, special

from dpml._validate import check_choice, check_integer
from dpml.datasets._files import find

Facts = dict[str, Any]


@dataclass(frozen=True)
class Raw:
    """A table as in its file, with the positions of the rows of each part in order."""

    table: pd.DataFrame
    labels: np.ndarray
    train: np.ndarray
    test: np.ndarray
    validation: np.ndarray | None = None
    row: np.ndarray | None = None


def _split(table: pd.DataFrame, labels: Any, n_train: Any, pinned: int | None = None, row=None) -> Raw:
    """Split by the fixed permutation: its first `n_train` rows are for training, by default 70 % rounded down."""
    n = len(table)
    default = math.floor(0.7 * n) if pinned is None else pinned
    n_train = default if n_train is None else check_integer(n_train, "n_train", 1, n - 1)
    order = np.random.default_rng(0).permutation(n)
    return Raw(table, np.asarray(labels, dtype=object), order[:n_train], order[n_train:], row=row)


def _text_labels(column: pd.Series) -> np.ndarray:
    """Return labels that are numbers in the file as text, as in the card."""
    return column.astype(int).astype(str).to_numpy(dtype=object)


def _names(facts: Facts) -> list[str]:
    return [a["name"] for a in facts["attributes"]]


def _words(facts: Facts, words: list[str]) -> None:
    """Add the vocabulary to the card. It comes with the file and is public."""
    facts["attributes"] = [{"name": word, "kind": "binary"} for word in words]


# ---- binary words ---------------------------------------------------------------------------------------------


def xwindows(facts: Facts, data_home) -> Raw:
    content = io.loadmat(find("XwindowsDocData.mat", data_home))
    words = [str(word[0]) for word in content["vocab"].ravel()]
    _words(facts, words)
    both = sparse.vstack([content["xtrain"], content["xtest"]]).toarray().astype(np.uint8)
    labels = np.concatenate([content["ytrain"].ravel(), content["ytest"].ravel()]).astype(str).astype(object)
    n_train, n = content["xtrain"].shape[0], len(both)
    row = np.concatenate([np.arange(n_train), np.arange(n - n_train)])
    return Raw(pd.DataFrame(both, columns=words), labels, np.arange(n_train), np.arange(n_train, n), row=row)


def newsgroup(facts: Facts, data_home, n_train=None) -> Raw:
    content = io.loadmat(find("20news_w100.mat", data_home))
    words = [str(word[0]) for word in content["wordlist"].ravel()]
    _words(facts, words)
    group = content["newsgroups"].ravel()
    values = sorted(int(c["value"]) for c in facts["label"]["classes"])
    rows = np.flatnonzero(np.isin(group, values))
    if "sample" in facts:
        # Antonova (2016) made the classes unequal on purpose, by keeping only a part of one of them
        large, sample = np.flatnonzero(group == int(facts["sample"]["keep"])), facts["sample"]
        small = np.flatnonzero(group == int(sample["of"]))
        chosen = np.random.default_rng(sample["seed"]).choice(small, sample["size"], replace=False)
        rows = np.sort(np.concatenate([chosen, large]))
    table = pd.DataFrame(content["documents"].T.tocsr()[rows].toarray(), columns=words)
    return _split(table, group[rows].astype(str), n_train, facts["n_train"], row=rows)


# ---- text -----------------------------------------------------------------------------------------------------


def sms(facts: Facts, data_home, n_train=None) -> Raw:
    # split at line feeds only: str.splitlines would also split at other characters inside a message
    lines = find("SMSSpamCollection", data_home).read_bytes().decode("utf-8").split("\n")
    pairs = [line.split("\t", 1) for line in lines if line]
    table = pd.DataFrame({"text": [text for _, text in pairs]})
    return _split(table, [label for label, _ in pairs], n_train)


def word_columns(texts: pd.Series) -> tuple[sparse.csr_array, list[str]]:
    """Return the binary words of all messages (without English stop words), and the vocabulary, declared public."""
    from sklearn.feature_extraction.text import CountVectorizer  # imported where it is used: it takes a second

    vectorizer = CountVectorizer(binary=True, stop_words="english", dtype=np.float64)
    X = sparse.csr_array(vectorizer.fit_transform(texts))
    return X, [str(word) for word in vectorizer.get_feature_names_out()]


# ---- tables ---------------------------------------------------------------------------------------------------


def _csv(path, names: list[str], **how) -> pd.DataFrame:
    # keep "?", "NA" and similar text: each is a category of the public domain
    return pd.read_csv(path, header=None, names=names, keep_default_na=False, encoding="utf-8", **how)


def adult(facts: Facts, data_home) -> Raw:
    names, label = _names(facts), facts["label"]["name"]
    parts = [
        _csv(find(file, data_home), [*names, label], skipinitialspace=True, skiprows=skip)
        for file, skip in (("adult.data", 0), ("adult.test", 1))
    ]
    both = pd.concat(parts, ignore_index=True)
    n_train, n = len(parts[0]), len(both)
    row = np.concatenate([np.arange(n_train), np.arange(n - n_train)])
    labels = both[label].str.rstrip(".").to_numpy(dtype=object)
    return Raw(both[names], labels, np.arange(n_train), np.arange(n_train, n), row=row)


def mushrooms(facts: Facts, data_home, n_train=None) -> Raw:
    names = _names(facts)
    names = ["class", *names[:10], "stalk-root", *names[10:]]
    table = _csv(find("agaricus-lepiota.data", data_home), names)
    return _split(table.drop(columns=["class", "stalk-root"]), table["class"], n_train, facts["n_train"])


def bank(facts: Facts, data_home, n_train=None, label="y") -> Raw:
    check_choice(label, "label", ("y", "poutcome"))
    if label == "poutcome":
        # the two columns swap roles: the old label becomes an attribute
        facts["label"], old = facts["other_label"], facts["label"]
        values = [c["value"] for c in old["classes"]]
        was = {"name": old["name"], "kind": "categorical", "categories": values, "meaning": old["meaning"]}
        facts["attributes"] = [a for a in facts["attributes"] if a["name"] != label] + [was]
    table = pd.read_csv(find("bank-additional-full.csv", data_home), sep=";", keep_default_na=False, encoding="utf-8")
    return _split(table[_names(facts)], table[label], n_train)


def skin(facts: Facts, data_home, n_train=None) -> Raw:
    table = _csv(find("Skin_NonSkin.txt", data_home), [*_names(facts), "label"], sep="\t")
    return _split(table[_names(facts)], _text_labels(table["label"]), n_train)


def seeds(facts: Facts, data_home, n_train=None) -> Raw:
    # some lines have two tabs in a row
    table = _csv(find("seeds_dataset.txt", data_home), [*_names(facts), "label"], sep=r"\s+")
    return _split(table[_names(facts)], _text_labels(table["label"]), n_train)


def glass(facts: Facts, data_home, n_train=None) -> Raw:
    table = _csv(find("glass.data", data_home), ["id", *_names(facts), "label"])
    return _split(table[_names(facts)], _text_labels(table["label"]), n_train)


def breast_cancer(facts: Facts, data_home, n_train=None) -> Raw:
    from sklearn.datasets import load_breast_cancer

    content = load_breast_cancer()
    table = pd.DataFrame(content.data, columns=_names(facts))
    return _split(table, _text_labels(pd.Series(content.target)), n_train)


# ---- generated data ------------------------------------------------------------------------------------------------


def separation(dimension: int) -> float:
    """Return the distance of the class means in each dimension for a Bayes accuracy of 90% (Antonova 2016, eq. A.1)."""
    return math.sqrt(4 / dimension) * float(special.ndtri(0.9))


def toy(facts: Facts, n: int = 1000, dimension: int = 10, seed: int = 0) -> Raw:
    """Draw three equal parts of two Gaussian classes, N(0, I) and N(a 1, I) (Antonova 2016, A.7).

    Cut points and bounds depend on a only. The cut points are a/2 and one standard deviation to either side. The bounds
    are 6 standard deviations beyond the two means. Fewer than one value in a hundred million is clipped to them.
    """
    n = check_integer(n, "n", 1)
    dimension = check_integer(dimension, "dimension", 1)
    rng = np.random.default_rng(check_integer(seed, "seed", 0))
    a = separation(dimension)
    shape = {"kind": "numeric", "lower": -6.0, "upper": a + 6.0, "cuts": [a / 2 - 1, a / 2, a / 2 + 1]}
    facts["attributes"] = [{"name": f"x{i}", **shape} for i in range(dimension)]
    facts["row_bound"] = dimension
    codes = rng.integers(0, 2, 3 * n)
    X = np.clip(rng.standard_normal((3 * n, dimension)) + a * codes[:, None], -6.0, a + 6.0)
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(dimension)])
    train, validation, test = np.split(np.arange(3 * n), 3)
    labels = np.array([c["value"] for c in facts["label"]["classes"]], dtype=object)[codes]
    return Raw(table, labels, train, test, validation)


def census(facts: Facts, n: int = 20_000, seed: int = 0) -> Raw:
    """Draw a census from the tables in its card: `n` training rows and half as many test rows.

    Attributes are drawn in the card's order, each from the row of its table that its parent's value selects. A numeric
    attribute gets an interval from the table, and then an integer in it, uniformly. The card also states the log-odds
    of the positive class: a constant plus one weight for each attribute value.
    """
    n = check_integer(n, "n", 2)
    rng = np.random.default_rng(check_integer(seed, "seed", 0))
    size = n + n // 2
    codes: dict[str, np.ndarray] = {}
    columns: dict[str, np.ndarray] = {}
    log_odds = np.full(size, float(facts["label"]["log_odds"]))
    for item in facts["attributes"]:
        name, percent = item["name"], np.atleast_2d(np.array(item["percent"], dtype=float))
        parent = codes[item["parent"]] if "parent" in item else np.zeros(size, dtype=int)
        code = _draw(percent[parent], rng)
        codes[name] = code
        if item["kind"] == "categorical":
            columns[name] = np.array(item["categories"], dtype=object)[code]
        else:
            edges = np.array([item["lower"], *item["cuts"], item["upper"] + 1])
            columns[name] = rng.integers(edges[code], edges[code + 1])
        if "weights" in item:
            log_odds += np.array(item["weights"], dtype=float)[code]
    positive = rng.random(size) < special.expit(log_odds)
    labels = np.array([c["value"] for c in facts["label"]["classes"]], dtype=object)[positive.astype(int)]
    return Raw(pd.DataFrame(columns), labels, np.arange(n), np.arange(n, size))


def _draw(percent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one code from each row of percentages."""
    steps = np.cumsum(percent, axis=1)
    u = rng.random((len(percent), 1)) * steps[:, -1:]
    return (u >= steps).sum(axis=1)
