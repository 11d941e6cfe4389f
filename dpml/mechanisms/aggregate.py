"""Sample and aggregate: a private mean of the results of any function on disjoint blocks of the records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_number, check_relation, check_rng, check_upper
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.laplace import Laplace
from dpml.mechanisms.private import number_of, statistic


@dataclass(frozen=True)
class SampleAndAggregate:
    """Compute a function on k random blocks, clip each result to public bounds, and release their mean.

    Released: the mean of k clipped results plus Laplace noise.

    Privacy: ε per draw, for both relations, with the sensitivity (`upper` - `lower`)/k. Derivation: each row of the
    table is assigned to a block by a draw of its own, independent of the record in it. Condition on the draws of the
    rows that two neighbours share. The release is then the Laplace mechanism on a mean of k results in
    [`lower`, `upper`]:

    - a record that is added or removed has its own draw, and changes the result of that block only;
    - a record that replaces another has the same draw, so again the result of one block changes.

    That result changes by at most `upper` - `lower`, and the mean by that over k. Densities within a factor exp(ε) for
    every value of the draws stay within it when averaged over the draws. (Antonova 2016, section 2.4; Nissim,
    Raskhodnikova and Smith 2007, section 4, with a mean in place of their aggregate.)

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    blocks : int
        Number of blocks k, public.
    lower, upper : float
        Public bounds of the function's result, in its units.
    relation : {"add-remove", "replace-one"}

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(3.0, 1.0, 10_000)
    >>> mechanism = SampleAndAggregate(1.0, blocks=50, lower=0, upper=10)
    >>> abs(mechanism.release(values, np.median, rng=np.random.default_rng(1)) - 3.0) < 1.0
    True
    """

    epsilon: float
    blocks: int
    lower: float
    upper: float
    relation: str = "add-remove"

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "blocks", check_integer(self.blocks, "blocks", 1))
        object.__setattr__(self, "lower", check_number(self.lower, "lower"))
        object.__setattr__(self, "upper", check_upper(self.upper, self.lower))
        check_relation(self.relation)

    @property
    def scale(self) -> float:
        """Laplace scale of the noise on the mean."""
        return (self.upper - self.lower) / (self.blocks * self.epsilon)

    def block_results(
        self, records: Any, function: Callable[[Any], float], *, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the clipped result of each block: exact, a private statistic.

        A block that is empty or has no finite result gives the middle of the bounds.
        """
        own = boundary.generator_of_parts(check_rng(rng))
        where = boundary.public_randomness(own, "integers", self.blocks, size=number_of(records))
        return self._block_results(records, function, where)

    @statistic
    def _block_results(self, records: Any, function: Callable[[Any], float], where: Any) -> NDArray[np.float64]:
        records = np.asarray(records)
        middle = (self.lower + self.upper) / 2
        results = np.full(self.blocks, middle)
        for k in range(self.blocks):
            mine = records[where == k]
            if len(mine):
                result = np.asarray(function(mine), dtype=float)
                if result.ndim:
                    raise InvalidParameter("shape of function's result", result.shape, "a single number")
                results[k] = result if np.isfinite(result) else middle
        return np.clip(results, self.lower, self.upper)

    def release(
        self, records: Any, function: Callable[[Any], float], *, rng: np.random.Generator, draws: int | None = None
    ) -> Any:
        """Return the noisy mean, or an array of `draws` noisy means of one assignment to blocks."""
        mean = _mean(self.block_results(records, function, rng=rng))
        noisy = Laplace(1.0, self.scale).release(mean, rng=rng, draws=1 if draws is None else draws)
        return float(noisy[0]) if draws is None else noisy


@statistic
def _mean(values: Any) -> Any:
    return values.mean()
