"""Claims of the mechanisms."""

import itertools
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from dpml.auditing.law import check_sizes
from dpml.catalogue._laws import NOISES, choice_law, in_the_middle, noise_law
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import Enumerated, of_choice
from dpml.catalogue._typed import typed_histogram
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


DELTA = 1e-5


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


METHODS = (
    Method(
        "laplace",
        "Laplace mechanism",
        "mechanism",
        ("dpml.mechanisms.Laplace",),
        "[antonova2016], Theorem 2.2.1",
        "ε for statistics of the stated L1 sensitivity",
        _histogram(Laplace),
        editable=typed_histogram(Laplace),
    ),
    Method(
        "exponential",
        "Exponential mechanism, by the range of the score change",
        "mechanism",
        ("dpml.mechanisms.ExponentialMechanism",),
        "[antonova2016], eq. 2.30, with the range instead of 2Δ (docs/explanation/errata.md)",
        "ε for scores whose changes span at most the stated range",
        _choice(lambda e: ExponentialMechanism(e, change_range=1.0), 60.0),
    ),
    Method(
        "norm-gamma",
        "Euclidean norm mechanism",
        "mechanism",
        ("dpml.mechanisms.NormGamma",),
        "[antonova2016], eq. 2.24 with p = 2, and [chaudhuri2011]",
        "ε for vectors of the stated L2 sensitivity",
        _points(lambda e: NormGamma(e, 1.0, 2)),
    ),
    Method(
        "one-hot-norm",
        "Norm mechanism for sums of one-hot records",
        "mechanism",
        ("dpml.mechanisms.OneHotNorm",),
        "[hardt-talwar2010] and [awan-slavkovic2021]",
        "ε for vectors of the stated sensitivity in its norm",
        _one_hot,
    ),
    Method(
        "geometric",
        "Two-sided geometric mechanism",
        "mechanism",
        ("dpml.mechanisms.Geometric",),
        "[antonova2016], section 2.2.1, and [ghosh2012]",
        "ε for integer statistics of the stated L1 sensitivity",
        _histogram(Geometric),
        editable=typed_histogram(Geometric),
    ),
    Method(
        "staircase",
        "Staircase mechanism",
        "mechanism",
        ("dpml.mechanisms.Staircase",),
        "[geng-viswanath2014]",
        "ε for one number of the stated sensitivity",
        _staircase,
    ),
    Method(
        "gaussian",
        "Gaussian mechanism, analytic calibration",
        "mechanism",
        ("dpml.mechanisms.Gaussian",),
        "[balle-wang2018], Algorithm 1",
        "(ε, δ) for vectors of the stated L2 sensitivity, audited at δ = 1e-5",
        _points(lambda e: Gaussian(e, DELTA), DELTA),
        delta=DELTA,
    ),
    *(
        Method(
            f"noisy-max-{noise}",
            f"Report noisy max with {title} noise",
            "mechanism",
            ("dpml.mechanisms.ReportNoisyMax",),
            source,
            "ε for scores whose changes span at most the stated range",
            _choice(lambda e, noise=noise: ReportNoisyMax(e, 1.0, noise), 30.0),
        )
        for noise, title, source in (
            ("exponential", "exponential", "[ding2021]"),
            ("laplace", "Laplace", "[dwork-roth2014], Claim 3.9"),
            ("gumbel", "Gumbel", "the exponential mechanism, drawn by Gumbel noise"),
        )
    ),
    Method(
        "permute-and-flip",
        "Permute-and-flip",
        "mechanism",
        ("dpml.mechanisms.PermuteAndFlip",),
        "[mckenna-sheldon2020], Algorithm 1",
        "ε for scores whose changes span at most the stated range",
        _choice(lambda e: PermuteAndFlip(e, 1.0), 30.0),
    ),
    Method(
        "sparse-vector",
        "Sparse vector technique",
        "mechanism",
        ("dpml.mechanisms.SparseVector",),
        "[lyu2017], Algorithm 1",
        "ε for any number of queries, of which at most a stated number are above the threshold",
        _sparse_vector,
    ),
    Method(
        "sample-and-aggregate",
        "Sample and aggregate",
        "mechanism",
        ("dpml.mechanisms.SampleAndAggregate",),
        "[antonova2016], section 2.4, and [nissim2007], section 4",
        "ε",
        _sample_and_aggregate,
    ),
)
