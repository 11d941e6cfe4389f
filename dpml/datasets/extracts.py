"""Tables of the papers that cannot be shipped or downloaded, read from a reader's own extract.

Stoddard et al. 2014 use tweets and news, Su et al. 2018 and Zafarani and Clifton 2021 the censuses of IPUMS, which are
given to registered users for their own work. The facts that the papers state are checked: columns, years, classes and
the number of records. A reader chooses the rest: the sampled tweets, the choice of articles, taxonomies, and the label
of 1940.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from dpml._validate import check_choice, check_integer
from dpml.datasets import Dataset, _text
from dpml.datasets._readers import _split
from dpml.datasets.own import own_dataset
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Schema

TWEET = ("polarity", "id", "date", "query", "user", "text")
ARTICLE = re.compile(r"<REUTERS.*?</REUTERS>", re.S)
BODY = re.compile(r"<BODY>(.*?)</BODY>", re.S)
# values of INCTOT for persons who were not asked
NOT_ASKED = (9_999_998, 9_999_999)


@dataclass(frozen=True)
class Extract:
    """A table that cannot be shipped, with the facts that a paper states of it.

    `title`, `paper`, `source`: its name, the paper that uses it, and where a reader asks for it.
    `records`: in the paper's table, or for 1940 in the smallest of four, rounded down.
    `equal`: columns, and the values that they may have.
    `labels`: columns that a paper predicts: an income above this number, or the column's own categories.
    `shows`: the result that it would show.
    """

    title: str
    paper: str
    source: str
    records: int
    shows: str
    equal: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    labels: Mapping[str, int | None] = field(default_factory=dict)


EXTRACTS = {
    "twitter": Extract(
        "TWITTER, 7,304 tweets of Sentiment140",
        "Stoddard et al. 2014",
        "training.1600000.processed.noemoticon.csv of Sentiment140",
        7304,
        "whether selection helps where classes are equal and 32,935 words are rare (Fig. 1, 4, 5 and Table 1)",
    ),
    "reuters": Extract(
        "REUTERS, 6,906 articles of Reuters-21578",
        "Stoddard et al. 2014",
        "the folder with reut2-000.sgm to reut2-021.sgm of Reuters-21578",
        6906,
        "whether selection helps where a record has no small number of words (Fig. 1)",
    ),
    "ipums-us": Extract(
        "US, a census of 2010",
        "Su et al. 2018",
        "an extract of IPUMS-USA as CSV",
        39_187,
        "whether PrivPfC keeps its place with 46 columns (Fig. 4 to 7, 10, 11, 13)",
        {"YEAR": (2010,)},
        {"INCTOT": 50_000, "SCHLTYPE": None},
    ),
    "ipums-br": Extract(
        "BR, the census of Brazil of 2010",
        "Su et al. 2018",
        "an extract of IPUMS-International as CSV",
        57_333,
        "what a pool of 200,000 grids gains (Fig. 8), and PrivPfC with 42 columns (Fig. 4 to 7, 10)",
        {"COUNTRY": (76,), "YEAR": (2010,)},
        {"INCTOT": 300, "EMPSTAT": None},
    ),
    "ipums-1940": Extract(
        "Wyoming, Nevada, Oregon or Washington, the census of 1940",
        "Zafarani and Clifton 2021",
        "the extract of the 1940 census for disclosure avoidance research of IPUMS-USA, one state as CSV",
        100_000,
        "whether smooth sensitivity gains on a sample of people without weights (Fig. 9 to 12)",
        {"YEAR": (1940,), "STATEFIP": (32, 41, 53, 56)},
    ),
}


def read_extract(
    name: str, path: str | os.PathLike, *, schema: Schema | None = None, label: str | None = None, seed: int = 0
) -> Dataset:
    """Read a reader's own extract of a table that a paper uses and that cannot be shipped.

    Nothing is released. As every data set it is for simulations.

    Parameters
    ----------
    name : {"twitter", "reuters", "ipums-us", "ipums-br", "ipums-1940"}
        Name of the extract.
    path : path
        The file, or the folder for "reuters" (see `EXTRACTS`).
    schema : Schema, optional
        Public metadata of the columns of a census that are used as attributes. Its classes are replaced by the label's.
    label : str, optional
        The column of a census that is predicted. By default the label is whether the income is above the paper's bound.
        For "ipums-1940", whose paper does not state it, and for any other column the schema's classes are kept.
    seed : int, default=0
        Seed of the sample of tweets and articles, whose choice the paper does not state.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    InvalidParameter
        There is no such extract or label, or a census is given without a schema.
    InvalidData
        A column is missing, has a value that the paper's table has not, or too few records are there.

    Examples
    --------
    >>> EXTRACTS["ipums-us"].labels
    {'INCTOT': 50000, 'SCHLTYPE': None}
    """
    check_choice(name, "name", tuple(EXTRACTS))
    extract = EXTRACTS[name]
    if name in ("twitter", "reuters"):
        texts = (_tweets if name == "twitter" else _articles)(Path(path))
        return _of_texts(name, extract, texts, check_integer(seed, "seed", 0))
    if schema is None:
        raise InvalidParameter("schema", None, f"a Schema with the public metadata of the columns of {extract.title}")
    return _census(name, extract, Path(path), schema, label)


def _tweets(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path, header=None, encoding="latin-1", keep_default_na=False, dtype=str)
    if table.shape[1] != len(TWEET):
        raise InvalidData(f"{path.name} has {table.shape[1]} columns: it must have {', '.join(TWEET)}")
    table.columns = TWEET
    if not table["polarity"].isin(["0", "2", "4"]).all():
        raise InvalidData(f"{path.name} has another polarity than 0, 2 and 4")
    table = table[table["polarity"] != "2"]
    return pd.DataFrame({"text": table["text"], "label": np.where(table["polarity"] == "4", "positive", "negative")})


def _articles(folder: Path) -> pd.DataFrame:
    files = sorted(folder.glob("*.sgm"))
    if not files:
        raise InvalidData(f"{folder.name} has no file *.sgm")
    articles = [article for file in files for article in ARTICLE.findall(file.read_text(encoding="latin-1"))]
    labels = {True: "earn", False: "other"}
    rows = [(body[1], labels["<D>earn</D>" in article]) for article in articles if (body := BODY.search(article))]
    return pd.DataFrame(rows, columns=["text", "label"])


def _of_texts(name: str, extract: Extract, texts: pd.DataFrame, seed: int) -> Dataset:
    if len(texts) < extract.records:
        raise InvalidData(f"there are {len(texts):,} texts: {extract.paper} have {extract.records:,}")
    texts = texts.sample(extract.records, random_state=seed).reset_index(drop=True)
    classes = [{"value": value} for value in sorted(set(texts["label"]))]
    facts = {"title": extract.title, "label": {"name": "label", "classes": classes}}
    data = _text(name, facts, _split(texts[["text"]], texts["label"], None))
    if name == "twitter":  # the bound that the paper states, s = 20
        most = int(max(part.sum(axis=1).max() for part in (data.X_train, data.X_test)))
        if most > 20:
            raise InvalidData("a tweet has more than 20 words: cut the texts, or it is no table of tweets")
        data = replace(data, schema=replace(data.schema, row_bound=20))
    return data


def _census(name: str, extract: Extract, path: Path, schema: Schema, label: str | None) -> Dataset:
    table = pd.read_csv(path, keep_default_na=False)
    label = label if label is not None else next(iter(extract.labels), None)
    if label is None:
        raise InvalidParameter("label", None, f"a column, for {extract.paper} do not state which they predict")
    for column in (*extract.equal, *schema.feature_names, label):
        if column not in table.columns:
            raise InvalidData(f"the table has no column {column!r}, which {extract.title} has")
    for column, values in extract.equal.items():
        if not table[column].isin(values).all():
            allowed = " or ".join(map(str, values))
            raise InvalidData(f"the column {column!r} has another value than {allowed}: it is not {extract.title}")
    if len(table) < extract.records:
        raise InvalidData(f"there are {len(table):,} records: {extract.paper} have {extract.records:,} or more")
    bound = extract.labels.get(label)
    if bound is not None:
        table = table[~table[label].isin(NOT_ASKED)].reset_index(drop=True)
        table[label] = np.where(table[label] > bound, f"above {bound}", f"at most {bound}")
        schema = replace(schema, classes=(f"at most {bound}", f"above {bound}"))
    return own_dataset(table, label, schema, name=name, title=extract.title)
