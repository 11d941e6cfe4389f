"""What a claim of ε allows of each output that is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.auditing import simultaneous_confidence
from dpml.auditing.attacker import clopper_pearson

Floats = NDArray[np.float64]
SIDES = ("first", "second")


def allowed(
    step: Mapping[str, Any],
    known: Sequence[tuple[float, float]] | None,
    epsilon: float,
    delta: float,
    confidence: float,
) -> dict[str, Floats | NDArray[np.bool_]]:
    """Return of each output and each side, shape (2, n): ``low`` and ``high`` of its share, ``most``, ``broken``.

    A claim of (ε, δ) allows an output e^ε times its probability on the other side, and δ (the thesis, eq. 2.3). Of that
    probability the draws leave an interval open; all intervals of a picture hold together with `confidence`. ``most``
    is what the upper end allows. An exact probability is its own interval there.

    Examples
    --------
    >>> step = {"counted": 1000, "picture": {"first": np.array([0.4, 0.6]), "second": np.array([0.0, 1.0])}}
    >>> limits = allowed(step, [(0.4, 0.0), (0.6, 1.0)], 1.0, 0.0, 0.95)
    >>> limits["most"][0].round(2).tolist(), limits["broken"].tolist()
    ([0.0, 1.0], [[True, False], [False, False]])
    """
    shares, n = np.array([step["picture"][side] for side in SIDES], dtype=float), step["counted"]
    low, high = clopper_pearson(np.rint(shares * n), n, 1 - simultaneous_confidence(confidence, shares.size))
    least, largest = (low, high) if known is None else (np.array(known, dtype=float).T,) * 2
    most = np.minimum(math.exp(epsilon) * largest[::-1] + delta, 1.0)
    return {"low": low, "high": high, "most": most, "broken": least > most * (1 + 1e-9)}
