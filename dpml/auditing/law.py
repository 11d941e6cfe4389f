"""A test that draws follow the law that a mechanism states: exact probabilities of outcomes, far tails included.

The recorder trusts the scale that a mechanism states. Draws show if it draws something else: half the noise, noise that
is cut off, or none where the statistic is 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from dpml._validate import check_integer
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.noise import SymmetricNoise

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
