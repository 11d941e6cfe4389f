"""The attributes of a table: categories, numbers, one-hot blocks that cover all values, and binary columns.

Each record lies in one group of every attribute, at every level of its taxonomy. Records are transformed by themselves,
by public metadata and by bins that are public or released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml.classifiers.grid import Records
from dpml.mechanisms.private import statistic
from dpml.schema import Feature, Schema, Taxonomy
from dpml.schema.units import SPAN, growing_edges, inner_edges

__all__ = ["Attribute", "Layout", "public_levels"]

# groups of an attribute of numbers in the additive part of a model: of public bins, and of private ones, of which those
# in the middle hide nothing but those at the ends may be wide
MOST_GROUPS, MOST_PRIVATE_GROUPS = 8, 16
# numbers have twins where there are so many attributes with them: a search over many finds grids of few attributes only
MOST_TWINNED = 8
# with more classes than this public bins are of equal width alone: noise hides the counts of more groups
MOST_CLASSES = 6
# levels of public bins, first 0 and halves: bins of equal width, and powers of the edges that grow beside them, where a
# domain ends at 0 or does not contain it, and where it has both signs
PUBLIC = (
    (2, (SPAN,), ()),
    (4, (4, SPAN), ()),
    (4, (4, 7, 10, SPAN), (5,)),
    (16, (4, 6, 7, 8, 10, 12, 14, SPAN), (5, 9, 13)),
)


def public_levels(lower: float, upper: float) -> tuple[tuple[float, ...], ...]:
    """Return nested levels of cut points from the domain alone: of equal width, beside others that grow from 0.

    They have up to 3, 6, 8 and 23 bins. Bins of equal width do not separate values that are mostly small, and bins that
    grow do not separate values in the middle of a domain.

    Examples
    --------
    >>> [len(level) for level in public_levels(0, 80)], list(public_levels(0, 80)[1][1:])
    ([2, 5, 7, 22], [5.0, 20.0, 40.0, 60.0])
    """
    both = lower < 0 < upper
    levels: list[tuple[float, ...]] = []
    for equal, *powers in PUBLIC:
        cuts = {*inner_edges(lower, upper, equal), *growing_edges(lower, upper, powers[both])}
        if both and powers[both]:
            cuts |= {*growing_edges(0.0, upper, (SPAN,))}
        level = tuple(sorted({cut for cut in cuts if lower < cut < upper}.union(*levels[-1:])))
        # in a domain of a few floats a level may add nothing
        if level and level not in levels:
            levels.append(level)
    return tuple(levels)


@dataclass(frozen=True)
class Attribute:
    """One attribute: its columns in the table, its domain, and the origin of the bins of a number.

    The origin is "public", "stated" by the schema, or "private".
    """

    columns: tuple[int, ...]
    feature: Feature
    bins: str = "public"

    @property
    def taxonomy(self) -> Taxonomy:
        """Levels at which its values are distinguished."""
        return self.feature.taxonomy

    def level(self, most_groups: int) -> int:
        """Return the level of the additive part: the finest one, with a limit on the groups of unstated cut points."""
        sizes = self.taxonomy.sizes
        most = sizes[-1]
        if self.feature.kind == "numeric" and self.bins != "stated":
            most = MOST_PRIVATE_GROUPS if self.bins == "private" else most_groups
        return max(level for level, size in enumerate(sizes) if size <= most)


@dataclass(frozen=True)
class Layout:
    """The attributes of a schema's columns. A one-hot block whose columns cover all values is one attribute.

    A number whose cut points the schema does not state gets public ones (`public_levels`). One with private bins has a
    *twin* with bins of equal width. Bins of equal mass tell common values apart, and bins of equal width rare ones. A
    grid may choose either.

    Examples
    --------
    >>> blocks = [Feature(f"sex={v}", block="sex", exhaustive=True) for v in "fm"]
    >>> layout = Layout.of(Schema((Feature("age", "numeric", lower=0, upper=80), *blocks, Feature("owner"))))
    >>> [attribute.feature.name for attribute in layout.attributes]
    ['age', 'sex', 'owner']
    """

    schema: Schema
    attributes: tuple[Attribute, ...]
    twins: tuple[Attribute, ...] = ()
    most_groups: int = MOST_GROUPS

    @classmethod
    def of(cls, schema: Schema) -> Layout:
        """Return the layout of a schema."""
        whole = schema.attributes
        attributes: list[Attribute] = []
        for i, feature in enumerate(schema.features):
            columns = whole.get(feature.block or "")
            if columns is None and feature.kind == "numeric" and feature.levels is None:
                if schema.n_classes <= MOST_CLASSES:
                    levels = public_levels(float(feature.lower or 0), float(feature.upper or 0))
                    feature = replace(feature, levels=levels)
                attributes.append(Attribute((i,), feature))
            elif columns is None:
                attributes.append(Attribute((i,), feature, "stated"))
            elif columns[0] == i:
                values = tuple(schema.features[j].name for j in columns)
                attributes.append(Attribute(tuple(columns), Feature(feature.block or "", "categorical", values)))
        return cls(schema, tuple(attributes))

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the attributes that are numbers without stated cut points."""
        return tuple(
            a for a, each in enumerate(self.attributes) if each.feature.kind == "numeric" and each.bins != "stated"
        )

    @cached_property
    def everything(self) -> tuple[Attribute, ...]:
        """The attributes that a grid can choose among: all of them, then the twins."""
        return self.attributes + self.twins

    @cached_property
    def taxonomies(self) -> tuple[Taxonomy, ...]:
        """The taxonomies that a grid can choose among."""
        return tuple(attribute.taxonomy for attribute in self.everything)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of groups of each attribute in the additive part."""
        return tuple(a.taxonomy.sizes[a.level(self.most_groups)] for a in self.attributes)

    @cached_property
    def divided(self) -> tuple[int, ...]:
        """Positions of the attributes with more than one group in the additive part."""
        return tuple(a for a, size in enumerate(self.sizes) if size > 1)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """First column of each attribute in the additive part."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def with_levels(self, levels: Mapping[int, Sequence]) -> Layout:
        """Return the layout with other levels of some attributes, and with their twins if there are few."""
        changed = [
            replace(attribute, feature=replace(attribute.feature, levels=tuple(map(tuple, levels[a]))), bins="private")
            if a in levels
            else attribute
            for a, attribute in enumerate(self.attributes)
        ]
        equal = (self.attributes[a] for a in levels)
        twins = tuple(replace(twin, feature=replace(twin.feature, levels=None)) for twin in equal)
        few = len(changed) + len(twins) <= MOST_TWINNED
        return replace(self, attributes=tuple(changed), twins=twins if few else ())

    # ---- parts of a table that `Schema.check_features` returned, private where it is ---------------------------------

    def column(self, X: Any, a: int) -> Any:
        """Return the values of an attribute of one column."""
        (i,) = self.everything[a].columns
        if hasattr(X, "iloc"):
            return X.iloc[:, i]
        return X[:, [i]].toarray().ravel() if sparse.issparse(X) else X[:, i]

    @statistic
    def places(self, X: Any) -> list[NDArray]:
        """Return the finest group of each record for each attribute and twin."""
        X = X.tocsc() if sparse.issparse(X) else X
        return [self._place(X, a) for a in range(len(self.everything))]

    def _place(self, X: Any, a: int) -> NDArray:
        attribute = self.everything[a]
        if len(attribute.columns) > 1:
            some = list(attribute.columns)
            ones = X.iloc[:, some].to_numpy(dtype=float) if hasattr(X, "iloc") else X[:, some]
            ones = ones.toarray() if sparse.issparse(ones) else ones
            # by position: the taxonomy of a block keeps the order of its columns
            group = ones.argmax(axis=1)
        elif attribute.feature.kind == "binary":
            group = attribute.taxonomy.places((0, 1))[(np.asarray(self.column(X, a), dtype=float) > 0.5).astype(int)]
        else:
            group = attribute.taxonomy.places(self.column(X, a))
        return group.astype(np.min_scalar_type(attribute.taxonomy.sizes[-1]))

    def records(self, X: Any, codes: Any) -> Records:
        """Return the private records for the counts of a grid."""
        return Records(self.places(X), codes, self.schema.n_classes, self.taxonomies)

    @statistic
    def groups(self, places: Any) -> NDArray[np.intp]:
        """Return the column of the additive part in which each record has its one, shape (n, A). Twins have none."""
        columns = [
            start + attribute.taxonomy.above(attribute.level(self.most_groups))[place]
            for start, attribute, place in zip(self.starts, self.attributes, places, strict=False)
        ]
        return np.column_stack(columns).astype(np.intp)
