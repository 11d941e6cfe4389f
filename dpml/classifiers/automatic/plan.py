"""The default classifier's plan for ε, made from public facts alone.

benchmarks/accuracy_auto.py judges these rules on every set that had no part in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpml._validate import check_choice, check_epsilon, check_relation
from dpml.budget.shares import divide_epsilon, rest_of
from dpml.classifiers.automatic.bins import default_n_cells
from dpml.classifiers.automatic.layout import MOST_GROUPS, Layout
from dpml.counts import FACTOR
from dpml.schema import Schema

__all__ = ["ADDITIONS", "Plan", "asks_density", "default_plan", "is_wide"]

ADDITIONS = ("counts", "weights")
# with more binary columns that belong to no attribute a table is one of words
MOST_BINARY = 64
# words: noisy counts are shrunk one by one from this many columns. With fewer records for each of them than this a few
# words may be enough, or other models better
MANY_WORDS, RECORDS_PER_WORD = 250, 2
# so many binary columns at most may be a dense table, which has grid and weights as any other: one in which at least
# half of the records have ones in this share of the columns. Share of ε for this look, if n·ε is at least so much, and
# for a noisy number of records where the schema states none
MOST_DENSE, DENSE, LOOK_SHARE, ENOUGH_TO_LOOK = 400, 0.15, 0.02, 300
# of more than two classes naive Bayes tells more of a dense table from so many records times ε for each column
ENOUGH_FOR_DENSE = 15
# share of ε for the histograms of numbers
BINS_SHARE = 0.1
# share of the rest for the grid to which counts are added
GRID_SHARE = 0.8
# weight of the counts that are added to a grid
WEIGHT = 0.25
# of two classes, weights are learned from this many records times ε per weight
ENOUGH = 10
# the share of the grid beside them where there are far more, and the most ε that it gets, because a finer grid has
# cells of a few records each
SMALL_SHARE, MOST_FOR_GRID = 0.2, 0.3
# the grid's share and the weight of the counts of more than two classes with fewer records times ε for each class than
# this: noise hides the counts
FEW_RECORDS, HIDDEN = 150, (0.95, 0.1)
# with so many classes a grid has too few cells for each, and counts say most: from so many records times ε for each
# class, the same two
MANY_CLASSES, MIDDLE, LARGE = 7, (100, 0.4, 0.5), (250, 0.2, 1.0)
# counts have fewer groups of each number where the noise is as large as they are
FEW_GROUPS = 4
# with `MOST_DENSE` columns at most, and fewer records times ε for each weight than this, a wide table with numbers or
# categories is not one of words
ENOUGH_FOR_MIXED = 30
# of more classes, weights are learned beside a grid from so many records times ε per weight of all classes; of many
# classes, for which a grid has too few cells, alone from so many per weight of one. The grid's share; and its trust,
# for its answer is cut
ENOUGH_FOR_GRID, ENOUGH_FOR_CLASSES, SHARE_FOR_CLASSES, TRUST_FOR_CLASSES = 12, 40, 0.5, 1.5


@dataclass(frozen=True)
class Plan:
    """How ε is used.

    Attributes
    ----------
    kind : {"table", "words", "mixed"}
        "table": a grid and what is added to it. "words": naive Bayes with shrunken counts, or what a look finds better.
        "mixed": `dpml.classifiers.MixedNB`, for many binary columns beside others.
    n_cells : int
        Cells of the histogram of each number; 0 for public bins, which cost nothing.
    bins_share : float
        Share of ε for the histograms.
    addition : {"counts", "weights"}
        What is added to the grid.
    grid_share : float
        Share for the grid of what the histograms leave.
    weight : float
        What the added counts of eight attributes weigh beside the grid: 1 as in naive Bayes, less because attributes
        repeat what others say.
    most_groups : int
        Groups of a number with public bins, in what is added.
    trust : float
        Where the added weights start: this times the grid's log odds.
    look : bool
        Of words, whether few of them may be enough and which model is best are looked at.
    """

    kind: str
    n_cells: int = 0
    bins_share: float = 0.0
    addition: str = "counts"
    grid_share: float = 1.0
    weight: float = WEIGHT
    most_groups: int = MOST_GROUPS
    trust: float = 1.0
    look: bool = False

    def divided(self, epsilon: float) -> tuple[float, float, float]:
        """Return the ε of the histograms, the grid and what is added, as they are released one after the other."""
        for_bins, left = 0.0, epsilon
        if self.n_cells:
            for_bins = epsilon * self.bins_share
            left = rest_of(epsilon, for_bins)
        if not self.grid_share:
            return for_bins, 0.0, left
        for_grid, for_rest = divide_epsilon(left, [self.grid_share, 1 - self.grid_share], [1, 1])
        return for_bins, for_grid, for_rest


def is_wide(layout: Layout) -> bool:
    """Return whether a table is one of words: more than `MOST_BINARY` binary columns outside attributes."""
    return sum(attribute.feature.kind == "binary" for attribute in layout.attributes) > MOST_BINARY


def asks_density(schema: Schema, epsilon: float, n_records: float) -> bool:
    """Return whether a look at the number of ones of records can tell a dense table from one of words.

    Examples
    --------
    >>> [asks_density(Schema.binary(100, row_bound=r), 1.0, 5_000) for r in (10, 100)]
    [False, True]
    """
    D, known = schema.n_features, epsilon * n_records
    if not (schema.is_binary and D <= MOST_DENSE and schema.row_bound >= DENSE * D and known >= ENOUGH_TO_LOOK):
        return False
    return is_wide(Layout.of(schema)) and (schema.n_classes == 2 or known < ENOUGH_FOR_DENSE * D)


def default_plan(
    schema: Schema,
    epsilon: float,
    n_records: float | None = None,
    *,
    dense: bool = False,
    relation: str = "add-remove",
) -> Plan:
    """Return the public rule.

    A table of a few attributes has Σ(d - 1) weights, for attributes of d groups. ε·n is divided by their number:

    - below `ENOUGH`: a grid (PrivPfC's choice), which finds what few attributes say together, and noisy counts of the
      others;
    - from there on, for two classes: weights of all attributes and of the grid's answer, because weights alone are
      blind to attributes that act together. The grid's share falls from the one beside counts to `SMALL_SHARE`, with
      the sixth power of that number, so that nothing jumps at the edge, and weights start at as large a part of its
      answer, the rest of which may be noise.

    Of C > 2 classes there are as many weights for each, beside a grid from C·`ENOUGH_FOR_GRID` on; of many classes
    alone from `ENOUGH_FOR_CLASSES` on.

    Of more than two classes with few records for each the counts weigh less, and of many classes (`MANY_CLASSES`) with
    enough records more: a grid has too few cells for all of them.

    Under replace-one ε counts half. Numbers are cut at noisy quantiles where the noise leaves something of them
    (`default_n_cells`).

    Parameters
    ----------
    schema : Schema
    epsilon : float
    n_records : float, optional
        A public or released number of records. Default: the schema's `n_lower`.
    dense : bool
        Whether a look has found that records have many ones (`asks_density`).
    relation : {"add-remove", "replace-one"}

    Examples
    --------
    >>> from dpml.schema import Feature
    >>> schema = Schema([Feature(name, "categorical", tuple("abcd")) for name in "xyz"], n_lower=10_000)
    >>> [default_plan(schema, epsilon).addition for epsilon in (0.001, 1.0)]
    ['counts', 'weights']
    >>> default_plan(Schema.binary(2_000, n_lower=7_000), 0.1).kind
    'words'
    """
    effective = check_epsilon(epsilon) / FACTOR[check_relation(relation)]
    n = float(schema.n_lower if n_records is None else n_records)
    layout = Layout.of(schema)
    C = schema.n_classes
    weights = max(sum(size - 1 for size in layout.sizes), 1)
    mixed = not schema.is_binary and schema.n_features <= MOST_DENSE
    if is_wide(layout) and not dense and not (mixed and effective * n / (weights * C * (C - 1) / 2) < ENOUGH_FOR_MIXED):
        if not schema.is_binary:
            return Plan("mixed")
        return Plan("words", look=schema.n_features < MANY_WORDS or n < RECORDS_PER_WORD * schema.n_features)
    n_cells = default_n_cells(n, len(layout.numbers), BINS_SHARE * epsilon, relation)
    bins_share = BINS_SHARE if n_cells else 0.0
    each = effective * (1 - bins_share) * n / weights
    enough = ENOUGH if C == 2 else ENOUGH_FOR_CLASSES if C >= MANY_CLASSES else C * ENOUGH_FOR_GRID
    addition = "weights" if each >= enough else "counts"
    grid_share, trust = GRID_SHARE, 1.0
    if addition == "weights" and C == 2:
        trust = SMALL_SHARE + (GRID_SHARE - SMALL_SHARE) * (ENOUGH / each) ** 6
        grid_share = min(trust, MOST_FOR_GRID / (effective * (1 - bins_share)))
    elif addition == "weights":
        grid_share, trust = (SHARE_FOR_CLASSES, TRUST_FOR_CLASSES) if each >= C * ENOUGH_FOR_GRID else (0.0, 0.0)
    weight, most_groups = WEIGHT, MOST_GROUPS
    if addition == "counts" and C > 2 and effective * n < FEW_RECORDS * C:
        grid_share, weight = HIDDEN
    if addition == "counts" and C >= MANY_CLASSES:
        for least, share, heavier in (MIDDLE, LARGE):
            if effective * n >= least * C:
                grid_share, weight = share, heavier
                most_groups = MOST_GROUPS if effective * n >= C * sum(layout.sizes) else FEW_GROUPS
    check_choice(addition, "addition", ADDITIONS)
    return Plan("table", n_cells, bins_share, addition, grid_share, weight, most_groups, trust)
