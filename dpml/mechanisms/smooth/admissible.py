"""Noise for smooth sensitivity (admissible noise), with the claim and the tails of each family.

| noise | claim | tails |
|---|---|---|
| `Cauchy` | pure ε | no mean |
| `StudentT` | pure ε | ν - 1 moments |
| `LaplaceLogNormal`, `UniformLogNormal`, `ArsinhNormal` | ½ε²-concentrated | all moments |
| `SmoothLaplace`, `SmoothGaussian` | (ε, δ) | exponential, Gaussian |

Each takes β as a parameter. It must equal the β of the smooth sensitivity that scales the noise.
"""

from dpml.mechanisms.smooth._noise import Claim, SmoothNoise
from dpml.mechanisms.smooth.approximate_noise import SmoothGaussian, SmoothLaplace
from dpml.mechanisms.smooth.concentrated_noise import ArsinhNormal, LaplaceLogNormal, UniformLogNormal
from dpml.mechanisms.smooth.pure_noise import Cauchy, StudentT, cauchy_scale, student_scale

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
