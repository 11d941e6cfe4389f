"""Exact costs: of known output distributions, of several releases together, and tests that draws follow a stated law.

For neighbours D and D', an (ε, δ)-differentially private mechanism satisfies P(E | D) <= e^ε P(E | D') + δ for every
event E, in both directions (Antonova 2016, eq. 2.1 and 2.5). An exact audit computes the largest ratio over outputs.
It trusts the noise that a mechanism states. `check_law` and `check_noise` test samples against that statement: they
refuse half the noise, noise that is cut off, or none where the statistic is 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.stats import binom

from dpml._arrays import FloatArray
from dpml._validate import check_integer
from dpml.budget.conversion import zcdp_delta
from dpml.exceptions import DpmlError, InvalidParameter, MissingExtra
from dpml.mechanisms.boundary import Loss
from dpml.mechanisms.noise import SymmetricNoise, gaussian_delta

# An exact audit tolerates rounding errors of this size.
TOLERANCE = 1e-9


@runtime_checkable
class HasPrivacyLoss(Protocol):
    """A mechanism that computes the largest log density ratio between two data sets."""

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the supremum over outputs of the absolute log density ratio."""
        ...


@runtime_checkable
class HasProbabilities(Protocol):
    """A mechanism with finitely many outputs whose probabilities are known."""

    def log_probabilities(self, data: Any) -> Mapping[Any, float] | FloatArray:
        """Return the log probability of each output, as a mapping or in a fixed order of outputs."""
        ...


@runtime_checkable
class HasPrivacyProfile(Protocol):
    """A mechanism that computes its δ at every ε."""

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return the smallest δ for which the two data sets are (ε, δ)-indistinguishable, in both directions.

        A profile that is exact at one δ alone may add ``needed_delta(data, neighbour, epsilon)``, the δ at any ε.
        """
        ...


def log_probability_pairs(first: Any, second: Any) -> tuple[FloatArray, FloatArray, list]:
    """Return both sides' log probabilities as arrays over the same outputs, and the outputs."""
    if isinstance(first, Mapping):
        keys = list(dict.fromkeys([*first, *second]))
        sides = [np.array([side.get(k, -np.inf) for k in keys], dtype=float) for side in (first, second)]
        return sides[0], sides[1], keys
    p, q = np.asarray(first, float).ravel(), np.asarray(second, float).ravel()
    if p.shape != q.shape:
        raise InvalidParameter("log_probabilities", f"{p.size} and {q.size} outputs", "the same outputs for both")
    return p, q, list(range(p.size))


def hockey_stick(first: Any, second: Any, epsilon: float) -> float:
    """Return the smallest δ for which two output distributions are indistinguishable at an ε.

    The δ holds in both directions.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array-like
        Log probabilities of the outputs from either data set. A missing output cannot occur. The positions of an array
        are the outputs 0, 1, 2, ...
    epsilon : float
        The ε at which δ is computed.

    Returns
    -------
    float
        The hockey-stick divergence, the larger one of the two directions.

    See Also
    --------
    exact_epsilon : Computes the smallest ε at a δ.
    outcome_probabilities : Lists the probabilities of each output.

    Notes
    -----
    Privacy: no data is read.
    """
    p, q, _ = log_probability_pairs(first, second)
    p, q = np.exp(p), np.exp(q)
    bound = np.exp(epsilon)
    return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))


def exact_epsilon(first: Any, second: Any, *, delta: float = 0.0) -> tuple[float, str]:
    """Return the smallest ε of two known output distributions, and the output that attains it.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array-like
        Log probabilities of the outputs from either data set. A missing output cannot occur. The positions of an array
        are the outputs 0, 1, 2, ...
    delta : float, default=0.0
        The δ at which ε is computed. With 0, the result is the largest log ratio, which is infinite if an output is
        possible on one side only.

    Returns
    -------
    epsilon : float
        The smallest ε.
    event : str
        Description of the output with the largest log ratio.

    See Also
    --------
    hockey_stick : Computes the smallest δ at an ε.
    outcome_probabilities : Lists the probabilities of each output.

    Examples
    --------
    >>> exact_epsilon({"a": np.log(0.5), "b": np.log(0.5)}, {"a": 0.0})
    (inf, "output 'b'")
    """
    p, q, outputs = log_probability_pairs(first, second)
    with np.errstate(invalid="ignore"):
        loss = np.where((p == -np.inf) & (q == -np.inf), 0.0, np.abs(p - q))
    worst = int(loss.argmax())
    event = f"output {outputs[worst]!r}"
    if delta == 0.0:
        return float(loss[worst]), event
    return smallest_epsilon(lambda e: hockey_stick(p, q, e), delta), event


