"""PrivBayes: a table drawn from a private Bayesian network over all attributes and the class."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_integer, check_number, check_relation
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.classifiers.grid import Records
from dpml.classifiers.grid.cells import MOST_CELLS, divided, noisy_size
from dpml.classifiers.grid.counts import marginal_counts, side_by_side
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.publishing._publisher import Groups, IntArray, Publisher, drawn_in_order

SCORES = ("dependence", "mutual_information")
FloatArray = NDArray[np.float64]
# an attribute and its parents
Pair = tuple[int, tuple[int, ...]]
LABELS = ("PrivBayes, number of records", "PrivBayes, network", "PrivBayes, counts")
# shares of ε for the number of records, the network and the counts: the paper's 0.3 for the network
SHARES = (0.03, 0.30, 0.67)
# a marginal's cells hold on average at least θ times the mean size of their noise
USEFULNESS = 4.0
# parents of an attribute where usefulness decides how many
MOST_PARENTS = 3
# candidates of one step; with more attributes there are fewer parents
MOST_CANDIDATES = 20_000


def dependence(counts: NDArray[np.int64]) -> float:
    r"""Return ½·Σ|n_xπ - n_x·n_π/n| for counts of shape (values, parents' values): the paper's R times n.

    How one record changes it. Let (x, π) be the record's cell, a = n_x, b = n_π before, r = n_xπ - n_x·n_π/n, and
    t = (n-a)(n-b)/(n(n+1)) < 1. After the record is added, r of its cell is larger by t. The other cells of its row
    are lower by t in all, those of its column too, and the rest are higher by t in all. So Σ|r| changes by at most 4·t,
    and the score by at most 2·t < 2. It rises from 0 by 2n/(n+1) where all n records are in one cell and the new one
    shares neither its row nor its column.
    """
    counts = np.asarray(counts, dtype=float)
    n = counts.sum()
    if not n:
        return 0.0
    expected = counts.sum(axis=1)[:, None] * (counts.sum(axis=0) / n)
    return float(np.abs(counts - expected).sum() / 2)


def mutual_information(counts: NDArray[np.int64], n_lower: int = 1) -> float:
    """Return the mutual information, in bits, of a table of counts.

    For n records below the public bound `n_lower`, it is multiplied by n/`n_lower`, so that one record changes it by no
    more than at that bound.
    """

    def sized(values: Any) -> float:
        kept = np.asarray(values, dtype=float)
        kept = kept[kept > 0]
        return float((kept * np.log2(kept)).sum())

    n = float(counts.sum())
    if not n:
        return 0.0
    bits = sized(counts) - sized(counts.sum(axis=0)) - sized(counts.sum(axis=1)) + sized([n])
    return bits / max(n, n_lower)


def information_sensitivity(n: int) -> float:
    """Return by how much one record changes mutual information at most, in bits, with at least n records.

    (2/n)·log2((n+1)/2) + ((n-1)/n)·log2((n+1)/(n-1)) (Zhang et al. 2014, Lemma 4.1, for attributes of any number of
    values). The bound falls with n from n = 2 on. Tables of one record have no information, and of two at most 1 bit.
    """
    n = max(check_integer(n, "n", 1), 2)
    return 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))


def dependence_range(score: str, relation: str = "add-remove", n_lower: int = 1) -> float:
    """Return the range of a score, the length of the interval of changes by one record: twice its sensitivity.

    "dependence": 2·2 under add/remove, and twice that under replace-one. "mutual_information": its sensitivity at a
    public lower bound on the number of records, under both relations.
    """
    if check_choice(score, "score", SCORES) == "dependence":
        return 4.0 * FACTOR[check_relation(relation)]
    return 2 * information_sensitivity(n_lower)


@dataclass(frozen=True)
class Network:
    """A released Bayesian network over the attributes and, as the last one, the class."""

    pairs: list[Pair]  # each attribute with its parents, which come before it
    tables: list[FloatArray]  # counts of at least 0, with the parents' axes first
    marginals: list[tuple[tuple[int, ...], FloatArray, float]]  # noisy counts, and their noise's standard deviation
    n: float  # noisy number of records


def parent_sets(known: Sequence[int], sizes: Sequence[int], most: float, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the maximal sets of at most `degree` known attributes with at most `most` cells, or the empty set."""
    if most < 1 or not known:
        yield ()
        return
    for k in range(min(degree, len(known)) + 1):
        for chosen in combinations(known, k):
            cells = math.prod(sizes[j] for j in chosen)
            if cells > most:
                continue
            rest = [j for j in known if j not in chosen]
            if k == degree or not rest or cells * min(sizes[j] for j in rest) > most:
                yield chosen


def release_network(
    records: Records,
    epsilon: float,
    *,
    degree: int | None = None,
    usefulness: float = USEFULNESS,
    score: str = "dependence",
    n_lower: int = 1,
    shares: Sequence[float] = SHARES,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
    exact_choice: bool = False,
) -> Network:
    """Release a Bayesian network and its noisy marginals (Zhang et al. 2014).

    A first attribute is drawn at random. Each step selects one more, with parents among those before it: at most
    `degree` (k) of them. Without a degree there are at most 3, and a marginal has at most n·ε_counts/(d·θ) cells, θ
    being `usefulness`, so that they hold on average at least θ times the mean size of their noise. Mutual information
    needs `n_lower`. `exact_choice` selects the best parents without noise, which is not private and only for
    simulations.

    Privacy: ε, in three shares. (1) The number of records changes by at most 1. (2) With d attributes, the class
    included, there are d - 1 exponential mechanisms with equal parts. The candidates depend on (1) and on earlier
    selections. (3) A record is in one cell of each marginal: with m marginals the L1 sensitivity is m, or 2·m under
    replace-one. A marginal whose attributes are all in another one is a sum of its counts and costs nothing.
    """
    source = Source(rng, secure, exact_choice)
    for_size, for_network, for_counts = divided(epsilon, shares)
    sizes = records.sizes
    d, factor = len(sizes), FACTOR[check_relation(relation)]
    n = noisy_size(records, for_size, source)
    most = float(MOST_CELLS)
    if degree is None:
        most = min(most, n * for_counts / (factor * d * check_number(usefulness, "usefulness", 0.0, open_lower=True)))
    wanted = MOST_PARENTS if degree is None else check_integer(degree, "degree", 0)
    step_epsilon = equal_share(for_network, max(d - 1, 1))
    width = dependence_range(score, relation, n_lower)
    first = int(boundary.public_randomness(rng if rng is not None else np.random.default_rng(), "integers", d))
    pairs: list[Pair] = [(first, ())]
    known: Any = {}
    while len(pairs) < d:
        before = sorted(x for x, _ in pairs)
        left = [x for x in range(d) if x not in before]
        parents = wanted
        while parents > 1 and len(left) * math.comb(len(before), min(parents, len(before))) > MOST_CANDIDATES:
            parents -= 1
        candidates = [(x, chosen) for x in left for chosen in parent_sets(before, sizes, most / sizes[x], parents)]
        # an iterator, because a statistic searches a list for private values
        known, scores = _measured(records.exact, known, iter(candidates), score, n_lower)
        pairs.append(candidates[source.choice(scores, step_epsilon, width)])
    return Network(pairs, *_noisy_tables(records, pairs, for_counts, factor, source), n=n)


@statistic
def _measured(
    records: Records, known: dict[Pair, float], pairs: Iterable[Pair], score: str, n_lower: int
) -> tuple[dict[Pair, float], FloatArray]:
    """Return the scores of all pairs so far, and of these pairs."""
    known, scores = dict(known), []
    for pair in pairs:
        if pair not in known:
            counts = marginal_counts(records, (*pair[1], pair[0]))
            table = counts.reshape(-1, counts.shape[-1]).T
            known[pair] = dependence(table) if score == "dependence" else mutual_information(table, n_lower)
        scores.append(known[pair])
    return known, np.array(scores)


def _noisy_tables(
    records: Records, pairs: list[Pair], epsilon: float, factor: int, source: Source
) -> tuple[list, list]:
    """Release the marginals that are in no other, and return the counts of each pair, at least 0, and the marginals."""
    held = [frozenset((x, *parents)) for x, parents in pairs]
    released = [i for i, one in enumerate(held) if not any(one < other for other in held)]
    exact = [marginal_counts(records, (*pairs[i][1], pairs[i][0])) for i in released]
    noisy = source.counts(side_by_side(exact), epsilon, factor * len(released))
    shapes = [[records.sizes[j] for j in (*pairs[i][1], pairs[i][0])] for i in released]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    by_pair = {
        i: part.reshape(shape) for i, shape, part in zip(released, shapes, np.split(noisy, ends[:-1]), strict=True)
    }
    tables = []
    for i, (x, parents) in enumerate(pairs):
        whole = i if i in by_pair else next(k for k in released if held[i] < held[k])
        axes = [*pairs[whole][1], pairs[whole][0]]
        kept = [*parents, x]
        table = np.maximum(by_pair[whole], 0.0).sum(axis=tuple(a for a, j in enumerate(axes) if j not in kept))
        left = [j for j in axes if j in kept]
        tables.append(table.transpose([left.index(j) for j in kept]))
    deviation = math.sqrt(2) * factor * len(released) / epsilon
    return tables, [((*pairs[i][1], pairs[i][0]), by_pair[i], deviation) for i in released]


@claim("privbayes", "PrivBayes", "[zhang2014], Algorithms 1 to 4 (score as a count, derived here)")
@claim("privbayes-release", "PrivBayes, release", "[zhang2014], Algorithms 1 to 4 (score as a count, derived here)")
@claim("privbayes-mutual-information", "PrivBayes by mutual information", "[zhang2014], Algorithms 1 to 4")
@claim(
    "privbayes-many-attributes",
    "PrivBayes by mutual information, of many attributes",
    "[zhang2014], Algorithms 1 to 4",
    relations=("replace-one",),
)
@dataclass(eq=False, repr=False, kw_only=True)
class PrivBayes(Publisher):
    """Synthetic tables with differential privacy from a Bayesian network, PrivBayes.

    It releases a noisy number of records, a network that gives each attribute and the class a few parents, and the
    noisy counts of each with its parents. Tables are drawn from these alone. The class is an attribute like the others,
    so the table serves more than one purpose, and classification less well than a table that is made for it.

    Parameters
    ----------
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's. The finest level is used.
    degree : int, optional
        Largest number k of parents of an attribute. More parents keep more dependence, but the noise on their counts is
        relatively larger. By default at most 3, as long as the noisy counts are θ-useful.
    usefulness : float, default 4.0
        Threshold θ, if `degree` is not given: cells hold on average at least θ times the mean size of their noise.
    score : {"dependence", "mutual_information"}, default "dependence"
        Measure of the dependence of attributes. The sensitivity of mutual information is that at the schema's public
        lower bound on the number of records, so use "dependence" without such a bound.
    shares : (float, float, float), default (0.03, 0.3, 0.67)
        Shares of ε for the number of records, the network and the counts. They add up to 1.

    Attributes
    ----------
    network_ : list of (str, tuple of str)
        Each attribute, with the class as one, and its parents, in the order in which they are drawn.
    n_noisy_ : float
        Noisy number of records.

    See Also
    --------
    PrivPfC : Synthetic tables for one classification task.
    MST : Synthetic tables from a tree of noisy pairs of attributes.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: 1 for the number of
    records, the range of the score (twice its sensitivity), and m in L1 norm for the counts of m marginals (2m under
    replace-one).

    `release_network` in the module has the derivation. The score R of the paper is a count here, whose sensitivity
    needs no public number of records. The paper is for replace-one with a public number. Under add/remove that number
    is released.

    References
    ----------
    Zhang et al. (2014), Algorithms 1 to 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(2000, 3))
    >>> published = PrivBayes(5.0, degree=1, random_state=0).fit(X, X[:, 1])
    >>> table = published.sample(1000)
    >>> bool((table["x1"] == table["label"]).mean() > 0.95)
    True
    """

    degree: int | None = None
    usefulness: float = USEFULNESS
    score: str = "dependence"
    shares: tuple[float, float, float] = SHARES
    _labels = LABELS

    def _check_parameters(self) -> None:
        check_choice(self.score, "score", SCORES)
        check_number(self.usefulness, "usefulness", 0.0, open_lower=True)
        if self.degree is not None:
            check_integer(self.degree, "degree", 0)

    def _release(self, records: Records, table: CheckedTable) -> Network:
        return release_network(
            records,
            self.epsilon,
            degree=self.degree,
            usefulness=self.usefulness,
            score=self.score,
            n_lower=table.schema.n_lower,
            shares=self.shares,
            relation=table.relation,
            **table.noise,
        )

    def _model(self, network: Network, table: CheckedTable) -> None:
        self._network = network
        self.n_noisy_ = network.n
        names = [*table.schema.feature_names, "class"]
        self._warn_of_crowded(table.schema, network.marginals)
        self.network_ = [(names[x], tuple(names[j] for j in parents)) for x, parents in network.pairs]

    @property
    def _n_released(self) -> float:
        return self.n_noisy_

    def _groups(self, n: int, rng: np.random.Generator) -> tuple[IntArray, list[Groups]]:
        network = self._network
        tables = ((x, parents, t) for (x, parents), t in zip(network.pairs, network.tables, strict=True))
        drawn = drawn_in_order(tables, n, rng)
        return self._finest_groups(drawn)


@claim(
    "privbayes-struct-nf",
    "PrivBayes-Struct-NF, a network without noise",
    "[su2018], section 5.5",
    "none: simulation only",
    private=False,
    cost="∞: the choices have no noise",
)
class PrivBayesStructNF(PrivBayes):
    """PrivBayes with selections without noise: NOT private, for simulations only (PrivBayes-Struct-NF, Su et al. 2018).

    Only the number of records and the counts have noise, with the same shares of ε, which shows the cost of the
    selections. The parameters are those of `PrivBayes`, but `budget` and `release` raise `NotPrivate`.

    See Also
    --------
    PrivBayes : The private method.

    Notes
    -----
    Privacy: ε = infinity, because the network is selected without noise. δ = 0. Relation: `relation`. Sensitivity: m in
    L1 norm for the counts of m marginals (2m under replace-one).
    """

    private = False
