"""Similarity of a selected set of features to the true one (Stoddard et al. 2014, section 5.1.3).

The true set depends on private data. These numbers are for studies of a method. They are not a release.
"""

from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_number
from dpml.exceptions import InvalidParameter


def selection_quality(truth: Any, selected: Any) -> dict[str, FloatArray]:
    """Compare selected sets with the true set.

    Parameters
    ----------
    truth : array of bool, shape (D,)
        The true set.
    selected : array of bool, shape (draws, D) or (D,)
        The selection of a method in each draw.

    Returns
    -------
    dict of str to ndarray of shape (draws,)
        ``precision`` = both / selected, ``recall`` = both / true, ``f1``, their harmonic mean 2·both / (selected +
        true), ``jaccard``, the distance 1 - both / either (Stoddard et al. 2014, section 3, prints the similarity and
        calls it a distance). A quotient 0/0 is 1, so that two empty sets have F1 1 and distance 0.

    Raises
    ------
    InvalidParameter
        If the shapes do not fit.

    See Also
    --------
    dpml.studies.SelectionStudy : Study any selector with any classifier.

    Examples
    --------
    >>> quality = selection_quality([True, True, False, False], [[True, False, True, False]])
    >>> {name: values.round(3).tolist() for name, values in quality.items()}
    {'precision': [0.5], 'recall': [0.5], 'f1': [0.5], 'jaccard': [0.667]}
    """
    truth, selected = np.asarray(truth, dtype=bool), np.atleast_2d(np.asarray(selected, dtype=bool))
    if truth.ndim != 1 or selected.ndim != 2 or selected.shape[1] != truth.size:
        raise InvalidParameter("selected", f"array of shape {selected.shape}", f"of shape (draws, {truth.size})")
    both = (selected & truth).sum(axis=1).astype(float)
    taken, true = selected.sum(axis=1), float(truth.sum())

    def share(part: Any, whole: Any) -> FloatArray:
        whole = np.broadcast_to(np.asarray(whole, dtype=float), np.shape(part))
        return np.divide(part, whole, out=np.ones(np.shape(part)), where=whole > 0)

    return {
        "precision": share(both, taken),
        "recall": share(both, true),
        "f1": share(2 * both, taken + true),
        "jaccard": 1 - share(both, taken + true - both),
    }


def expected_f1(truth: Any, inclusion: Any) -> float:
    """Return the exact expected F1 of a method that always selects T features.

    With T and the size of the true set fixed, F1 is linear in the number of features in both. The expectation of this
    number is the sum of the true features' inclusion probabilities.

    Parameters
    ----------
    truth : array of bool, shape (D,)
        True set of features.
    inclusion : array of shape (D,)
        Inclusion probabilities that add up to T, for example from `dpml.selection.inclusion_probabilities`.

    Returns
    -------
    float
        Expected F1 in [0, 1].

    Raises
    ------
    InvalidParameter
        If the shapes differ, or the probabilities do not add up to a whole number.

    See Also
    --------
    selection_quality : Compare selected sets with the true set.
    dpml.selection.inclusion_probabilities : Compute inclusion probabilities.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> expected_f1([True, False, False], [0.8, 0.1, 0.1])
    0.8
    """
    truth, inclusion = np.asarray(truth, dtype=bool), np.asarray(inclusion, dtype=float)
    if truth.ndim != 1 or inclusion.shape != truth.shape:
        raise InvalidParameter("inclusion", f"array of shape {inclusion.shape}", f"of shape ({truth.size},)")
    T = check_number(float(inclusion.sum()), "sum of inclusion", 0.0)
    if abs(T - round(T)) > 1e-6:
        raise InvalidParameter("sum of inclusion", T, "a whole number: the method selects T features always")
    whole = T + truth.sum()
    return float(2 * inclusion[truth].sum() / whole) if whole else 1.0
