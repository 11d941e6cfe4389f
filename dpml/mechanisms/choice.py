"""Private choice among public candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from dpml._validate import check_epsilon, check_integer, check_number, check_rng

__all__ = ["ExponentialMechanism"]


@dataclass(frozen=True)
class ExponentialMechanism:
    """The exponential mechanism, calibrated by the range of the change of its scores.

    Released: one candidate, drawn with probability proportional to exp(ε·q/`change_range`).

    Privacy: ε per draw. Derivation: let going from one data set to its neighbour change every candidate's score by an
    amount in [a, b] (the interval may depend on the pair) with b - a at most `change_range`. With w = ε/(b - a) every
    weight is multiplied by a factor in [exp(wa), exp(wb)], and so is their sum; a probability therefore changes by a
    factor of at most exp(w(b - a)) = exp(ε). A two-sided sensitivity Δ gives the range 2Δ, which is the textbook
    weight ε/(2Δ) (McSherry and Talwar 2007; 000 eq. 2.26); a monotone score has range Δ and gains a factor of two.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    change_range : float
        Largest b - a over pairs of neighbours, in the score's units, > 0.

    Examples
    --------
    >>> ExponentialMechanism(epsilon=np.log(3), change_range=1).probabilities([1, 0]).round(3).tolist()
    [0.75, 0.25]
    """

    epsilon: float
    change_range: float

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "change_range", check_number(self.change_range, "change_range", 0.0, open_lower=True))

    @property
    def weight(self) -> float:
        """The log-weight of one unit of score, ε/`change_range`."""
        return self.epsilon / self.change_range

    def probabilities(self, scores: Any) -> NDArray[np.float64]:
        """Return the probability of each candidate; scores have shape (..., candidates)."""
        return softmax(self.weight * np.asarray(scores, dtype=float), axis=-1)

    def release(self, scores: Any, *, rng: np.random.Generator, draws: int | None = None) -> Any:
        """Return the index of the chosen candidate, or an array of `draws` indices.

        Sampled as the largest of score plus Gumbel noise, which has exactly these probabilities.
        """
        scores = np.asarray(scores, dtype=float)
        size = 1 if draws is None else check_integer(draws, "draws", 1)
        noisy = check_rng(rng).gumbel(size=(size, scores.shape[-1])) + self.weight * scores
        chosen = noisy.argmax(axis=-1)
        return int(chosen[0]) if draws is None else chosen
