"""Plan of the default classifier for ε, made from public metadata alone.

benchmarks/accuracy_auto.py judges these rules on every set that had no part in them.
"""

import math
from dataclasses import dataclass, replace

from dpml._validate import check_epsilon, check_relation
from dpml.budget.shares import divide_epsilon, rest_of
from dpml.classifiers.automatic.layout import MANY_ATTRIBUTES, MOST_CLASSES, Layout, default_histograms
from dpml.counts import FACTOR
from dpml.mechanisms.noise import gaussian_sigma
from dpml.mechanisms.norms import OneHotNorm
from dpml.schema import Schema
from dpml.selection.plan import JOINT
from dpml.selection.plan import Plan as ColumnsPlan

# with more binary columns that belong to no attribute a table is one of words
MOST_BINARY = 64
# up to so many binary columns may be a dense table, which has grid and weights as any other: one in which at least half
# of the records have ones in this share of the columns. Up to so many words a few may be enough, or other models better
MANY_WORDS, DENSE = 400, 0.15
# with fewer records for each word than this, too
RECORDS_PER_WORD = 2
# a lift in accuracy by one column from which columns are selected first, and the nats and the most ε of its noisy test
LEAST_LIFT, LIFT_NATS, LIFT_SHARE = 0.08, 10.0, 0.06
# the least share of ε that anything gets: the number of records, the look at dense tables
LEAST_SHARE = 0.02
# share of ε for the histograms of numbers, and for those that numbers share, in whose mass noise matters less. Both are
# worth it under the same condition
BINS_SHARE, SHARED_BINS_SHARE = 0.1, 0.05
# of two classes, weights are learned from this many records times ε per weight, with numbers in public bins from fewer,
# and of large attributes too from so many
ENOUGH, ENOUGH_FOR_PUBLIC, ENOUGH_FOR_LARGE = 10, 9, 300
# the share of the grid beside them where there are far more, and the most ε that it gets, because a finer grid has
# cells of a few records each
SMALL_SHARE, MOST_FOR_GRID = 0.2, 0.3
# of more classes, counts are added to the grid from so many records times ε: below, noise hides them
FEW_RECORDS = 950
# and weights from so many per weight of one class, or per pair of classes with `MANY_ATTRIBUTES`, of which counts are
# worse. The grid's share beside both; many classes have no grid
ENOUGH_FOR_CLASSES, SHARE_FOR_CLASSES = 80, 0.5
# the least records of more classes in a cell of the grid, and times ε for each weight of the coarsest bins
CELL_RECORDS = 10
# records times ε for each weight of more than two classes, of public bins, or of numbers that share a histogram: with
# fewer, numbers get coarser bins. A larger ε than 1, or 2 for more than two classes, does not count: the sample limits
# the weights then
RECORDS_PER_WEIGHT = 30


@dataclass(frozen=True)
class Plan:
    """Division of ε, and of δ.

    Attributes
    ----------
    kind : {"table", "words", "mixed"}
        "table": a grid and an addition to it. "words": naive Bayes with shrunken counts, or a model that a noisy test
        finds better. "mixed": `dpml.classifiers.MixedNB`, for many binary columns beside others.
    n_cells : int
        Cells of each histogram of numbers, 0 for public bins, which cost nothing.
    least_numbers : int
        1 if each number has a histogram of its own. Otherwise numbers of the same domain share one if they are so many.
    bins_share : float
        Share of ε for the histograms.
    addition : {"none", "counts", "weights"}
        Addition to the grid, or, without one, to the class sizes.
    grid_share : float
        Share for the grid of the ε that the histograms leave.
    cell_records : float
        The least records that a cell of the grid holds on average.
    most_weights : float
        Weights of one class in the addition, beyond which numbers get coarser bins (`Layout.levels`).
    large : bool
        Whether attributes with far more weights than others are in the addition.
    trust : float
        Start of the added weights, in units of the grid's log odds.
    reg_factor : float
        Factor of the regulariser of the weights of two classes.
    look : bool
        True if noisy tests decide for words whether few of them are enough and which model is best.
    delta : float
        The δ of Gaussian noise on the weights, 0 for noise of a norm.
    """

    kind: str
    n_cells: int = 0
    least_numbers: int = 1
    bins_share: float = 0.0
    addition: str = "none"
    grid_share: float = 1.0
    cell_records: float = 0.0
    most_weights: float = math.inf
    large: bool = True
    trust: float = 1.0
    reg_factor: float = 1.0
    look: bool = False
    delta: float = 0.0

    def divided(self, epsilon: float) -> tuple[float, float, float]:
        """Return the ε of the histograms, the grid and the addition, in the order of their release."""
        for_bins, left = 0.0, epsilon
        if self.n_cells:
            for_bins = epsilon * self.bins_share
            left = rest_of(epsilon, for_bins)
        if self.addition == "none":
            return for_bins, left, 0.0
        if not self.grid_share:
            return for_bins, 0.0, left
        for_grid, for_rest = divide_epsilon(left, [self.grid_share, 1 - self.grid_share], [1, 1])
        return for_bins, for_grid, for_rest


