"""Best subset selection: the exponential mechanism over sets of features, by the loss of the best fit on each set."""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.estimators.base import PrivateEstimator, check_binary
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.selection._base import SelectsColumns

LOSSES = ("squared", "error")
# T features divide the records into 2^T cells
MOST_FEATURES = 10
# a search passes over the records once for each set of all features of a round but the last
MOST_PASSES = 10_000


def round_sizes(n_features: int, n_total: int) -> list[int]:
    """Return how many features each round selects. A public rule.

    The rounds are as few as possible and even. One of b features has at most `MOST_PASSES` sets of b - 1 features.
    """
    largest = max(b for b in range(1, n_features + 1) if b == 1 or math.comb(n_total, b - 1) <= MOST_PASSES)
    rounds = -(-n_features // largest)
    return [n_features // rounds + (i < n_features % rounds) for i in range(rounds)]


def loss_of_cells(counts: FloatArray, loss: str) -> FloatArray:
    """Return the smallest loss of a prediction for each cell, of counts (cells, C, m), summed over cells."""
    size = counts.sum(axis=1)
    if loss == "error":
        return (size - counts.max(axis=1)).sum(axis=0)
    return ((size - (counts**2).sum(axis=1) / np.maximum(size, 1.0)) / 2).sum(axis=0)


def losses(X: Any, codes: Any, n_classes: int, taken: tuple[int, ...], size: int, loss: str) -> Iterator[FloatArray]:
    """Yield the losses of all sets of `size` more features beside those taken, in lexicographic order.

    Each array is of the sets that share all features but the last one.
    """
    X, codes = sparse.csr_array(X, dtype=float), np.asarray(codes)
    n, taken_ = X.shape[0], list(taken)
    base = (X[:, taken_] @ (1 << np.arange(len(taken_)))).astype(int) if taken_ else np.zeros(n, dtype=int)
    # only cells that have records
    occupied, base = np.unique(base, return_inverse=True)
    B, C = max(occupied.size, 1), n_classes
    X = X[:, np.setdiff1d(np.arange(X.shape[1]), taken_)]
    columns = X.tocsc()

    def tabulated(rows: IntArray, cell: IntArray, n_cells: int) -> tuple[FloatArray, FloatArray]:
        """Return the records of each cell and class with each feature on, and of each cell and class."""
        groups = n_cells * B * C
        group = (cell * B + base[rows]) * C + codes[rows]
        number = np.bincount(group, minlength=groups)
        pointer = np.concatenate([[0], np.cumsum(number)])
        order = rows[np.argsort(group, kind="stable")]
        members = sparse.csr_array((np.ones(len(rows)), order, pointer), (groups, n))
        shape = n_cells, B, C, -1
        return (members @ X).toarray().reshape(shape), number.astype(float).reshape(shape)

    everyone = np.arange(n)
    on, number = tabulated(everyone, np.zeros(n, dtype=int), 1)
    if size == 1:
        yield loss_of_cells(on[0], loss) + loss_of_cells(number[0] - on[0], loss)
        return
    pattern = np.zeros(n, dtype=int)
    for prefix in combinations(range(X.shape[1] - 1), size - 1):
        of_prefix = [columns.indices[slice(*columns.indptr[j : j + 2])] for j in prefix]
        for bit, rows in enumerate(of_prefix):
            pattern[rows] += 1 << bit
        rows = np.unique(np.concatenate(of_prefix))
        on_here, number_here = tabulated(rows, pattern[rows] - 1, (1 << (size - 1)) - 1)
        pattern[rows] = 0
        # the cell without any feature of the prefix has the other records
        on_all = np.concatenate([on_here, on - on_here.sum(axis=0)])[..., prefix[-1] + 1 :]
        number_all = np.concatenate([number_here, number - number_here.sum(axis=0)])
        on_all, number_all = on_all.reshape(-1, C, on_all.shape[-1]), number_all.reshape(-1, C, 1)
        yield loss_of_cells(on_all, loss) + loss_of_cells(number_all - on_all, loss)


@statistic
def best_supports(
    X: Any, codes: Any, n_classes: int, taken: tuple[int, ...], size: int, loss: str, n_best: int
) -> tuple[IntArray, FloatArray, float]:
    """Return the R best sets by their place in lexicographic order, their scores, and the score of the next best.

    A score is minus a loss. If there are no more than R sets, all are returned, and the last score is -inf.
    """
    ranks, scores, floor, start = np.zeros(0, dtype=np.int64), np.zeros(0), -np.inf, 0
    waiting: list[FloatArray] = []
    total = math.comb(X.shape[1] - len(taken), size)
    for part in losses(X, codes, n_classes, taken, size, loss):
        waiting.append(-part)
        held = sum(map(len, waiting))
        end = start + held
        if held < n_best and end < total:
            continue
        ranks = np.concatenate([ranks, np.arange(start, end)])
        scores = np.concatenate([scores, *waiting])
        start, waiting = end, []
        if len(scores) > n_best:
            order = np.argpartition(-scores, n_best)
            floor = max(floor, float(scores[order[n_best]]))
            ranks, scores = ranks[order[:n_best]], scores[order[:n_best]]
    return ranks, scores, floor


def support_at(rank: int, n_total: int, size: int) -> list[int]:
    """Return the set of `size` of `n_total` features at a place of the lexicographic order."""
    support, feature = [], 0
    for left in range(size, 0, -1):
        while (after := math.comb(n_total - feature - 1, left - 1)) <= rank:
            rank -= after
            feature += 1
        support.append(feature)
        feature += 1
    return support


@dataclass(frozen=True)
class SubsetDraw:
    """Sets of features with probability proportional to exp(weight · score), where the R best have their own scores.

    All others have the score of the set that follows these R. The statistic is that of `best_supports`, and a set is
    released by its place in lexicographic order.
    """

    n_supports: int
    weight: float
    draws: int = 1

    def log_weights(self, statistic: Any) -> FloatArray:
        """Return the log weight of each of the R best sets, and last that of all others together."""
        ranks, scores, floor = statistic
        others = self.n_supports - len(ranks)
        rest = self.weight * floor + math.log(others) if others else -np.inf
        return np.append(self.weight * scores, rest)

    def _sample(self, statistic: Any, rng: np.random.Generator) -> IntArray:
        log_weights = self.log_weights(statistic)
        cumulative = np.cumsum(np.exp(log_weights - log_weights.max()))
        chosen = np.searchsorted(cumulative, rng.random(self.draws) * cumulative[-1], side="right")
        drawn = np.append(statistic[0], -1)[np.minimum(chosen, len(cumulative) - 1)]
        known = set(statistic[0].tolist()) if (drawn < 0).any() else set()
        for i in np.flatnonzero(drawn < 0):
            while drawn[i] < 0 or int(drawn[i]) in known:
                drawn[i] = rng.integers(self.n_supports)
        return drawn

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        union = np.union1d(statistic[0], other_statistic[0])
        logs = []
        for ranks, scores, floor in (statistic, other_statistic):
            # the last one is of a set that is among the best of neither table
            each = np.full(len(union) + (len(union) < self.n_supports), self.weight * floor)
            each[np.searchsorted(union, ranks)] = self.weight * scores
            logs.append(each - np.logaddexp.reduce(self.log_weights((ranks, scores, floor))))
        return boundary.Loss(pure=self.draws * float(np.abs(logs[0] - logs[1]).max()))


@claim(
    "best-subset",
    "Best subset selection",
    "[prastakos2025], top-R (loss and range derived here)",
    "ε for the set of T features",
)
@dataclass(eq=False, repr=False)
class SubsetSelector(SelectsColumns, PrivateEstimator):
    """Feature selector that selects sets of features together, by how well they predict the class together.

    It releases the set of T selected features. A feature that another one makes superfluous is not selected.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, above 0. Larger values select the best features more often.
    n_features : int
        Public number T of features to keep, 1 to 10, and at most D. They divide the records into 2^T cells.
    loss : {"squared", "error"}, default "squared"
        Loss of a set: half of the squared error of the best prediction for each cell, or its number of training errors.
        "error" sees no difference between sets with the same majorities.
    n_best : int, default 100_000
        Number R of sets whose exact scores are used. All other sets have the score of the one that follows them.

    See Also
    --------
    TopSelector : Select the features with the best scores of their own.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: a range of 1 of the score of a set under
    add/remove, and of 2 under replace-one, for any T.

    It draws a set S with probability proportional to exp(ε·q(S)/range). The score q(S) is minus the smallest loss of a
    prediction f that depends on the features in S alone. With e_k the unit vector of class k and f a vector of
    probabilities, a record of class k has the loss ‖e_k - f‖²/2 for "squared" and 1 - f_k for "error". For two classes
    with labels ±1 and the margin 2f - 1 they are a quarter of the squared loss and half of the hinge loss. Both minima
    have a closed form: the mean and the majority of each cell.

    Derivation. A record's loss is in [0, 1] for any f. So the loss of every f rises by an amount in [0, 1] if a record
    is added, and so does the minimum over f: all scores change by an amount in [-1, 0]. Replacing a record is one
    removal and one addition: all change by an amount in [-1, 1].

    If there are more than R sets, all but the R best have the score q of the next best. Every set then has the score
    max(q(S), q_(R+1)), with q_(R+1) the (R+1)-th largest. If all scores change by an amount in [a, b], an order
    statistic changes by an amount in [a, b], and so does the larger of two such numbers. So the range is the same, and
    ε holds exactly. The R best sets must be the true ones, so the search compares all sets. The draw is exact too.

    For many columns, the T features are selected in rounds (`dpml.selection.subsets.round_sizes`) of equal shares of
    ε. The sets of a round are completed by the features of the rounds before.

    References
    ----------
    Prastakos, Behdin and Mazumder (2025). It finds the sets by integer programming.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(2, size=(2, 2000))
    >>> X = np.column_stack([rng.random((2000, 4)) < 0.5, a, b]).astype(int)
    >>> SubsetSelector(1.0, n_features=2, random_state=0).fit(X, a ^ b).get_support(indices=True).tolist()
    [4, 5]
    """

    n_features: int
    _: KW_ONLY
    loss: str = "squared"
    n_best: int = 100_000

    def _check_parameters(self) -> None:
        check_choice(self.loss, "loss", LOSSES)
        check_integer(self.n_best, "n_best", 1)
        check_integer(self.n_features, "n_features", 1, MOST_FEATURES)

    def _check_schema(self, schema):
        check_integer(self.n_features, "n_features", 1, schema.n_features)
        return check_binary(schema)

    def _no_sampler(self):
        return f"{type(self).__name__}: no secure sampler at these settings"

    def _costs(self, schema):
        return {f"{type(self).__name__}, {self.loss}": check_epsilon(self.epsilon)}

    def _release(self, records: Any, table: Any) -> BoolArray:
        schema, span = table.schema, 1.0 if self.relation == "add-remove" else 2.0
        sizes = round_sizes(self.n_features, schema.n_features)
        weight = equal_share(self.epsilon, len(sizes)) / span
        mask = np.zeros(schema.n_features, dtype=bool)
        for size in sizes:
            taken, left = tuple(map(int, np.flatnonzero(mask))), np.flatnonzero(~mask)
            best = best_supports(records, table.codes, schema.n_classes, taken, size, self.loss, self.n_best)
            draw = SubsetDraw(math.comb(len(left), size), weight)
            [rank] = boundary.release(draw, best, table.noise.get("rng"))
            mask[left[support_at(int(rank), len(left), size)]] = True
        return mask
