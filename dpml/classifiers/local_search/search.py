"""Private search for weights: selections among public candidates by their sums of losses.

The objective is J(θ) = Σ_i l(s_i θ·x_i), with s_i in {-1, +1} and entries of x_i in [-1, 1]. Statistics: `Records`,
private where the data are. Release: a private selection in each iteration, for all draws at once
(`release_local_search`, `release_genetic_search`). The selections are public, and so are the candidates computed from
them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import expit

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.budget.shares import equal_share
from dpml.exceptions import InvalidData, NoSecureSampler
from dpml.mechanisms import boundary
from dpml.mechanisms.choice import ReportNoisyMax
from dpml.mechanisms.private import is_private, n_columns, number_of, statistic
from dpml.mechanisms.secure import noisy_max

LOSSES = ("logistic", "hinge")


def loss_value(loss: str, margins: Any) -> FloatArray:
    """Return l(z): log(1 + exp(-z)), or max(0, 1 - z)."""
    z = np.asarray(margins, dtype=float)
    if loss == "hinge":
        return np.maximum(1.0 - z, 0.0)
    with np.errstate(over="ignore"):
        value = np.exp(-z)
    value = np.log(1.0 + value)
    return np.where(z < -36, -z, value)  # below -36 l(z) is -z up to rounding, and exp(-z) may be infinite


def drop(loss: str, margins: Any, step: Any) -> FloatArray:
    """Return l(z) - l(z + t), accurately for small t, with |t| at most 50."""
    z = np.asarray(margins, dtype=float)
    if loss == "hinge":
        return np.maximum(1.0 - z, 0.0) - np.maximum(1.0 - z - step, 0.0)
    # (1 + exp(-z - t))/(1 + exp(-z)) = 1 + σ(-z)(exp(-t) - 1)
    return -np.log1p(expit(-z) * np.expm1(-np.asarray(step, dtype=float)))


def largest_score(theta: FloatArray, n_ones: int, numeric: BoolArray, intercept: bool) -> FloatArray:
    """Return the largest |θ·x| of any record with at most `n_ones` ones and numbers in [-1, 1], for θ (..., D')."""
    weights = theta[..., :-1] if intercept else theta
    constant = theta[..., -1] if intercept else np.zeros(theta.shape[:-1])
    numbers = np.abs(weights[..., numeric]).sum(axis=-1)
    binary = weights[..., ~numeric]
    ones = min(n_ones, binary.shape[-1])

    def most(w: FloatArray) -> FloatArray:
        w = np.maximum(w, 0.0)
        return (np.partition(w, -ones, axis=-1)[..., -ones:] if 0 < ones < w.shape[-1] else w[..., :ones]).sum(axis=-1)

    return numbers + np.maximum(most(binary) + constant, most(-binary) - constant)


@dataclass(frozen=True)
class _Table:
    """Exact records by row and by column. Its methods are statistics of it."""

    signs: FloatArray
    rows: Any  # the binary columns, by row
    columns: Any  # the same by column
    sums: Any  # their transpose: a product with it sums over the records with a one in each column
    numbers: FloatArray  # the other columns
    numeric: BoolArray
    intercept: bool

    @statistic
    def margins(self, theta: FloatArray) -> FloatArray:
        weights = theta[:, :-1] if self.intercept else theta
        scores = self.rows @ np.ascontiguousarray(weights[:, ~self.numeric].T)
        if self.numbers.shape[1]:
            scores += self.numbers @ weights[:, self.numeric].T
        if self.intercept:
            scores += theta[:, -1]
        scores *= self.signs[:, None]
        return scores

    @statistic
    def moved(self, margins: FloatArray, columns: IntArray, amounts: FloatArray) -> FloatArray:
        margins = margins.copy()
        where = np.cumsum(~self.numeric) - 1
        for draw, (j, amount) in enumerate(zip(columns, amounts, strict=True)):
            if not amount:
                continue
            if j == len(self.numeric):
                margins[:, draw] += amount * self.signs
            elif self.numeric[j]:
                margins[:, draw] += amount * self.signs * self.numbers[:, j - where[j] - 1]
            else:
                k = where[j]
                rows = self.columns.indices[self.columns.indptr[k] : self.columns.indptr[k + 1]]
                margins[rows, draw] += amount * self.signs[rows]
        return margins

    @statistic
    def gains(self, margins: FloatArray, step: float, loss: str) -> FloatArray:
        up, down = drop(loss, margins, step), drop(loss, margins, -step)
        # where x_j = 1, raising θ_j raises the margin of a record with s = +1 and lowers that of one with s = -1
        positive = (self.signs > 0)[:, None]
        halves = np.where(positive, up, down), np.where(positive, down, up)
        gains = np.empty((2, len(self.numeric) + self.intercept, margins.shape[1]))
        binary = np.flatnonzero(~self.numeric)
        for side, half in enumerate(halves):
            gains[side, binary] = self.sums @ half
            if self.intercept:
                gains[side, -1] = half.sum(axis=0)
        for k, j in enumerate(np.flatnonzero(self.numeric)):
            towards = (step * self.signs * self.numbers[:, k])[:, None]
            gains[0, j] = drop(loss, margins, towards).sum(axis=0)
            gains[1, j] = drop(loss, margins, -towards).sum(axis=0)
        return gains.reshape(-1, margins.shape[1]).T

    @statistic
    def objective(self, theta: FloatArray, loss: str) -> FloatArray:
        flat = theta.reshape(-1, theta.shape[-1])
        out = np.empty(len(flat))
        block = max((1 << 21) // max(len(self.signs), 1), 1)
        for start in range(0, len(flat), block):
            out[start : start + block] = loss_value(loss, self.margins(flat[start : start + block])).sum(axis=0)
        return out.reshape(theta.shape[:-1])


@statistic
def _table(X: Any, signs: FloatArray, numeric: BoolArray, intercept: bool) -> _Table:
    ones = sparse.csc_array(X[:, np.flatnonzero(~numeric)] if numeric.any() else X)
    ones.eliminate_zeros()
    numbers = X[:, np.flatnonzero(numeric)]
    numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
    return _Table(signs, ones.tocsr(), ones, sparse.csr_array(ones.T), numbers, numeric, intercept)


@statistic
def _as_floats(X: Any) -> Any:
    return sparse.csr_array(X, dtype=float) if sparse.issparse(X) else np.asarray(X, dtype=float)


class Records:
    """Records and signs, stored for fast sums of losses over all records. Exact: private where X and the signs are.

    X has zeros and ones in the binary columns, of which a record has at most `n_ones`, and numbers in [-1, 1] in the
    `numeric` ones (default: none). `intercept` appends a constant column.

    Raises
    ------
    InvalidData
        If a record breaks these bounds, or the shapes do not match. Private records have to be bounded before
        (`dpml.classifiers.linear.estimators.public_table`): an error would tell of them.
    """

    def __init__(self, X: Any, signs: Any, n_ones: int, numeric: Any = None, intercept: bool = True):
        X, self.signs = _as_floats(X), _as_floats(signs)
        self.intercept, self.n_ones = bool(intercept), check_integer(n_ones, "n_ones", 0)
        plain = not is_private((X, self.signs))
        if plain and (X.ndim != 2 or self.signs.shape != X.shape[:1] or not (np.abs(self.signs) == 1).all()):
            raise InvalidData(
                f"X has shape {X.shape} and signs {self.signs.shape}: they must be (n, D) and n times -1 or +1"
            )
        D = n_columns(X)
        self.numeric = np.zeros(D, dtype=bool) if numeric is None else np.asarray(numeric, dtype=bool)
        self.n, self.dimension = number_of(self.signs), D + self.intercept
        self.public: dict[str, Any] = {"n_ones": self.n_ones, "numeric": self.numeric, "intercept": self.intercept}
        self._table = _table(X, self.signs, self.numeric, self.intercept)
        if plain:
            self._check_bounds(self._table)

    def _check_bounds(self, table: _Table) -> None:
        most = int(np.bincount(table.columns.indices, minlength=1).max(initial=0))
        if not (table.columns.data == 1).all() or most > self.n_ones or not (np.abs(table.numbers) <= 1).all():
            raise InvalidData(f"records must have at most {self.n_ones} ones, and numbers in [-1, 1]")

    def margins(self, theta: FloatArray) -> Any:
        """Return s_i θ·x_i for θ of shape (draws, D'), shape (n, draws)."""
        return _Table.margins(self._table, theta)

    def moved(self, margins: Any, columns: IntArray, amounts: FloatArray) -> Any:
        """Return the margins after ``theta[draw, columns[draw]] += amounts[draw]``."""
        return _Table.moved(self._table, margins, columns, amounts)

    def gains(self, margins: Any, step: float, loss: str) -> Any:
        """Return J(θ) - J(θ ± step·e_j) from margins (n, draws), shape (draws, 2D'), plus signs first."""
        return _Table.gains(self._table, margins, step, loss)

    def objective(self, theta: FloatArray, loss: str) -> Any:
        """Return J(θ) for θ of shape (..., D')."""
        return _Table.objective(self._table, theta, loss)


CALIBRATIONS = ("range", "published")
BLOCK_CELLS = 1 << 21  # margins in memory at once
GRID = 1024  # secure noise is drawn on a grid of a 1024th of the range
FIRST_STEP, LAST_STEP = 2.0, 0.2


# ---- public rules ---------------------------------------------------------------------------------------------------


def default_iterations(
    epsilon: float, n_lower: int, dimension: int, *, relation: str = "add-remove", n_selected: int = 1
) -> int:
    """Return a public number of iterations: ε·n/(100·log(2D')), between 4 and 60, with n the schema's `n_lower`.

    The noise of a choice among 2D' candidates is about log(2D') times its scale, and T choices make this scale T times
    larger. A step lowers J by a few hundredths of n. For PrivGene the rule is divided by `n_selected`, the number of
    choices in each iteration except the last. With `n_selected` > 1 the minimum is 3. Replace-one counts half the ε.
    """
    paid = check_epsilon(epsilon) / (2 if check_relation(relation) == "replace-one" else 1)
    ideal = paid * n_lower / (100 * math.log(2 * max(dimension, 2)) * n_selected)
    return round(min(max(ideal, 4 if n_selected == 1 else 3), 60))


def default_decay(n_iterations: int) -> float:
    """Return the factor by which a step shrinks, so that T iterations take it from 2 to 0.2."""
    return (LAST_STEP / FIRST_STEP) ** (1 / n_iterations)


def _steps(n_iterations: int, step: float, decay: float) -> FloatArray:
    check_integer(n_iterations, "n_iterations", 1)
    check_number(step, "step", 0.0, 10.0, open_lower=True)
    check_number(decay, "decay", 0.0, 1.0, open_lower=True)
    # a positive minimum keeps the range, by which scores are divided, above 0
    return np.maximum(step * decay ** np.arange(n_iterations), 1e-6)


# ---- ranges: functions of public facts ------------------------------------------------------------------------------


def neighbourhood_range(
    theta: FloatArray, step: float, loss: str, *, n_ones: int, numeric: Any = None, intercept: bool = True
) -> FloatArray:
    """Return the exact range of J at θ and θ ± step·e_j for one added record, shape (draws,).

    A record adds l(s c·x) to J at the candidate c. Because |x_j| <= 1, s c·x = z + a with z = s θ·x and |a| <= step.
    l is decreasing and convex, so the changes at two candidates differ by at most l(z - step) - l(z + step), which is
    largest at the smallest possible z. With M the largest |θ·x| of any record (`largest_score`),

        range = l(-M - step) - l(-M + step).

    A record of margin -M attains it, at θ ± step·e_j for a j with |x_j| = 1. The range is at most 2·step, and `step`
    for the logistic loss at θ = 0. It shrinks with the step, while the sensitivity of J itself is l(-M).
    """
    numeric = _numeric(numeric, theta.shape[-1] - bool(intercept))
    lowest = -largest_score(theta, n_ones, numeric, intercept)
    return loss_value(loss, lowest - step) - loss_value(loss, lowest + step)


def candidate_range(
    theta: FloatArray, loss: str, *, n_ones: int, numeric: Any = None, intercept: bool = True
) -> FloatArray:
    """Return a bound on the range of J at m candidates (draws, m, D') for one added record, shape (draws,).

    Let two candidates differ by δ. Let ρ² be the most nonzero coordinates of a record, and M the largest |c·x| of any
    candidate and record. The margins differ by at most d = min(‖δ‖₁, ρ‖δ‖₂, 2M). Because l is convex and decreasing,
    the changes of J differ by at most l(-M) - l(-M + d).

    The *enhanced exponential mechanism* of Zhang et al. has the same aim: similar candidates need less noise.
    """
    numeric = _numeric(numeric, theta.shape[-1] - bool(intercept))
    most = largest_score(theta, n_ones, numeric, intercept).max(axis=-1)
    rho = math.sqrt(min(n_ones, int((~numeric).sum())) + int(numeric.sum()) + bool(intercept))
    apart = [float(np.minimum(cdist(c, c, "cityblock"), rho * cdist(c, c)).max()) for c in theta]
    lowest, distance = -most, np.minimum(apart, 2 * most)
    return np.maximum(loss_value(loss, lowest) - loss_value(loss, lowest + distance), 1e-6)


def _numeric(numeric: Any, D: int) -> BoolArray:
    return np.zeros(D, dtype=bool) if numeric is None else np.asarray(numeric, dtype=bool)


# ---- release --------------------------------------------------------------------------------------------------------


def _choose(
    scores: Any, epsilon: float, span: FloatArray, published: bool, rng: np.random.Generator | None
) -> IntArray:
    """Choose a candidate for each draw from scores (draws, candidates) and ranges (draws,); securely without `rng`."""
    if rng is None:
        pairs = zip(_rows(scores), span.tolist(), strict=True)
        chosen = [noisy_max(row, epsilon, R, grid=R / GRID) for row, R in pairs]
        return np.array(chosen, dtype=np.intp)
    mechanism = ReportNoisyMax(epsilon, 1.0, "gumbel" if published else "exponential")
    return mechanism.release(_in_units(scores, span), rng=rng, draws=len(span))


@statistic
def _rows(scores: FloatArray) -> tuple[FloatArray, ...]:
    return tuple(scores)


@statistic
def _in_units(scores: FloatArray, span: FloatArray) -> FloatArray:
    return scores / span[:, None]


def epsilon_share(epsilon: float, choices: int) -> float:
    """Return ε for each of a number of choices, rounded down so that their sum never exceeds ε."""
    return equal_share(check_epsilon(epsilon), choices)


def _boundary(
    calibration: str, relation: str, loss: str, rng: np.random.Generator | None, secure: bool
) -> tuple[bool, int, np.random.Generator | None]:
    check_choice(loss, "loss", LOSSES)
    published = check_choice(calibration, "calibration", CALIBRATIONS) == "published"
    factor = 2 if check_relation(relation) == "replace-one" else 1
    if not secure:
        return published, factor, check_rng(rng)
    if published:
        raise NoSecureSampler("the exponential mechanism has no secure sampler here. Pass calibration='range'")
    return published, factor, None


@statistic
def _start(n: int, draws: int) -> FloatArray:
    """Return the margins at θ = 0."""
    return np.zeros((n, draws))


@statistic
def _with_zero(gains: FloatArray) -> FloatArray:
    """Return the gains of the candidates and of the current point."""
    return np.concatenate([gains, np.zeros((len(gains), 1))], axis=1)


@statistic
def _scores_of(objective: FloatArray, left: IntArray) -> FloatArray:
    """Return -J of the candidates that are left, for each draw."""
    return -np.take_along_axis(objective, left, axis=1)


def _in_blocks(search: Callable[[int], FloatArray], draws: int, cells: int) -> FloatArray:
    draws = check_integer(draws, "draws", 1)
    size = max(BLOCK_CELLS // max(cells, 1), 1)
    return np.concatenate([search(min(size, draws - start)) for start in range(0, draws, size)])


def release_local_search(
    records: Records,
    epsilon: float,
    *,
    n_iterations: int,
    step: float = FIRST_STEP,
    decay: float = 0.95,
    loss: str = "logistic",
    stay: bool = True,
    calibration: str = "range",
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> FloatArray:
    """Release weights (draws, D') by T = `n_iterations` private steps along coordinates (Su et al. 2018, Algorithm 1).

    The search starts at θ = 0. Each iteration chooses one of θ ± s·e_j (with `stay` also θ) by the score -J. Then s,
    which starts at `step` in (0, 10], shrinks by the factor `decay` in (0, 1]. Su et al. use 0.5 and 0.95. s is at
    least 1e-6. With an intercept, its weight is the last.

    Privacy: ε per draw for `relation`: ε/T for each choice, whose candidates depend only on earlier choices.

    - ``calibration="range"``: permute-and-flip with scale R·T/ε, where R is the range of the candidates' scores:
      `neighbourhood_range` under add/remove. A replacement is one removal and one addition: twice that. A secure
      release has scores on a grid of R/1024.
    - ``calibration="published"``: the exponential mechanism with weight ε/(2·T·Δ), as in the paper. Δ is the
      sensitivity of J over all reachable θ: ‖θ‖₁ <= Σs, hence |θ·x| <= Σs, and 0 <= l <= l(-Σs) = Δ, under either
      relation. It is private, but 2Δ is many times R.
    """
    published, factor, rng = _boundary(calibration, relation, loss, rng, secure)
    steps = _steps(n_iterations, step, decay)
    share, D = epsilon_share(epsilon, n_iterations), records.dimension

    def search(draws: int) -> FloatArray:
        theta, margins = np.zeros((draws, D)), _start(records.n, draws)
        for s in steps:
            gains = records.gains(margins, s, loss)
            if stay:
                gains = _with_zero(gains)
            if published:
                span = np.full(draws, 2 * float(loss_value(loss, -steps.sum())))
            else:
                span = factor * neighbourhood_range(theta, s, loss, **records.public)
            chosen = _choose(gains, share, span, published, rng)
            columns = chosen % D
            amounts = np.where(chosen == 2 * D, 0.0, np.where(chosen < D, s, -s))
            theta[np.arange(draws), columns] += amounts
            margins = records.moved(margins, columns, amounts)
        return theta

    # where the number of records is private, one draw at a time: a larger block would be sized by it
    return _in_blocks(search, draws, BLOCK_CELLS if is_private(records.n) else records.n)


def offspring(parents: FloatArray, n_candidates: int, step: float, rng: np.random.Generator) -> FloatArray:
    """Return m children of parents (draws, m', D'): one-point crossover of two parents, then one weight ± step."""
    draws, m, D = len(parents), parents.shape[1], parents.shape[2]
    size = (draws, n_candidates)
    ends = (m, m, D + 1, D, 2)
    first, second, point, columns, signs = (boundary.public_randomness(rng, "integers", end, size=size) for end in ends)
    head = np.arange(D) < point[..., None]
    rows = np.arange(draws)[:, None]
    children = np.where(head, parents[rows, first], parents[rows, second])
    children[rows, np.arange(n_candidates), columns] += np.where(signs == 1, step, -step)
    return children


def release_genetic_search(
    records: Records,
    epsilon: float,
    *,
    n_iterations: int,
    n_candidates: int = 100,
    n_selected: int = 2,
    step: float = FIRST_STEP,
    decay: float = 0.7,
    loss: str = "logistic",
    calibration: str = "range",
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> FloatArray:
    """Release weights, shape (draws, D'), by a private genetic search (PrivGene).

    The first m = `n_candidates` candidates are `offspring` of θ = 0. Each iteration except the last chooses m' =
    `n_selected` candidates one by one, and the next m are their offspring. The last iteration chooses one candidate,
    which is the release.

    Privacy: ε per draw for `relation`, in (T-1)·m' + 1 equal selections. Candidates depend only on earlier selections
    and on random draws that are independent of the records. ``calibration="range"``: permute-and-flip with
    `candidate_range`, twice that under replace-one. ``calibration="published"``: the exponential mechanism with ε/(2Δ)
    for each choice, where Δ is the sensitivity of J over all reachable θ. No weight exceeds Σs in absolute value, so
    |θ·x| <= ρ²Σs and Δ = l(-ρ²Σs), where ρ² is the most nonzero coordinates of a record.
    """
    published, factor, noise = _boundary(calibration, relation, loss, rng, secure)
    steps = _steps(n_iterations, step, decay)
    m = check_integer(n_candidates, "n_candidates", 1)
    kept = check_integer(n_selected, "n_selected", 1, m)
    share, D = epsilon_share(epsilon, (n_iterations - 1) * kept + 1), records.dimension
    public_rng = noise if noise is not None else np.random.default_rng()
    numbers = int(records.numeric.sum())
    rho = min(records.n_ones, len(records.numeric) - numbers) + numbers + records.intercept

    def search(draws: int) -> FloatArray:
        parents = np.zeros((draws, 1, D))
        for t, s in enumerate(steps):
            candidates = offspring(parents, m, s, public_rng)
            objective = records.objective(candidates, loss)
            if published:
                span = np.full(draws, 2 * float(loss_value(loss, -rho * steps.sum())))
            else:
                span = factor * candidate_range(candidates, loss, **records.public)
            left = np.tile(np.arange(m), (draws, 1))
            rows, best = np.arange(draws), []
            for _ in range(kept if t < n_iterations - 1 else 1):
                chosen = _choose(_scores_of(objective, left), share, span, published, noise)
                best.append(left[rows, chosen])
                left = left[np.arange(left.shape[1]) != chosen[:, None]].reshape(draws, -1)
            parents = candidates[rows[:, None], np.stack(best, axis=1)]
        return parents[:, 0]

    return _in_blocks(search, draws, m * D)
