"""The noises: of one number, for a choice of one candidate, and calibrations of Cauchy noise."""

import math
from typing import Any

from dpml.methods.registry import Method, register


def _noise(
    key: str, title: str, target: str, *claims: str, group: str = "number", label: str = "", **options: Any
) -> None:
    register(Method(key, title, "noise", f"dpml.mechanisms.{target}", options, label, group=group, claims=claims))


_noise("laplace", "Laplace", "Laplace", "laplace")
_noise("geometric", "Geometric (integers)", "Geometric", "geometric", label="Geometric")
_noise("staircase", "Staircase", "Staircase", "staircase")
_noise("gaussian", "Gaussian (ε, δ)", "Gaussian", "gaussian", label="Gaussian")
for name, p in (("1", 1.0), ("2", 2.0), ("10", 10.0), ("inf", math.inf)):
    _noise(f"norm-{name}", f"Norm {name.replace('inf', '∞')}", "NormGamma", "norm-gamma", p=p)
# scaled by a smooth sensitivity
_noise("cauchy", "Cauchy", "smooth.admissible.Cauchy", "cauchy-exact")
_noise("student", "Student's t, 3 degrees", "smooth.admissible.StudentT", "student-t-exact", degrees=3)

_noise("exponential", "Exponential", "ExponentialMechanism", "exponential", group="choice")
_noise("flip", "Permute-and-flip", "PermuteAndFlip", "permute-and-flip", group="choice")
_noise("noisy-max", "Noisy max", "ReportNoisyMax", "noisy-max-laplace", group="choice", noise="laplace")

for name, title in (("exact", "Exact"), ("algorithm-1", "√2/ε, Algorithm 1"), ("theorem-2", "6/ε, Theorem 2")):
    _noise(name, title, "smooth.admissible.Cauchy", f"cauchy-{name}", group="cauchy", calibration=name)
