"""Sources of randomness for one release: NumPy for simulations, OpenDP for publication, or none for an exact choice.

A method of several steps takes a `Source` and asks it for noisy counts and for choices, so each step is written once.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import ON_INVALID, check_choice, check_flag, check_relation, check_rng
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms import boundary
from dpml.mechanisms.choice import ExponentialMechanism
from dpml.mechanisms.noise import Laplace, NormalNoise
from dpml.mechanisms.private import repeated, to_integers
from dpml.mechanisms.secure import (
    check_release,
    discrete_gaussian,
    gaussian_scale,
    integer_laplace,
    integer_scale,
    noisy_max,
)

# A replaced record is one taken away and one added: every sensitivity doubles.
FACTOR = {"add-remove": 1, "replace-one": 2}

# secure choice takes scores in multiples of this; the range of the change grows by two of them
STEP = 2.0**-10


@dataclass(frozen=True)
class LargestScore:
    """The choice of the largest score without noise. It is not private. It serves to measure the cost of noise."""

    def _sample(self, statistic: NDArray[np.float64], rng: Any) -> NDArray[np.intp]:
        return statistic.argmax(axis=-1)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        alike = (statistic.argmax(axis=-1) == other_statistic.argmax(axis=-1)).all()
        return boundary.NOTHING if alike else boundary.EVERYTHING


@dataclass(frozen=True)
class Source:
    """Noisy counts and private selections from one source of randomness.

    `rng`: NumPy's noise, for simulations. `secure`: integer noise and permute-and-flip by OpenDP instead, which have no
    `rng`. `exact_choice`: choices take the largest score, for simulations only, because they are not private.
    """

    rng: np.random.Generator | None = None
    secure: bool = False
    exact_choice: bool = False

    def __post_init__(self):
        if not self.secure:
            check_rng(self.rng)
        elif self.rng is not None:
            raise InvalidParameter("rng", self.rng, "left out where secure=True")
        elif self.exact_choice:
            raise NotPrivate("a choice without noise is a simulation and cannot be released")

    def counts(
        self, values: Any, epsilon: float, sensitivity: float, *, grid: int = 1, draws: int | None = None
    ) -> NDArray[np.float64]:
        """Return counts with Laplace noise, or with integer Laplace noise where it is secure. Cost: ε per draw.

        Secure noise needs values that are multiples of 1/`grid`, and gives such multiples.
        """
        if self.secure:
            scale = integer_scale(epsilon, int(sensitivity) * grid)
            return integer_laplace(to_integers(values, grid), scale, draws=draws) / grid
        return Laplace(epsilon, sensitivity).release(values, rng=check_rng(self.rng), draws=draws)

    def gaussian_counts(self, values: Any, rho: float, sensitivity: float) -> NDArray[np.float64]:
        """Return counts with Gaussian noise, discrete where it is secure. Cost: ρ for an L2 sensitivity."""
        scale = gaussian_scale(rho, sensitivity)
        if self.secure:
            return discrete_gaussian(to_integers(values, 1), scale, concentrated=True).astype(float)
        return boundary.release(NormalNoise(scale), repeated(values, None), self.rng)

    def bounded_choice(self, scores: Any, rho: float, change_range: float) -> int:
        """Return the index of a candidate with a high score. Cost: ρ = ε²/8 (`dpml.mechanisms.choice_epsilon`)."""
        epsilon = math.nextafter(math.sqrt(8 * rho) * (1 - 1e-15), 0.0)  # its square is then at most 8ρ
        if self.secure:
            return noisy_max(scores, epsilon, change_range, grid=STEP, concentrated=True)
        return ExponentialMechanism(epsilon, change_range, concentrated=True).release(scores, rng=check_rng(self.rng))

    def choice(self, scores: Any, epsilon: float, change_range: float) -> int:
        """Return the index of a candidate with a high score. Cost: ε if changes span at most `change_range`."""
        if self.exact_choice:
            return int(boundary.release(LargestScore(), repeated(scores, 1), self.rng)[0])
        if self.secure:
            return noisy_max(scores, epsilon, change_range, grid=STEP)
        return ExponentialMechanism(epsilon, change_range).release(scores, rng=check_rng(self.rng))


def check_source(rng: Any, release: bool) -> None:
    """Check, before any data are read, that a release has OpenDP and no generator, and a simulation has one."""
    if not check_flag(release, "release"):
        check_rng(rng)
    elif rng is not None:
        raise InvalidParameter("rng", rng, "None where release=True: with the seed, a reader can subtract the noise")
    else:
        check_release()


def check_start(on_invalid: str, rng: Any, release: bool, relation: str = "add-remove") -> str:
    """Check the parameters that all releases share, and return `on_invalid`, which is "clip" for a release."""
    check_choice(on_invalid, "on_invalid", ON_INVALID)
    check_relation(relation)
    check_source(rng, release)
    return "clip" if release else on_invalid
