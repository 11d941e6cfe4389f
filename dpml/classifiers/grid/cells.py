"""The release of a grid: a noisy number of records, a private choice among grids, and the grid's noisy class counts.

This is Algorithm 2 of Su et al. 2018 up to its histogram. What follows it (counts that fit together, a table, a
classifier) uses the released values only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._validate import (
    ON_INVALID,
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
    check_rng,
)
from dpml.budget import Budget
from dpml.budget.shares import divide_epsilon
from dpml.classifiers.grid.candidates import candidate_grids
from dpml.classifiers.grid.counts import Records, children_counts, grid_counts, places_of
from dpml.classifiers.grid.quality import CALIBRATIONS, GridQuality, quality_range
from dpml.counts import FACTOR, perturbed
from dpml.exceptions import InvalidParameter, InvalidTaxonomy
from dpml.mechanisms import ExponentialMechanism, Laplace
from dpml.mechanisms.secure import check_release, noisy_max
from dpml.schema import Schema, Taxonomy, resolve_schema

__all__ = ["MOST_CELLS", "SHARES", "STEP", "NoisyGrid", "consistent", "fit_grid", "grid_qualities", "release_grid"]

FloatArray = NDArray[np.float64]
# shares of ε for the number of records, the choice of the grid and its counts (Su et al. 2018, Algorithm 2)
SHARES = (0.03, 0.37, 0.60)
# a cell holds at least this many times the noise's mean size on average: 1 over their 20 %
SIGNAL = 5
# no grid has more cells, however many records the noisy number promises
MOST_CELLS = 1 << 17
# secure choice takes scores in multiples of this; the range of the change grows by two of them
STEP = 2.0**-10
LABELS = ("PrivPfC, number of records", "PrivPfC, choice of the grid", "PrivPfC, counts")


@dataclass(frozen=True)
class NoisyGrid:
    """What is released: the chosen grid, its noisy class counts and the noisy number of records.

    Attributes
    ----------
    taxonomies : tuple of Taxonomy
    levels : tuple of int
        The level of each attribute, 0 for all values together.
    counts : ndarray of float, shape (C, cells)
        Noisy class counts. Cells are in C order over the attributes whose level is not 0.
    scale : float
        Scale of the Laplace noise on each count.
    n : float
        Noisy number of records.
    n_scale : float
        Scale of its noise.
    n_candidates : int
        How many grids the choice was among.
    """

    taxonomies: tuple[Taxonomy, ...]
    levels: tuple[int, ...]
    counts: FloatArray
    scale: float
    n: float
    n_scale: float
    n_candidates: int

    @property
    def attributes(self) -> tuple[int, ...]:
        """The attributes that the grid tells apart."""
        return tuple(j for j, level in enumerate(self.levels) if level)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of groups of each of these attributes."""
        return tuple(self.taxonomies[j].sizes[self.levels[j]] for j in self.attributes)

    @property
    def total(self) -> float:
        """The number of records: the mean of the two noisy ones, weighted by their precision, and at least 0."""
        own, from_cells = self.n_scale**-2, self.scale**-2 / self.counts.size
        return max((own * self.n + from_cells * float(self.counts.sum())) / (own + from_cells), 0.0)


def grid_qualities(pool: Any, records: Records, epsilon: float) -> FloatArray:
    """Return the quality of every candidate grid; private. ε is that of the noisy counts."""
    quality = GridQuality(epsilon, len(records.codes))
    found = np.empty(len(pool))
    found[0] = quality.of_grid(grid_counts(records, [0] * len(pool.taxonomies)))
    for children in children_counts(pool, records, signed=records.n_classes == 2):
        places = slice(children.first, children.first + len(children.starts))
        found[places] = quality.of_grids(children.counts, children.starts)
    return found


