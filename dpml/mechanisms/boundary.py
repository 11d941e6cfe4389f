"""The one boundary for noise: every draw of noise and every private selection goes through this module.

A mechanism passes its exact statistic to `release`, which draws. An observer (`observe`), such as the recorder of
`dpml.audit`, receives the mechanism and the statistic instead. Its return value is then the release. Randomness that
protects nothing, such as the split of the records into parts, goes through `public_randomness`.

No other module of a method opens a `dpml.mechanisms.private.Private` statistic.

A mechanism at the boundary is a frozen dataclass with two methods:

- ``_sample(statistic, rng)`` draws one release of the statistic, with the scale that the mechanism states.
- ``_compare(statistic, other, other_statistic)`` returns the `Loss` of that release between two data sets.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import Private, is_private, opened


@dataclass(frozen=True)
class Loss:
    """The privacy loss of a release between two data sets. Losses add up under adaptive composition.

    - `pure`: the largest log ratio of the two densities, or infinity if there is none.
    - `gaussian`: μ² of Gaussian noise, the squared distance between the statistics in standard deviations. Adding μ²
      over releases is exact (Dong, Roth and Su 2022, Corollary 3.3).
    - `profiles`: for releases without a largest ratio, functions of ε that are their δ, in either direction.
    - `sampled`: for Gaussian noise on a Poisson sample of the records, the sampling rate, and μ of a record in it.
    - `concentrated`: ρ of releases whose cost is known as zero-concentrated privacy.
    """

    pure: float = 0.0
    gaussian: float = 0.0
    profiles: tuple[Callable[[float], float], ...] = ()
    sampled: tuple[tuple[float, float], ...] = ()
    concentrated: float = 0.0

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            self.pure + other.pure,
            self.gaussian + other.gaussian,
            self.profiles + other.profiles,
            self.sampled + other.sampled,
            self.concentrated + other.concentrated,
        )

    @property
    def has_no_ratio(self) -> bool:
        """Whether a part has no largest log ratio, so that it is private for δ > 0 alone."""
        return bool(self.gaussian or self.profiles or self.sampled or self.concentrated)


NOTHING = Loss()
EVERYTHING = Loss(pure=float("inf"))


class Observer(Protocol):
    """An object that receives each release before anything is drawn."""

    def release(self, mechanism: Any, statistic: Any, rng: np.random.Generator | None) -> Any:
        """Return the value to release."""
        ...

    def public_randomness(self, rng: np.random.Generator | None, draw: str, arguments: tuple, size: Any) -> Any:
        """Return ``rng.draw(*arguments, size)``, randomness that protects nothing."""
        ...

    def best_of_runs(self, factor: float) -> Any:
        """Return a context in which the cost is `factor` times the loss of the most expensive run."""
        ...


_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)
_hidden: ContextVar[bool] = ContextVar("hidden", default=False)


@contextmanager
def observe(to: Observer | None) -> Iterator[None]:
    """Pass every release inside the ``with`` block, in this thread, to an observer."""
    token = _observer.set(to)
    try:
        yield
    finally:
        _observer.reset(token)


def observer() -> Observer | None:
    """Return who observes this thread, for an observer that passes everything on."""
    return _observer.get()


@contextmanager
def _hide() -> Iterator[None]:
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


def is_hidden() -> bool:
    """Return whether what is drawn in this thread is not released, so that not even a warning may depend on it."""
    return _hidden.get()


@contextmanager
def unreleased() -> Iterator[None]:
    """Enter a context for noise that is part of a statistic: its draws are not released and not recorded."""
    with observe(None), _hide():
        yield


def l1_distance(first: Any, second: Any) -> float:
    """Return the sum of |first - second| for two arrays of the same shape."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    equal = (first == second) | (np.isnan(first) & np.isnan(second))  # equal infinities have distance 0
    with np.errstate(invalid="ignore"):
        return float(np.abs(np.where(equal, 0.0, first - second)).sum())


def release(mechanism: Any, statistic: Any, rng: np.random.Generator | None) -> Any:
    """Draw one release of a statistic. Without a generator the mechanism uses its own source of randomness."""
    observer, statistic = _observer.get(), opened(statistic)
    if observer is None:
        return mechanism._sample(statistic, rng)
    return observer.release(mechanism, statistic, rng)


# The distributions that protect nothing. Their arguments are numbers, so no function can carry a record in.
PUBLIC_DRAWS = ("random", "integers", "permutation", "negative_binomial")


def public_randomness(rng: np.random.Generator | None, draw: str, *arguments: float, size: Any = None) -> Any:
    """Draw randomness that protects nothing, by a method of the generator: the privacy analysis treats it as public.

    A private size is a number of records: the result has one entry for each, in their order, and is private.
    """
    if draw not in PUBLIC_DRAWS or not all(isinstance(a, numbers.Real) for a in arguments):
        raise InvalidParameter("draw", draw, f"one of {PUBLIC_DRAWS}, with numbers as arguments")
    observer = _observer.get()
    drawn_for = drawn_by if observer is None else observer.public_randomness
    drawn = drawn_for(rng, draw, arguments, opened(size))
    return Private(drawn) if is_private(size) else drawn


def generator_of_parts(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator for the parts of a table, which are then independent of a table made with the same seed.

    The numbers of `rng` itself may be those of the records: then each class would have parts of its own.
    """
    return np.random.default_rng(int(public_randomness(rng, "integers", 2**63)))


def drawn_by(rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
    """Return a generator's draw, for observers."""
    return getattr(rng, draw)(*arguments, **({} if size is None else {"size": size}))


@contextmanager
def best_of_runs(factor: float) -> Iterator[Callable[[], Any]]:
    """Enter a context for a random number of runs. Entering it gives a function that returns a context for one run.

    Only the best run is released. It costs `factor` times the loss of the most expensive run (`dpml.tuning.stopping`).
    """
    observer = _observer.get()
    runs = nullcontext(nullcontext) if observer is None else observer.best_of_runs(factor)
    with _hide(), runs as one_run:
        yield one_run
