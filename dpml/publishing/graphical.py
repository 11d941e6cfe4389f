"""MST and AIM: tables from a graphical model of noisy marginals.

Both methods were published for Gaussian noise and (ε, δ). So they work with a δ above 0. Without one they use Laplace
noise and cost ε alone, like all other publishers. `Spending` is the difference between the two.

The package `mbi` (McKenna's reference implementation, in the extra ``graphical``) estimates the model from released
values alone. The model becomes a chain of conditional tables: its attributes are eliminated one after another. Drawn in
the opposite order, each depends only on those that shared a factor with it at its elimination.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpml._validate import check_epsilon, check_integer, check_number, check_relation
from dpml.budget import Cost
from dpml.budget.conversion import zcdp_rho
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.classifiers.grid import Records
from dpml.classifiers.grid.cells import MOST_CELLS, divided
from dpml.classifiers.grid.counts import marginal_counts, side_by_side
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.exceptions import MissingExtra
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.publishing._publisher import Groups, IntArray, Publisher, drawn_in_order
from dpml.schema import Schema

FloatArray = NDArray[np.float64]
Attributes = tuple[int, ...]
# the expected counts of a marginal under a model
Expected = Callable[[Attributes], FloatArray]
# shares of ε for the single attributes, the choice of pairs, and the pairs
MST_SHARES = (1 / 3, 1 / 3, 1 / 3)
# shares of a round's ε for its choice and its marginal (McKenna et al. 2022)
AIM_SHARES = (0.1, 0.9)
# an attribute, those that it depends on, and its probabilities with an axis for each of these and the last for it
Conditional = tuple[int, tuple[int, ...], FloatArray]
ITERATIONS = 1000
# megabytes of the largest model that AIM may ask for
MOST_MEGABYTES = 8.0


@dataclass(frozen=True)
class Marginal:
    """A released marginal: its attributes (the class is last), noisy counts, and standard deviation of the noise."""

    attributes: Attributes
    counts: FloatArray
    deviation: float


@dataclass(frozen=True)
class Spending:
    """Budget of a release: parts of ε, or with δ parts of ρ, the zero-concentrated cost that implies (ε, δ).

    Privacy: a record is in one cell of each marginal, so k of them together have L1 sensitivity k and L2 sensitivity
    √k under add/remove. A replaced record leaves a cell and enters another one: 2k and √(2k). Laplace noise costs the
    first over its scale. Gaussian noise costs half of the squared second over σ² as ρ (Bun and Steinke 2016,
    Proposition 1.6). A selection whose scores change by at most Δ in either direction has range 2Δ, twice that under
    replace-one: it costs its ε, or ε²/8 as ρ (`dpml.mechanisms.choice_epsilon`). Parts of either kind add up.
    """

    epsilon: float
    delta: float
    relation: str
    source: Source

    @property
    def total(self) -> float:
        """ε, or the largest ρ that implies (ε, δ)."""
        return zcdp_rho(self.epsilon, self.delta) if self.delta else check_epsilon(self.epsilon)

    @property
    def growth(self) -> float:
        """By how much the cost of a round grows for half the noise: twice the ε, or four times the ρ."""
        return 4.0 if self.delta else 2.0

    def deviation(self, cost: float, n_marginals: int = 1) -> float:
        """Return the standard deviation of the noise on marginals that are released together."""
        k = FACTOR[self.relation] * n_marginals
        return math.sqrt(k / (2 * cost)) if self.delta else math.sqrt(2) * k / cost

    def mean_size(self, deviation: float) -> float:
        """Return the mean size of the noise on a cell."""
        return deviation * (math.sqrt(2 / math.pi) if self.delta else 1 / math.sqrt(2))

    def marginals(self, records: Records, sets: Sequence[Attributes], cost: float) -> list[Marginal]:
        """Release several marginals at once."""
        shapes = [[records.sizes[j] for j in r] for r in sets]
        exact, k = side_by_side([marginal_counts(records, r) for r in sets]), FACTOR[self.relation] * len(sets)
        if self.delta:
            noisy = self.source.gaussian_counts(exact, cost, math.nextafter(math.sqrt(k), math.inf))
        else:
            noisy = self.source.counts(exact, cost, k)
        parts = np.split(noisy, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
        deviation = self.deviation(cost, len(sets))
        released = zip(sets, parts, shapes, strict=True)
        return [Marginal(r, part.reshape(shape), deviation) for r, part, shape in released]

    def choice(self, scores: Any, cost: float, sensitivity: float = 1.0) -> int:
        """Choose by scores of which a record that is added changes each by at most a sensitivity."""
        choose = self.source.bounded_choice if self.delta else self.source.choice
        return choose(scores, cost, 2.0 * FACTOR[self.relation] * sensitivity)


@statistic
def _distance(counts: FloatArray, expected: FloatArray) -> float:
    """Return the L1 distance of exact counts from those that a model expects."""
    return float(np.abs(counts - expected).sum())


@statistic
def _need(counts: FloatArray, expected: FloatArray, noise: float, weight: float) -> float:
    """Return by how much a model is off, more than the noise would be, times the weight of the marginal."""
    return weight * (_distance(counts, expected) - noise)


def independent(marginals: Sequence[Marginal], sizes: Sequence[int]) -> Expected:
    """Return the expected counts if all attributes are independent, from released single attributes."""
    total, shares = total_of(marginals), {}
    for marginal in marginals:
        if len(marginal.attributes) == 1:
            kept = np.maximum(marginal.counts, 0.0)
            shares[marginal.attributes[0]] = kept / kept.sum() if kept.sum() > 0 else np.full(len(kept), 1 / len(kept))

    def expected(attributes: Attributes) -> FloatArray:
        table: Any = np.array(total)
        for j in attributes:
            table = table[..., None] * shares[j]
        return table

    return expected


def total_of(marginals: Sequence[Marginal]) -> float:
    """Return the number of records: the mean of the marginals' totals, weighted by precision, at least 1."""
    weights = np.array([1 / (m.counts.size * m.deviation**2) for m in marginals])
    total = float((weights / weights.sum()) @ np.array([m.counts.sum() for m in marginals]))
    return max(total, 1.0)


