"""RAPPOR, which reports a person's value once, and one-time RAPPOR, which reports the memoised bits themselves.

Definition: Erlingsson, Pihur and Korolova (2014), steps 1 to 3; one-time RAPPOR has steps 1 and 2. A value sets up to h
of k bits of a Bloom filter. Each bit is memoised: as 1 with probability f/2, as 0 with probability f/2, else unchanged.
A report shows a memoised 1 as 1 with probability q, and a memoised 0 as 1 with probability p. One-time RAPPOR is also
the limit of unlimited reports by one person, since their frequencies reveal the memoised bits.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from benchmarks.literature._published_algorithm import PublishedAlgorithm, PublishedAlgorithms
from dpml.audit.search import Values
from dpml.exceptions import InvalidParameter

__all__ = ["RAPPORS", "Rappor"]

VALUES = tuple(range(10))


@dataclass(frozen=True)
class Rappor:
    """RAPPOR with f chosen so that two values without a common bit cost ε.

    Attributes
    ----------
    epsilon : float
    one_time : bool
        Whether to report the memoised bits.
    bits, hashes : int
        k and h.
    p, q : float
        Probabilities that a report shows 1, for a memoised 0 and for a memoised 1.
    """

    epsilon: float
    one_time: bool = False
    bits: int = 20
    hashes: int = 4
    p: float = 0.5
    q: float = 0.75

    def chances(self) -> tuple[float, float]:
        """Return the probabilities that a set bit and an unset bit are reported as 1."""
        # two values differ in at most 2h bits, and h of them are set on each side
        low, high = 1e-12, 1.0
        if self._cost(low) < self.epsilon:
            raise InvalidParameter("epsilon", self.epsilon, f"at most {self._cost(low):.4g} with these p and q")
        return self._shown(brentq(lambda f: self._cost(f) - self.epsilon, low, high, xtol=1e-15))

    def _shown(self, f: float) -> tuple[float, float]:
        one, zero = 1 - f / 2, f / 2
        if self.one_time:
            return one, zero
        return self.q * one + self.p * (1 - one), self.q * zero + self.p * (1 - zero)

    def _cost(self, f: float) -> float:
        one, zero = self._shown(f)
        return self.hashes * float(np.log(one / zero) + np.log((1 - zero) / (1 - one)))

    def bloom(self, value: Any) -> NDArray[np.bool_]:
        """Return the Bloom filter of a value."""
        bits = np.zeros(self.bits, dtype=bool)
        for k in range(self.hashes):
            digest = hashlib.sha256(f"{k}:{value}".encode()).digest()
            bits[int.from_bytes(digest[:8], "big") % self.bits] = True
        return bits

    def __call__(self, data: Any, *, draws: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Return one report for each draw, as a row of bits."""
        one, zero = self.chances()
        chance = np.where(self.bloom(data), one, zero).astype(np.float32)
        return (rng.random((draws, self.bits), dtype=np.float32) < chance).astype(np.int8)

    def true_epsilon(self) -> float:
        """Return the largest loss over pairs of the stated values. Bits are independent, so their log ratios add up."""
        one, zero = self.chances()
        shown = np.array([self.bloom(value) for value in VALUES])
        only = (shown[:, None] & ~shown[None]).sum(axis=2)
        set_here, set_there = np.log(one / zero), np.log((1 - zero) / (1 - one))
        return float((only * set_here + only.T * set_there).max())


def _specimen(one_time: bool, epsilon: float) -> PublishedAlgorithm:
    variant = Rappor(epsilon, one_time)
    steps = "steps 1 and 2" if one_time else "steps 1 to 3"
    return PublishedAlgorithm(
        "One-time RAPPOR" if one_time else "RAPPOR",
        f"Erlingsson, Pihur and Korolova 2014, {steps}",
        f"one of {len(VALUES)} values, {variant.hashes} hashes into {variant.bits} bits",
        variant,
        Values(VALUES),
        variant.true_epsilon,
    )


RAPPORS: PublishedAlgorithms = {"rappor": partial(_specimen, False), "rappor-one-time": partial(_specimen, True)}
