"""The noise of a release, noted at the boundary that every draw passes: the drawn noise, not the stated one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpml.mechanisms import boundary

WORDS = {
    "_IntegerLaplace": "integer Laplace noise",
    "_DiscreteGaussian": "discrete Gaussian noise",
    "_NoisyMax": "noisy maximum (permute-and-flip)",
    "Laplace": "Laplace noise",
    "Gaussian": "Gaussian noise",
    "NormalNoise": "Gaussian noise",
    "Geometric": "geometric noise",
    "ExponentialMechanism": "exponential mechanism",
    "PermuteAndFlip": "permute-and-flip",
    "NormGamma": "noise of a norm",
    "OneHotNorm": "noise of a norm",
    "SecureOneHot": "secure noise of a norm",
    "PerturbedMinimum": "noise on the objective",
    "SecureMinimum": "secure noise on the objective",
    "_Cover": "noise on the objective",
}


class _Noting:
    """Observer that notes each mechanism, and passes the release on to whoever observed before."""

    def __init__(self, noise: list[str], outer: Any):
        self.noise, self.outer = noise, outer

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        words = in_words(type(mechanism).__name__)
        if words not in self.noise:
            self.noise.append(words)
        return (
            mechanism._sample(statistic, rng) if self.outer is None else self.outer.release(mechanism, statistic, rng)
        )

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        with boundary.observe(self.outer):
            return boundary.public_randomness(rng, draw, *arguments, size=size)

    def best_of_runs(self, factor: float) -> Any:
        with boundary.observe(self.outer):
            return boundary.best_of_runs(factor)


@contextmanager
def noted() -> Iterator[list[str]]:
    """Return a context in which every kind of noise that is drawn is added to a list, in words."""
    noise: list[str] = []
    with boundary.observe(_Noting(noise, boundary.observer())):
        yield noise


def in_words(kind: str) -> str:
    """Return the words for a kind of mechanism."""
    return WORDS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.lstrip("_")).lower()
