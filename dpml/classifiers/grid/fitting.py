"""The base of all estimators over taxonomies: their parameter, and records as groups of the taxonomies."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpml._validate import check_epsilon, check_number
from dpml.budget import Cost
from dpml.budget.shares import divide_epsilon
from dpml.classifiers.grid.counts import Records, places_of
from dpml.estimators.base import CheckedTable, PrivateEstimator
from dpml.exceptions import InvalidParameter, InvalidTaxonomy
from dpml.schema import Schema, Taxonomy


class _InShares:
    """Mixin of what divides its ε, in as many shares as it has releases."""

    shares: Any
    # of the releases, for their charges
    _labels: tuple[str, ...]


@dataclass(eq=False, repr=False, kw_only=True)
class OverTaxonomies(_InShares, PrivateEstimator):
    """Base of the estimators over taxonomies.

    Parameters
    ----------
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's (`dpml.schema.Feature.levels`). They are public. By
        default the schema's levels are used.

    Raises
    ------
    InvalidTaxonomy
        The levels are no taxonomy of the feature.
    """

    taxonomies: Mapping | None = None

    def _check_schema(self, schema: Schema) -> Schema:
        return with_taxonomies(schema, self.taxonomies)

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        return dict(zip(self._labels, divided(self.epsilon, self.shares, len(self._labels)), strict=True))

    def _statistics(self, table: CheckedTable) -> Any:
        return records_of(table)


def records_of(table: CheckedTable, taxonomies: Sequence[Taxonomy] | None = None) -> Records:
    """Return the records of a table as groups of its features' taxonomies, or of others."""
    if taxonomies is None:
        taxonomies = [feature.taxonomy for feature in table.schema.features]
    places = places_of(table.X, table.schema, taxonomies)
    return Records(places, table.codes, table.schema.n_classes, tuple(taxonomies))


def divided(epsilon: float, shares: Any, parts: int = 3) -> list[float]:
    """Return the ε of the releases of one fit, whose exact sum is at most ε."""
    epsilon = check_epsilon(epsilon)
    allowed = f"{('no', 'one', 'two', 'three')[parts]} numbers > 0 that add up to 1"
    if not isinstance(shares, (tuple, list)) or len(shares) != parts:
        raise InvalidParameter("shares", shares, allowed)
    each = [check_number(share, "shares", 0.0, 1.0, open_lower=True) for share in shares]
    if abs(math.fsum(each) - 1) > 1e-9:
        raise InvalidParameter("shares", shares, allowed)
    return divide_epsilon(epsilon, each, [1] * parts)


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
