"""Data sets: the papers' real ones in their original files, and two that are generated.

Every set follows one rule. ``X_train`` and ``X_test`` are binary, with one column for each category of a categorical
attribute and for each interval between the public cut points of a numeric one. ``frame`` is the raw table. The set's
card in ``data/`` states domains, categories, cut points and contribution bounds. They are never taken from the data.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml._validate import check_choice
from dpml.datasets import _readers
from dpml.datasets._files import FILES, Bar, data_folder, find, shipped
from dpml.datasets._readers import Raw
from dpml.encoding import BinaryEncoding
from dpml.exceptions import DataDamaged, InvalidData, InvalidParameter
from dpml.schema import Feature, Schema

__all__ = [
    "NAMES",
    "TAXONOMIES",
    "Dataset",
    "card",
    "data_folder",
    "fetch",
    "load",
    "missing",
    "shipped",
    "taxonomies",
]


_SPLIT = ("n_train",)
# the reader of each data set with its options, in the order of lists
READERS: dict[str, tuple[Callable[..., Raw], tuple[str, ...]]] = {
    "census": (_readers.census, ("n", "seed")),
    "adult": (_readers.adult, ()),
    "newsgroup1": (_readers.newsgroup, _SPLIT),
    "newsgroup2": (_readers.newsgroup, _SPLIT),
    "newsgroup3": (_readers.newsgroup, _SPLIT),
    "mushrooms": (_readers.mushrooms, _SPLIT),
    "xwindows": (_readers.xwindows, ()),
    "sms": (_readers.sms, _SPLIT),
    "bank": (_readers.bank, (*_SPLIT, "label")),
    "skin": (_readers.skin, _SPLIT),
    "breast_cancer": (_readers.breast_cancer, _SPLIT),
    "toy": (_readers.toy, ("n", "dimension", "seed")),
    "seeds": (_readers.seeds, _SPLIT),
    "glass": (_readers.glass, _SPLIT),
}
NAMES = tuple(READERS)
# they need no file
GENERATED = ("census", "toy")
TAXONOMIES = ("adult", "adult-marital", "bank", "bank-poutcome", "mushrooms", "census", "nursery")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Hold one data set, encoded, with its public metadata and its raw table.

    Attributes
    ----------
    name : str
        Name for `load`.
    X_train, X_test : ndarray of float or csr_array of float of shape (n, D)
        Zeros and ones.
    y_train, y_test : ndarray of int of shape (n,)
        Classes as 0, ..., C-1.
    schema : Schema
        Public metadata of the encoded data: binary columns, and the codes (0, ..., C-1) as classes. Every estimator
        takes it together with ``X_train`` and ``y_train``. A one-hot column's block is its attribute, so ``row_bound``
        is the number of attributes. ``n_rows`` is the number of training rows, and ``n_lower`` is that number rounded
        down to one significant digit.
    class_names : tuple of str
        Name of each class, in the order of the codes.
    frame_schema : Schema or None
        Public metadata of the raw table: attributes with bounds, categories and the replacement of a missing value, and
        the labels in ``frame`` as classes, in the order of the codes. None if the raw table is text.
    encoding : BinaryEncoding or None
        The transform from ``frame`` to X. None if the raw table is text.
    card : dict
        Source, licence, citation, domains and encoding (see `dpml.datasets.card`).
    X_validation, y_validation : ndarray or None
        A third part, in the toy data only, and None for all other sets. It is not in ``frame``.

    See Also
    --------
    load : Loads a data set.
    card : Returns the card of a data set.
    """

    name: str
    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    schema: Schema
    class_names: tuple[str, ...]
    frame_schema: Schema | None
    encoding: BinaryEncoding | None
    card: dict[str, Any]
    X_validation: np.ndarray | None = None
    y_validation: np.ndarray | None = None
    _raw: Raw = field(kw_only=True)

    def __repr__(self) -> str:
        kind = "sparse " if sparse.issparse(self.X_train) else ""
        rows = f"{self.X_train.shape[0]} + {self.X_test.shape[0]} rows"
        return f"<Dataset {self.name}: {rows}, {self.schema.n_features} {kind}columns, {len(self.class_names)} classes>"

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of X."""
        return self.schema.feature_names

    @property
    def groups(self) -> dict[str, int]:
        """The groups of people that the card names, as sex and age do, each with its column of X.

        The names of these attributes are public metadata. A record is in exactly one group of each attribute.

        Examples
        --------
        >>> load("census", n=10).groups["sex=female"]
        7
        """
        return {self.feature_names[i]: i for name in self.card.get("groups", ()) for i in self.schema.attributes[name]}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The raw table: training rows, then test rows, in the order of X, with the label as the last column.

        It is made at the first access. The index has two levels: ``split`` ("train" or "test") and ``row``, the row's
        number in its original file.
        """
        raw = self._raw
        order = np.concatenate([raw.train, raw.test])
        split = np.repeat(["train", "test"], [len(raw.train), len(raw.test)])
        rows = np.arange(len(raw.table)) if raw.row is None else raw.row
        index = pd.MultiIndex.from_arrays([split, rows[order]], names=["split", "row"])
        labels = np.array([c.get("label", c["value"]) for c in self.card["label"]["classes"]], dtype=object)
        label = {self.card["label"]["name"]: labels[np.concatenate([self.y_train, self.y_test])]}
        return raw.table.iloc[order].set_axis(index).assign(**label)


