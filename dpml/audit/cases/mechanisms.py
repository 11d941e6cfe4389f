"""Claims of the mechanisms."""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpml.audit.cases.base import (
    DELTA,
    NOISES,
    Case,
    CaseMaker,
    ComparedLoss,
    ComparedProfile,
    Enumerated,
    Public,
    Sides,
    Typed,
    choice_law,
    in_the_middle,
    noise_law,
    of_choice,
    recorded,
    typed_case,
)
from dpml.audit.cases.typed import Table
from dpml.audit.exact import check_sizes
from dpml.mechanisms import (
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    NormGamma,
    OneHotNorm,
    PermuteAndFlip,
    ReportNoisyMax,
    SampleAndAggregate,
    SparseVector,
    Staircase,
)
from dpml.mechanisms.norms import contrasts
from dpml.mechanisms.secure import discrete_gaussian, gaussian_scale, integer_laplace, integer_scale, noisy_max
from dpml.mechanisms.secure_one_hot import SecureOneHot

ADDITIVE = (0.0, 0.0, 5.0)
# scores at ε = 1 whose choices all have chances that can be counted
SPREAD = (0.0, 1.0, 2.0, 2.0)


def _moved(relation: str) -> np.ndarray:
    """Return the histogram after one record was added to the first cell, or moved there from the last one."""
    return np.array([1.0, 0.0, 5.0] if relation == "add-remove" else [1.0, 0.0, 4.0])


def _case(
    mechanism: Any, data: Any, neighbour: Any, words: str, delta: float = 0.0, *, choice: bool = False, law: Any = None
) -> Case:
    """Return a case of a mechanism's own `release`. The recorder audits noise; outputs of a choice are enumerated.

    `law`: that of the draws; None: of noise with known tails on each coordinate, or of a choice among `SPREAD` scores.
    """

    def release(data, draws, rng):
        return mechanism.release(data, draws=draws, rng=rng)

    def probabilities():
        return dict(enumerate(np.log(mechanism.probabilities(spread))))

    spread = np.array(SPREAD) / mechanism.epsilon  # scores are in units of 1/ε
    exact = partial(Enumerated, probabilities=of_choice) if choice else None
    if law is None and choice:
        law = choice_law(lambda draws, rng: release(spread, draws, rng), probabilities)
    law = law or noise_law(mechanism, release, data)
    return Case.of_release(data, neighbour, release, exact=exact, delta=delta, pasts=1, words=words, law=law)


