"""How many records a private logistic regression needs as the number of features grows (Antonova 2016, Appendix B).

Data are Antonova's toy Gaussians, scaled by public facts alone. A cell of the study is one method at one dimension D,
one number of records N, one ε and one way of scaling. `run_cell` gives its mean test accuracy over several runs.
The accuracies use known validation and test labels. They show how good a method is, and are not private.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.papers.antonova_scaling import SCALINGS, scale_toy, toy_records
from dpml._validate import check_choice, check_integer, check_number
from dpml.classifiers.linear import default_reg_lambda, minimiser, release_objective
from dpml.classifiers.linear.functional import (
    TaylorCoefficients,
    functional_lambda,
    functional_sensitivity,
    polynomial_minimisers,
    release_coefficients,
    taylor_coefficients,
)
from dpml.exceptions import InvalidParameter

__all__ = [
    "LAMBDAS",
    "SCALINGS",
    "SCALING_METHODS",
    "Cell",
    "least_records",
    "next_cell",
    "run_cell",
    "scale_toy",
    "toy_records",
]

FloatArray = NDArray[np.float64]
# "map" is not private; "-cv" marks λ that is chosen on a validation set, as in Antonova (2016), without paying ε for it
SCALING_METHODS = ("map", "erm-published-cv", "erm-cv", "erm", "fmsens1", "fmsens2", "fmsens3", "fm")
LAMBDAS = (1e-4, 1e-2, 1.0, 10.0, 100.0, 1000.0)
FIRST_RECORDS = 16
MOST_CELLS = 1 << 23  # largest table; functional statistics are added up from tables of at most this size
SAMPLE_CELLS = 1 << 16  # up to this size each run has records of its own
VALIDATION_RECORDS, TEST_RECORDS = 4_000, 20_000


@dataclass(frozen=True)
class Cell:
    """One setting of the study.

    Parameters
    ----------
    method : str
        "map": no privacy, λ by validation. "erm-published-cv": objective perturbation as printed (Antonova 2016, Alg.
        7), λ by validation. "erm-cv": the same with this project's constants. "erm": with these constants and λ by the
        public rule. "fmsens1", "fmsens2", "fmsens3": the functional mechanism with the three sensitivities, where λ is
        four standard deviations of the noise. "fm": FMsens3 with the public rule for λ.
    dimension : int
        D.
    records : int
        N, the number of training records.
    epsilon : float
        ε, for add/remove; 0 for "map", which is not private.
    scaling : {"record", "dataset"}
        See `scale_toy`.
    """

    method: str
    dimension: int
    records: int
    epsilon: float
    scaling: str = "record"

    def __post_init__(self):
        check_choice(self.method, "method", SCALING_METHODS)
        check_integer(self.dimension, "dimension", 1)
        check_integer(self.records, "records", 1)
        check_choice(self.scaling, "scaling", SCALINGS)
        if self.method == "map":
            check_number(self.epsilon, "epsilon", 0.0, 0.0)
        else:
            check_number(self.epsilon, "epsilon", 0.0, open_lower=True)

    @property
    def walk(self) -> tuple[str, int, float, str]:
        """The settings that stay the same while N grows."""
        return self.method, self.dimension, self.epsilon, self.scaling


# ---- data -----------------------------------------------------------------------------------------------------------


def _sample(records: int, dimension: int, scaling: str, *seed: int) -> tuple[FloatArray, NDArray[np.intp]]:
    X, codes = toy_records(records, dimension, np.random.default_rng([*seed, dimension]))
    return scale_toy(X, scaling), codes


@functools.lru_cache(maxsize=2)
def _held_out(dimension: int, scaling: str, seed: int, part: int) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return the validation (1) or test (2) records."""
    X, codes = _sample(VALIDATION_RECORDS if part == 1 else TEST_RECORDS, dimension, scaling, seed, part)
    X.setflags(write=False)
    return X, codes


def _accuracy(theta: FloatArray, X: FloatArray, codes: NDArray[np.intp]) -> FloatArray:
    return ((X @ theta.T > 0) == (codes == 1)[:, None]).mean(axis=0)


# ---- one cell -------------------------------------------------------------------------------------------------------


