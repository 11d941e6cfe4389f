"""The settings of the Noise page; each name begins with ``noise_``, so that one link holds every page's settings."""

from dataclasses import dataclass
from typing import Any

import param

from dpml.registry import of_family
from dpml_app.core.values import PageValues, declared_by
from dpml_app.pages.noise.points import PRESETS, SIZES, is_code
from dpml_app.settings import EPSILONS, Shared, choice, number, text

NOISE_EPSILONS = EPSILONS
DELTAS = tuple(float(f"1e-{power}") for power in range(12, 1, -1))
REACHES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)
QUERIES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
TOUCHED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
FAILURES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
BETA_SHARES = {"1/50": 0.02, "1/20": 0.05, "1/12": 1 / 12, "1/6": 1 / 6, "1/4": 0.25, "1/3": 1 / 3, "1/2": 0.5}
BETA_SHARES |= {"3/4": 0.75, "9/10": 0.9}
MECHANISMS = {each.key: each.title for each in of_family("noise", "number")}
RELATIONS = {"replace-one": "Replace one point", "add-remove": "Add or remove one point"}
STATISTICS = {"median": "Median", "mean": "Mean", "trimmed_mean": "Trimmed mean", "variance": "Variance"}


class Points(param.String):
    """A list of points on a line, two characters each, or nothing for those of the preset."""

    allowed = "empty, or p and two characters 0-9, a-z for each of 2 to 200 points, each up to rs (100.0)"

    def _validate_value(self, val: Any, allow_None: bool) -> None:
        super()._validate_value(val, allow_None)
        if not is_code(val):
            raise ValueError(f"points must be {self.allowed}")


@dataclass(frozen=True)
class NoiseValues(PageValues):
    """All settings that the Noise page depends on."""

    noise_mechanism: str = choice("laplace", MECHANISMS, "Mechanism")
    noise_dimension: int = choice(1, {1: "One", 2: "Two"}, "Dimensions")
    noise_epsilon: float = choice(1.0, NOISE_EPSILONS, "ε of the noise")
    noise_sensitivity: int = number(1, (1, 20), "Sensitivity Δ")
    noise_delta: float = choice(1e-6, DELTAS, "δ of Gaussian noise")
    noise_beta: str = choice("1/6", list(BETA_SHARES), "β as a share of ε")
    noise_draws: int = number(2000, (500, 10_000), "Samples of noise")
    noise_seed: int = number(0, (0, 2**31 - 1), "Seed of the noise")
    noise_reach: int = choice(10, REACHES, "Axis range ±")
    noise_queries: int = choice(1000, QUERIES, "Number of queries D")
    noise_failure: float = choice(0.05, FAILURES, "Failure probability p")
    noise_touched: int = choice(1, TOUCHED, "Changed numbers k")
    noise_measure: str = choice("mean", {"mean": "Mean", "q95": "95% quantile"}, "Size of the noise")
    noise_gap: float = number(5.0, (0.5, 20.0), "Gap between candidates", 0.5)
    noise_statistic: str = choice("median", STATISTICS, "Statistic")
    noise_trim: int = number(5, (0, 50), "Trimmed points per end m")
    noise_relation: str = choice("replace-one", RELATIONS, "Neighbouring tables")
    noise_size: int = choice(50, SIZES, "Number of points")
    noise_preset: str = choice("bell", PRESETS, "Initial points")
    noise_points: str = text("", "Points", Points)


@declared_by(NoiseValues)
class NoiseSettings(Shared):
    """Every control of the Noise page."""