def load(name: str, data_home: str | os.PathLike | None = None, **options: Any) -> Dataset:
    """Load a data set with its fixed split and encoding.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data_home : path, optional
        The folder with the data files in their original formats. By default it is the environment variable
        ``DPML_DATA``, else the user's cache. A missing file is downloaded into the folder from its public source. The
        sets ``toy``, ``census`` and ``breast_cancer`` need no file.
    **options
        ``n_train`` (sets without a published split): the number of training rows, from the same permutation.
        ``label="poutcome"`` (bank): the three-class version. ``n``, ``dimension``, ``seed`` (toy): rows of each of the
        three parts, number of attributes, seed. ``n``, ``seed`` (census): training rows (half as many test rows), seed.

    Returns
    -------
    Dataset
        Arrays, schema, card and, on access, the raw table.

    Raises
    ------
    InvalidParameter
        The set or option does not exist, or a value is not allowed.
    DataNotFound
        A data file is missing and cannot be downloaded. The message names the file, its source and the folder.
    DataDamaged
        A data file differs from the published one.

    See Also
    --------
    fetch : Downloads the files of a data set.
    card : Returns the card of a data set.

    Examples
    --------
    >>> dataset = load("toy", n=100, dimension=3)
    >>> dataset
    <Dataset toy: 100 + 100 rows, 12 columns, 2 classes>
    >>> dataset.schema.row_bound, dataset.class_names
    (3, ('centred', 'shifted'))
    >>> dataset.frame.loc["train"].shape
    (100, 4)
    """
    check_choice(name, "name", NAMES)
    read, allowed = READERS[name]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        known = f"one of {', '.join(allowed)}" if allowed else f"left out, since {name!r} has no options"
        raise InvalidParameter("option", unknown[0], known)
    facts = card(name)
    if name in GENERATED:
        return _tabular(name, facts, read(facts, **options))
    raw = read(facts, data_home, **options)
    return _text(name, facts, raw) if name == "sms" else _tabular(name, facts, raw)


def missing(name: str, data_home: str | os.PathLike | None = None) -> dict[str, int]:
    """Return the files of a data set that are not in the folder, and the bytes of each.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data_home : path, optional
        The folder with the data files. By default it is the environment variable ``DPML_DATA``, else the user's cache.

    Returns
    -------
    dict of str to int
        Size in bytes of each missing file.

    Raises
    ------
    InvalidParameter
        There is no data set of that name.

    See Also
    --------
    fetch : Downloads the files of a data set.
    load : Loads a data set.

    Examples
    --------
    >>> missing("toy")
    {}
    >>> missing("glass", "a folder that does not exist")
    {'glass.data': 11903}
    """
    folder = data_folder(data_home)
    return {file: FILES[file].size for file in card(name)["files"] if not (folder / file).is_file()}


def fetch(name: str, data_home: str | os.PathLike | None = None, *, bar: Bar | None = None) -> None:
    """Download the files of a data set that are not in the folder, and check them.

    A file appears in the folder once it is whole and its checksum is correct.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data_home : path, optional
        The folder with the data files. By default it is the environment variable ``DPML_DATA``, else the user's cache.
    bar : object, optional
        Display of the progress, as of `pooch.HTTPDownloader`: it has `total`, `update(n)`, `reset()` and `close()`. By
        default it is the terminal.

    Raises
    ------
    InvalidParameter
        There is no data set of that name.
    DataNotFound
        A file cannot be downloaded. The message names the file, its source and the folder.
    DataDamaged
        A file, as found or as downloaded, differs from the published one.

    See Also
    --------
    missing : Returns the files that are not in the folder.
    load : Loads a data set.

    Examples
    --------
    >>> fetch("toy")  # needs no file
    """
    for file in card(name)["files"]:
        find(file, data_home, bar=bar)


def _codes(facts: dict[str, Any], labels: np.ndarray) -> np.ndarray:
    """Return the classes as 0..C-1, in the order in which the card states them."""
    values = [c["value"] for c in facts["label"]["classes"]]
    codes = pd.Index(values, dtype=object).get_indexer(pd.Index(labels, dtype=object))
    if (codes < 0).any():
        value = labels[codes < 0][0]
        raise DataDamaged(f"the label {facts['label']['name']!r} has the value {value!r}: it must be one of {values}")
    return codes.astype(np.int64)


