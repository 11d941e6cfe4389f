"""The literature's algorithms: their outputs follow the probabilities from which their true ε is computed."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from benchmarks.literature import LITERATURE
from benchmarks.literature.histograms import TruncatedGeometric
from benchmarks.literature.noisy_max import NoisyMax
from benchmarks.literature.rappor import VALUES, Rappor
from benchmarks.literature.sparse_vector import SparseVectorVariant
from dpml.audit import exact_epsilon

DRAWS = 200_000
# five standard errors of a frequency, at most
SLACK = 5 * 0.5 / np.sqrt(DRAWS)


def laplace_cdf(x, scale):
    return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def probabilities(data, threshold_scale, query_scale, cutoff):
    """Probability of each row of answers by quadrature over one threshold noise, straight from the definition."""

    def given(answers, rho):
        product = 1.0
        for value, answer in zip(data, answers, strict=False):
            below = laplace_cdf(1 + rho - value, query_scale) if query_scale else float(value < 1 + rho)
            product *= 1 - below if answer else below
        return product * math.exp(-abs(rho) / threshold_scale) / (2 * threshold_scale)

    found = {}
    for answers in itertools.product([0, 1], repeat=len(data)):
        if cutoff and sum(answers) >= cutoff:
            end = [i for i, answer in enumerate(answers) if answer][cutoff - 1]
            answers = answers[: end + 1]
        if answers not in found:
            found[answers] = integrate.quad(
                lambda rho, a=answers: given(a, rho), -60, 60, points=[-1, 0, 1], limit=400, epsabs=1e-12
            )[0]
    return found


@pytest.mark.parametrize("variant", [(2.0, 4.0, 1), (4.0, 4 / 3, 2), (2.0, 0.0, None), (2.0, 2.0, None)])
def test_sparse_vectors_agree_with_enumeration(variant):
    threshold_scale, query_scale, cutoff = variant
    technique = SparseVectorVariant(threshold_scale, query_scale, cutoff)
    data = np.array([0.0, 2.0, 1.0])
    table = probabilities(data, *variant)
    assert sum(table.values()) == pytest.approx(1)
    outputs = technique(data, draws=DRAWS, rng=np.random.default_rng(0))
    for answers, probability in table.items():
        row = np.concatenate([answers, np.full(3 - len(answers), np.nan)])
        assert np.mean(((outputs == row) | (np.isnan(outputs) & np.isnan(row))).all(axis=1)) == pytest.approx(
            probability, abs=SLACK
        )
    # the worst of all neighbours of two answers, each output by quadrature
    tables = {
        pair: {k: math.log(v) if v > 1e-11 else -math.inf for k, v in probabilities(pair, *variant).items()}
        for pair in itertools.product(range(3), repeat=2)
    }
    worst = max(
        exact_epsilon(tables[a], tables[b])[0]
        for a, b in itertools.combinations(tables, 2)
        if max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1
    )
    assert technique.true_epsilon(2) == pytest.approx(worst, rel=1e-6)


def test_variant_three_costs_half_a_claim_for_each_query():
    """Below all answers each "below" costs Δ ε2 / c = ½, and so does the value: n/2 in all."""
    technique = SparseVectorVariant(2.0, 2.0, answer_scale=0.0)
    for length in (2, 5, 8):
        assert technique.true_epsilon(length) == pytest.approx(length / 2, rel=1e-6)
    outputs = technique(np.array([1.0, 2.0]), draws=50_000, rng=np.random.default_rng(0))
    answered = np.isfinite(outputs)
    assert (answered.sum(axis=1) <= 1).all()
    assert np.isnan(outputs[answered[:, 0], 1]).all()
    assert (outputs[~answered[:, 0], 0] == -np.inf).all()


@pytest.mark.parametrize("exponential", [False, True])
def test_noisy_maxima_follow_their_definition(exponential):
    rng = np.random.default_rng(2)
    data = np.array([0.0, 1.0, 2.0])
    noise = rng.exponential(2.0, (DRAWS, 3)) if exponential else rng.laplace(0, 2.0, (DRAWS, 3))
    naive = data + noise
    places = NoisyMax(1.0, exponential)(data, draws=DRAWS, rng=rng)
    values = NoisyMax(1.0, exponential, value=True)(data, draws=DRAWS, rng=rng)
    assert np.bincount(places) / DRAWS == pytest.approx(np.bincount(naive.argmax(axis=1)) / DRAWS, abs=2 * SLACK)
    for quantile in (0.05, 0.5, 0.95):
        assert np.mean(values < np.quantile(naive.max(axis=1), quantile)) == pytest.approx(quantile, abs=2 * SLACK)


def test_noisy_max_of_two_by_hand():
    """P(first is largest) = P(Laplace difference < gap) = 1 - (1/2)(1 + d/2s) e^(-d/s), d = q1 - q2 >= 0."""

    def wins(d, scale=2.0):
        return 1 - 0.5 * (1 + d / (2 * scale)) * math.exp(-d / scale)

    losses = []
    for gap, other in itertools.product(range(-2, 3), repeat=2):
        if abs(gap - other) <= 2:
            sides = [wins(d) if d >= 0 else 1 - wins(-d) for d in (gap, other)]
            losses.append(abs(math.log(sides[0] / sides[1])))
    assert NoisyMax(1.0).true_epsilon(2) == pytest.approx(max(losses), rel=1e-9)


def test_truncated_geometric_follows_its_theorem():
    """ln(1 + 2^-k) with k = ⌈log2(2/ε)⌉ (Balcer and Vadhan 2018, Theorem 4.7)."""
    for epsilon, k in ((1.0, 1), (0.5, 2), (0.3, 3)):
        mechanism = TruncatedGeometric(epsilon)
        assert mechanism.true_epsilon() == pytest.approx(math.log(1 + 2.0**-k), rel=1e-12)
    mechanism = TruncatedGeometric(1.0)
    outputs = mechanism(np.array([3.0]), draws=DRAWS, rng=np.random.default_rng(3))
    assert np.bincount(outputs, minlength=6) / DRAWS == pytest.approx(mechanism.probabilities(3), abs=SLACK)


@pytest.mark.parametrize("one_time", [False, True])
def test_rappor_shows_bits_as_often_as_it_says(one_time):
    mechanism = Rappor(1.0, one_time)
    one, zero = mechanism.chances()
    # four bits set here, four there
    assert 4 * math.log(one * (1 - zero) / (zero * (1 - one))) == pytest.approx(1.0)
    assert mechanism.true_epsilon() == pytest.approx(1.0)
    shown = mechanism(VALUES[0], draws=DRAWS, rng=np.random.default_rng(4))
    bits = mechanism.bloom(VALUES[0])
    assert 1 <= bits.sum() <= 4
    assert shown.mean(axis=0) == pytest.approx(np.where(bits, one, zero), abs=SLACK)


@pytest.mark.parametrize("name", list(LITERATURE))
def test_every_algorithm_runs_on_its_inputs(name):
    found = LITERATURE[name](0.5)
    assert found.true_epsilon() > 0
    first, second = found.neighbours.patterns()[0]
    rng = np.random.default_rng(0)
    for data in (first, second):
        assert len(found.mechanism(data, draws=7, rng=rng)) == 7


def test_the_second_histogram_takes_the_wrong_scale():
    assert LITERATURE["noisy-histogram-1"](0.5).true_epsilon() == pytest.approx(0.5)
    assert LITERATURE["noisy-histogram-2"](0.5).true_epsilon() == pytest.approx(2.0)
