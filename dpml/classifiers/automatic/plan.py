"""What the classifier to begin with does with ε: decided from public facts alone.

benchmarks/accuracy_auto.py judges these rules on every set that had no part in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpml._validate import check_choice, check_epsilon, check_relation
from dpml.classifiers.automatic.bins import default_n_cells
from dpml.classifiers.automatic.layout import Layout
from dpml.counts import FACTOR
from dpml.schema import Schema

__all__ = ["ADDITIONS", "Plan", "default_plan", "is_wide"]

ADDITIONS = ("counts", "weights")
# with more binary columns that belong to no attribute a table is one of words
MOST_BINARY = 64
# words: noisy counts are shrunk one by one from this many columns, if there are so many records for each of them
MANY_WORDS, RECORDS_PER_WORD = 1000, 2
# share of ε for a noisy number of records, where the schema states none
COUNT_SHARE = 0.02
# share of ε for the histograms of numbers
BINS_SHARE = 0.1
# share of the rest for the grid, by what is added to it
GRID_SHARE = {"counts": 0.8, "weights": 0.4}
# of two classes, weights are learned from this many records times ε per weight, and a grid beside them from so many
ENOUGH, ENOUGH_FOR_BOTH = 10, 300
# of more classes, weights are learned beside a grid from this many
ENOUGH_FOR_CLASSES = 100


@dataclass(frozen=True)
class Plan:
    """How ε is used.

    Attributes
    ----------
    kind : {"table", "words", "linear"}
        "table": a grid and what is added to it. "words": naive Bayes with shrunken counts. "linear": what
        `dpml.classifiers.LinearClassifier` or, for a wide table with other columns, `dpml.classifiers.MixedNB` does.
    n_cells : int
        Cells of the histogram of each number; 0 for bins of equal width, which cost nothing.
    bins_share : float
        Share of ε for the histograms.
    addition : {"counts", "weights"}
        What is added to the grid.
    grid_share : float
        Share for the grid of what the histograms leave.
    """

    kind: str
    n_cells: int = 0
    bins_share: float = 0.0
    addition: str = "counts"
    grid_share: float = 1.0


def is_wide(layout: Layout) -> bool:
    """Return whether a table is one of words: more than `MOST_BINARY` binary columns outside attributes."""
    return sum(attribute.feature.kind == "binary" for attribute in layout.attributes) > MOST_BINARY


def default_plan(
    schema: Schema,
    epsilon: float,
    n_records: float | None = None,
    *,
    relation: str = "add-remove",
    release: bool = False,
) -> Plan:
    """Return the public rule.

    A table of a few attributes has Σ(d - 1) weights of C(C - 1)/2 pairs of classes, for attributes of d groups. ε·n is
    divided by their number:

    - below `ENOUGH`: a grid (PrivPfC's choice), which finds what few attributes say together, and noisy counts of the
      others;
    - from there on, for two classes: weights of all attributes, without a grid;
    - from `ENOUGH_FOR_BOTH` on: a grid, and weights that start at its answer. Of more classes the weights of each have
      ε/C only, while a grid serves all classes, so there is always a grid, and weights from `ENOUGH_FOR_CLASSES` on.

    A release takes counts, whose noise has a secure sampler. Under replace-one ε counts half.
    Numbers are cut at noisy quantiles where the noise leaves something of them (`default_n_cells`).

    Parameters
    ----------
    schema : Schema
    epsilon : float
    n_records : float, optional
        A public or released number of records. Default: the schema's `n_lower`.
    relation : {"add-remove", "replace-one"}
    release : bool

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
    if is_wide(layout):
        many = schema.is_binary and schema.n_features >= MANY_WORDS and n >= RECORDS_PER_WORD * schema.n_features
        return Plan("words" if many else "linear")
    n_cells = default_n_cells(n, len(layout.numbers), BINS_SHARE * epsilon, relation)
    bins_share = BINS_SHARE if n_cells else 0.0
    C = schema.n_classes
    weights = max(sum(size - 1 for size in layout.sizes), 1) * C * (C - 1) / 2
    each = effective * (1 - bins_share) * n / weights
    addition = "weights" if not release and each >= (ENOUGH if C == 2 else ENOUGH_FOR_CLASSES) else "counts"
    alone = addition == "weights" and C == 2 and each < ENOUGH_FOR_BOTH
    grid_share = 0.0 if alone else GRID_SHARE[addition]
    return Plan("table", n_cells, bins_share, check_choice(addition, "addition", ADDITIONS), grid_share)