def smallest_epsilon(profile: Callable[[float], float], delta: float) -> float:
    """Return the smallest ε >= 0 at which a falling privacy profile is at most δ, infinity if it exceeds 700."""
    if profile(0.0) <= delta:
        return 0.0
    if profile(700.0) > delta:
        return np.inf
    low, high = 0.0, 700.0
    while high - low > 1e-12 * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > delta else (low, middle)
    return high


def outcome_probabilities(first: Any, second: Any) -> dict[Any, tuple[float, float]]:
    """Return the two probabilities of each output.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array-like
        Log probabilities of the outputs from either data set. A missing output cannot occur. The positions of an array
        are the outputs 0, 1, 2, ...

    Returns
    -------
    dict of output to (float, float)
        Probability of each output from the first and from the second data set.

    See Also
    --------
    exact_epsilon : Computes the smallest ε from log probabilities.
    outcomes : Computes shares of sampled outputs.

    Examples
    --------
    >>> outcome_probabilities({"a": np.log(0.5), "b": np.log(0.5)}, {"a": 0.0})
    {'a': (0.5, 1.0), 'b': (0.5, 0.0)}
    """
    p, q, outputs = log_probability_pairs(first, second)
    return {output: (float(a), float(b)) for output, a, b in zip(outputs, np.exp(p), np.exp(q), strict=True)}


Profile = Callable[[float], float]
# Shares of δ tried for the Gaussian noise; every division gives an upper bound on ε.
DIVISIONS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
# the search for a δ begins there
SMALLEST_DELTA = 1e-30


def epsilon_without_pure(loss: Loss, delta: float) -> float:
    """Return an ε for which a loss without its pure part is (ε, δ)-private: exact for Gaussian noise alone.

    All Gaussian releases together equal one with the sum of their μ². It gets one part of δ, and the releases with
    their own profiles share the other part evenly. The best of several divisions counts. Beside releases known by ρ,
    Gaussian noise of μ² costs μ²/2 (Bun and Steinke 2016, Proposition 1.6), which adds up.
    """
    gaussian = _joint_profile(loss)
    if gaussian is None:
        return _evenly(loss.profiles, delta)
    if not loss.profiles:
        return smallest_epsilon(gaussian, delta)
    return min(_evenly(loss.profiles, (1 - d) * delta) + smallest_epsilon(gaussian, d * delta) for d in DIVISIONS)


def _joint_profile(loss: Loss) -> Profile | None:
    """Return the joint δ of all Gaussian releases and of those known by ρ, as a function of ε; None without any."""
    if loss.sampled:
        if loss.concentrated:
            raise DpmlError("noise on Poisson samples is not accounted beside a cost that is known by ρ")
        return _sampled_profile(loss)
    if loss.concentrated:
        return partial(zcdp_delta, loss.concentrated + loss.gaussian / 2)
    return partial(gaussian_delta, sigma=1 / math.sqrt(loss.gaussian)) if loss.gaussian else None


def needed_delta(loss: Loss, epsilon: float) -> float:
    """Return a δ for which a loss is (ε, δ)-private: exact for Gaussian noise alone and for one profile alone."""
    left = epsilon - loss.pure
    if left < -TOLERANCE or math.isnan(left):
        return 1.0
    left = max(left, 0.0)
    if not loss.has_no_ratio:
        return 0.0
    gaussian = _joint_profile(loss)
    if gaussian is not None and not loss.profiles:
        return min(gaussian(left), 1.0)
    if gaussian is None and len(loss.profiles) == 1:
        return min(loss.profiles[0](left), 1.0)
    # the least δ whose ε is at most what is left
    low, high = math.log(SMALLEST_DELTA), 0.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if epsilon_without_pure(loss, math.exp(middle)) <= left else (middle, high)
    return math.exp(high)


def _evenly(profiles: Sequence[Profile], delta: float) -> float:
    return math.fsum(smallest_epsilon(profile, delta / len(profiles)) for profile in profiles)


def _sampled_profile(loss: Loss) -> Profile:
    """Return the joint δ of Gaussian noise on Poisson samples and other Gaussian noise, as a function of ε."""
    try:
        import dp_accounting as accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError as error:
        raise MissingExtra("Accounting for Poisson sampling", "dp-accounting", "accounting") from error
    rates = {rate for rate, _ in loss.sampled}
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for rate in rates:
        # charge every step as the most expensive one: an upper bound
        steps = [mu for its, mu in loss.sampled if its == rate]
        event = accounting.PoissonSampledDpEvent(rate, accounting.GaussianDpEvent(1 / max(steps)))
        accountant.compose(accounting.SelfComposedDpEvent(event, len(steps)))
    if loss.gaussian:
        accountant.compose(accounting.GaussianDpEvent(1 / math.sqrt(loss.gaussian)))
    return lambda epsilon: float(np.clip(accountant.get_delta(epsilon), 0.0, 1.0))