def _coefficients(cell: Cell, seed: int, sample: int) -> TaylorCoefficients:
    """Return the polynomial of a sample. A long table is generated and added up in parts."""
    D, N = cell.dimension, cell.records
    size = max(MOST_CELLS // D, 1)
    parts = []
    for start in range(0, N, size):
        X, codes = _sample(min(size, N - start), D, cell.scaling, seed, 3, sample, start)
        parts.append(taylor_coefficients(X, codes))
    linear, quadratic = (np.sum([getattr(p, name) for p in parts], axis=0) for name in ("linear", "quadratic"))
    return TaylorCoefficients(linear, quadratic)


def _functional(cell: Cell, seed: int, sample: int, runs: int, rng: np.random.Generator) -> FloatArray:
    names = {"fmsens1": "original", "fmsens2": "improved", "fmsens3": "exact", "fm": "exact"}
    sensitivity = names[cell.method]
    exact = _coefficients(cell, seed, sample)
    noisy = release_coefficients(exact, cell.epsilon, sensitivity=sensitivity, draws=runs, rng=rng)
    delta = functional_sensitivity(cell.dimension, sensitivity=sensitivity)
    reg_lambda = functional_lambda(cell.epsilon, delta, cell.dimension if cell.method == "fm" else None)
    return polynomial_minimisers(noisy, reg_lambda)[:, 0]


def _models(cell: Cell, reg_lambda: float, seed: int, sample: int, runs: int, rng: np.random.Generator) -> FloatArray:
    """Return weights of `runs` runs on one sample of records."""
    if cell.method.startswith("fm"):
        return _functional(cell, seed, sample, runs, rng)
    X, codes = _sample(cell.records, cell.dimension, cell.scaling, seed, 3, sample, 0)
    signs = 2.0 * codes - 1
    if cell.method == "map":
        return np.tile(minimiser(X, signs, reg_lambda, tolerance=1e-5), (runs, 1))
    calibration = "published" if "published" in cell.method else "tight"
    options: dict[str, Any] = {"calibration": calibration, "tolerance": 1e-5, "draws": runs, "rng": rng}
    return release_objective(X, signs, cell.epsilon, reg_lambda, **options)


def most_records(method: str, dimension: int) -> int:
    """Return the largest N that the study tries, a power of two: one that fits in a table, or 2^20 for "fm..."."""
    if method.startswith("fm"):
        return 1 << 20
    return 1 << min(int(math.log2(MOST_CELLS // dimension)), 18)


def run_cell(cell: Cell, *, runs: int = 10, seed: int = 0) -> dict[str, Any]:
    """Return a cell's mean test accuracy over some runs, its standard error, and its λ.

    Small tables are drawn anew for each run. Of large tables there are two, each for half of the runs. If λ is chosen
    by validation, every value of `LAMBDAS` is run, and the one with the best mean accuracy on 4,000 validation records
    is taken (Antonova 2016, B.3). This choice is not private.

    Privacy: ε of the cell per run under add/remove for the private methods, except for the choice of λ by validation.
    Records are synthetic.

    Parameters
    ----------
    runs : int
        At least 2.

    Returns
    -------
    dict
        The cell's fields, `runs`, `seed`, `accuracy`, `standard_error` and `reg_lambda` (NaN if it follows from the
        noise).

    Examples
    --------
    >>> result = run_cell(Cell("fmsens3", 1, 4096, 0.1))
    >>> round(result["accuracy"], 2)
    0.9
    """
    runs = check_integer(runs, "runs", 2)
    samples = runs if cell.records * cell.dimension <= SAMPLE_CELLS else 2
    shares = [len(part) for part in np.array_split(np.arange(runs), samples)]
    searched = cell.method == "map" or cell.method.endswith("-cv")
    if searched:
        grid: tuple[float, ...] = LAMBDAS
    elif cell.method == "erm":
        grid = (default_reg_lambda(cell.epsilon, cell.dimension, method="objective"),)
    else:
        grid = (math.nan,)
    best: tuple[float, float, FloatArray] = (-1.0, math.nan, np.zeros(0))
    for reg_lambda in grid:
        # each λ uses the same noise, scaled
        rng = np.random.default_rng([seed, 4, cell.dimension, cell.records])
        each = [_models(cell, reg_lambda, seed, sample, share, rng) for sample, share in enumerate(shares)]
        theta = np.concatenate(each)
        validated = 0.0
        if searched:
            validated = float(_accuracy(theta, *_held_out(cell.dimension, cell.scaling, seed, 1)).mean())
        if validated >= best[0]:  # of equal accuracies, the largest λ is taken
            best = (validated, reg_lambda, theta)
    accuracy = _accuracy(best[2], *_held_out(cell.dimension, cell.scaling, seed, 2))
    return {
        **asdict(cell),
        "runs": runs,
        "seed": seed,
        "accuracy": float(accuracy.mean()),
        "standard_error": float(accuracy.std(ddof=1) / math.sqrt(runs)),
        "reg_lambda": best[1],
    }


# ---- how many records are needed ------------------------------------------------------------------------------------


def next_cell(
    walk: tuple[str, int, float, str], done: Iterable[dict[str, Any]], target: float | None, most: int | None = None
) -> Cell | None:
    """Return the next cell of a walk over powers of two, or None at its end.

    A walk ends at the first N whose mean accuracy is at least `target`, or at `most`. Without a target it ends at
    `most`.

    Parameters
    ----------
    walk : tuple
        `Cell.walk`.
    done : iterable of dict
        Results of `run_cell`, of any walks.
    most : int, optional
        Default: `most_records`.
    """
    method, dimension, epsilon, scaling = walk
    most = most_records(method, dimension) if most is None else most
    mine = {row["records"]: row["accuracy"] for row in done if _walk_of(row) == walk}
    records = FIRST_RECORDS
    while records <= most:
        if records not in mine:
            return Cell(method, dimension, records, epsilon, scaling)
        if target is not None and mine[records] >= target:
            return None
        records *= 2
    return None


def _walk_of(row: dict[str, Any]) -> tuple[str, int, float, str]:
    return row["method"], row["dimension"], row["epsilon"], row["scaling"]


def least_records(rows: Iterable[dict[str, Any]], *, tolerance: float = 0.02) -> pd.DataFrame:
    """Return, for each walk, the least power of two N whose accuracy is close to the best of the "map" walk.

    This is the criterion of Antonova (2016) (B.2): the mean accuracy over the runs is within `tolerance` of the best
    non-private one. N is rounded up to the next power of 2: the crossing lies between N/2 and N. It is a crude figure,
    because a mean over ten runs can pass by chance.

    Parameters
    ----------
    rows : iterable of dict
        Results of `run_cell`, with some of "map" for each dimension and scaling.

    Returns
    -------
    DataFrame
        One row for each walk: `method`, `dimension`, `epsilon`, `scaling`, `records` (N, or the largest N that was
        tried), `converged`, `accuracy`, `standard_error`, `reg_lambda`, `best` (of "map") and `multiplier`, N divided
        by that of "map".

    Examples
    --------
    >>> rows = [run_cell(Cell("map", 1, n, 0.0)) for n in (16, 32)] + [run_cell(Cell("fmsens3", 1, 512, 0.1))]
    >>> least_records(rows)[["method", "records", "converged"]].values.tolist()
    [['map', 16, True], ['fmsens3', 512, True]]
    """
    tolerance = check_number(tolerance, "tolerance", 0.0, 1.0)
    table = pd.DataFrame(list(rows))
    keys = ["method", "dimension", "epsilon", "scaling"]
    missing = {"records", "accuracy", *keys} - set(table.columns)
    if missing:
        raise InvalidParameter("rows", sorted(missing)[0], "results of run_cell, which have this column")
    best = table[table["method"] == "map"].groupby(["dimension", "scaling"])["accuracy"].max()
    least_rows = []
    for walk, mine in table.groupby(keys, sort=False):
        where = (walk[1], walk[3])
        if where not in best.index:
            raise InvalidParameter("rows", f"dimension {walk[1]}, scaling {walk[3]!r}", "to have cells of method 'map'")
        mine = mine.sort_values("records")
        close = mine[mine["accuracy"] >= best[where] - tolerance]
        row = close.iloc[0] if len(close) else mine.iloc[-1]
        least_rows.append({**row.to_dict(), "converged": bool(len(close)), "best": best[where]})
    result = pd.DataFrame(least_rows)
    base = result[result["method"] == "map"].set_index(["dimension", "scaling"])["records"]
    pairs = zip(result["dimension"], result["scaling"], strict=True)
    result["multiplier"] = result["records"] / [base[pair] for pair in pairs]
    columns = [*keys, "records", "converged", "accuracy", "standard_error", "reg_lambda", "best", "multiplier"]
    return result[columns].reset_index(drop=True)
