"""Noise for smooth sensitivity (admissible noise): heavy or light tails, each with what it can promise.

| noise | claim | tails |
|---|---|---|
| `Cauchy` | pure ε | no mean |
| `StudentT` | pure ε | ν - 1 moments |
| `LaplaceLogNormal`, `UniformLogNormal`, `ArsinhNormal` | ½ε²-concentrated | all moments |
| `SmoothLaplace`, `SmoothGaussian` | (ε, δ) | exponential, Gaussian |

Each takes the β of the smooth sensitivity that its noise is scaled by; the two must be the same.
"""

from dpml.mechanisms._smooth_noise import Claim, SmoothNoise
from dpml.mechanisms.admissible_approximate import SmoothGaussian, SmoothLaplace
from dpml.mechanisms.admissible_concentrated import ArsinhNormal, LaplaceLogNormal, UniformLogNormal
from dpml.mechanisms.admissible_pure import Cauchy, StudentT, cauchy_scale, student_scale

__all__ = [
    "ArsinhNormal",
    "Cauchy",
    "Claim",
    "LaplaceLogNormal",
    "SmoothGaussian",
    "SmoothLaplace",
    "SmoothNoise",
    "StudentT",
    "UniformLogNormal",
    "cauchy_scale",
    "student_scale",
]