def is_wide(layout: Layout) -> bool:
    """Return whether a table is one of words: more than `MOST_BINARY` binary columns outside attributes."""
    return sum(attribute.feature.kind == "binary" for attribute in layout.attributes) > MOST_BINARY


def asks_density(schema: Schema, epsilon: float, n_records: float) -> bool:
    """Return whether a noisy test of the number of ones of records can separate a dense table from one of words.

    The scale of its noise, 1/(share·ε), must be at most the number of records.
    """
    D, known = schema.n_features, LEAST_SHARE * epsilon * n_records
    may_be = schema.is_binary and D <= MANY_WORDS and schema.row_bound >= DENSE * D
    return may_be and known >= 1 and is_wide(Layout.from_schema(schema))


def columns_plan(schema: Schema, epsilon: float, relation: str = "add-remove") -> ColumnsPlan | None:
    """Return the plan of a private selection of columns before anything else, or None where there is none.

    Many columns, of which the schema states no bound on a record's ones, may be a table of answers as well as of words.
    A noisy test asks whether one column alone lifts the accuracy by `LEAST_LIFT`, or by more if that test would cost
    more than `LIFT_SHARE` of ε. With fewer records times ε than columns, all columns are noise, and there is no test.
    The selected columns are a table of attributes.
    """
    n, D, factor = schema.n_lower or 1, schema.n_features, FACTOR[relation]
    if not schema.is_binary or D <= MANY_WORDS or schema.row_bound != D or n < RECORDS_PER_WORD * D:
        return None
    known, look, lift = epsilon * n / factor, 0.0, LEAST_LIFT
    if known > D:
        lift = max(LEAST_LIFT, LIFT_NATS / (LIFT_SHARE * known))
        look = LIFT_NATS * factor / (lift * n)
    strength = (epsilon - look) / 2 * n / factor
    T = int(min(max(0.25 * math.sqrt(strength), 1), MOST_BINARY))
    return ColumnsPlan(look, None if look else True, T, "joint" if strength >= JOINT else "one-shot", lift=lift)


def gaussian_gain(layout: Layout, epsilon: float, delta: float) -> float:
    """Return the ratio of the deviations of norm noise and of Gaussian noise on a weight of two classes.

    It is above 1 for wide tables, where Gaussian noise is smaller: records have the squared length Σ(1 - 1/d) + 2, and
    the norm's noise grows with the number of weights. Under replace-one both are doubled.
    """
    sizes = tuple(layout.sizes[a] for a in layout.divided)
    norm = OneHotNorm(epsilon, sizes, n_scalars=2)
    return norm.deviation / gaussian_sigma(epsilon, delta, math.sqrt(sum(1 - 1 / d for d in sizes) + 2))


