"""Sample and aggregate: a private mean of the results of any function on disjoint blocks of the records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_number, check_relation, check_rng, check_upper
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.noise import Laplace
from dpml.mechanisms.private import number_of, statistic


@claim("sample-and-aggregate", "Sample and aggregate", "[antonova2016], section 2.4, and [nissim2007], section 4")
@dataclass(frozen=True)
class SampleAndAggregate:
    """Release the mean of the clipped results of a function on k random blocks of the records.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    blocks : int
        Number of blocks k, which is public.
    lower, upper : float
        Public bounds of the function's result, in its units.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.

    See Also
    --------
    Laplace : Adds Laplace noise to a statistic with a known sensitivity.
    smooth_sensitivity : Bounds the change of a statistic near the given data.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: add/remove-one or replace-one. Sensitivity: (`upper` - `lower`)/k.

    Derivation. Each row of the table is assigned to a block by a draw of its own, independent of the record in it.
    Condition on the draws of the rows that two neighbours share. The release is then the Laplace mechanism on a mean of
    k results in [`lower`, `upper`]:

    - A record that is added or removed has its own draw, and changes the result of that block only.
    - A record that replaces another has the same draw, so again the result of one block changes.

    That result changes by at most `upper` - `lower`, and the mean by that over k. The densities are within a factor
    exp(ε) for every value of the draws. They stay within it when averaged over the draws.

    References
    ----------
    - Antonova (2016), section 2.4.
    - Nissim, Raskhodnikova and Smith (2007), section 4. This class takes a mean in place of their aggregate.

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
        """Return the clipped result of each block, which is an exact and private statistic.

        A block that is empty or has no finite result gives the middle of the bounds.

        Parameters
        ----------
        records : array-like of shape (n, ...)
            The private records.
        function : callable
            Function of an array of records that returns one number.
        rng : numpy.random.Generator
            Source of the assignment to blocks.

        Returns
        -------
        ndarray of shape (blocks,)
            Result of each block, in [`lower`, `upper`].
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
        """Release the noisy mean of the block results.

        Parameters
        ----------
        records : array-like of shape (n, ...)
            The private records.
        function : callable
            Function of an array of records that returns one number.
        rng : numpy.random.Generator
            Source of the assignment to blocks and of the noise.
        draws : int, optional
            Number of noisy means of one assignment to blocks. Each one costs ε. By default there is one, returned as
            a float.

        Returns
        -------
        float or ndarray of shape (draws,)
            The noisy mean.
        """
        mean = _mean(self.block_results(records, function, rng=rng))
        noisy = Laplace(1.0, self.scale).release(mean, rng=rng, draws=1 if draws is None else draws)
        return float(noisy[0]) if draws is None else noisy


@statistic
def _mean(values: Any) -> Any:
    return values.mean()