def release_mst(
    records: Records,
    epsilon: float,
    *,
    delta: float = 0.0,
    shares: Sequence[float] = MST_SHARES,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[Marginal]:
    """Release all single attributes and a tree of pairs of attributes (McKenna et al. 2021).

    Privacy: ε, or (ε, δ), in three shares of ε or of ρ (`Spending`). With d attributes, the class included: (1) their
    single marginals. (2) d - 1 selections of a pair between two parts of the tree that are not yet joined, each with an
    equal part, by the L1 distance of its counts from those that (1) leads to expect. One record changes one count, so a
    score changes by at most 1 in either direction. (3) The d - 1 pairs. With δ it is the published method (without its
    merging of rare values), whose shares are a third of ρ each.
    """
    spending = Spending(epsilon, _checked_delta(delta), check_relation(relation), Source(rng, secure))
    for_singles, for_choice, for_pairs = divided(spending.total, shares)
    sizes = records.sizes
    d = len(sizes)
    marginals = spending.marginals(records, [(j,) for j in range(d)], for_singles)
    expected = independent(marginals, sizes)
    pairs = [pair for pair in combinations(range(d), 2) if sizes[pair[0]] * sizes[pair[1]] <= MOST_CELLS]
    distances = {p: _distance(marginal_counts(records, p), expected(p)) for p in pairs}
    part = list(range(d))
    chosen: list[Attributes] = []
    while left := [(a, b) for a, b in pairs if part[a] != part[b]]:
        scores = [distances[pair] for pair in left]
        a, b = left[spending.choice(scores, equal_share(for_choice, d - 1))]
        chosen.append((a, b))
        joined = part[b]
        part = [part[a] if p == joined else p for p in part]
    return marginals + (spending.marginals(records, chosen, for_pairs) if chosen else [])


def release_aim(
    records: Records,
    epsilon: float,
    *,
    delta: float = 0.0,
    n_rounds: int | None = None,
    relation: str = "add-remove",
    estimate: Callable[[Sequence[Marginal], Sequence[int]], Expected] = independent,
    fits: Callable[[Sequence[Attributes], Sequence[int]], bool] | None = None,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[Marginal]:
    """Release marginals one by one, each where the model of the earlier ones errs most (McKenna et al. 2022).

    The workload is the class with each two attributes. Candidates are these triples and the pairs in them.
    ``estimate(marginals, sizes)`` returns the expected counts, a function of attributes. It sees released values.
    ``fits(sets, sizes)`` says whether a model of these marginals is small enough.

    Privacy: ε, or (ε, δ), as parts of ε or of ρ (`Spending`). It is spent in rounds, and the rest limits each of them.
    There are `n_rounds` parts at first (None: 3·d, where the paper has 16·d). After a round that improved nothing the
    noise of the next is half as large. The single attributes have as many parts as there are. A round has a selection
    and a marginal. A candidate's score is its weight times (L1 distance of its counts from the expected ones, less the
    noise's mean size times its cells): one record changes it by at most the largest weight in either direction. The
    cost of the next round is decided by released values.
    """
    spending = Spending(epsilon, _checked_delta(delta), check_relation(relation), Source(rng, secure))
    total, sizes = spending.total, records.sizes
    d = len(sizes)
    rounds = 3 * d if n_rounds is None else check_integer(n_rounds, "n_rounds", d + 1)
    step = equal_share(total, rounds)
    marginals = spending.marginals(records, [(j,) for j in range(d)], d * step)
    weights = _weights(d, sizes)
    spent, exact = d * step, {r: marginal_counts(records, r) for r in weights}
    cells = {r: math.prod(sizes[j] for j in r) for r in weights}
    expected = estimate(marginals, sizes)
    while weights and spent < total * (1 - 1e-9):
        left = math.nextafter(total - spent, 0.0) * (1 - 1e-12)
        step = left if left < 2 * step else step  # the last round has what is left
        for_choice, for_marginal = (step * share for share in AIM_SHARES)
        held = [m.attributes for m in marginals]
        candidates = [r for r in weights if fits is None or fits([*held, r], sizes)] or list(weights)[:1]
        before = {r: expected(r) for r in candidates}
        penalty = spending.mean_size(spending.deviation(for_marginal))
        scores = [_need(exact[r], before[r], penalty * cells[r], weights[r]) for r in candidates]
        r = candidates[spending.choice(scores, for_choice, max(weights.values()))]
        marginals += spending.marginals(records, [r], for_marginal)
        spent += step
        expected = estimate(marginals, sizes)
        if np.abs(expected(r) - before[r]).sum() <= penalty * cells[r]:
            step *= spending.growth
    return marginals


def _checked_delta(delta: float) -> float:
    return check_number(delta, "delta", 0.0, 1.0, open_upper=True)


def _weights(d: int, sizes: Sequence[int]) -> dict[Attributes, float]:
    """Return the candidates and how much of the workload each shares, divided by the most."""
    pairs = list(combinations(range(d - 1), 2))
    workload: list[Attributes] = [(*pair, d - 1) for pair in pairs] or [tuple(range(d))]
    candidates = {part for r in workload for k in (2, 3) for part in combinations(r, k)}
    kept = sorted(r for r in candidates if math.prod(sizes[j] for j in r) <= MOST_CELLS)
    shared = {r: float(sum(len(set(r) & set(s)) for s in workload)) for r in kept}
    most = max(shared.values(), default=1.0)
    return {r: weight / most for r, weight in shared.items()}


def chained(
    factors: Sequence[tuple[Sequence[int], FloatArray]], order: Sequence[int], sizes: Sequence[int]
) -> list[Conditional]:
    """Return each attribute with its probabilities given earlier ones, for a model that is a product of factors.

    A factor is its attributes and the logarithms of a table with an axis for each. `order` is that of elimination.
    """
    left = [(tuple(attributes), np.asarray(table, dtype=float)) for attributes, table in factors]
    conditionals: list[Conditional] = []
    for x in order:
        near = [factor for factor in left if x in factor[0]]
        left = [factor for factor in left if x not in factor[0]]
        given = tuple(sorted({j for attributes, _ in near for j in attributes} - {x}))
        axes = (*given, x)
        table: Any = np.zeros([sizes[j] for j in axes])
        for attributes, factor in near:
            table = table + _with_axes(factor, attributes, axes)
        rest = logsumexp(table, axis=-1, keepdims=True)
        conditionals.append((x, given, np.exp(table - rest)))
        left.append((given, rest[..., 0]))
    return conditionals[::-1]


def _with_axes(table: FloatArray, attributes: Sequence[int], axes: Sequence[int]) -> FloatArray:
    """Return a table with its axes in the order of `axes`, with length 1 for missing ones."""
    kept = [j for j in axes if j in attributes]
    turned = table.transpose([list(attributes).index(j) for j in kept])
    return turned[tuple(slice(None) if j in attributes else None for j in axes)]


def expected_counts(chain: Sequence[Conditional], total: float, attributes: Sequence[int]) -> FloatArray:
    """Return the expected counts of the attributes' values among `total` records, with an axis for each."""
    wanted, used = set(attributes), []
    for x, given, table in reversed(chain):
        if x in wanted:
            wanted |= set(given)
            used.append((table, [*given, x]))
    parts: list[Any] = [part for pair in used for part in pair]
    counts = np.einsum(*parts, list(attributes), optimize="greedy")
    return total * np.asarray(counts, dtype=float)


def _mbi() -> Any:
    """Import mbi at its first use: it brings JAX."""
    try:
        import jax

        # before mbi is imported, which warns of single precision and of a cache
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_enable_compilation_cache", False)
        import mbi
    except ImportError as error:
        raise MissingExtra("Fitting MST or AIM", "mbi", "graphical") from error
    return mbi


@contextmanager
def _compiled_soon() -> Iterator[None]:
    """Turn off most of JAX's optimizations: each model is new, and compiling it takes longer than its work."""
    import jax

    before = jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)


def estimated(marginals: Sequence[Marginal], sizes: Sequence[int]) -> Any:
    """Return mbi's model of released marginals; without any that are finite, the uniform one."""
    mbi = _mbi()
    import jax

    total = min(total_of(marginals), 1e9)
    domain = mbi.Domain([str(j) for j in range(len(sizes))], list(sizes))
    # a count further from the total has no more effect
    kept = [
        mbi.LinearMeasurement(
            np.clip(m.counts.ravel(), -10 * total, 10 * total), tuple(map(str, m.attributes)), m.deviation
        )
        for m in marginals
        if m.deviation < 1e12
    ]
    with _compiled_soon():
        loss = mbi.marginal_loss.from_linear_measurements(kept, domain)
        loss = replace(loss, loss_fn=jax.jit(loss.loss_fn))  # one program, and not one for each of its terms
        return mbi.estimation.MirrorDescent().estimate(domain, loss, known_total=total, iters=ITERATIONS, tol=1e-4)


def model_chain(model: Any) -> list[Conditional]:
    """Return mbi's model as conditional tables, without its slow compilation of a program for each marginal."""
    order = _mbi().junction_tree.make_junction_tree(model.domain, [tuple(c) for c in model.cliques])[1]
    factors = [
        (tuple(map(int, clique)), np.asarray(model.potentials[clique].values, dtype=float)) for clique in model.cliques
    ]
    return chained(factors, [int(j) for j in order], model.domain.shape)


def _expected(marginals: Sequence[Marginal], sizes: Sequence[int]) -> Expected:
    model = estimated(marginals, sizes)
    return partial(expected_counts, model_chain(model), float(model.total))


def _small(sets: Sequence[Attributes], sizes: Sequence[int]) -> bool:
    mbi = _mbi()
    domain = mbi.Domain([str(j) for j in range(len(sizes))], list(sizes))
    cliques = [tuple(map(str, attributes)) for attributes in sets]
    return mbi.junction_tree.hypothetical_model_size(domain, cliques) <= MOST_MEGABYTES


@dataclass(eq=False, repr=False, kw_only=True)
class _Graphical(Publisher):
    """Base of the publishers that draw from mbi's model, which is in the extra ``graphical``.

    Parameters
    ----------
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's. The finest level is used.
    delta : float, default 0.0
        Privacy parameter δ of one fit, in [0, 1). With 0, Laplace noise costs ε alone. Above 0, Gaussian noise, as
        published, is charged with the ρ that implies (ε, δ) (`dpml.budget.zcdp_rho`). With many attributes it is
        usually smaller than Laplace noise.

    Attributes
    ----------
    marginals_ : list of tuple of str
        Attributes of each released marginal, the class as "class".
    """

    delta: float = 0.0

    def _check_parameters(self) -> None:
        check_number(self.delta, "delta", 0.0, 1.0, open_upper=True)
        _mbi()

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        name = type(self).__name__
        return {name: {"rho": zcdp_rho(self.epsilon, self.delta)} if self.delta else self.epsilon}

    def _model(self, marginals: list[Marginal], table: CheckedTable) -> None:
        features = table.schema.features
        model = estimated(marginals, [*(f.taxonomy.sizes[-1] for f in features), table.schema.n_classes])
        self._total = float(model.total)
        self._chain = model_chain(model)
        names = [*table.schema.feature_names, "class"]
        self.marginals_ = [tuple(names[j] for j in m.attributes) for m in marginals]
        self._warn_of_crowded(table.schema, ((tuple(m.attributes), m.counts, m.deviation) for m in marginals))

    @property
    def _n_released(self) -> float:
        return self._total

    def _groups(self, n: int, rng: np.random.Generator) -> tuple[IntArray, list[Groups]]:
        return self._finest_groups(drawn_in_order(self._chain, n, rng))


@claim("mst", "MST", "[mckenna2021], with Laplace noise")
@claim("mst-release", "MST, release", "[mckenna2021], with Laplace noise")
@claim("mst-delta", "MST with Gaussian noise", "[mckenna2021]", "(ε, δ), audited at δ = 1e-05", delta=1e-5)
@claim(
    "mst-delta-release", "MST with Gaussian noise, release", "[mckenna2021]", "(ε, δ), audited at δ = 1e-05", delta=1e-5
)
@dataclass(eq=False, repr=False, kw_only=True)
class MST(_Graphical):
    """Synthetic tables with differential privacy from a tree of noisy pairs of attributes, MST.

    It releases the noisy counts of each attribute, and of the pairs of a tree over all attributes and the class. Tables
    are drawn from the model that fits them best.

    Parameters
    ----------
    shares : (float, float, float), default (1/3, 1/3, 1/3)
        Shares of ε, or with δ of ρ, for the single attributes, the selections and the pairs. They add up to 1.

    See Also
    --------
    AIM : Synthetic tables from marginals that are selected one by one.
    PrivBayes : Synthetic tables from a Bayesian network.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = `delta`. Relation: `relation`. Sensitivity: for k marginals
    together, k in L1 norm and √k in L2 norm under add/remove, 2k and √(2k) under replace-one, and 1 in either direction
    for the score of a pair.

    `dpml.publishing.graphical.release_mst` has the derivation.

    References
    ----------
    McKenna et al. (2021).
    """

    shares: tuple[float, float, float] = MST_SHARES

    _labels = ("MST, attributes", "MST, choices", "MST, pairs")

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        return super()._costs(schema) if self.delta else Publisher._costs(self, schema)

    def _release(self, records: Records, table: CheckedTable) -> list[Marginal]:
        options: dict[str, Any] = {"delta": self.delta, "shares": self.shares, "relation": table.relation}
        return release_mst(records, self.epsilon, **options, **table.noise)


@claim("aim", "AIM", "[mckenna2022], with Laplace noise")
@claim("aim-release", "AIM, release", "[mckenna2022], with Laplace noise")
@claim("aim-delta", "AIM with Gaussian noise", "[mckenna2022]", "(ε, δ), audited at δ = 1e-05", delta=1e-5)
@claim(
    "aim-delta-release", "AIM with Gaussian noise, release", "[mckenna2022]", "(ε, δ), audited at δ = 1e-05", delta=1e-5
)
@dataclass(eq=False, repr=False, kw_only=True)
class AIM(_Graphical):
    """Synthetic tables with differential privacy from marginals that are selected one by one, AIM.

    It releases the noisy counts of each attribute, and of pairs and of triples with the class, each selected where the
    model of the earlier ones has the largest error. Tables are drawn from the last model.

    Parameters
    ----------
    n_rounds : int, optional
        Number of parts of ε, or with δ of ρ, at first. More rounds select more marginals with more noise on each. By
        default three times the number of attributes, the class included.

    See Also
    --------
    MST : Synthetic tables from a tree of noisy pairs of attributes.
    PrivBayes : Synthetic tables from a Bayesian network.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = `delta`. Relation: `relation`. Sensitivity: for k marginals together, k in L1
    norm and √k in L2 norm under add/remove, 2k and √(2k) under replace-one, and the largest weight in either direction
    for the score of a candidate.

    `dpml.publishing.graphical.release_aim` has the derivation.

    References
    ----------
    McKenna et al. (2022).
    """

    n_rounds: int | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_rounds is not None:
            check_integer(self.n_rounds, "n_rounds", 2)

    def _release(self, records: Records, table: CheckedTable) -> list[Marginal]:
        options: dict[str, Any] = {"delta": self.delta, "n_rounds": self.n_rounds, "relation": table.relation}
        return release_aim(records, self.epsilon, estimate=_expected, fits=_small, **options, **table.noise)
