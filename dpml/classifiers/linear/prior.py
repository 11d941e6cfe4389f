"""Public priors of the weights of one-hot attributes, for objective perturbation.

The regulariser (λ/2)·θ'Σ⁻¹θ with a public covariance Σ = RR' is (λ/2)‖θ'‖² for θ = Rθ' and the records R'x with the
noise R'b. The map b -> R'b has no data in it, so the density ratio of the noise is as before, and ‖R'x‖² takes the
place of ‖x‖² in the determinant of `dpml.classifiers.linear.objective_noise`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml.classifiers.linear.coded import CodedRows
from dpml.mechanisms.norms import contrasts

# the covariance of the weights of ordered groups: a part that falls with their distance, and a part of each its own
REACH, OWN = 3.0, 0.1
# with `by_size`, weights of an attribute of so many groups have unit variances
USUAL_SIZE = 6.0


def order_covariance(d: int) -> FloatArray:
    """Return the prior covariance of d ordered groups: 0.9·exp(-k/3) at the distance k, and 0.1 more for 0."""
    distance = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return np.asarray((1 - OWN) * np.exp(-distance / REACH) + OWN * np.eye(d))


@dataclass(frozen=True)
class Prior:
    """Covariance of weights in the coordinates of a `dpml.mechanisms.OneHotNorm`.

    The weights of an ordered attribute's groups have `order_covariance`. Others, and the scalars, have unit variances
    and no covariance.

    With `by_size`, the mean variance of an attribute of d groups is d/`USUAL_SIZE`. A group has about n/d records, so
    the curvature H of the loss along its weight falls as 1/d, and the deviation of the noise falls as 1/d too
    (`OneHotNorm`). The best shrinkage of a weight of variance τ² under noise of variance σ² is H/(H² + σ²/τ²) of the
    gradient, that of a regulariser σ²/(τ²H), which falls as 1/d.

    Attributes
    ----------
    sizes, n_scalars : tuple of int, int
        Those of the norm.
    ordered : tuple of bool
        Which attributes' groups have an order.
    by_size : bool
        Whether variances grow with the number of groups.
    """

    sizes: tuple[int, ...]
    n_scalars: int
    ordered: tuple[bool, ...]
    by_size: bool = False

    @cached_property
    def root(self) -> FloatArray:
        """R, shape (D, D), lower triangular, with the covariance RR'."""
        covariance = np.eye(sum(self.sizes) - len(self.sizes) + self.n_scalars)
        for part, d, in_order in self._parts():
            own = contrasts(d).T @ order_covariance(d) @ contrasts(d) if in_order else np.eye(d - 1)
            covariance[part, part] = own * (d / USUAL_SIZE * (d - 1) / np.trace(own) if self.by_size else 1.0)
        return np.asarray(np.linalg.cholesky(covariance), dtype=float)

    @cached_property
    def stretch(self) -> float:
        """R's largest singular value: by how much it may stretch a vector of noise."""
        return float(np.linalg.norm(self.root, 2))

    @property
    def longest(self) -> float:
        """The largest ‖R'x‖² of a one-hot record: that of its corners, with all scalars 1."""
        squares = [
            float(((contrasts(d) @ self.root[part, part]) ** 2).sum(axis=1).max()) for part, d, _ in self._parts()
        ]
        return self.n_scalars + sum(squares)

    def of_rows(self, X: Any) -> Any:
        """Return the records R'x."""
        return X.with_root(self.root) if isinstance(X, CodedRows) else X @ self.root

    def _parts(self) -> list[tuple[slice, int, bool]]:
        ends = np.cumsum([d - 1 for d in self.sizes])
        parts = [slice(int(end) - d + 1, int(end)) for d, end in zip(self.sizes, ends, strict=True)]
        return list(zip(parts, self.sizes, self.ordered, strict=True))