def _common(name: str, facts: dict[str, Any], raw: Raw) -> dict[str, Any]:
    codes, classes = _codes(facts, raw.labels), facts["label"]["classes"]
    names = tuple(c.get("name", c.get("label", c["value"])) for c in classes)
    return {"name": name, "y_train": codes[raw.train], "y_test": codes[raw.test], "class_names": names, "_raw": raw}


def _tabular(name: str, facts: dict[str, Any], raw: Raw) -> Dataset:
    common = _common(name, facts, raw)
    labels = tuple(c.get("label", c["value"]) for c in facts["label"]["classes"])
    encoding = encoding_of(facts, labels, len(raw.train))
    parts = [raw.train, raw.test] if raw.validation is None else [raw.train, raw.test, raw.validation]
    try:
        X = encoding.transform(raw.table.iloc[np.concatenate(parts)])
    except InvalidData as error:
        raise DataDamaged(f"data set {name!r}: {error}") from error
    X_parts = np.split(X, np.cumsum([len(part) for part in parts])[:-1])
    codes = tuple(range(len(labels)))
    binary = encoding.encoded_schema
    schema = Schema(binary.features, codes, binary.row_bound, binary.n_rows, binary.n_lower)
    more: dict[str, Any] = {}
    if raw.validation is not None:
        more = {"X_validation": X_parts[2], "y_validation": _codes(facts, raw.labels)[raw.validation]}
    return Dataset(
        X_train=X_parts[0],
        X_test=X_parts[1],
        schema=schema,
        frame_schema=encoding.schema,
        encoding=encoding,
        card=facts,
        **common,
        **more,
    )


def _text(name: str, facts: dict[str, Any], raw: Raw) -> Dataset:
    common = _common(name, facts, raw)
    X, words = _readers.word_columns(raw.table["text"])
    codes = tuple(range(len(facts["label"]["classes"])))
    schema = Schema.binary(len(words), words, classes=codes, **row_facts(len(raw.train)))
    return Dataset(
        X_train=X[raw.train],
        X_test=X[raw.test],
        schema=schema,
        frame_schema=None,
        encoding=None,
        card=facts,
        **common,
    )


def card(name: str) -> dict[str, Any]:
    """Return the card of a data set. It needs no data file.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    dict
        ``title``, ``menu`` (a short title, for lists), ``summary``, ``source``, ``files``, ``licence``, ``citation``,
        ``split``, ``label``, ``domains`` (in words), ``attributes`` (the public domain and cut points of each),
        ``encoding``, ``row_bound`` (the largest number of ones in a record), ``row_bound_reason`` and ``notes``, and
        where there are any, ``groups`` (the attributes whose values are groups of people).

    Raises
    ------
    InvalidParameter
        There is no data set of that name.

    See Also
    --------
    load : Loads a data set.
    taxonomies : Returns the public taxonomies of a data set.

    Examples
    --------
    >>> card("adult")["row_bound"]
    14
    """
    check_choice(name, "name", NAMES)
    return json.loads(shipped(f"{name}.json").read_text(encoding="utf-8"))


def taxonomies(name: str) -> dict[str, list]:
    """Return the public taxonomies of a data set's attributes: the levels of each, for `dpml.schema.Feature.levels`.

    Parameters
    ----------
    name : str
        One of `TAXONOMIES`: a data set, or one with another label ("adult-marital", "bank-poutcome").

    Returns
    -------
    dict of str to list
        For each attribute its levels below "all values together", coarsest first.

    Raises
    ------
    InvalidParameter
        There are no taxonomies of that name.

    See Also
    --------
    card : Returns the card of a data set.
    dpml.schema.Taxonomy : Describes the levels of a feature.

    Examples
    --------
    >>> taxonomies("adult")["hours-per-week"][:2]
    [[40], [20, 40, 60, 80]]
    """
    check_choice(name, "name", TAXONOMIES)
    return json.loads(shipped(f"taxonomies/{name}.json").read_text(encoding="utf-8"))["levels"]


def encoding_of(facts: dict[str, Any], classes: tuple, n_rows: int) -> BinaryEncoding:
    """Return the binary encoding that a card's attributes state."""
    features, cuts = [], {}
    for item in facts["attributes"]:
        known = {k: item[k] for k in ("name", "kind", "categories", "lower", "upper", "missing") if k in item}
        features.append(Feature(**known))
        if "cuts" in item:
            cuts[item["name"]] = item["cuts"]
    rows: dict[str, Any] = row_facts(n_rows)
    return BinaryEncoding(Schema(tuple(features), classes, **rows), cuts)


def row_facts(n_rows: int) -> dict[str, int]:
    """Return the number of training rows, public for a published set, also rounded down to one significant digit.

    >>> row_facts(5687)
    {'n_rows': 5687, 'n_lower': 5000}
    """
    unit = 10 ** (len(str(n_rows)) - 1)
    return {"n_rows": n_rows, "n_lower": n_rows // unit * unit}