def release_grid(
    records: Records,
    epsilon: float,
    *,
    max_grids: int = 10_000,
    shares: Sequence[float] = SHARES,
    relation: str = "add-remove",
    calibration: str = "range",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> NoisyGrid:
    """Release a grid and its noisy class counts (Su et al. 2018, Algorithm 2).

    Released: a noisy number of records, one grid, and the noisy class counts of its cells.

    Privacy: ε by composition of three releases, with ε divided by `shares`. (1) The number of records changes by at
    most 1 under both relations, for a replaced record may have a label that is no class. (2) The candidates depend on
    (1) only. The quality changes by amounts in an interval of length `quality_range`, and the exponential mechanism is
    calibrated to it. (3) A record is in one cell and class: L1 sensitivity 1, or 2 under replace-one.

    One draw at a time: the candidates of a draw depend on its noisy number of records.

    Parameters
    ----------
    records : Records
    epsilon : float
    max_grids : int
        Θ, the largest number of candidates.
    shares : (float, float, float)
        Shares of ε for the three releases; they add up to 1.
    relation : {"add-remove", "replace-one"}
    calibration : {"range", "lemma", "published"}
        See `quality_range`.
    rng : numpy.random.Generator
        For study.
    secure : bool
        Integer noise and permute-and-flip on qualities in multiples of 2^-10, which have no `rng`.

    Returns
    -------
    NoisyGrid
    """
    check_choice(calibration, "calibration", CALIBRATIONS)
    if not secure:
        check_rng(rng)
    for_size, for_choice, for_counts = divided(epsilon, shares)
    exact_n = np.array([float(len(records.codes))])
    size_noise = Laplace(for_size, 1)
    n = float(perturbed(exact_n, size_noise, rng, secure)[0])
    max_cells = min(n * for_counts / SIGNAL, float(MOST_CELLS))
    pool = candidate_grids(records.taxonomies, check_integer(max_grids, "max_grids", 1), max_cells)
    width = quality_range(for_counts, relation, calibration)
    qualities = grid_qualities(pool, records, for_counts)
    if secure:
        chosen = noisy_max(qualities, for_choice, width, grid=STEP)
    else:
        chosen = ExponentialMechanism(for_choice, width).release(qualities, rng=check_rng(rng))
    levels = pool.levels(chosen)
    noise = Laplace(for_counts, FACTOR[relation])
    counts = perturbed(grid_counts(records, levels).astype(float), noise, rng, secure)
    return NoisyGrid(records.taxonomies, levels, counts, noise.scale, n, size_noise.scale, len(pool))


def divided(epsilon: float, shares: Any) -> list[float]:
    """Return the ε of the three releases, whose exact sum is at most ε."""
    epsilon = check_epsilon(epsilon)
    allowed = "three numbers > 0 that add up to 1"
    if not isinstance(shares, (tuple, list)) or len(shares) != 3:
        raise InvalidParameter("shares", shares, allowed)
    parts = [check_number(share, "shares", 0.0, 1.0, open_lower=True) for share in shares]
    if abs(fsum(parts) - 1) > 1e-9:
        raise InvalidParameter("shares", shares, allowed)
    return divide_epsilon(epsilon, parts, [1, 1, 1])


def consistent(counts: FloatArray, total: float) -> FloatArray:
    """Return the counts nearest to noisy ones (least squares) that are at least 0 and add up to a total.

    All counts are lowered or raised by the same amount, and those below 0 become 0. Negative counts set to 0 alone
    would add records to every empty cell.

    Examples
    --------
    >>> consistent(np.array([[5.0, 1.0], [-2.0, 0.5]]), 5.0).tolist()
    [[4.5, 0.5], [0.0, 0.0]]
    """
    flat = np.sort(counts.ravel())[::-1]
    above = np.cumsum(flat) - total
    places = np.arange(1, len(flat) + 1)
    kept = int(np.flatnonzero(flat * places > above).max(initial=0))
    lowered = np.maximum(counts - above[kept] / (kept + 1), 0.0)
    return lowered if total > 0 and np.isfinite(lowered).all() else np.zeros_like(counts)


# ---- what both estimators do with a table ----------------------------------------------------------------------------


def fit_grid(model: Any, X: Any, y: Any) -> tuple[NoisyGrid, Schema, bool]:
    """Check the parameters of an estimator and its table, charge its budget, and release a grid.

    Returns the grid, the schema of the table's columns, and whether these had names.
    """
    X = model._enter(X)
    epsilons = divided(model.epsilon, model.shares)
    check_integer(model.max_grids, "max_grids", 1)
    check_choice(model.on_invalid, "on_invalid", ON_INVALID)
    relation = check_relation(model.relation)
    if model.release:
        check_release(model.random_state)
    schema = with_taxonomies(resolve_schema(model.schema, X), model.taxonomies)
    rng = as_generator(model.random_state)
    named = isinstance(X, pd.DataFrame)
    X, codes, schema = schema.check_table(X, y, "clip" if model.release else model.on_invalid)
    taxonomies = tuple(feature.taxonomy for feature in schema.features)
    records = Records(places_of(X, schema, taxonomies), codes, schema.n_classes, taxonomies)
    _charge(model.budget, relation, epsilons)
    options = {"max_grids": model.max_grids, "shares": model.shares, "relation": relation}
    noise: dict[str, Any] = {"secure": True} if model.release else {"rng": rng}
    return release_grid(records, model.epsilon, calibration=model.calibration, **options, **noise), schema, named


def _charge(budget: Any, relation: str, epsilons: list[float]) -> None:
    """Charge the three shares, or none of them."""
    if budget is not None:
        if not isinstance(budget, Budget):
            raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
        budget.spend_all(dict(zip(LABELS, epsilons, strict=True)), relation=relation)


def with_taxonomies(schema: Schema, taxonomies: Mapping | None) -> Schema:
    """Return the schema with the levels that are given for some of its features by name."""
    if taxonomies is None:
        return schema
    if not isinstance(taxonomies, Mapping):
        raise InvalidTaxonomy("taxonomies", taxonomies, "a mapping of features to their levels, or None")
    unknown = [name for name in taxonomies if name not in schema.feature_names]
    if unknown:
        raise InvalidTaxonomy("taxonomies", unknown[0], f"given for features only: {schema.feature_names[:6]}")
    features = [
        replace(f, levels=taxonomies[f.name]) if taxonomies.get(f.name) is not None else f for f in schema.features
    ]
    return replace(schema, features=tuple(features))
