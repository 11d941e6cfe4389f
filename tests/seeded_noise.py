"""A seed for what has none: the noise of releases, and generators that are made without a seed.

A release takes its noise from the system, so a test of one fails by chance. With a seed it fails always or never. What
OpenDP refuses is refused here as well, and the noise has the same law. Tests of the noise itself keep the system's, by
the marker `system_noise`, and state how rarely they fail.
"""

import math
import random
import zlib

import numpy as np

from dpml.mechanisms import secure, secure_one_hot

INT64 = np.iinfo(np.int64)
# up to this scale a table of the law is short
MOST_TABLE = 1000


def seed_of(name):
    """The seed of a test: a number that its name alone decides."""
    return zlib.crc32(name.encode())


def give_seed(monkeypatch, seed):
    """Draw all noise from a generator with this seed, until the test ends."""
    rng, real, make = np.random.default_rng(seed), secure._opendp, np.random.default_rng
    monkeypatch.setattr(secure, "_opendp", lambda: SeededOpenDP(real(), rng))
    monkeypatch.setattr(secure_one_hot, "SystemRandom", lambda: random.Random(int(rng.integers(2**63))))
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: make(rng.integers(2**63) if seed is None else seed))


class SeededOpenDP:
    """OpenDP with the three measurements that dpml uses drawn by NumPy."""

    def __init__(self, real, rng):
        self.m, self._real, self._rng = self, real, rng

    def __getattr__(self, name):
        return getattr(self._real, name)

    def make_laplace(self, *space, scale):
        self._real.m.make_laplace(*space, scale=scale)
        if scale > MOST_TABLE:
            return self._plus(lambda n: np.rint(self._rng.laplace(scale=scale, size=n)))
        # the difference of two geometric variables
        end = -math.expm1(-1 / scale)
        return self._plus(lambda n: self._rng.geometric(end, n) - self._rng.geometric(end, n))

    def make_gaussian(self, *space, scale):
        self._real.m.make_gaussian(*space, scale=scale)
        if scale > MOST_TABLE:
            return self._plus(lambda n: np.rint(self._rng.normal(scale=scale, size=n)))
        k = np.arange(-math.ceil(12 * scale) - 1, math.ceil(12 * scale) + 2)
        weights = np.exp(-((k / scale) ** 2) / 2)
        return self._plus(lambda n: self._rng.choice(k, n, p=weights / weights.sum()))

    def make_noisy_max(self, *space, scale):
        self._real.m.make_noisy_max(*space, scale=scale)
        draw = self._rng.gumbel if space[-1] == self._real.zero_concentrated_divergence() else self._rng.exponential
        return lambda scores: int(np.argmax(scores + draw(scale=scale, size=len(scores))))

    @staticmethod
    def _plus(draw):
        def release(values):
            sums = [int(value) + int(noise) for value, noise in zip(values, draw(len(values)), strict=True)]
            return [min(max(each, INT64.min), INT64.max) for each in sums]

        return release
