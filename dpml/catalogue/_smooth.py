"""Claims of the noises that are scaled by a smooth sensitivity."""

import math
from collections.abc import Callable
from typing import Any

from dpml.catalogue._laws import noise_law
from dpml.catalogue._method import Case, Method
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

DELTA = 1e-5


def _of_median(values: tuple[float, ...], beta: float) -> tuple[float, float]:
    """Return (median, its smooth sensitivity on [0, 6] under add/remove)."""
    return (
        statistic("median", values, 0.0, 6.0),
        smooth_sensitivity("median", values, 0.0, 6.0, beta, relation="add-remove"),
    )


def _case(make: Callable[[float], Any], pure: bool):
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


def _concentrated(family: Any, calibration: str):
    def make(epsilon: float) -> Any:
        # ε²/2 = ρ with ρ + 2·sqrt(ρ·log(1/δ)) = the claim
        log = math.log(1 / DELTA)
        inner = math.sqrt(2) * (math.sqrt(log + epsilon) - math.sqrt(log))
        # the published arsinh-normal scale needs a β of the order of ε²
        return family(inner, min(inner / 10, inner**2 / 8), calibration=calibration)

    return _case(make, pure=False)


def _method(
    name: str, title: str, family: Any, calibration: str, source: str, claim: str, case: Any, **more: Any
) -> Method:
    path = f"dpml.mechanisms.smooth.admissible.{family.__name__}"
    covers = (path, f"{path}[{calibration}]")
    return Method(name, title, "mechanism", covers, source, claim, case, relations=("add-remove",), **more)


PURE = "ε for a statistic with the stated β-smooth bound"
APPROXIMATE = "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5"
CONCENTRATED = "ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5"
LOOSE = "as claimed, but the conversion to (ε, δ) is loose"

OURS = ", with the exact calibration derived here (docs/explanation/errata.md)"
BUN_STEINKE = "[bun-steinke2019]"
NISSIM = "[nissim2007]"

METHODS = (
    *(
        _method(
            f"cauchy-{calibration}",
            f"Cauchy noise, {title}",
            Cauchy,
            calibration,
            source,
            PURE,
            _case(lambda e, calibration=calibration: Cauchy(e, e / 6, calibration), True),  # type: ignore[misc]
            cost=cost,
        )
        for calibration, title, source, cost in (
            (
                "exact",
                "exact calibration",
                "derived here by Harnack's inequality (docs/explanation/errata.md)",
                "as claimed",
            ),
            ("algorithm-1", "scale √2·S/ε", "[zafarani-clifton2021], Algorithm 1", "less than ε: log 2 at ε = 1"),
            ("theorem-2", "scale 6·S/ε", "[zafarani-clifton2021], Theorem 2", "far less than ε: 0.226 at ε = 1"),
        )
    ),
    *(
        _method(
            f"student-t-{calibration}",
            f"Student's t noise, {title}",
            StudentT,
            calibration,
            source,
            PURE,
            _case(lambda e, calibration=calibration: StudentT(e, e / 8, calibration=calibration), True),  # type: ignore[misc]
            cost=cost,
        )
        for calibration, title, source, cost in (
            ("exact", "exact calibration", BUN_STEINKE + OURS, "as claimed"),
            ("bun-steinke", "published scale", BUN_STEINKE, "less than ε: 0.656 at ε = 1"),
        )
    ),
    *(
        _method(
            f"smooth-{name}-{calibration}",
            f"{name.capitalize()} noise for a smooth sensitivity, {title}",
            family,
            calibration,
            source,
            APPROXIMATE,
            _case(
                lambda e, family=family, share=share, calibration=calibration: family(  # type: ignore[misc]
                    e, DELTA, e / share, calibration
                ),
                False,
            ),
            cost=cost,
            delta=DELTA,
        )
        for name, family, share in (
            ("laplace", SmoothLaplace, 2 * math.log(2 / DELTA)),
            ("gaussian", SmoothGaussian, 4 * (1 + math.log(2 / DELTA))),
        )
        for calibration, title, source, cost in (
            ("exact", "exact calibration", NISSIM + OURS, "as claimed"),
            ("nissim", "published scale", NISSIM, "a small part of δ"),
        )
    ),
    *(
        _method(
            f"{name}-{calibration}",
            f"{title} noise, {'derived' if calibration == 'derived' else 'published'} scale",
            family,
            calibration,
            BUN_STEINKE
            + (" (constants derived here) (docs/explanation/errata.md)" if calibration == "derived" else ""),
            CONCENTRATED,
            _concentrated(family, calibration),
            cost=LOOSE,
            delta=DELTA,
        )
        for name, title, family in (
            ("laplace-log-normal", "Laplace-log-normal", LaplaceLogNormal),
            ("uniform-log-normal", "Uniform-log-normal", UniformLogNormal),
            ("arsinh-normal", "Arsinh-normal", ArsinhNormal),
        )
        for calibration in ("derived", "bun-steinke")
    ),
)
