"""DiffGen: a grid from privately selected specialisations of one group after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_integer, check_relation
from dpml.budget.shares import equal_share
from dpml.classifiers.grid import NoisyGrid, Records
from dpml.classifiers.grid.cells import MOST_CELLS, divided, noisy_grid
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.publishing._publisher import GridPublisher
from dpml.schema import Taxonomy

SCORES = ("max", "gain")
LABELS = ("DiffGen, specialisations", "DiffGen, counts")
# a group of an attribute: its first finest group and the one after its last
Run = tuple[int, int]


def specialisation_range(score: str, n_classes: int, relation: str = "add-remove") -> float:
    """Return the range of a score, the length of the interval of changes by one record, for the exponential mechanism.

    - "max": for each child the records of its largest class. A new record adds 0 or 1 to every candidate's score: the
      range is 1, where the paper's sensitivity of 1 in both directions gives 2.
    - "gain": the information gain of a group, in bits. It lies in [0, log2 C], so for every change of a record its
      sensitivity is at most log2 C and the range twice that, as published.

    A replaced record is one removed and one added: twice the range of "max".
    """
    if check_choice(score, "score", SCORES) == "gain":
        return 2 * float(np.log2(n_classes))
    return float(FACTOR[check_relation(relation)])


def specialisation_score(children: NDArray[np.int64], score: str) -> float:
    """Return the score of a group from the class counts of its children, shape (C, children)."""
    if score == "max":
        return float(children.max(axis=0).sum())
    total = children.sum()
    return (_entropy(children.sum(axis=1)) - sum(map(_entropy, children.T))) / total if total else 0.0


def _entropy(counts: NDArray[np.int64]) -> float:
    """Return the entropy of counts in bits, times their sum."""
    kept = counts[counts > 0]
    return float(kept.sum() * np.log2(kept.sum()) - (kept * np.log2(kept)).sum()) if len(kept) else 0.0


def release_specialisations(
    records: Records,
    epsilon: float,
    *,
    n_steps: int = 10,
    score: str = "max",
    shares: Sequence[float] = (0.5, 0.5),
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
    exact_choice: bool = False,
) -> NoisyGrid:
    """Release a grid by specialisation, and its noisy class counts (Mohammed et al. 2011).

    Each attribute begins with all values together. A step selects one group of one attribute and replaces it by its
    children in the taxonomy. A cell of the grid is a combination of groups. There are at most `n_steps` steps, and
    fewer where no group is left, or where any more would give over 131,072 cells. An attribute's taxonomy has a level
    for each of its specialisations. `exact_choice` selects the best step without noise, which is not private and only
    for simulations.

    Privacy: ε. The selections are `n_steps` exponential mechanisms with equal parts of the first share. The candidates
    of a step depend on earlier selections only. The counts have the second share: a record is in one cell.
    """
    source = Source(rng, secure, exact_choice)
    for_choice, for_counts = divided(epsilon, shares, 2)
    step_epsilon = equal_share(for_choice, check_integer(n_steps, "n_steps", 1))
    width = specialisation_range(score, records.n_classes, relation)
    cuts: list[list[list[int]]] = [[[0]] for _ in records.taxonomies]  # for each attribute, its cuts one by one
    by_attribute = [_running_counts(records.exact, j) for j in range(len(cuts))]
    children = [_children(taxonomy) for taxonomy in records.taxonomies]
    for _ in range(n_steps):
        candidates = _candidates(cuts, children, records.taxonomies)
        if not candidates:
            break
        scores = [_score(by_attribute[j], [*children[j][run], run[1]], score) for j, run in candidates]
        j, run = candidates[source.choice(scores, step_epsilon, width)]
        cuts[j].append(sorted({*cuts[j][-1], *children[j][run]}))
    return noisy_grid(_regrouped(records, cuts), [len(c) - 1 for c in cuts], for_counts, relation, source)


@statistic
def _running_counts(records: Records, attribute: int) -> NDArray[np.int64]:
    """Return the class counts of all finest groups before each one, shape (C, groups + 1)."""
    size = records.taxonomies[attribute].sizes[-1]
    code = records.codes * size + records.places[attribute]
    counts = np.bincount(code, minlength=records.n_classes * size).reshape(records.n_classes, size)
    return np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))


@statistic
def _score(running_counts: NDArray[np.int64], edges: Sequence[int], score: str) -> float:
    """Return the score of a group whose children lie between these finest groups."""
    return specialisation_score(np.diff(running_counts[:, edges], axis=1), score)


def _children(taxonomy: Taxonomy) -> dict[Run, list[int]]:
    """Return where the children of each group that can be specialised begin; a group is a run of finest groups."""
    starts = [np.searchsorted(taxonomy.firsts[-1], level).tolist() for level in taxonomy.firsts]
    children: dict[Run, list[int]] = {}
    for coarse, fine in pairwise(starts):
        for first, last in zip(coarse, [*coarse[1:], taxonomy.sizes[-1]], strict=True):
            inside = [start for start in fine if first <= start < last]
            if len(inside) > 1:
                children.setdefault((first, last), inside)
    return children


def _candidates(
    cuts: list[list[list[int]]], children: list[dict[Run, list[int]]], taxonomies: Sequence[Taxonomy]
) -> list[tuple[int, Run]]:
    """Return the groups of all cuts that have children, where the grid stays small enough."""
    cells = int(np.prod([len(cut[-1]) for cut in cuts], dtype=object))
    candidates = []
    for j, (cut, taxonomy) in enumerate(zip(cuts, taxonomies, strict=True)):
        now = cut[-1]
        for run in zip(now, [*now[1:], taxonomy.sizes[-1]], strict=True):
            more = len(children[j].get(run, ())) - 1
            if more > 0 and cells // len(now) * (len(now) + more) <= MOST_CELLS:
                candidates.append((j, run))
    return candidates


def _regrouped(records: Records, cuts: list[list[list[int]]]) -> Records:
    """Return the records in the groups of taxonomies whose levels are the cuts of each attribute."""
    taxonomies, groups = [], []
    for taxonomy, cut in zip(records.taxonomies, cuts, strict=True):
        begins = taxonomy.firsts[-1]
        levels = tuple(tuple(begins[start] for start in level) for level in cut)
        taxonomies.append(Taxonomy(taxonomy.name, taxonomy.values, levels, taxonomy.numeric))
        groups.append(np.searchsorted(cut[-1], np.arange(len(begins)), side="right") - 1)
    return Records(_in_groups(records.places, groups), records.codes, records.n_classes, tuple(taxonomies))


@statistic
def _in_groups(places: Sequence[NDArray], groups: Sequence[NDArray[np.intp]]) -> list[NDArray]:
    return [group[place] for group, place in zip(groups, places, strict=True)]


@dataclass(eq=False, repr=False, kw_only=True)
class DiffGen(GridPublisher):
    """Synthetic tables with differential privacy by specialisation of a grid, DiffGen.

    It finds a grid by selecting one group of an attribute after another and replacing it by its children in the
    taxonomy. It releases the grid and the noisy class counts of its cells. Tables are drawn from these alone.

    Parameters
    ----------
    n_steps : int, default 10
        Number of specialisations. More steps make a finer grid, but each selection has an equal part of the first share
        and each cell fewer records.
    score : {"max", "gain"}, default "max"
        Score of a group: for each of its children the records of the largest class, or its information gain.
    shares : (float, float), default (0.5, 0.5)
        Shares of ε for the selections and the counts. They add up to 1.

    Attributes
    ----------
    levels_ : dict of str to int
        Number of specialisations of each attribute, without those that have none.

    See Also
    --------
    PrivPfC : Synthetic tables from a grid that is selected at once.
    PrivBayes : Synthetic tables from a Bayesian network.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided by `shares`. δ = 0. Relation: `relation`. Sensitivity: the range of a score
    (`specialisation_range` in the module), 1 for "max" and 2·log2(C) for "gain", and 1 in L1 norm for the class counts,
    where "max" and the counts have twice these values under replace-one.

    `release_specialisations` in the module has the derivation. Numbers are cut at the cut points of their public
    taxonomies, so no ε is spent on cut points. The range of a score is half of the published one for "max". That score
    counts all records of a group, so groups at the top of a taxonomy, which have the most, come first, even if their
    children do not differ.

    References
    ----------
    Mohammed et al. (2011), Algorithm 1, as described in Su et al. (2018).

    Examples
    --------
    >>> import pandas as pd
    >>> from dpml.schema import Feature, Schema
    >>> rng = np.random.default_rng(0)
    >>> X, pet = rng.uniform(0, 80, 2000), rng.choice(["cat", "dog"], 2000)
    >>> frame = pd.DataFrame({"age": X, "pet": pet, "rich": np.where(X >= 40, "yes", "no")})
    >>> schema = Schema(
    ...     (Feature("age", "numeric", lower=0, upper=80), Feature("pet", "categorical", ("cat", "dog"))), ("no", "yes")
    ... )
    >>> published = DiffGen(1.0, n_steps=1, schema=schema, random_state=0).fit(frame, "rich")
    >>> published.levels_
    {'age': 1}
    >>> table = published.sample(1000)
    >>> float(round((table["age"] >= 40).eq(table["rich"] == "yes").mean(), 2))
    1.0
    """

    n_steps: int = 10
    score: str = "max"
    shares: tuple[float, float] = (0.5, 0.5)
    _labels = LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.score, "score", SCORES)
        check_integer(self.n_steps, "n_steps", 1)

    def _release(self, records: Any, table: CheckedTable) -> NoisyGrid:
        options: dict[str, Any] = {"n_steps": self.n_steps, "score": self.score, "shares": self.shares}
        return release_specialisations(records, self.epsilon, relation=table.relation, **options, **table.noise)


class DiffGenStructNF(DiffGen):
    """DiffGen with selections of the specialisations without noise: NOT private, for simulations only.

    It shows the cost of the noise of the selections. Only the counts have noise, with the same share of ε. The
    parameters are those of `DiffGen`, but `budget` and `release` raise `NotPrivate`.

    See Also
    --------
    DiffGen : The private method.

    Notes
    -----
    Privacy: ε = infinity, because the specialisations are selected without noise. δ = 0. Relation: `relation`.
    Sensitivity: 1 in L1 norm for the class counts (2 under replace-one).

    References
    ----------
    Su et al. (2018), DiffGen-Struct-NF.

    Examples
    --------
    >>> X, y = np.eye(3, dtype=int)[[0] * 50 + [1] * 50], [0] * 50 + [1] * 50
    >>> DiffGenStructNF(1.0, n_steps=1, random_state=0).fit(X, y).levels_
    {'x0': 1}
    """

    private = False
