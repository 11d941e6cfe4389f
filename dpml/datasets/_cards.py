"""Data cards: the public metadata of each data set, shipped with the library as JSON, and the reader of its file."""

import json
from collections.abc import Callable
from typing import Any

from dpml._validate import check_choice
from dpml.datasets import _parse, _synthetic
from dpml.datasets._files import shipped
from dpml.datasets._parse import Raw
from dpml.encoding import BinaryEncoding
from dpml.schema import Feature, Schema

_SPLIT = ("n_train",)
# the reader of each data set with its options, in the order of lists
READERS: dict[str, tuple[Callable[..., Raw], tuple[str, ...]]] = {
    "census": (_synthetic.census, ("n", "seed")),
    "adult": (_parse.adult, ()),
    "newsgroup1": (_parse.newsgroup, _SPLIT),
    "newsgroup2": (_parse.newsgroup, _SPLIT),
    "newsgroup3": (_parse.newsgroup, _SPLIT),
    "mushrooms": (_parse.mushrooms, _SPLIT),
    "xwindows": (_parse.xwindows, ()),
    "sms": (_parse.sms, _SPLIT),
    "bank": (_parse.bank, (*_SPLIT, "label")),
    "skin": (_parse.skin, _SPLIT),
    "breast_cancer": (_parse.breast_cancer, _SPLIT),
    "toy": (_synthetic.toy, ("n", "dimension", "seed")),
    "seeds": (_parse.seeds, _SPLIT),
    "glass": (_parse.glass, _SPLIT),
}
NAMES = tuple(READERS)
TAXONOMIES = ("adult", "adult-marital", "bank", "bank-poutcome", "mushrooms", "census", "nursery")


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
