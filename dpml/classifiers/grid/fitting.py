"""What all estimators over taxonomies do with a table before they release: checks, records, and the charge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpml._validate import ON_INVALID, as_generator, check_choice, check_relation
from dpml.budget import Budget
from dpml.classifiers.grid.counts import Records, places_of
from dpml.exceptions import InvalidParameter, InvalidTaxonomy, NotPrivate
from dpml.mechanisms.secure import check_release
from dpml.schema import Schema, Taxonomy, resolve_schema

__all__ = ["Checked", "charge", "check_table", "with_taxonomies"]


@dataclass(frozen=True)
class Checked:
    """A table inside the schema's domains, and what a fit releases it with.

    Attributes
    ----------
    X : Private
        The table that `Schema.check_features` returns.
    codes : Private
        The class of each record.
    schema : Schema
        Of the table's columns.
    named : bool
        Whether the columns had names.
    relation : str
    noise : dict
        `rng`, or `secure`, and `exact_choice`, for a function that releases.
    """

    X: Any
    codes: Any
    schema: Schema
    named: bool
    relation: str
    noise: dict[str, Any]

    def records(self, taxonomies: Sequence[Taxonomy] | None = None) -> Records:
        """Return the records as groups of the features' taxonomies, or of others."""
        if taxonomies is None:
            taxonomies = [feature.taxonomy for feature in self.schema.features]
        places = places_of(self.X, self.schema, taxonomies)
        return Records(places, self.codes, self.schema.n_classes, tuple(taxonomies))


def check_table(model: Any, X: Any, y: Any) -> Checked:
    """Check the parameters that all of these estimators have, and a table that `PrivateEstimator._enter` returned."""
    check_choice(model.on_invalid, "on_invalid", ON_INVALID)
    relation = check_relation(model.relation)
    private = getattr(model, "private", True)
    if not private and (model.release or model.budget is not None):
        raise NotPrivate(f"{type(model).__name__} makes choices without noise: it is for study, and takes no budget")
    if model.release:
        check_release(model.random_state)
    schema = with_taxonomies(resolve_schema(model.schema, X), model.taxonomies)
    noise: dict[str, Any] = {"secure": True} if model.release else {"rng": as_generator(model.random_state)}
    named = isinstance(X, pd.DataFrame)
    X, codes, schema = model._private_records(schema, X, y)
    return Checked(X, codes, schema, named, relation, noise if private else {**noise, "exact_choice": True})


def charge(budget: Any, relation: str, parts: Mapping[str, float]) -> None:
    """Charge the ε of all parts of a fit by their labels, or none of them."""
    if budget is not None:
        if not isinstance(budget, Budget):
            raise InvalidParameter("budget", budget, "a dpml.budget.Budget or None")
        budget.spend_all(dict(parts), relation=relation)


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
