"""Claims of the noises that are scaled by a smooth sensitivity."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from dpml.audit.cases.base import DELTA, Case, CaseMaker, choice_law, noise_law, recorded
from dpml.audit.exact import LawResult, check_law, check_noise
from dpml.mechanisms import Geometric, Laplace
from dpml.mechanisms.columns import private_bounds, private_categories, private_facts, private_quantiles
from dpml.mechanisms.ranges import Hierarchy, IdentityRanges, Privelet
from dpml.mechanisms.smooth import smooth_sensitivity, statistic
from dpml.mechanisms.smooth.admissible import (
    ArsinhNormal,
    Cauchy,
    LaplaceLogNormal,
    SmoothGaussian,
    SmoothLaplace,
    StudentT,
    UniformLogNormal,
)
from dpml.schema import Schema


def _of_median(values: tuple[float, ...], beta: float) -> tuple[float, float]:
    """Return (median, its smooth sensitivity on [0, 6] under add/remove)."""
    return (
        statistic("median", values, 0.0, 6.0),
        smooth_sensitivity("median", values, 0.0, 6.0, beta, relation="add-remove"),
    )


def _admissible(make: Callable[[float], Any], pure: bool):
    def case(epsilon: float, relation: str) -> Case:
        noise = make(epsilon)

        def release(data, draws, rng):
            return noise.release(*data, draws=draws, rng=rng)

        law = noise_law(noise, lambda value, draws, rng: noise.release(value, 1.0, draws=draws, rng=rng), 3.0)
        return Case.of_release(
            _of_median((6.0,), noise.beta),
            _of_median((0.0, 6.0), noise.beta),
            release,
            delta=0.0 if pure else DELTA,
            pasts=1,
            draws=4_000,
            words="the median of one value at an end of [0, 6], and of two values, one at each end",
            law=law,
        )

    return case


def _cauchy(calibration: str, epsilon: float) -> Any:
    return Cauchy(epsilon, epsilon / 6, calibration)


def _student(calibration: str, epsilon: float) -> Any:
    return StudentT(epsilon, epsilon / 8, calibration=calibration)


def _approximate(family: Any, share: float, calibration: str, epsilon: float) -> Any:
    return family(epsilon, DELTA, epsilon / share, calibration)


def _concentrated(family: Any, calibration: str):
    def make(epsilon: float) -> Any:
        # ε²/2 = ρ with ρ + 2·sqrt(ρ·log(1/δ)) = the claim
        log = math.log(1 / DELTA)
        inner = math.sqrt(2) * (math.sqrt(log + epsilon) - math.sqrt(log))
        # the published arsinh-normal scale needs a β of the order of ε²
        return family(inner, min(inner / 10, inner**2 / 8), calibration=calibration)

    return _admissible(make, pure=False)


SMOOTH: dict[str, CaseMaker] = {
    **{f"cauchy-{c}": _admissible(partial(_cauchy, c), True) for c in ("exact", "algorithm-1", "theorem-2")},
    **{f"student-t-{c}": _admissible(partial(_student, c), True) for c in ("exact", "bun-steinke")},
    **{
        f"smooth-{name}-{c}": _admissible(partial(_approximate, family, share, c), False)
        for name, family, share in (
            ("laplace", SmoothLaplace, 2 * math.log(2 / DELTA)),
            ("gaussian", SmoothGaussian, 4 * (1 + math.log(2 / DELTA))),
        )
        for c in ("exact", "nissim")
    },
    **{
        f"{name}-{c}": _concentrated(family, c)
        for name, family in (
            ("laplace-log-normal", LaplaceLogNormal),
            ("uniform-log-normal", UniformLogNormal),
            ("arsinh-normal", ArsinhNormal),
        )
        for c in ("derived", "bun-steinke")
    },
}


N = 6


def _ranges(make: Any):
    def case(epsilon: float, relation: str) -> Case:
        ranges = make(epsilon, N, relation)
        counts, units = np.array([4, 1, 0, 2, 5, 1]), np.eye(N, dtype=int)
        if relation == "add-remove":
            others = [counts + unit for unit in units]
        else:
            others = [counts - units[0] + unit for unit in units[1:]] + [counts - units[4] + units[5]]

        change = [np.abs(ranges.measure(other) - ranges.measure(counts)).sum() for other in others]
        return Case.of_release(
            counts,
            others[int(np.argmax(change))],
            lambda data, draws, rng: ranges.release(data, draws=draws, rng=rng),
            pasts=1,
            words="a record is added to the count that most answers include, or moves to another count",
        )

    return case


def _ended(common: Any, ends: Any, **options: Any) -> tuple[Any, Any]:
    """Return two arrays of the common records and either end."""
    first, second = (np.array([*common, *end], **options) for end in ends)
    return first, second


def _bounds(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        options = {"relation": relation, "rng": rng, "on_invalid": "clip"}
        return np.array([private_bounds(data, epsilon, **options).counts for _ in range(draws or 1)])

    def law(rng):
        # of each cell's noise where all cells are empty
        runs = [private_bounds([], epsilon, relation=relation, rng=rng) for _ in range(500)]
        return check_noise(Laplace(1 / runs[0].scale), [run.counts for run in runs])

    common = [1.0, 5.0, 5.0]
    ends = ([], [5.0]) if relation == "add-remove" else ([0.0], [5.0])
    pairs = [_ended(rest, ends) for rest in (common, [])]
    # a cell that is no number is in no cell, and one beyond all of them in an outermost one
    far = [np.nan] if relation == "replace-one" else []
    others = (pairs[1], _ended(common, (far, [np.inf])))
    words = "one number is added to a cell, or moves to another cell"
    return Case.of_release(*pairs[0], release, draws=2_000, words=words, others=others, law=law)


def _noise(release: bool, rng: Any) -> dict[str, Any]:
    """Return the parameters that say where noise comes from."""
    return {"release": True} if release else {"rng": rng}


def _quantile_case(
    quantiles: tuple[float, ...], epsilon: float, relation: str, secure: bool = False, **more: Any
) -> Case:
    """Return a case where each quantile lies at a point, which the record makes less likely than the last point."""
    units = math.ceil(400 / epsilon)
    # of 20 cells' points one is the exact quantile, with no number near; the record comes to the last point
    data = np.concatenate([np.full(units, (i + 0.5) / 20) for i in range(20)])
    replaced = relation == "replace-one"
    data, ends = data[replaced:], ([0.0] * replaced, [1.0])

    def release(data, draws, rng):
        options = {"lower": 0.0, "upper": 1.0, "n_cells": 20, "relation": relation, **_noise(secure, rng)}
        return np.array([private_quantiles(data, quantiles, epsilon, **options) for _ in range(draws or 1)])

    pair = _ended(data, ends)
    words = "each quantile lies at a point, and a number is added at the last one, or moves there from the first"
    return Case.of_release(*pair, release, draws=200 if secure else 2_000, words=words, **more)


def _secure_quantiles(epsilon: float, relation: str) -> Case:
    return _quantile_case((0.5, 0.5, 0.75, 0.9), epsilon, relation, secure=True)


def _quantiles(epsilon: float, relation: str) -> Case:
    q, points = 0.75, np.linspace(0.0, 1.0, 5)
    data = np.repeat([0.1, 0.4, 0.6, 0.9], 2)

    def draw(draws, rng):
        options = {"lower": 0.0, "upper": 1.0, "n_cells": 4, "relation": relation, "rng": rng}
        return np.rint([4 * private_quantiles(data, (q,), epsilon, **options)[0] for _ in range(draws)])

    def chances():
        # by the definition: e^(ε·score/range)
        below = (data < points[:, None]).sum(axis=1)
        scores = -np.abs((1 - q) * below - q * (len(data) - below))
        width = 2 * q if relation == "add-remove" else 2.0
        return dict(enumerate(log_softmax(epsilon * scores / width)))

    law = choice_law(draw, chances, draws=4_000)
    return _quantile_case((0.5, 0.5, 0.75, 0.9), epsilon, relation, law=law)


def _categories(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        options = {"relation": relation, "rng": rng}
        runs = [private_categories(data, epsilon, DELTA, **options) for _ in range(draws or 1)]
        # the numbers of two categories, or 0 where one was not released, and the order of what was released
        return np.array([[run.counts.get(t, 0) for t in "ab"] + [run.categories[:1] == ("b",)] for run in runs])

    many = math.ceil(40 / epsilon)
    replaced = relation == "replace-one"
    common = ["a"] * many + ["b"] * many
    tied = ["a"] * many + ["b"] * (many + replaced)
    ends = (["b"] * replaced, ["a"]), (["d"] * replaced, ["c"])
    pairs = [_ended(rest, pair) for rest in (common, tied, []) for pair in ends]
    words = "a record is added to a category, or moves to another"
    return Case.of_release(
        *pairs[0], release, delta=DELTA, draws=2_000, words=words, others=tuple(pairs[1:]), law=_lone(epsilon, relation)
    )


def _lone(epsilon: float, relation: str, share: float = 0.02) -> Any:
    """Return the law of categories at a δ large enough to be seen: those of one record, and the noise of others."""

    def law(rng):
        many = math.ceil(60 / epsilon)
        lone, others = np.arange(20_000).astype(str), np.repeat([f"of many {i}" for i in range(500)], many)
        run = private_categories(np.append(lone, others), epsilon, share, relation=relation, rng=rng)
        n_released = sum(not text.startswith("of") for text in run.counts)
        noise = [run.counts.get(text, 0) - many for text in dict.fromkeys(others.tolist())]
        scale = (1 if relation == "add-remove" else 2) / epsilon
        # of a lone one, P(1 + noise >= T) by the definition
        alpha = math.exp(-1 / scale)
        chance = alpha ** (run.threshold - 1) / (1 + alpha)
        lone_law = check_law([n_released], [chance], len(lone), ["a category of one record"])
        if list(run.counts) != sorted(run.counts):
            return LawResult(0.0, 1, "categories in another order than the alphabet's", 0.0, 1)
        if chance > share:
            return LawResult(0.0, 1, f"a category of one record is released with probability {chance:.3g}", share, 1)
        return min(lone_law, check_noise(Geometric(1 / scale), noise), key=lambda one: one.p_value)

    return law


def _facts(epsilon: float, relation: str, secure: bool = False) -> Case:
    def release(data, draws, rng):
        columns, noise = ({"x": data[:, 0]}, {"t": data[:, 1], "u": data[:, 2]}), _noise(secure, rng)
        runs = [private_facts(*columns, epsilon, DELTA, relation=relation, **noise) for _ in range(draws or 1)]
        return np.array([[*run["x"].counts, run["t"].counts.get("a", 0), run["u"].counts.get("a", 0)] for run in runs])

    common = [[1.0, "a", "a"], [1.0, "b", "b"]] * math.ceil(120 / epsilon)
    replaced = relation == "replace-one"
    ends = [[[5.0, "b", "b"]] * replaced, [[1.0, "a", "a"]]], [[[5.0, "d", "d"]] * replaced, [[1.0, "c", "c"]]]
    pairs = [_ended(common, pair, dtype=object) for pair in ends]
    words = "a record is added, or replaced, with a number and two texts"
    further = [_described(epsilon, relation, secure)] + [_numbers_alone(epsilon, relation)] * (not secure)
    more: dict[str, Any] = {"others": (pairs[1],), "further": tuple(further), "draws": 200 if secure else 2_000}
    return Case.of_release(*pairs[0], release, delta=DELTA, words=words, **more)


def _secure_facts(epsilon: float, relation: str) -> Case:
    return _facts(epsilon, relation, secure=True)


def _numbers_alone(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        columns = {"x": data[:, 0], "z": data[:, 1]}
        runs = [private_facts(columns, {}, epsilon, relation=relation, rng=rng) for _ in range(draws or 1)]
        return np.array([[*run["x"].counts, *run["z"].counts] for run in runs])

    ends = [[5.0, 5.0]] * (relation == "replace-one"), [[1.0, 1.0]]
    data, neighbour = (np.array([[1.0, 1.0], [1.0, 3.0], *end]) for end in ends)
    return Case.of_release(data, neighbour, release, delta=DELTA, words="a record of two numbers is added, or replaced")


def _described(epsilon: float, relation: str, secure: bool) -> Case:
    """Return a case of the proposal of a schema that is paid for: all of it follows from what was released."""
    # a text that is a label is no feature, and a name that tells its bounds costs nothing
    common = [[1.5, "a"], [2.5, "b"]] * math.ceil(80 / epsilon)
    replaced = relation == "replace-one"
    ends = ([[400.5, "b"]] * replaced, [[1.5, "a"]]), ([[1.5, "d"]] * replaced, [[1.5, "c"]])
    pairs = [_ended(common, pair, dtype=object) for pair in ends]

    def call(data):
        kinds = {"height": "numeric", "pet": "categorical"}
        options = {"kinds": kinds, "relation": relation, **_noise(secure, np.random.default_rng(0))}
        frame = pd.DataFrame(data, columns=["height", "pet"]).astype({"height": float})
        return str(Schema.describe(frame, epsilon=epsilon, delta=DELTA, **options))

    def sample(data, draws, rng):
        return np.array([len(call(data)) for _ in range(draws)])

    words = "a record is added, or replaced, with a number and a text"
    return Case(*pairs[0], call, sample, recorded(call, DELTA), words=words, others=(pairs[1],))


CASES: dict[str, CaseMaker] = {
    **SMOOTH,
    "ranges-identity": _ranges(IdentityRanges),
    "ranges-privelet": _ranges(Privelet),
    "ranges-hierarchy": _ranges(Hierarchy),
    "private-bounds": _bounds,
    "private-quantiles": _quantiles,
    "private-categories": _categories,
    "private-quantiles-release": _secure_quantiles,
    "private-facts": _facts,
    "private-facts-release": _secure_facts,
}
