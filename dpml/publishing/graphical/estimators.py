"""MST and AIM: tables drawn from a graphical model of noisy marginals. The model is estimated by the package `mbi`.

`mbi` (McKenna's, the reference for graphical-model estimation) is the optional extra ``graphical``. It only sees
released values (`dpml.publishing.graphical.marginals`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_integer, check_number
from dpml.budget import Cost
from dpml.budget.conversion import zcdp_rho
from dpml.classifiers.grid import Records
from dpml.estimators.base import CheckedTable
from dpml.exceptions import MissingExtra
from dpml.publishing._publisher import Groups, IntArray, Publisher, drawn_in_order
from dpml.publishing.graphical.conditionals import Conditional, chained, expected_counts
from dpml.publishing.graphical.marginals import (
    MST_SHARES,
    Attributes,
    Expected,
    Marginal,
    release_aim,
    release_mst,
    total_of,
)
from dpml.schema import Schema

__all__ = ["AIM", "MST"]

FloatArray = NDArray[np.float64]
ITERATIONS = 1000
# megabytes of the largest model that AIM may ask for
MOST_MEGABYTES = 8.0


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
    # a count so far from the total says no more than one at the edge
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
    """Return mbi's model as conditional tables, in the order in which records are drawn.

    mbi compiles a program for each marginal that it is asked for, and AIM asks for hundreds.
    """
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

    @property
    def _n_released(self) -> float:
        return self._total

    def _groups(self, n: int, rng: np.random.Generator) -> tuple[IntArray, list[Groups]]:
        return self._finest_groups(drawn_in_order(self._chain, n, rng))


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

    `dpml.publishing.graphical.marginals.release_mst` has the derivation.

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

    `dpml.publishing.graphical.marginals.release_aim` has the derivation.

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
