"""What the cards of importance weights compute, as plain functions of plain values.

Conjunctions are all answered at once: a release gives the weight of each pattern of conditions, so that another query
asks for no new work.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from dpml.exceptions import InvalidParameter
from dpml.publishing.density_ratio import balanced_minimiser, moment_minimiser, release_balanced_output, release_sums
from dpml.publishing.importance import public_reg_lambda
from dpml.publishing.weighted_table import effective_sample_size, n_half
from dpml.studies.publishing import PUBLIC_TABLES, TwoTables, WeighingStudy, public_table, split_by_sex
from dpml_app.data.measures import dataset
from dpml_app.pages.publish.settings import ASKED, CONDITIONS
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
WEIGHT_METHODS = ("output", "moments")
# bins of a weight, four for each doubling; what is beyond the ends is in the last bin
EDGES = 2.0 ** (np.arange(-24, 25) / 4)


@dataclass(frozen=True, eq=False)
class _Halves:
    """The two tables of a data set, and what the releases need of them."""

    two: TwoTables
    patterns_private: NDArray[np.int64]
    patterns_public: NDArray[np.int64]

    @property
    def n(self) -> int:
        return len(self.two.private)

    @cached_property
    def sums(self) -> FloatArray:
        return self.two.private_records.sum(axis=0)


def _patterns(name: str, table: pd.DataFrame) -> NDArray[np.int64]:
    """Return for each record a number whose bits say which conditions it meets, in the order of `ASKED`."""
    met = np.zeros(len(table), dtype=np.int64)
    for bit, condition in enumerate(ASKED):
        column, allowed, _words = CONDITIONS[name][condition]
        met |= table[column].isin(allowed).to_numpy().astype(np.int64) << bit
    return met


@kept(2)
def two_tables(name: str) -> TwoTables:
    """Return the two tables of a data set, the same for all cards."""
    return split_by_sex(dataset(name), rng=np.random.default_rng(0))


@kept(2)
def _halves(name: str) -> _Halves:
    if name not in CONDITIONS:
        raise InvalidParameter("dataset", name, f"one of {', '.join(CONDITIONS)}")
    two = two_tables(name)
    return _Halves(two, *(_patterns(name, table) for table in (two.private, two.public)))


def mask_of(conditions: Any) -> int:
    """Return the number whose bits are the conditions of a conjunction."""
    return sum(1 << list(ASKED).index(condition) for condition in set(conditions))


def answer(by_pattern: FloatArray, mask: int) -> Any:
    """Return the share of records that meet a conjunction, from the shares of all patterns in the last axis.

    Examples
    --------
    >>> float(answer(np.array([0.5, 0.25, 0.125, 0.125]), 0b10))
    0.25
    """
    meets = (np.arange(by_pattern.shape[-1]) & mask) == mask
    return by_pattern[..., meets].sum(axis=-1)


def both(name: str) -> dict[str, Any]:
    """Return the share of each pattern in the ``private`` and the ``public`` table, and their numbers of records."""
    halves, size = _halves(name), 1 << len(ASKED)
    tables = {"private": halves.patterns_private, "public": halves.patterns_public}
    shares = {of: np.bincount(met, minlength=size) / len(met) for of, met in tables.items()}
    return {**shares, "n_private": halves.n, "n_public": len(halves.two.public), "d": halves.two.features.dimension}


@kept(24)
def _exact(name: str, reg_lambda: float) -> FloatArray:
    """Return the minimiser of Algorithm 1 before its noise; every ε has the same."""
    halves = _halves(name)
    return balanced_minimiser(halves.two.private_records, halves.two.public_records, reg_lambda)


def released(method: str, name: str, epsilon: float, reg_lambda: float | None, draws: int, seed: int) -> dict[str, Any]:
    """Return what weights of the public table answer, over draws of their noise.

    `method`, {"output", "moments"}: Algorithm 1 of Ji and Elkan with its published noise, or this project's noisy
    moments.
    `reg_lambda`: None: the public rule of the moments.

    Result: ``patterns``: the weight of each pattern, shape (draws, patterns). ``ess`` and ``n_half``: the effective
    sample size, and how few records carry half of the weight. ``heights``: records in the bins of `EDGES`, of the first
    draw. ``reg_lambda``: λ as used.
    """
    halves = _halves(name)
    features, public, n = halves.two.features, halves.two.public_records, halves.n
    if reg_lambda is None:
        reg_lambda = public_reg_lambda(public, features, epsilon, n, "moments")
    size = 1 << len(ASKED)
    patterns, ess, half = np.empty((draws, size)), np.empty(draws), np.empty(draws, dtype=int)
    heights = np.zeros(len(EDGES) - 1, dtype=int)
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        if method == "output":
            exact = _exact(name, reg_lambda)
            options: dict[str, Any] = {"calibration": "published", "rng": rng}
            beta = release_balanced_output(exact, epsilon, reg_lambda, features, n, **options)
        else:
            beta = moment_minimiser(public, release_sums(halves.sums, epsilon, features, rng=rng) / n, reg_lambda)
        shares = softmax(public @ beta)
        patterns[draw] = np.bincount(halves.patterns_public, weights=shares, minlength=size)
        ess[draw], half[draw] = effective_sample_size(shares), n_half(shares)
        if draw == 0:
            heights = np.histogram(np.clip(shares * len(shares), EDGES[0], EDGES[-1]), EDGES)[0]
    return {"patterns": patterns, "ess": ess, "n_half": half, "heights": heights, "reg_lambda": reg_lambda}


@kept(6)
def _study(name: str, kind: str) -> WeighingStudy:
    two = two_tables(name)
    return WeighingStudy(two, public_table(two, kind, rng=np.random.default_rng(1)))


def tables(name: str, reg_lambda: float, draws: int, seed: int) -> dict[str, Any]:
    """Return what is known without noise: of study only, as it reads the private table.

    Returns
    -------
    dict
        ``norm``, ``truth``: of the private table's classifier, and its share of high incomes. ``unweighted`` and
        ``far``: by public table, its share, and how far its classifier is, in norms. ``others``,
        ``exact``: draws of how far the classifier is of a bootstrap of the private table, and of
        weights by Algorithm 1 without noise, in norms.
    """
    studies = {kind: _study(name, kind) for kind in PUBLIC_TABLES}
    study = studies["skewed"]
    others = study.over(lambda rng: study.distance_of_bootstrap(rng=rng), draws, seed=seed)
    exact = study.over(lambda rng: study.distance(study.weigh("output", None, reg_lambda, rng=rng)), draws, seed=seed)
    return {
        "norm": study.norm,
        "truth": study.truth,
        "unweighted": {kind: each.answer() for kind, each in studies.items()},
        "far": {kind: each.distance() / study.norm for kind, each in studies.items()},
        "others": others / study.norm,
        "exact": exact / study.norm,
    }


def taught(
    method: str, name: str, kind: str, epsilon: float, reg_lambda: float | None, draws: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Return what a weighted public table answers and teaches, over draws of the private table and of the noise.

    `method`, `name`, `epsilon`, `reg_lambda`, `draws`, `seed`: as `dpml_app.pages.publish.weights.released` has them.
    `kind`, {"same", "skewed", "uniform"}.

    Result: ``answer``: share of high incomes. ``far``: how far the machine is from the private table's, in its norms.
    """
    study = _study(name, kind)
    rngs = [np.random.default_rng([seed, draw]) for draw in range(draws)]
    betas = [study.weigh(method, epsilon, reg_lambda, rng=rng) for rng in rngs]
    answers, far = np.array([(study.answer(beta), study.distance(beta)) for beta in betas]).T
    return {"answer": answers, "far": far / study.norm}


def unweighted_classifier(name: str, epsilon: float, draws: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return how far a classifier with noise of its own is, in norms of the private table's, under ``far``."""
    study = _study(name, "skewed")
    far = study.over(lambda rng: study.distance_of_private_machine(epsilon, rng=rng), draws, seed=seed)
    return {"far": far / study.norm}