def default_plan(
    schema: Schema,
    epsilon: float,
    n_records: float | None = None,
    *,
    dense: bool = False,
    delta: float = 0.0,
    relation: str = "add-remove",
) -> Plan:
    """Return the plan of the public rule. `n_records` is public or released, by default the schema's `n_lower`.

    A table of a few attributes has Σ(d - 1) weights, for attributes of d groups. ε·n is divided by their number. With
    two classes:

    - Below `ENOUGH`, the plan is a grid (the selection of PrivPfC), which shows the joint effect of few attributes.
    - From there on, it has weights of all attributes and of the grid's prediction, because weights alone ignore
      attributes that act together. The grid's share is first 1, and falls to `SMALL_SHARE` with the fourth power of
      that number. With numbers in public bins, weights begin at `ENOUGH_FOR_PUBLIC`, and the share falls from 1.5 times
      `SMALL_SHARE`: a grid separates fewer of their values. Weights start at the same part of the grid's prediction,
      because the rest of it may be noise. If their share of ε is below the one that they tend to, or the grid is
      trusted more, the regulariser is stronger by the same factor.
    - Public bins are coarser if these leave fewer than `RECORDS_PER_WEIGHT`, with six groups at least. Categories with
      far more weights than others (`Layout.levels`) have none below `ENOUGH_FOR_LARGE`: each weight adds to the noise
      of all, and the grid may still select them.
    - With a `delta`, weights get Gaussian noise where that is smaller (`gaussian_gain`), and the number of records
      counts more by the same factor.

    With more classes the plan is a grid. From `FEW_RECORDS` times ε on it adds noisy counts of the other attributes,
    and from `ENOUGH_FOR_CLASSES` for each weight on, weights instead. Counts take attributes for independent in a
    class. `MANY_ATTRIBUTES` are not, and get weights from `ENOUGH_FOR_CLASSES` for each pair of classes on, with
    coarser bins if these leave fewer than `RECORDS_PER_WEIGHT`. With more than `MOST_CLASSES` classes a grid has too
    few cells for each class, so counts or weights of all attributes get all of ε.

    Under replace-one ε counts half. Numbers are cut at noisy quantiles unless noise would hide them
    (`default_histograms`). `dense`: a noisy test has found that records have many ones (`asks_density`).

    Examples
    --------
    >>> from dpml.schema import Feature
    >>> schema = Schema([Feature(name, "categorical", tuple("abcd")) for name in "xyz"], n_lower=10_000)
    >>> [default_plan(schema, epsilon).addition for epsilon in (0.001, 1.0)]
    ['none', 'weights']
    >>> default_plan(Schema.binary(2_000, n_lower=7_000), 0.1).kind
    'words'
    """
    effective = check_epsilon(epsilon) / FACTOR[check_relation(relation)]
    n = float(schema.n_lower if n_records is None else n_records)
    layout = Layout.from_schema(schema)
    C = schema.n_classes
    if is_wide(layout) and not dense:
        if not schema.is_binary:
            return Plan("mixed")
        D = schema.n_features
        return Plan("words", look=D <= MANY_WORDS or n < RECORDS_PER_WORD * D)
    n_cells, least_numbers = default_histograms(layout, n, BINS_SHARE * epsilon, relation)
    bins_share = (BINS_SHARE if least_numbers == 1 else SHARED_BINS_SHARE) if n_cells else 0.0
    known = effective * (1 - bins_share) * n
    large = C > 2 or effective * n >= ENOUGH_FOR_LARGE * layout.n_weights
    layout = replace(layout, large=large)
    weights = max(layout.n_weights if n_cells or C > 2 else layout.fewest_weights, 1)
    # a shared histogram, whose share is small, does not move the point from which weights are learned
    each = (effective * n if least_numbers > 1 else known) / weights
    addition, grid_share, cell_records, most_weights = "none", 1.0, 0.0, math.inf
    trust = reg_factor = 1.0
    gain = gaussian_gain(layout, epsilon, delta) if C == 2 and delta else 1.0
    each *= max(gain, 1.0)
    public = bool(layout.numbers) and not n_cells
    if C == 2 and each >= (ENOUGH_FOR_PUBLIC if public else ENOUGH):
        trust = SMALL_SHARE + (1 - SMALL_SHARE) * (ENOUGH / each) ** 4
        if public:
            trust = SMALL_SHARE * (1 + 0.5 * (ENOUGH_FOR_PUBLIC / each) ** 2)
        grid_share = min(trust, MOST_FOR_GRID / (effective * (1 - bins_share)))
        if 1 - grid_share >= LEAST_SHARE:
            pulled = max(grid_share, min(trust, 0.5))
            addition, reg_factor = "weights", max((1 - SMALL_SHARE) / (1 - pulled), 1.0)
            if least_numbers > 1 or not n_cells:
                most_weights = max(min(known, n) / RECORDS_PER_WEIGHT, weights)
    elif C > 2:
        grid_share = 0.0 if C > MOST_CLASSES else SHARE_FOR_CLASSES
        many = len(layout.attributes) >= MANY_ATTRIBUTES
        fewest = replace(layout, most_weights=0).n_weights
        enough = max(FEW_RECORDS, ENOUGH_FOR_CLASSES * math.comb(C, 2), CELL_RECORDS * fewest)
        if each >= ENOUGH_FOR_CLASSES or (many and known >= enough):
            # otherwise a large ε would make cells of a few records each
            addition, cell_records = "weights", CELL_RECORDS
            most_weights = min(known, 2 * n) / RECORDS_PER_WEIGHT
        elif effective * n >= FEW_RECORDS:
            # half the scale of the noise on a count of A attributes of d groups, A/ε, is less than n/(C·d). The errors
            # of many attributes add up
            addition, most_weights = "counts", 0.0 if many else 2 * effective * n / C - len(layout.attributes)
    if addition == "none":
        grid_share = trust = 1.0
    gaussian = delta if gain > 1 and addition == "weights" else 0.0
    parts = n_cells, least_numbers, bins_share, addition, grid_share, cell_records, most_weights
    return Plan("table", *parts, large, trust, reg_factor, delta=gaussian)
