"""Bitwise comparison of two results with everything that they contain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.budget import Budget

__all__ = ["same"]


def same(first: Any, second: Any) -> bool:
    """Return whether two results are equal to the bit; objects are compared by what pickling would write."""
    return _same(first, second, {})


def _same(first: Any, second: Any, seen: dict[tuple[int, int], Any]) -> bool:
    if first is second or (id(first), id(second)) in seen:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        if first.dtype == object:
            return all(_same(a, b, seen) for a, b in zip(first.ravel(), second.ravel(), strict=True))
        return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
    if isinstance(first, float):
        return first == second or (math.isnan(first) and math.isnan(second))
    if isinstance(first, (str, bytes, int, complex, np.generic, type(None))):
        return bool(first == second) or (first != first and second != second)
    # held, so that no later object gets the id of one that is gone and counts as seen
    seen[id(first), id(second)] = first, second
    if sparse.issparse(first):
        return first.shape == second.shape and not (first != second).nnz
    if isinstance(first, (pd.DataFrame, pd.Series, pd.Index)):
        return first.equals(second)
    if isinstance(first, Mapping):
        return list(first) == list(second) and all(_same(first[k], second[k], seen) for k in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(_same(a, b, seen) for a, b in zip(first, second, strict=True))
    if isinstance(first, (set, frozenset)):
        return first == second
    if isinstance(first, (np.random.Generator, np.random.RandomState)):
        return True  # a replay draws no noise, so its generator has another state
    if isinstance(first, Budget):
        return _same(first.ledger, second.ledger, seen)
    if callable(first) and not hasattr(first, "get_params"):
        return True  # a function holds no records
    return _same(_state(first), _state(second), seen)


def _state(value: Any) -> Any:
    """Return what pickling would write of an object, or its public fitted attributes if it refuses pickling."""
    if is_dataclass(value) and not hasattr(value, "get_params"):  # an estimator has more state than its parameters
        return {f.name: getattr(value, f.name) for f in fields(value)}
    try:
        state = value.__getstate__()
    except Exception:  # an object that holds private statistics refuses pickling
        return {k: v for k, v in vars(value).items() if k.endswith("_") and not k.startswith("_")}
    return state if state is not None else {}
