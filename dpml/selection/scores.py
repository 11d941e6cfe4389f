"""Scores of binary features against the class, and their sensitivities.

With n_cv the number of records of class c whose feature is v:

===================  =========================================================  =======================
kind                 score                                                      unit
===================  =========================================================  =======================
total_count          n_01 + n_11 + ... (records with the feature on)            records
difference_count     max over pairs of classes of |n_c1 - n_c'1|              records
count                max of that and of |n_c0 - n_c'0|                        records
mutual_information   I(feature; class)                                          bits
===================  =========================================================  =======================

``count`` is the count heuristic of Antonova (2016) (eq. 3.22), which Stoddard et al. call the purity index (eq. 4).
``difference_count`` is their eq. 3. With more than two classes both use the pair with the largest difference.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_relation
from dpml.counts import Contingency, contingency
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import is_private, statistic
from dpml.schema import Schema, resolve_schema

KINDS = ("total_count", "difference_count", "count", "mutual_information")


def _largest_gap(counts: FloatArray) -> FloatArray:
    # The largest difference over pairs of classes is the largest count minus the smallest.
    return counts.max(axis=-2) - counts.min(axis=-2)


def _entropy_terms(counts: FloatArray) -> FloatArray:
    """Return k·log2(k), with 0 for k = 0."""
    return counts * np.log2(np.where(counts > 0, counts, 1.0))


@statistic
def _mutual_information(on: FloatArray, off: FloatArray, least: int = 1) -> FloatArray:
    """Return I of tables with C rows (classes) and two columns (on, off), whose totals may differ.

    A table of fewer than `least` records is filled up with null records, which count in N and add nothing to N·I.
    Adding a record changes the N·I of the features by amounts that differ by at most h(N) = g(N+1) - g(N), from each
    other and from 0. h is increasing, so after division by `least` at most h(least - 1)/least remains, which is
    `sensitivity` at that number.
    """
    classes, feature_on, feature_off = on + off, on.sum(axis=-2), off.sum(axis=-2)
    total = feature_on + feature_off
    # N·I = Σ g(n_cv) - Σ g(n_c) - Σ g(n_v) + g(N) with g(k) = k log2 k; rounding may leave -1e-16
    cells = (_entropy_terms(on) + _entropy_terms(off) - _entropy_terms(classes)).sum(axis=-2)
    gain = cells - _entropy_terms(feature_on) - _entropy_terms(feature_off) + _entropy_terms(total)
    return np.maximum(gain / np.maximum(total, least), 0.0)


_SCORES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "total_count": lambda on, off: on.sum(axis=-2),
    "difference_count": lambda on, off: _largest_gap(on),
    "count": lambda on, off: np.maximum(_largest_gap(on), _largest_gap(off)),
    "mutual_information": _mutual_information,
}


@statistic
def scores_from_tables(on: Any, off: Any, kind: str) -> FloatArray:
    """Return the score of each feature from on-counts and off-counts (..., C, D), exact or noisy but not negative."""
    return _SCORES[check_choice(kind, "kind", KINDS)](on, off)


def scores_from_counts(counts: Contingency, kind: str, n_rows: int | None = None) -> Any:
    """Return the score of each feature from exact counts.

    Parameters
    ----------
    counts : Contingency
        Exact counts of the records.
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    n_rows : int, optional
        Number of records that was given to `sensitivity`. If fewer are counted, because others were dropped or the
        schema states too many, mutual information is computed with null records for the rest.

    Returns
    -------
    ndarray of shape (D,) or (S, D), or Private
        One score for each feature, and for each of S subsamples if the counts have them.

    See Also
    --------
    scores : Scores of a table.
    """
    if kind == "mutual_information" and n_rows is not None:
        return _mutual_information(counts.on, counts.off, check_integer(n_rows, "n_rows", 1))
    return scores_from_tables(counts.on, counts.off, kind)


@statistic
def weighted(scores: Any, weight: float) -> FloatArray:
    """Return the scores times a weight."""
    return weight * np.asarray(scores, dtype=float)


@statistic
def scores_of(scores: Any, features: IntArray) -> Any:
    """Return the scores of some features, in their order."""
    return np.asarray(scores)[features]


@statistic
def scores_to_choose(scores: Any, n_features: int, left: int = 0) -> FloatArray:
    """Return scores of shape (D,), of which T can be chosen with `left` others; raise for another shape or number."""
    values = np.asarray(scores, dtype=float)
    if values.ndim != 1 or not values.size:
        raise InvalidParameter("scores", f"array of shape {values.shape}", "one-dimensional and not empty")
    check_integer(n_features, "n_features", 1, values.size - left)
    return values


def scores(X: Any, y: Any, kind: str, *, schema: Schema | None = None) -> Any:
    """Return the exact score of each feature, a statistic of private data that must not be released.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, D), or Private
        Binary features. Private records are those of a fit: checked, with a schema, and y has their classes 0..C-1.
    y : array of shape (n,), or Private
        Class of each record.
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    schema : Schema, optional
        Classes and domains. By default all columns are binary and the classes are 0 and 1, or more integers 0..C-1.

    Returns
    -------
    ndarray of shape (D,), or Private
        One score for each feature, in records, or in bits for mutual information.

    Raises
    ------
    InvalidData
        For a value or a label outside its domain.
    InvalidParameter
        If the records are private and there is no schema.

    See Also
    --------
    sensitivity : Sensitivity of one score.

    Examples
    --------
    >>> X = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> scores(X, [1, 1, 0, 0], "mutual_information").tolist()
    [1.0, 0.0]
    """
    check_choice(kind, "kind", KINDS)
    if is_private((X, y)):
        if schema is None:
            raise InvalidParameter("schema", None, "given for private records: it states the classes")
        return scores_from_counts(contingency(X, y, schema.n_classes), kind)
    if schema is None:
        labels = np.asarray(y)
        C = int(labels.max()) + 1 if labels.dtype.kind in "iu" and labels.size and labels.max() > 1 else 2
        canonical = resolve_schema(None, X)
        schema = Schema(canonical.features, tuple(range(C)))
    X, codes, schema = schema.check_table(X, y)
    return scores_from_counts(contingency(X, codes, schema.n_classes), kind)


def _mutual_information_step(n: int) -> float:
    """Return the largest change of mutual information by one record, in bits; exact, see docs/explanation/errata.md."""
    return np.log2(n) / n + (n - 1) / n * np.log2(n / (n - 1)) if n > 1 else 1.0


def _check_n(n_rows: Any) -> int:
    if n_rows is None:
        allowed = "the public number of records (replace-one) or a public lower bound on it (add-remove)"
        raise InvalidParameter("n_rows", n_rows, f"{allowed}: the sensitivity of mutual information depends on it")
    return check_integer(n_rows, "n_rows", 1)


def sensitivity(kind: str, relation: str = "add-remove", *, n_rows: int | None = None) -> float:
    """Return the sensitivity of one feature's score, its largest change between neighbours.

    Parameters
    ----------
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    relation : {"add-remove", "replace-one"}, default "add-remove"
        Neighbouring relation.
    n_rows : int, optional
        For mutual information: N where it is public (replace-one), or a public lower bound on it (add/remove). Under
        add/remove the value holds between tables of N-1 and N records, and decreases in N.

    Returns
    -------
    float
        Largest change, in records, or in bits for mutual information.

    See Also
    --------
    change_range : Range of one score, which sets the cost of the exponential mechanism.

    Notes
    -----
    Counts: a record is in one cell of the table. Adding it changes one count by 1, and replacing it changes two. If the
    label changes while the feature stays on, a difference of counts changes by 2. Mutual information:
    log2(N)/N + (N-1)/N·log2(N/(N-1)) bits for a binary feature and any number of classes. The tests check all of them
    by enumeration (docs/explanation/errata.md).

    Examples
    --------
    >>> sensitivity("count", "replace-one")
    2.0
    """
    check_choice(kind, "kind", KINDS)
    check_relation(relation)
    if kind == "mutual_information":
        return float(_mutual_information_step(_check_n(n_rows)))
    return 2.0 if relation == "replace-one" and kind in ("difference_count", "count") else 1.0


def change_range(
    kind: str,
    relation: str,
    n_total: int,
    row_bound: int | None = None,
    *,
    n_rows: int | None = None,
    n_classes: int = 2,
) -> float:
    """Return the range of one feature's score, the length of the interval of its changes between neighbours.

    Parameters
    ----------
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.
    n_total : int
        Number D of features.
    row_bound : int, optional
        Contribution bound r: the most ones that a record has after cutting. By default D.
    n_rows : int, optional
        Public number of records (replace-one), or a public lower bound on it (add/remove). Mutual information needs it.
    n_classes : int, default 2
        Number C of classes.

    Returns
    -------
    float
        Range R, in records, or in bits for mutual information.

    See Also
    --------
    mask_change_range : Range of the score of several features, with the derivation.

    Notes
    -----
    The range bounds the change of the difference of two scores. It sets the cost of mechanisms that depend only on
    differences of scores (the exponential mechanism, permute-and-flip, noisy maximum).

    Examples
    --------
    >>> change_range("count", "add-remove", 100), change_range("difference_count", "add-remove", 100)
    (1.0, 2.0)
    """
    return mask_change_range(kind, relation, 1, n_total, row_bound, n_rows=n_rows, n_classes=n_classes)


def l1_sensitivity(
    kind: str,
    relation: str,
    n_total: int,
    row_bound: int | None = None,
    *,
    n_rows: int | None = None,
    n_classes: int = 2,
    up_to_shift: bool = False,
) -> float:
    """Return the L1 sensitivity of the vector of all D scores, its largest L1 change between neighbours.

    Parameters
    ----------
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.
    n_total : int
        Number D of features.
    row_bound : int, optional
        Contribution bound r: the most ones that a record has after cutting. By default D.
    n_rows : int, optional
        Public number of records (replace-one), or a public lower bound on it (add/remove). Mutual information needs it.
    n_classes : int, default 2
        Number C of classes.
    up_to_shift : bool, default False
        Ignore a common shift of all scores. This is enough if only the order of noisy scores is released.

    Returns
    -------
    float
        L1 sensitivity, in records, or in bits for mutual information.

    See Also
    --------
    sensitivity : Sensitivity of one score.

    Notes
    -----
    It is the number of scores that a record can change, times the change of each:

    - total_count: r, and min(2r, D) under replace-one (a feature that is on in both records does not change).
    - difference_count: r, and 2r under replace-one (the absolute changes add up to at most the number of ones of both
      records).
    - count and mutual_information: D times the sensitivity, under both relations. (Stoddard et al.'s footnote 1 is
      false when the label changes, see docs/explanation/errata.md.)

    Up to a shift: if all changes are in an interval of length R = `change_range`, they are within R/2 of its middle, so
    D·R/2 is enough. For two classes this halves the bound for the count heuristic under both relations.

    Examples
    --------
    >>> l1_sensitivity("total_count", "add-remove", 100, 10), l1_sensitivity("count", "add-remove", 100)
    (10.0, 100.0)
    """
    D = check_integer(n_total, "n_total", 1)
    r = D if row_bound is None else min(check_integer(row_bound, "row_bound", 1), D)
    step, both = sensitivity(kind, relation, n_rows=n_rows), 2 * r if relation == "replace-one" else r
    if kind == "difference_count":
        whole = float(both)
    else:
        whole = step * (min(D, both) if kind == "total_count" else D)
    if not up_to_shift:
        return whole
    return min(whole, D * change_range(kind, relation, D, r, n_rows=n_rows, n_classes=n_classes) / 2)


def mask_change_range(
    kind: str,
    relation: str,
    n_features: int,
    n_total: int,
    row_bound: int | None = None,
    *,
    n_rows: int | None = None,
    n_classes: int = 2,
) -> float:
    """Return the range of a mask's score, the sum of the scores of its T features.

    Parameters
    ----------
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.
    n_features : int
        Number T of features to select, 1 to D.
    n_total : int
        Number D of features.
    row_bound : int, optional
        Contribution bound r: the most ones that a record has after cutting. By default D.
    n_rows : int, optional
        Public number of records (replace-one), or a public lower bound on it (add/remove). Mutual information needs it.
    n_classes : int, default 2
        Number C of classes.

    Returns
    -------
    float
        Length b - a of the interval of changes between neighbours, in the score's unit. It is 0 if T = D, because then
        there is only one mask.

    See Also
    --------
    change_range : Range of one score.

    Notes
    -----
    Each of two masks has at most K = min(T, D - T) features that the other has not. So the range is at most the sum of
    the K largest changes minus the sum of the K smallest.

    - total_count, add/remove: a change is 0 or +1, at most r of them: min(K, r). Replace-one: at most r of -1 and r
      of +1: 2·min(K, r).
    - difference_count, add/remove: at most r changes of -1 or +1: min(2K, r). Replace-one: the absolute changes add up
      to at most 2r, and each is at most 2: min(4K, 2r).
    - count, two classes: with a = n_11 - n_01 and b = n_10 - n_00, a + b = n_1 - n_0 =: m is the same for every
      feature, and max(|a|, |b|) = (|a - b| + |m|)/2. The second term shifts all features equally. |a - b| changes by at
      most 1 when a record is added and by at most 2 when one is replaced, so the ranges are K and 2K, half of those
      that follow from two-sided sensitivities. More than two classes: 2·sensitivity·K.
    - mutual_information, add/remove: I = H(class) - H(class | feature), and only the second term differs between
      features. Call it H, and let h(k) = (k+1)·log2(k+1) - k·log2(k). Adding a record to cell (c, v) changes H to
      (N·H + u)/(N+1) with u = h(n_v) - h(n_cv), a change of (u - H)/(N+1). As u is in [0, h(N)] and H in [0, log2 C],
      the range for one feature is at most h(N)/(N+1) + log2(C)/(N+1), the sensitivity at N+1 plus log2(C)/(N+1).
      Replace-one: 2·sensitivity·K, attained.

    The tests compare all of them with brute force.
    """
    check_choice(kind, "kind", KINDS)
    check_relation(relation)
    D = check_integer(n_total, "n_total", 1)
    T = check_integer(n_features, "n_features", 1, D)
    r = D if row_bound is None else min(check_integer(row_bound, "row_bound", 1), D)
    C = check_integer(n_classes, "n_classes", 2)
    K = min(T, D - T)
    replace = relation == "replace-one"
    if kind == "total_count":
        return float((2 if replace else 1) * min(K, r))
    if kind == "difference_count":
        return float(min(4 * K, 2 * r) if replace else min(2 * K, r))
    if kind == "count":
        if C == 2:
            return float(2 * K if replace else K)
        return 2 * K * sensitivity(kind, relation)
    step = sensitivity(kind, relation, n_rows=n_rows)
    return K * (2 * step if replace else min(2 * step, step + np.log2(C) / _check_n(n_rows)))


def mask_weight(
    kind: str,
    relation: str,
    epsilon: float,
    n_features: int,
    n_total: int,
    row_bound: int | None = None,
    *,
    n_rows: int | None = None,
    n_classes: int = 2,
) -> float:
    """Return the log weight of one unit of score for which the mask distribution has ε-differential privacy.

    Parameters
    ----------
    kind : {"total_count", "difference_count", "count", "mutual_information"}
        Score of a feature. Its unit is a record, or a bit for mutual information.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.
    epsilon : float
        Privacy parameter ε of one draw, above 0.
    n_features : int
        Number T of features to select, 1 to D.
    n_total : int
        Number D of features.
    row_bound : int, optional
        Contribution bound r: the most ones that a record has after cutting. By default D.
    n_rows : int, optional
        Public number of records (replace-one), or a public lower bound on it (add/remove). Mutual information needs it.
    n_classes : int, default 2
        Number C of classes.

    Returns
    -------
    float
        Quotient of ε and `mask_change_range`, which has the derivation. With T = D there is only one mask, so nothing
        depends on the records and the weight is 0.

    See Also
    --------
    mask_change_range : Range of a mask's score.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> mask_weight("count", "add-remove", 1.0, n_features=5, n_total=100)
    0.2
    """
    epsilon = check_epsilon(epsilon)
    span = mask_change_range(kind, relation, n_features, n_total, row_bound, n_rows=n_rows, n_classes=n_classes)
    return epsilon / span if span else 0.0
