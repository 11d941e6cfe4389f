"""Dependence of two sets of attributes: the scores of PrivBayes, and their change by one record."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_integer, check_relation
from dpml.counts import FACTOR

SCORES = ("dependence", "mutual_information")


def dependence(counts: NDArray[np.int64]) -> float:
    r"""Return ½·Σ|n_xπ - n_x·n_π/n| for counts of shape (values, parents' values): the paper's R times n.

    How one record changes it. Let (x, π) be the record's cell, a = n_x, b = n_π before, r = n_xπ - n_x·n_π/n, and
    t = (n-a)(n-b)/(n(n+1)) < 1. After the record is added, r of its cell is larger by t. The other cells of its row
    are lower by t in all, those of its column too, and the rest are higher by t in all. So Σ|r| changes by at most 4·t,
    and the score by at most 2·t < 2. It rises from 0 by 2n/(n+1) where all n records are in one cell and the new one
    shares neither its row nor its column.
    """
    counts = np.asarray(counts, dtype=float)
    n = counts.sum()
    if not n:
        return 0.0
    expected = counts.sum(axis=1)[:, None] * (counts.sum(axis=0) / n)
    return float(np.abs(counts - expected).sum() / 2)


def mutual_information(counts: NDArray[np.int64], n_lower: int = 1) -> float:
    """Return the mutual information, in bits, of a table of counts.

    With n records fewer than the public bound it is multiplied by n/`n_lower`. Then one record changes it by no more
    than at that bound, so data that contradict the bound cost no more either.
    """

    def sized(values: Any) -> float:
        kept = np.asarray(values, dtype=float)
        kept = kept[kept > 0]
        return float((kept * np.log2(kept)).sum())

    n = float(counts.sum())
    if not n:
        return 0.0
    bits = sized(counts) - sized(counts.sum(axis=0)) - sized(counts.sum(axis=1)) + sized([n])
    return bits / max(n, n_lower)


def information_sensitivity(n: int) -> float:
    """Return by how much one record changes mutual information at most, in bits, with at least n records.

    (2/n)·log2((n+1)/2) + ((n-1)/n)·log2((n+1)/(n-1)) (Zhang et al. 2014, Lemma 4.1, for attributes of any number of
    values). The bound falls with n from n = 2 on. Tables of one record have no information, and of two at most 1 bit.
    """
    n = max(check_integer(n, "n", 1), 2)
    return 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))


def dependence_range(score: str, relation: str = "add-remove", n_lower: int = 1) -> float:
    """Return the range of a score, the length of the interval of changes by one record: twice its sensitivity.

    "dependence": 2·2 under add/remove, and twice that under replace-one. "mutual_information": its sensitivity at a
    public lower bound on the number of records, under both relations.
    """
    if check_choice(score, "score", SCORES) == "dependence":
        return 4.0 * FACTOR[check_relation(relation)]
    return 2 * information_sensitivity(n_lower)
