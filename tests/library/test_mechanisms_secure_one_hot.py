"""Secure noise for one-hot records: its law, how far it is from the noise with a density, and what covers the distance.

OpenDP and the system have no seed: a statistical test here has a nominal false-alarm probability of 1e-9.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpml.audit import recorded_cost
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import OneHotNorm, secure_one_hot
from dpml.mechanisms.norms import contrasts, signs_of
from dpml.mechanisms.secure_one_hot import (
    STEPS,
    GridCover,
    SecureOneHot,
    noise_vector,
    rounded_noise,
    rounding,
)

pytestmark = pytest.mark.system_noise

FALSE_ALARM = 1e-9
NORM = OneHotNorm(0.5, (2, 3, 5), n_scalars=2, sensitivity=2.0)


def test_the_noise_has_the_law_of_the_noise_for_study():
    drawn = np.array([noise_vector(NORM) for _ in range(2_000)])
    law = stats.gamma(NORM.dimension, scale=NORM.scale)
    assert stats.kstest(NORM.norm(drawn), law.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(NORM.norm(drawn / 3), law.cdf).pvalue < FALSE_ALARM
    study = NORM.release(np.zeros(NORM.dimension), draws=2_000, rng=np.random.default_rng(0))
    for of in (lambda b, i: b[:, i], lambda b, i: b[:, i] * b[:, i - 1], lambda b, i: abs(b[:, i]) / NORM.norm(b)):
        for i in range(NORM.dimension):
            assert stats.ks_2samp(of(drawn, i), of(study, i)).pvalue > FALSE_ALARM
    # all places of the signs are equally likely
    orders = [tuple(row) for row in (drawn[:, 1:3] @ contrasts(3).T).argsort(axis=1).tolist()]
    assert stats.chisquare([orders.count(o) for o in itertools.permutations(range(3))]).pvalue > FALSE_ALARM


@pytest.mark.parametrize("scale", [0.2, 1.0, 7.0, 1e4])
def test_integer_laplace_sizes_are_rounded_exponentials(scale):
    q = math.exp(-1 / scale)
    shift = scale * math.log(2 / (1 + q))
    assert 0 < shift <= 0.5
    weights = q ** np.abs(np.arange(-int(60 * scale) - 60, int(60 * scale) + 61))
    sizes = np.abs(np.arange(len(weights)) - len(weights) // 2)
    for k in range(1, 5):
        at_least = weights[sizes >= k].sum() / weights.sum()
        assert at_least == pytest.approx(math.exp(-(k - shift) / scale), rel=1e-9)


@pytest.mark.parametrize("bits", [0, 3, 30])
def test_rounded_noise_is_near_the_noise_with_a_density(bits, monkeypatch):
    """The ideal noise of the same random numbers, in exact arithmetic, is at most `rounding` steps away."""
    rng = np.random.default_rng(bits)
    farthest = 0.0
    for _ in range(200):
        uniforms, exponentials, used = [], rng.exponential(2.0**bits, NORM.dimension + 1), []
        # any integers at a distance of at most 1 from the exponential variables
        near = np.maximum(np.floor(exponentials + rng.integers(0, 2, len(exponentials))), 0).astype(np.int64)

        class Known:
            def getrandbits(self, k, used=used):
                used.append(Fraction(float(rng.random())))
                return math.floor(used[-1] * 2**k)

            def shuffle(self, values):
                pass

        monkeypatch.setattr(secure_one_hot, "SystemRandom", Known)
        monkeypatch.setattr(secure_one_hot, "integer_laplace_sample", lambda zeros, scale, near=near: near)
        drawn, radius = rounded_noise(NORM), sum(map(Fraction, exponentials.tolist()))
        uniforms = iter(used)
        for d, values in zip(NORM.sizes, drawn, strict=False):
            ends = [0, *sorted(next(uniforms) for _ in range(d - 1)), 1]
            spacings = [after - before for before, after in itertools.pairwise(ends)]
            ideal = [sign * radius * spacing for sign, spacing in zip(signs_of(d), spacings, strict=True)]
            farthest = max(farthest, *(float(abs(a - b)) for a, b in zip(ideal, values, strict=True)))
        ideal = [radius * (2 * next(uniforms) - 1) for _ in range(NORM.n_scalars)]
        farthest = max(farthest, *(float(abs(a - b)) for a, b in zip(ideal, drawn[-1], strict=True)))
    assert farthest <= rounding(NORM)
    assert farthest > rounding(NORM) / 20  # not by a bound that says nothing


def test_a_cover_protects_whatever_is_within_its_distance():
    rng = np.random.default_rng(0)
    for dimension, distance in ((1, 3e-7), (4, 1.0), (50, 1e-5)):
        cover = GridCover(0.01, distance, dimension)
        assert math.log2(cover.step).is_integer()
        assert Fraction(cover.reach) / Fraction(cover.scale) <= Fraction(0.01)
        assert cover.loss == pytest.approx(0.01, rel=1e-9)
        largest = 0
        for kind in range(200):
            value = rng.normal(size=dimension) * 100 * distance
            moved = rng.normal(size=dimension) if kind % 2 else rng.choice([-1, 1], dimension)
            other = value + distance * moved / np.linalg.norm(moved)
            first, second = (np.rint(v / cover.step) for v in (value, other))
            largest = max(largest, np.abs(first - second).sum())
        assert 0.2 * cover.reach < largest <= cover.reach
        drawn = cover.noisy(np.full((1_500, dimension), 0.3)) - np.rint(0.3 / cover.step) * cover.step
        assert (np.rint(drawn / cover.step) == drawn / cover.step).all()
        law = stats.laplace(scale=cover.scale * cover.step)
        assert stats.kstest(drawn[:, 0], law.cdf).pvalue > FALSE_ALARM
        assert stats.kstest(drawn[:, 0] / 3, law.cdf).pvalue < FALSE_ALARM


# a table of two attributes of two and three values: all records, each in one of two classes
RECORDS = [(c, i, j) for c in range(2) for i in range(2) for j in range(3)]


def counted(records):
    counts = np.zeros((2, 5))
    for c, i, j in records:
        counts[c, i] += 1
        counts[c, 2 + j] += 1
    return counts


@pytest.mark.parametrize(("relation", "sensitivity"), [("add-remove", 1), ("replace-one", 2)])
def test_no_neighbour_costs_more_than_epsilon_and_one_costs_all(relation, sensitivity):
    rest = [(0, 0, 0), (1, 1, 2)]

    def call(records):
        return SecureOneHot(0.7, (2, 3), sensitivity).release(counted(records))

    removed = [rest] if relation == "add-remove" else [[*rest, record] for record in RECORDS]
    costs = [recorded_cost(call, one, [*rest, record]) for one in removed for record in RECORDS]
    assert max(costs) <= 0.7 * (1 + 1e-12)
    assert max(costs) == pytest.approx(0.7)
    if relation == "replace-one":
        assert min(costs) == 0.0  # a record in its own place


@pytest.mark.parametrize(("relation", "sensitivity"), [("add-remove", 1), ("replace-one", 2)])
def test_the_same_ideal_release_leaves_what_the_cover_protects(relation, sensitivity, monkeypatch):
    """Neighbours whose ideal releases are equal, with any rounding, differ by at most one in each number."""
    rng = np.random.default_rng(0)
    mechanism = SecureOneHot(0.7, (2, 3), sensitivity)
    steps, most = Fraction(STEPS) / Fraction(mechanism.scale), rounding(mechanism.noise)
    before = counted([(0, 0, 0), (1, 1, 2), (0, 1, 1)] * 50)
    seen = 0
    for record in RECORDS:
        after = before + counted([record]) - (counted([RECORDS[3]]) if sensitivity == 2 else 0)
        changed = 0
        for one, other in zip(before, after, strict=True):
            # near the ends of units, where rounding counts
            ideal = rng.integers(-(10**6), 10**6, 5) * 2.0**mechanism.shift + rng.integers(-most, most, 5)
            units = []
            for counts in (one, other):
                off = rng.choice([1 - most, most], 5)  # the floor below takes up to one
                values = zip(ideal.tolist(), counts.tolist(), off.tolist(), strict=True)
                noise = [math.floor(Fraction(x) - int(count) * steps) + o for x, count, o in values]
                parts = [noise[:2], noise[2:]]
                monkeypatch.setattr(secure_one_hot, "rounded_noise", lambda _, parts=parts: parts)
                units.append(mechanism._units([int(c) for c in counts]))
            moved = np.abs(np.subtract(*units))
            assert moved.max() <= 1
            seen += moved.sum()
            changed += int((one != other).any())
        assert changed <= sensitivity
    assert seen  # rounding does move numbers
    assert mechanism.scale == pytest.approx(mechanism.noise.scale)
    total = sensitivity * mechanism.noise.dimension  # numbers that may differ, each by one
    assert Fraction(total) / Fraction(mechanism.cover_scale) + Fraction(mechanism.noise.epsilon) <= Fraction(0.7)


def test_the_cover_is_drawn(monkeypatch):
    mechanism = SecureOneHot(1e-3, (2, 2))
    monkeypatch.setattr(secure_one_hot, "rounded_noise", lambda noise: [[0, 0], [0, 0]])
    drawn = mechanism.release(np.zeros((4_000, 4))) / (2.0**mechanism.shift * mechanism.scale / STEPS)
    law = stats.laplace(scale=mechanism.cover_scale)
    units = np.ravel(drawn) / contrasts(2)[1, 0]
    assert stats.kstest(units, law.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(units / 3, law.cdf).pvalue < FALSE_ALARM


def test_noise_for_any_epsilon_and_any_counts():
    for epsilon in (1e-100, 1e-8, 1.0, 1e8):
        counts = np.array([[0.0, 1e18, np.nan, -1e300, 5.0]])
        assert np.isfinite(SecureOneHot(epsilon, (2, 3)).release(counts)).all()
    released = SecureOneHot(1e8, (2, 3)).release(np.array([[3.0, 10.0, 0.0, 4.0, 9.0]]))
    expected = np.concatenate([[3.0, 10.0] @ contrasts(2), [0.0, 4.0, 9.0] @ contrasts(3)])
    np.testing.assert_allclose(released[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0.0, "sizes": (2,)}, "epsilon"),
        ({"epsilon": 1.0, "sizes": (1,)}, "sizes"),
        ({"epsilon": 1.0, "sizes": (2,), "sensitivity": 0}, "sensitivity"),
    ],
)
def test_parameters_are_checked(options, name):
    with pytest.raises(InvalidParameter, match=name):
        SecureOneHot(**options)
