"""Claims of importance weighting and of its baselines. N is public, so that every claim is for replace-one."""

from functools import partial
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import recorded
from dpml.publishing import ImportanceWeights, release_answers, release_table
from dpml.publishing.density_ratio import (
    balanced_minimiser,
    release_balanced_objective,
    release_balanced_output,
    release_sums,
)
from dpml.publishing.ratio_features import RatioFeatures
from dpml.schema import Schema

COLUMNS = 12  # a record has at most half of them: two records then differ by √2 times the bound on their norms
SCHEMA = Schema.binary(2 * COLUMNS, row_bound=COLUMNS)
LAMBDA = 0.5
FAR = "a record with half of the columns is replaced by one with the other half, and the public records have one each"
ALONE = "a record is replaced by one that differs in every column"


def _tables() -> tuple[Any, Any, Any]:
    """Return private tables that differ in one record, and a public one, whose minimisers lie far apart."""
    rows = np.zeros((400, 2 * COLUMNS))
    other = rows.copy()
    rows[-1, :COLUMNS] = 1
    other[-1, COLUMNS:] = 1
    return rows, other, np.eye(2 * COLUMNS)


def _case(options: dict[str, Any], epsilon: float, relation: str) -> Case:
    data, neighbour, public = _tables()
    release = options.get("release", False)

    def fitted(rows, state):
        return ImportanceWeights(epsilon, schema=SCHEMA, random_state=state, **options).fit(rows, public)

    def call(rows):
        return fitted(rows, None if release else 0)

    def sample(rows, draws, rng):
        if options["reg_lambda"] == "private":
            return np.array([fitted(rows, rng).coef_ for _ in range(draws)])
        return _drawn(rows, public, epsilon, draws, rng, **options)

    many = 300 if options["reg_lambda"] == "private" else 4_000
    return Case(data, neighbour, call, sample, recorded(call), draws=many, words=FAR)


def _drawn(
    rows, public, epsilon, draws, rng, *, reg_lambda, method, calibration="tight", fit_intercept=True, release=False
):
    """Return what a fit releases, many times: the coefficients, or the sums that they are made from."""
    features = RatioFeatures(SCHEMA, (), fit_intercept and method != "moments")
    X, E = (features.matrix(features.parts(table)) for table in (rows, public))
    if method == "moments":
        return release_sums(X.sum(axis=0), epsilon, features, secure=release, draws=draws, rng=None if release else rng)
    more = {"calibration": calibration, "draws": draws, "rng": rng}
    if method == "objective":
        return release_balanced_objective(X, E, epsilon, reg_lambda, features, **more)
    return release_balanced_output(balanced_minimiser(X, E, reg_lambda), epsilon, reg_lambda, features, len(X), **more)


def _entry(name: str, title: str, source: str, method: str, covers: tuple[str, ...], **options: Any) -> Method:
    options = {"reg_lambda": LAMBDA, **options, "method": method}
    calibration = options.get("calibration", "tight")
    own = "dpml.publishing.ImportanceWeights"
    return Method(
        name,
        title,
        "publishing",
        (f"{own}[{method}]", f"{own}[{calibration}]", *covers),
        source,
        "ε, N public",
        partial(_case, options),
        relations=("replace-one",),
    )


def _answers_case(kind: Any, epsilon: float, relation: str) -> Case:
    rows = np.zeros((20, 4))
    other = rows.copy()
    other[-1] = 1

    def release(table, draws, rng):
        return np.array([kind(table, epsilon, rng).ravel() for _ in range(draws)])

    return Case.of_release(rows, other, release, one=1, pasts=1, draws=4_000, words=ALONE)


def _answered(table: Any, epsilon: float, rng: Any) -> Any:
    return release_answers(table.T, epsilon, rng=rng)


def _perturbed(table: Any, epsilon: float, rng: Any, trim: bool = False) -> Any:
    return release_table(table, RatioFeatures(Schema.binary(4)), epsilon, trim=trim, rng=rng)


PAPER = "[ji-elkan2013], {}"
OUTPUT = "dpml.publishing.density_ratio.release_balanced_output[{}]"
OBJECTIVE = "dpml.publishing.density_ratio.release_balanced_objective[{}]"
SUMS = ("dpml.publishing.density_ratio.release_sums",)
METHODS = (
    _entry("importance-published", "Importance weights, as published", PAPER.format("Algorithm 1, replace-one"),
           "output", (OUTPUT.format("published"),), calibration="published", fit_intercept=False),
    _entry("importance-output", "Importance weights by output perturbation",
           PAPER.format("Algorithm 1 (bound derived here)"), "output", (OUTPUT.format("tight"),)),
    _entry("importance-objective", "Importance weights by objective perturbation",
           PAPER.format("section 3 (derived here)"), "objective", (OBJECTIVE.format("tight"),)),
    _entry("importance-objective-published", "Importance weights by objective perturbation, with √d",
           PAPER.format("section 3 (derived here)"), "objective", (OBJECTIVE.format("published"),),
           calibration="published"),
    _entry("importance-moments", "Importance weights from noisy moments", "derived here", "moments", SUMS),
    _entry("importance-moments-release", "Importance weights from noisy moments, release", "derived here",
           "moments", SUMS, release=True),
    _entry("importance-chosen", "Importance weights, λ chosen with a part of ε", "derived here", "output", (),
           reg_lambda="private"),
    Method("table-with-noise", "Table with noise on every cell", "publishing",
           ("dpml.publishing.baselines.release_table",), PAPER.format("section 5.1"), "ε",
           partial(_answers_case, _perturbed), relations=("replace-one",)),
    Method("direct-answers", "Direct answers with a divided ε", "publishing",
           ("dpml.publishing.baselines.release_answers",), PAPER.format("section 5.1"), "ε",
           partial(_answers_case, _answered), relations=("replace-one",)),
)  # fmt: skip
