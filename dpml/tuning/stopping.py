"""Random stopping: run a private pipeline a random number of times and release the best run (Liu and Talwar 2019).

The number of runs K is never released, but its distribution is public: the truncated negative binomial distribution
with parameters η > -1 and γ in (0, 1). Its generating function F(x) = E x^K has F'(x) proportional to
(1 - (1-γ)x)^-(η+1) (Papernot and Steinke 2022, Definition 1). η = 1 is the geometric distribution of Liu and Talwar,
η = 0 the logarithmic distribution. `stopping_epsilon` has the cost and its proof.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.budget import Budget, charge
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary

# With a smaller γ the number of runs can be so large that a search does not end.
MIN_GAMMA = 1e-6


def _check(eta: Any, gamma: Any) -> tuple[float, float]:
    eta = check_number(eta, "eta", -1.0, open_lower=True)
    return eta, check_number(gamma, "gamma", MIN_GAMMA, 1.0, open_upper=True)


def stopping_epsilon(epsilon_run: float, eta: float) -> float:
    """Return the cost of random stopping, (2 + η)·ε₀, if each run has ε₀-differential privacy.

    Parameters
    ----------
    epsilon_run : float
        Privacy parameter ε₀ of one run: the selection of its candidate, its training and its score together.
    eta : float
        Parameter η of the number of runs, above -1.

    Returns
    -------
    float
        Privacy parameter ε of the whole search.

    See Also
    --------
    random_stopping : Release the best of a random number of runs.

    Notes
    -----
    Derivation. Order a run's outcomes (parameters, model, private score) by score. Let a run give outcome o with
    probability q and a worse one with probability a. The best of K runs is o with probability F(a + q) - F(a) = q·(mean
    of F' over [a, a + q]). On a neighbour q' >= q/e^ε₀. For t in [0, 1] let x = a + tq and x' = a' + tq'. They are the
    probabilities, on the two data sets, of the event "worse than o, or o and a random draw of probability t". The
    probabilities of its complement differ by a factor of at most e^ε₀, so 1 - (1-γ)x' = γ + (1-γ)(1-x') <= e^ε₀·(γ +
    (1-γ)(1-x)). Therefore F'(x) <= e^((1+η)ε₀)·F'(x') for every t, and the two factors multiply to e^((2+η)ε₀) (Liu and
    Talwar 2019 for η = 1, which is 3ε₀, and Papernot and Steinke 2022). For every η a rare outcome with a rare better
    one approaches the bound as γ goes to 0 (tests/library/test_tuning_search.py). The first of equal scores is kept.
    Given K the runs are independent and identically distributed, so this equals an order by a random draw in each run's
    outcome. K is not released: otherwise the cost would grow with K without bound.

    References
    ----------
    Liu and Talwar (2019). Papernot and Steinke (2022), Definition 1.

    Examples
    --------
    >>> stopping_epsilon(0.5, 1.0), stopping_epsilon(0.5, 0.0)
    (1.5, 1.0)
    """
    return (2.0 + check_number(eta, "eta", -1.0, open_lower=True)) * check_epsilon(epsilon_run, "epsilon_run")


def expected_runs(eta: float, gamma: float) -> float:
    """Return the mean number of runs: η(1-γ)/(γ(1-γ^η)), and (1/γ - 1)/log(1/γ) at η = 0."""
    eta, gamma = _check(eta, gamma)
    spread = -math.log(gamma)
    return (1 - gamma) / gamma * (1 / spread if eta == 0 else eta / -math.expm1(-eta * spread))


def stopping_gamma(eta: float, runs: float) -> float:
    """Return the γ for which the mean number of runs is `runs`, or the least allowed γ if its mean is smaller."""
    eta, _ = _check(eta, 0.5)
    runs = check_number(runs, "runs", 1.0, open_lower=True)
    few, many = math.log(0.999999), math.log(MIN_GAMMA)
    for _ in range(200):
        middle = (few + many) / 2
        few, many = (middle, many) if expected_runs(eta, math.exp(middle)) < runs else (few, middle)
    return math.exp(many)


def truncated_negative_binomial(eta: float, gamma: float, *, rng: np.random.Generator, size: int | None = None) -> Any:
    """Draw numbers of runs K >= 1 with P(K = k) proportional to (1-γ)^k·Γ(k + η)/k!.

    Parameters
    ----------
    eta : float
        Parameter η, above -1: 1 is the geometric distribution, 0 the logarithmic one. Below 0 the tail is heavier.
    gamma : float
        Parameter γ, in [1e-6, 1). A smaller γ means more runs.
    rng : numpy.random.Generator
        Source of the random numbers.
    size : int, optional
        Number of values. By default a single one.

    Returns
    -------
    int, or ndarray of int of shape (size,)
        Numbers of runs.

    See Also
    --------
    random_stopping : Release the best of a random number of runs.

    Notes
    -----
    Exact rejection sampling for every η > -1: k·P(K = k) is proportional to the probability of k - 1 under the negative
    binomial distribution with η + 1 and γ. So k is 1 plus a draw from it, and is accepted with probability 1/k.

    Examples
    --------
    >>> truncated_negative_binomial(1.0, 0.2, rng=np.random.default_rng(0), size=5).tolist()
    [3, 4, 3, 1, 2]
    """
    eta, gamma = _check(eta, gamma)
    check_rng(rng)
    wanted = 1 if size is None else check_integer(size, "size", 0)
    counts = np.empty(0, dtype=np.int64)
    tries = expected_runs(eta, gamma)
    while len(counts) < wanted:
        several = min(int(1.1 * tries * (wanted - len(counts))) + 16, 1 << 20)
        k = 1 + boundary.public_randomness(rng, "negative_binomial", eta + 1, gamma, size=several)
        accepting = boundary.public_randomness(rng, "random", size=several)
        counts = np.concatenate([counts, k[accepting * k < 1]])
    return int(counts[0]) if size is None else counts[:wanted]


def stopping_distribution(probabilities: Any, eta: float, gamma: float) -> NDArray[np.float64]:
    """Return the probability that each outcome is the best of the runs, in closed form.

    Parameters
    ----------
    probabilities : array of shape (outcomes,)
        Probabilities of the outcomes of one run, the lowest score first. They add up to 1.
    eta : float
        Parameter η of the number of runs, above -1.
    gamma : float
        Parameter γ of the number of runs, in [1e-6, 1).

    Returns
    -------
    ndarray of shape (outcomes,)
        Probabilities of the outcomes of the best run.

    See Also
    --------
    stopping_epsilon : Cost of random stopping.

    Examples
    --------
    >>> stopping_distribution([0.5, 0.5], 1.0, 0.5).round(4).tolist()
    [0.3333, 0.6667]
    """
    eta, gamma = _check(eta, gamma)
    q = np.asarray(probabilities, dtype=float)
    if q.ndim != 1 or not q.size or not (q >= 0).all() or abs(q.sum() - 1) > 1e-9:
        raise InvalidParameter("probabilities", f"an array of shape {q.shape}", "one row that adds up to 1")
    better = np.concatenate([np.cumsum(q[:0:-1])[::-1], [0.0]])
    # F(x) at x = 1 - better is computed from 1 - x, so that the probabilities of rare outcomes keep their digits
    u = gamma + (1 - gamma) * better
    step = np.log1p((1 - gamma) * q / u)
    if eta == 0:
        return step / -math.log(gamma)
    return u**-eta * np.expm1(-eta * step) / -math.expm1(-eta * math.log(gamma))


@claim(
    "random-stopping-logarithmic",
    "Best of a random number of runs, logarithmic",
    "[papernot-steinke2022]",
    "2 times the ε of one run",
)
@claim(
    "random-stopping-geometric",
    "Best of a random number of runs, geometric",
    "[liu-talwar2019]",
    "3 times the ε of one run",
)
def random_stopping(
    run: Callable[[np.random.Generator], tuple[Any, float]],
    epsilon_run: float,
    *,
    eta: float = 0.0,
    gamma: float,
    rng: np.random.Generator,
    draws: int | None = None,
    budget: Budget | None = None,
    relation: str = "add-remove",
) -> Any:
    """Run a private pipeline a random number of times and release the best run.

    Parameters
    ----------
    run : callable
        Function of which ``run(rng)`` returns (output, score). The pair must have ε₀-differential privacy. Every run
        makes the same call, which draws its candidate itself.
    epsilon_run : float
        Privacy parameter ε₀ of one run.
    eta : float, default 0.0
        Parameter η of the number of runs, above -1. It is public.
    gamma : float
        Parameter γ of the number of runs, in [1e-6, 1). It is public.
    rng : numpy.random.Generator
        Source of the random numbers.
    draws : int, optional
        Number of independent searches. Each has the full cost.
    budget : Budget, optional
        Budget that is charged with the cost of all draws before the first run.
    relation : {"add-remove", "replace-one"}, default "add-remove"
        Neighbouring relation for which ε₀ holds. It must be the budget's.

    Returns
    -------
    (output, score), or a list of `draws` of them
        Output of the run with the highest private score, and that score.

    See Also
    --------
    stopping_epsilon : Cost of random stopping, with its proof.

    Notes
    -----
    Privacy: ε = (2 + `eta`)·`epsilon_run` per draw. δ = 0. Relation: the one under which each run is private.
    Sensitivity: that of one run, its score included (`stopping_epsilon` has the proof).

    The number of runs is not released, but the running time reveals information about it.

    References
    ----------
    Liu and Talwar (2019). Papernot and Steinke (2022).

    Examples
    --------
    >>> def run(rng):
    ...     candidate = int(rng.integers(3))
    ...     return candidate, 10.0 * candidate + rng.laplace(scale=1 / 0.5)
    >>> random_stopping(run, 0.5, gamma=0.01, rng=np.random.default_rng(0))[0]
    2
    """
    cost = stopping_epsilon(epsilon_run, eta)
    check_rng(rng)
    n_draws = 1 if draws is None else check_integer(draws, "draws", 1)
    _check(eta, gamma)
    charge(budget, relation, n_draws * cost, label="random stopping")
    counts = truncated_negative_binomial(eta, gamma, rng=rng, size=n_draws)
    runs = [_best_of(run, int(k), eta, rng) for k in counts]
    return runs[0] if draws is None else runs


def _best_of(run: Callable, runs: int, eta: float, rng: np.random.Generator) -> tuple[Any, float]:
    best: Any = None
    best_score = -math.inf
    with boundary.best_of_runs(2 + eta) as one_run:
        for first in [True] + [False] * (runs - 1):
            with one_run():
                outcome, score = run(rng)
            if first or score > best_score:
                best, best_score = outcome, score
    return best, best_score
