"""The noise of one number and of two, by the page's settings: draws and exact tails of the library's mechanisms."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.mechanisms import Gaussian, Geometric, Laplace, NormGamma
from dpml.mechanisms.smooth.admissible import Cauchy, StudentT
from dpml.registry import method, of_family

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float, float]  # ε, Δ, δ, and β as a share of ε
NORMS = {each.key: each.options["p"] for each in of_family("noise", "number") if "p" in each.options}
DEGREES = method("student", "noise").options["degrees"]


@dataclass(frozen=True)
class Model:
    """The noise of one number: a mechanism, and the smooth sensitivity for one that is scaled by it."""

    mechanism: Any
    smooth: float | None = None

    @property
    def whole(self) -> bool:
        """Whether the noise is a whole number."""
        return isinstance(self.mechanism, Geometric)

    @property
    def unit(self) -> float:
        """What the mechanism states sizes in."""
        return 1.0 if self.smooth is None else self.smooth

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return draws of the noise, by the library."""
        at = (0,) if self.smooth is None else (0.0, self.smooth)
        return np.asarray(self.mechanism.release(*at, rng=rng, draws=draws), dtype=float)

    def log_density(self, x: Any) -> Floats:
        """Return the log density (log probability of a whole number)."""
        if self.whole:
            return self.mechanism.log_probability(x, 0)
        at = (0,) if self.smooth is None else (0.0, self.smooth)
        return self.mechanism.log_density(x, *at)

    def tail(self, t: Any) -> Floats:
        """Return P(|noise| > t) for t >= 0."""
        return self.mechanism.tail(np.asarray(t) / self.unit)

    def quantile(self, tail: float) -> float:
        """Return the smallest t with P(|noise| > t) <= `tail`."""
        return self.unit * self.mechanism.tail_size(tail)

    @property
    def mean_size(self) -> float:
        """Return E|noise|; infinite for Cauchy noise."""
        return self.unit * self.mechanism.mean_size

    def shares(self, edges: Floats) -> Floats:
        """Return the probability of each bin (edges[i], edges[i+1]]; no edge lies on a jump of a whole number."""
        return self.mechanism.bin_probabilities(np.asarray(edges) / self.unit)


def model(name: str, epsilon: float, sensitivity: float, delta: float, beta: float, numbers: int = 1) -> Model:
    """Return the noise of one of `numbers` numbers, each of which one person can move by `sensitivity`.

    Laplace and geometric noise pay for the sum of the moves, Gaussian noise for its Euclidean length; staircase, Cauchy
    and Student's t noise are for one number, so each gets its share of ε (and β, with Δ the smooth sensitivity).

    Parameters
    ----------
    name : str
        A key of `dpml_app.pages.noise.settings.MECHANISMS`; the norms count as what they are for one number, Laplace.
    beta : float
        β as a share of ε.

    Raises
    ------
    InvalidParameter
        If Student's t or Cauchy noise cannot be had with this β.
    """
    share = epsilon / numbers
    if name == "geometric":
        return Model(Geometric(epsilon, int(sensitivity * numbers)))
    if name == "laplace" or name in NORMS:
        return Model(Laplace(epsilon, sensitivity * numbers))
    if name == "gaussian":
        return Model(Gaussian(epsilon, delta, sensitivity * math.sqrt(numbers)))
    if name == "cauchy":
        return Model(Cauchy(share, beta * share), sensitivity)
    if name == "student":
        return Model(StudentT(share, beta * share, DEGREES), sensitivity)
    return Model(method(name, "noise").make(share, sensitivity=sensitivity))


def has_scale(name: str, beta: float) -> bool:
    """Return whether a mechanism can be had at this share of β: Student's t noise with d degrees needs β < ε/d."""
    return name != "student" or beta < 1 / DEGREES


def _norm_mechanism(name: str, epsilon: float, sensitivity: float) -> NormGamma | None:
    if name not in NORMS:
        return None
    p = NORMS[name]
    # both coordinates can move by Δ: the p-norm of (Δ, Δ) (Antonova 2016, Fig. 2.1)
    return NormGamma(epsilon, sensitivity * 2 ** (1 / p), dimension=2, p=p)


def vector_draws(name: str, settings: Numbers, draws: int, rng: np.random.Generator) -> Floats:
    """Return draws of two numbers' noise, shape (draws, 2); `settings` are ε, Δ, δ and β's share."""
    norm = _norm_mechanism(name, settings[0], settings[1])
    if norm is not None:
        return norm.release(np.zeros(2), rng=rng, draws=draws)
    return model(name, *settings, 2).draw(2 * draws, rng).reshape(draws, 2)


def vector_log_density(name: str, settings: Numbers, x: Floats, y: Floats) -> Floats:
    """Return the log density of two numbers' noise."""
    norm = _norm_mechanism(name, settings[0], settings[1])
    if norm is not None:
        return norm.log_density(np.stack(np.broadcast_arrays(x, y), axis=-1), np.zeros(2))
    one = model(name, *settings, 2)
    return one.log_density(x) + one.log_density(y)
