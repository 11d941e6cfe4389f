"""A private fit without noise, at the settings of its ε. It is a simulation and not private."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms import ExponentialMechanism, ReportNoisyMax, boundary
from dpml.mechanisms.noise import NormalNoise
from dpml.selection.top import JointDraw, OneShot, Peel, PeelByGumbel

# so much, or of so small a scale, that its noise is below rounding
NONE, TINY = 1e15, 1e-15
# choices whose statistic is scores in units of their noise
IN_UNITS_OF_NOISE = ExponentialMechanism, ReportNoisyMax, OneShot, Peel, PeelByGumbel


@contextmanager
def without_noise() -> Iterator[None]:
    """Make all fits inside the ``with`` block release exact values and choose the best candidates.

    Not private: a budget inside is charged for noise that was not added. The settings that a method derives from its ε
    (a regulariser, a contribution bound, the part it leaves out) stay those of that ε. So the difference to the same
    fit with noise is what noise costs.

    Raises
    ------
    NotPrivate
        For a release with secure noise inside the block.
    InvalidParameter
        For a mechanism of another kind.

    See Also
    --------
    best_without_noise : Best accuracy without noise.
    cost : Privacy cost of the default classifier.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> with without_noise():
    ...     Laplace(0.1, 1.0).release([3.0, 4.0], rng=np.random.default_rng(0)).round(9)
    array([3., 4.])
    """
    with boundary.observe(_Noiseless()):
        yield


class _Noiseless:
    def release(self, mechanism: Any, statistic: Any, rng: np.random.Generator | None) -> Any:
        if rng is None:
            raise NotPrivate("a secure release inside without_noise(): it would release private values")
        if isinstance(mechanism, IN_UNITS_OF_NOISE):
            return mechanism._sample(np.asarray(statistic) * NONE, rng)
        return _quiet(mechanism)._sample(statistic, rng)

    def public_randomness(self, rng: np.random.Generator | None, draw: str, arguments: tuple, size: Any) -> Any:
        return boundary.drawn_by(rng, draw, arguments, size)

    def best_of_runs(self, factor: float) -> AbstractContextManager[Any]:
        return nullcontext(nullcontext)


def _quiet(mechanism: Any) -> Any:
    """Return a mechanism with next to no noise."""
    if hasattr(getattr(mechanism, "noise", None), "_sample"):
        return replace(mechanism, noise=_quiet(mechanism.noise))
    if isinstance(mechanism, JointDraw):
        return replace(mechanism, weight=NONE)
    if isinstance(mechanism, NormalNoise):
        return replace(mechanism, scale=TINY)
    if hasattr(mechanism, "epsilon") and hasattr(mechanism, "sensitivity"):
        return replace(mechanism, epsilon=NONE)
    raise InvalidParameter("mechanism", type(mechanism).__name__, "one that adds noise to a vector, or a choice")