def _norm_law(mechanism: Any, norm: Any):
    """Return the law of the size of noise in a norm, a gamma distribution."""

    def law(rng):
        zero = np.zeros(mechanism.dimension)
        noise = mechanism.release(zero, draws=NOISES // 4, rng=rng)
        return check_sizes(stats.gamma(mechanism.dimension, scale=mechanism.scale), norm(noise))

    return law


def _histogram(make: Any):
    def case(epsilon: float, relation: str) -> Case:
        mechanism = make(epsilon, 1 if relation == "add-remove" else 2)
        return _case(mechanism, np.array(ADDITIVE), _moved(relation), "a histogram, and a record is added, or moves")

    return case


def _points(make: Any, delta: float = 0.0):
    def case(epsilon: float, relation: str) -> Case:
        mechanism = make(epsilon)
        law = None if delta else _norm_law(mechanism, partial(np.linalg.norm, axis=-1))
        return _case(mechanism, np.zeros(2), np.array([0.6, 0.8]), "two points at distance 1", delta, law=law)

    return case


def _one_hot(epsilon: float, relation: str) -> Case:
    record = np.concatenate([contrasts(2)[0], contrasts(3)[1], [-1.0]])
    words = "the sum of no records, and one record is added"
    mechanism = OneHotNorm(epsilon, (2, 3), n_scalars=1)
    return _case(mechanism, np.zeros(4), record, words, law=_norm_law(mechanism, mechanism.norm))


def _staircase(epsilon: float, relation: str) -> Case:
    return _case(Staircase(epsilon), 0.0, 1.0, "a count, and one record is added")


def _choice(make: Any, lead: float):
    def case(epsilon: float, relation: str) -> Case:
        high = lead / epsilon
        words = "two candidates, and the score of the poor one rises by 1, that of the good one stays"
        return _case(make(epsilon), np.array([0.0, high]), np.array([1.0, high]), words, choice=True)

    return case


def of_answers(technique: SparseVector, excess: Any) -> dict[tuple[int, ...], float]:
    """Return the log probability of each sequence of answers, by integration over the noisy threshold."""
    values = np.asarray(excess, dtype=float).reshape(-1)
    answers = {}
    for pattern in itertools.product((0, 1), repeat=len(values)):
        done = np.cumsum(pattern) - pattern >= technique.cutoff
        if not np.any(done & np.array(pattern, dtype=bool)):
            row = tuple(int(a) for a in np.where(done, -1, pattern))
            answers[row] = technique.log_probability(np.array(row), values, 0.0)
    return answers


QUERIES = (
    np.array([0.0, 0.0, 0.0, -8.0]),
    np.array([1.0, 1.0, 1.0, -9.0]),
    "three queries rise by 1, and the fourth falls by 1",
)

# answers that go either way
NEAR = np.array([-1.0, 0.0, 1.0])


def _answers_law(technique: SparseVector, draw: Any) -> Any:
    return choice_law(draw, lambda: of_answers(technique, NEAR / technique.epsilon), draws=10_000)


def _sparse_vector(epsilon: float, relation: str) -> Case:
    technique = SparseVector(epsilon, 1)
    data, neighbour, words = QUERIES

    def release(data, draws, rng):
        return technique.release(data, 0.0, draws=draws, rng=rng)

    law = _answers_law(technique, partial(release, NEAR / epsilon))
    exact = partial(Enumerated, probabilities=of_answers)
    return Case.of_release(data, neighbour, release, exact=exact, words=words, law=law)


def _sample_and_aggregate(epsilon: float, relation: str) -> Case:
    mechanism = SampleAndAggregate(epsilon, 1, 0.0, 1.0, relation)

    def release(data, draws, rng):
        return mechanism.release(data, np.max, draws=draws, rng=rng)

    data, neighbour = np.array([0.0, 0.0]), np.array([0.0, 0.0, 1.0] if relation == "add-remove" else [0.0, 1.0])
    law = noise_law(Laplace(1.0, mechanism.scale), partial(_noisy_mean, mechanism), 0.0)
    words = "a block of zeros, and a 1 is added, or replaces a 0"
    return Case.of_release(data, neighbour, release, words=words, law=law, further=(_blocks(epsilon, relation),))


def _noisy_mean(mechanism: SampleAndAggregate, value: float, draws: int, rng: Any) -> Any:
    return mechanism.release(np.full(1, value), np.max, draws=draws, rng=rng)


def _blocks(epsilon: float, relation: str) -> Case:
    """Return a case of several blocks, where a record in the middle must move no other record to another block."""
    mechanism = SampleAndAggregate(epsilon, 4, 0.0, 1.0, relation)

    def release(data, draws, rng):
        return mechanism.release(data[0][:, 0], np.max, draws=draws, rng=rng)

    values = np.array([0.0, 1.0] * 4 + [0.0])
    before = values[:-1] if relation == "add-remove" else np.append(values[:-1], 1.0)
    first, second = in_the_middle(*((x[:, None], np.zeros(len(x))) for x in (before, values)))
    return Case.of_release(first, second, release, words="a record is added, or replaced, among others in four blocks")


def _typed_cells(data: Table) -> NDArray[np.float64]:
    X, codes = data
    return np.bincount(2 * codes + X[:, 0].astype(int), minlength=4).astype(float)


def typed_histogram(noise: type[Laplace] | type[Geometric]) -> Typed:
    """Return noisy numbers of records by class and first feature. A record that moves changes two of them."""

    def sides(public: Public) -> Sides:
        mechanism = noise(public.epsilon, 1 if public.relation == "add-remove" else 2)

        def call(data):
            return mechanism.release(_typed_cells(data), rng=np.random.default_rng(0))

        def sample(data, draws, rng):
            return mechanism.release(_typed_cells(data), draws=draws, rng=rng)

        return call, sample, recorded(call, pasts=1)

    return typed_case(sides, "noisy numbers of records with and without feature a, in either class")


BEFORE = np.array([0, 0, 5])
# noise in small steps of its scale, so that a tail begins where it is looked for; and scores that are all chosen often
FINE_SCALE, INTEGER_SPREAD = 30.0, np.array([0, 1, 2, 2])


def _integer_laplace(epsilon: float, relation: str) -> Case:
    moved = np.array([1, 0, 5] if relation == "add-remove" else [1, 0, 4])
    scale = integer_scale(epsilon, 1 if relation == "add-remove" else 2)

    def release(data, draws, rng):
        return integer_laplace(data, scale, draws=draws)

    def noisy(values, draws, rng):
        return integer_laplace(values, FINE_SCALE, draws=draws)

    words = "a histogram, and one record is added, or moves to another cell"
    # so many draws take four seconds, and show whether the noise is cut at ten scales, beyond which 30 are expected
    law = noise_law(Geometric(1 / FINE_SCALE), noisy, [0, 0, 5], draws=700_000) if relation == "add-remove" else None
    return Case.of_release(BEFORE, moved, release, exact=ComparedLoss, draws=4_000, words=words, law=law)


def _chances(mechanism: Any, scores: Any) -> Any:
    """Return the log probabilities of permute-and-flip, the distribution of OpenDP's noisy max."""
    return _log_chances(scores, mechanism.scale)


def _log_chances(scores: Any, scale: float) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(PermuteAndFlip(1.0, 1.0).probabilities(np.reshape(scores, -1) / scale))


def _noisy_max(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        return noisy_max(data, epsilon, 1, draws=draws)

    width = math.ceil(epsilon)

    def draw(draws, rng):
        return noisy_max(INTEGER_SPREAD, epsilon, width, draws=draws)

    def chances():
        return dict(enumerate(_log_chances(INTEGER_SPREAD, integer_scale(epsilon, width))))

    high = math.ceil(30 / epsilon)
    words = "two candidates, and the score of the poor one rises by 1, that of the good one stays"
    pair = np.array([0, high]), np.array([1, high])
    law = choice_law(draw, chances, draws=10_000) if relation == "add-remove" else None
    exact = partial(Enumerated, probabilities=_chances)
    return Case.of_release(*pair, release, exact=exact, draws=2_000, words=words, law=law)


def _discrete_gaussian(epsilon: float, relation: str) -> Case:
    # ρ + 2·sqrt(ρ·log(1/δ)) = ε
    log = math.log(1 / DELTA)
    scale = gaussian_scale((math.sqrt(log + epsilon) - math.sqrt(log)) ** 2)

    def release(data, draws, rng):
        return discrete_gaussian(data, scale, draws=draws)

    law = noise_law(_DiscreteTails(scale), release, [0, 5], draws=50_000) if relation == "add-remove" else None
    words = "a count, and one record is added"
    pair = np.array([0]), np.array([1])
    return Case.of_release(*pair, release, exact=ComparedProfile, draws=4_000, words=words, law=law)


class _DiscreteTails:
    """Tails of discrete Gaussian noise, summed from its definition."""

    def __init__(self, scale: float):
        k = np.arange(math.ceil(40 * scale) + 1)
        weights = np.exp(-(k**2) / (2 * scale**2)) * np.where(k, 2.0, 1.0)
        # beyond each size, from 0 on
        self.beyond = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0) / weights.sum()

    def tail(self, sizes: Any) -> Any:
        """Return P(|noise| > size)."""
        return self.beyond[np.minimum(np.floor(sizes).astype(int), len(self.beyond) - 1)]

    def tail_size(self, probability: float) -> float:
        """Return the smallest size that the noise exceeds with at most this probability."""
        return float(np.argmax(self.beyond <= probability))


def _secure_one_hot(epsilon: float, relation: str) -> Case:
    moved = np.array([[1, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    before = np.zeros_like(moved) if relation == "add-remove" else moved[::-1]
    mechanism = SecureOneHot(epsilon, (2, 3), 1 if relation == "add-remove" else 2)

    def sample(data, draws, rng):
        return np.array([mechanism.release(data).ravel() for _ in range(draws)])

    words = "counts of two attributes in two classes, and one record is added, or changes its class"
    return Case(before, moved, mechanism.release, sample, ComparedLoss(mechanism.release), draws=4_000, words=words)


CASES: dict[str, CaseMaker] = {
    "laplace": _histogram(Laplace),
    "exponential": _choice(lambda e: ExponentialMechanism(e, change_range=1.0), 60.0),
    "norm-gamma": _points(lambda e: NormGamma(e, 1.0, 2)),
    "one-hot-norm": _one_hot,
    "geometric": _histogram(Geometric),
    "staircase": _staircase,
    "gaussian": _points(lambda e: Gaussian(e, DELTA), DELTA),
    "noisy-max-exponential": _choice(lambda e: ReportNoisyMax(e, 1.0, "exponential"), 30.0),
    "noisy-max-laplace": _choice(lambda e: ReportNoisyMax(e, 1.0, "laplace"), 30.0),
    "noisy-max-gumbel": _choice(lambda e: ReportNoisyMax(e, 1.0, "gumbel"), 30.0),
    "permute-and-flip": _choice(lambda e: PermuteAndFlip(e, 1.0), 30.0),
    "sparse-vector": _sparse_vector,
    "sample-and-aggregate": _sample_and_aggregate,
    "secure-integer-laplace": _integer_laplace,
    "secure-one-hot": _secure_one_hot,
    "secure-noisy-max": _noisy_max,
    "secure-discrete-gaussian": _discrete_gaussian,
}
TYPED: dict[str, Typed] = {"laplace": typed_histogram(Laplace), "geometric": typed_histogram(Geometric)}
