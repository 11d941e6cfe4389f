"""Former names of modules: an import of `dpml.evaluation.best` gives `dpml.tuning.best_selector`.

Both names give the same module object, so objects that were pickled under a former name still load. A module is
imported only when it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "dpml.classifiers.binned": "dpml.classifiers.naive_bayes.cells",
    "dpml.classifiers.descent": "dpml.classifiers.linear.descent",
    "dpml.classifiers.design": "dpml.classifiers.naive_bayes.columns",
    "dpml.classifiers.functional": "dpml.classifiers.linear.functional",
    "dpml.classifiers.gaussian": "dpml.classifiers.naive_bayes.moments",
    "dpml.classifiers.leader": "dpml.classifiers.linear_classifier",
    "dpml.classifiers.mixed": "dpml.classifiers.naive_bayes.mixed",
    "dpml.classifiers.mixture": "dpml.classifiers.naive_bayes.mixed_models",
    "dpml.classifiers.models": "dpml.classifiers.linear_models",
    "dpml.classifiers.partition": "dpml.classifiers.naive_bayes.partition",
    "dpml.classifiers.prediction": "dpml.classifiers.naive_bayes.private_prediction",
    "dpml.classifiers.published": "dpml.classifiers.naive_bayes.as_published",
    "dpml.evaluation.best": "dpml.tuning.best_selector",
    "dpml.evaluation.curves": "dpml.evaluation.roc.area",
    "dpml.evaluation.figures": "dpml.evaluation.private_evaluation",
    "dpml.evaluation.mixed_studies": "dpml.studies.mixed",
    "dpml.evaluation.published_roc": "dpml.evaluation.roc.as_published",
    "dpml.evaluation.quality": "dpml.evaluation.selection_quality",
    "dpml.evaluation.report": "dpml.evaluation.release",
    "dpml.evaluation.scaling": "dpml.studies.scaling",
    "dpml.evaluation.several": "dpml.evaluation.multiclass",
    "dpml.evaluation.stability": "dpml.tuning.stability",
    "dpml.evaluation.stopping": "dpml.tuning.stopping",
    "dpml.evaluation.studies": "dpml.studies.accuracy",
    "dpml.evaluation.thresholds": "dpml.evaluation.roc.thresholds",
    "dpml.evaluation.tuning": "dpml.tuning.search",
    "dpml.evaluation.tuning_plan": "dpml.tuning.plan",
    "dpml.evaluation.tuning_studies": "dpml.studies.tuning",
    "dpml.mechanisms.additive": "dpml.mechanisms.laplace",
    "dpml.mechanisms.admissible": "dpml.mechanisms.smooth.admissible",
    "dpml.mechanisms.admissible_approximate": "dpml.mechanisms.smooth.approximate_noise",
    "dpml.mechanisms.admissible_concentrated": "dpml.mechanisms.smooth.concentrated_noise",
    "dpml.mechanisms.admissible_pure": "dpml.mechanisms.smooth.pure_noise",
    "dpml.mechanisms.consistency": "dpml.mechanisms.ranges.consistency",
    "dpml.mechanisms.smooth_location": "dpml.mechanisms.smooth.location",
    "dpml.mechanisms.smooth_variance": "dpml.mechanisms.smooth.variance",
    "dpml.mechanisms.threshold": "dpml.mechanisms.sparse_vector",
    "dpml.selection.published": "dpml.selection.as_published",
}


class _Moved(MetaPathFinder, Loader):
    """Import finder for the former names. Python asks it last, so it never hides a module that exists."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MOVED[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # the import system has replaced the spec; the module has already run under its new name
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Make the former names importable."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
