"""Callers in scikit-learn that learn from private records outside ε, recognised by the modules on the call stack.

An estimator cannot control the use of its predictions, but it can see its callers. With ``release=True`` it refuses
those that publish an exact score, learn without noise, or encode labels by the records, and warns of a Pipeline with a
step that no ε covers. The refusal depends on class and module names alone, never on records.
"""

import sys
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from sklearn.pipeline import Pipeline

from dpml.estimators.checks import warn
from dpml.estimators.inner_budget import spending_steps
from dpml.exceptions import NoExactScore, NotPrivate, PrivacyWarning

SEARCHES, SCORERS = "sklearn.model_selection", "sklearn.metrics"
WITHHELD = (
    "an exact score is not available where release=True: it counts private records. Use "
    "dpml.evaluation.private_cross_val_score or dpml.evaluation.release_evaluation for a private score"
)
ENCODES = "it encodes labels by those that occur, so one record may change all labels. Fit {name} by itself"
# packages that fit an estimator, and why a release refuses them
REFUSED = {
    SEARCHES: WITHHELD,
    "sklearn.calibration": "it learns from private records without noise. Calibrate on public records, with "
    "CalibratedClassifierCV(FrozenEstimator(model))",
    "sklearn.ensemble": ENCODES,
    "sklearn.multiclass": ENCODES,
    "sklearn.semi_supervised": "it learns from exact predictions of private records. Fit {name} by itself",
}
# packages that may fit an estimator several times
REPEATING = ("sklearn.feature_selection", "sklearn.multioutput")


def _callers() -> Iterator[tuple[str, FrameType]]:
    """Yield the module name and the frame of each caller on the stack."""
    frame = sys._getframe(1)
    while frame is not None:
        yield frame.f_globals.get("__name__", ""), frame
        frame = frame.f_back  # type: ignore[assignment]


def calling_package(packages: Iterable[str]) -> str | None:
    """Return the nearest of some packages that a caller on the stack is in, or None if there is none."""
    packages = tuple(packages)
    for module, _ in _callers():
        for package in packages:
            if module == package or module.startswith(f"{package}."):
                return package
    return None


def refuse(model: Any, packages: Iterable[str] = REFUSED) -> None:
    """Raise an error if a caller on the stack uses a release outside its ε."""
    package, name = calling_package(packages), type(model).__name__
    if package in (SEARCHES, SCORERS):
        raise NoExactScore(f"scikit-learn cannot search over {name}: {WITHHELD}")
    if package:
        reason = REFUSED[package].format(name=name)
        raise NotPrivate(f"{package} must not fit {name} with release=True: {reason}")


def warn_callers(model: Any) -> None:
    """Warn of a Pipeline around a release with a step outside ε, and of repeated fits that no budget counts."""
    name = type(model).__name__
    pipelines = [frame.f_locals.get("self") for module, frame in _callers() if module == "sklearn.pipeline"]
    for pipeline in pipelines:
        if isinstance(pipeline, Pipeline) and (reason := _uncovered(pipeline)):
            warn(
                f"The ε of {name} with release=True does not cover its Pipeline: {reason}. Beside {name}, use steps "
                "that learn nothing from the records: a FunctionTransformer with public numbers, or a FrozenEstimator",
                PrivacyWarning,
            )
    if getattr(model, "budget", None) is None and (package := calling_package(REPEATING)):
        warn(
            f"{package} may fit {name} several times, and each fit costs its ε. Pass a budget, which counts all fits",
            PrivacyWarning,
        )


def _uncovered(pipeline: Pipeline) -> str:
    """Return why ε does not cover a step of a Pipeline; empty if it covers all."""
    try:
        steps = spending_steps(pipeline)
    except NotPrivate as error:
        return str(error)
    study = next((step for step in steps if getattr(step, "release", True) is False), None)
    return f"{type(study).__name__} has release=False, for a simulation" if study is not None else ""