# A true law is refused once in so many tests, so that no audit of the whole catalogue is a false alarm.
LEVEL = 1e-9
# Two-sided tail probabilities between which noise is counted, and the least number of draws expected beyond the last.
TAILS = (0.8, 0.6, 0.4, 0.25, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
LEAST_EXPECTED = 30.0


@dataclass(frozen=True)
class LawResult:
    """Result of a test of a distribution.

    Attributes
    ----------
    p_value : float
        Bound on the probability of a count as unlikely as the least likely one, if the law holds.
    draws : int
        Number of draws.
    outcome : str
        The outcome with the least likely count.
    expected : float
        Its expected number of draws.
    count : int
        Its number of draws.

    See Also
    --------
    check_law : Tests counts.
    check_noise : Tests noise samples.
    """

    p_value: float
    draws: int
    outcome: str
    expected: float
    count: int

    @property
    def passed(self) -> bool:
        """True if the draws are compatible with the law."""
        return self.p_value >= LEVEL

    def __str__(self) -> str:
        seen = f"{self.count:,} of {self.draws:,} draws, {self.expected:,.1f} expected"
        return f"{self.outcome}: {seen}; P < {self.p_value:.1g}"


def check_law(counts: Any, probabilities: Any, draws: int, outcomes: Any = None) -> LawResult:
    """Test the counts of outcomes against their exact probabilities.

    Parameters
    ----------
    counts : array of int
        Number of draws with each outcome.
    probabilities : array of float
        Probability of each outcome.
    draws : int
        Number of independent draws. A draw may have several outcomes, or none.
    outcomes : sequence, optional
        Names of the outcomes.

    Returns
    -------
    LawResult
        The least likely count and a bound on its probability.

    Raises
    ------
    InvalidParameter
        If there are not as many probabilities as counts.

    See Also
    --------
    check_noise : Tests noise samples.

    Notes
    -----
    Each count is binomial. The two-sided probabilities are exact, and the least one is multiplied by their number
    (Bonferroni).

    Examples
    --------
    >>> check_law([510, 490], [0.5, 0.5], 1000).passed, check_law([700, 300], [0.5, 0.5], 1000).passed
    (True, False)
    """
    counts, chances = np.asarray(counts, dtype=np.int64), np.asarray(probabilities, dtype=float)
    if counts.shape != chances.shape or counts.ndim != 1:
        raise InvalidParameter("probabilities", f"shape {chances.shape}", f"one for each of the counts, {counts.shape}")
    n = check_integer(draws, "draws", 1)
    chances = np.clip(chances, 0.0, 1.0)
    p_values = np.minimum(2 * np.minimum(binom.cdf(counts, n, chances), binom.sf(counts - 1, n, chances)), 1.0)
    worst = int(p_values.argmin())
    name = str(worst if outcomes is None else outcomes[worst])
    p_value = min(float(p_values[worst]) * len(counts), 1.0)
    return LawResult(p_value, n, name, float(n * chances[worst]), int(counts[worst]))


def check_noise(noise: SymmetricNoise, values: Any) -> LawResult:
    """Test noise samples about 0 against the exact tails and the symmetry of a noise distribution.

    Parameters
    ----------
    noise : SymmetricNoise
        The law that is stated.
    values : array of float or int
        Independent draws.

    Returns
    -------
    LawResult
        The last outcome lies so far out that `LEAST_EXPECTED` draws are expected there.

    See Also
    --------
    check_law : Tests counts.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> draws = np.random.default_rng(0).laplace(size=100_000)
    >>> check_noise(Laplace(1.0), draws).passed, check_noise(Laplace(1.0), draws.clip(-7, 7)).passed
    (True, False)
    """
    values = np.ravel(values)
    last = LEAST_EXPECTED / max(values.size, 1)
    sizes = np.unique([noise.tail_size(p) for p in (*(p for p in TAILS if p > 2 * last), last) if p < 1])
    tails = noise.tail(sizes)
    beyond = (np.abs(values) > sizes[:, None]).sum(axis=1)
    counts = [*-np.diff(beyond, prepend=values.size), beyond[-1], (values > 0).sum()]
    chances = [*-np.diff(tails, prepend=1.0), tails[-1], float(noise.tail(0.0)) / 2]
    ends = [f"size up to {size:.4g}" for size in sizes]
    return check_law(counts, chances, values.size, [*ends, f"size above {sizes[-1]:.4g}", "above 0"])


def check_sizes(law: Any, values: Any) -> LawResult:
    """Test samples of a positive size against a distribution of SciPy, both tails included."""
    values = np.ravel(values)
    last = LEAST_EXPECTED / max(values.size, 1)
    edges = np.array([last, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - last])
    counts = (values[:, None] <= law.ppf(edges)).sum(axis=0)
    return check_law(counts, edges, values.size, [f"size up to {size:.4g}" for size in law.ppf(edges)])
