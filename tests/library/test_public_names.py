"""The public names that scripts outside the project rely on: where they are imported from, and how they are called."""

import importlib
import inspect
import subprocess
import sys

import pytest

# the module and name; the parameters by position, then those by keyword
NAMES = {
    "dpml.datasets.load": ("name data_home", "**options"),
    "dpml.classifiers.BernoulliNB": (
        "epsilon",
        "method row_bound pseudocount threshold_percentile schema budget on_invalid release random_state",
    ),
    "dpml.classifiers.MixedNB": ("epsilon", "method schema budget on_invalid release random_state"),
    "dpml.classifiers.LogisticRegression": ("epsilon", "method reg_lambda schema budget release random_state"),
    "dpml.classifiers.LinearSVC": ("epsilon", "method reg_lambda schema budget release random_state"),
    "dpml.classifiers.AutoClassifier": ("epsilon", "schema budget on_invalid release random_state"),
    "dpml.selection.scores": ("X y kind", ""),
    "dpml.selection.sensitivity": ("kind relation", ""),
    "dpml.selection.mask_weight": ("kind relation epsilon n_features n_total row_bound", ""),
    "dpml.selection.inclusion_probabilities": ("log_weights n_features", ""),
    "dpml.selection.MaskSelector": ("epsilon n_features score", "schema budget on_invalid random_state"),
    "dpml.mechanisms.smooth_sensitivity": ("kind values lower upper beta relation", "trim"),
    "dpml.mechanisms.cauchy_scale": ("epsilon beta calibration", ""),
    "dpml.evaluation.private_roc_curve": ("y_true y_score epsilon", "rng"),
    "dpml.evaluation.private_roc_auc": ("y_true y_score epsilon", "rng"),
    "dpml.publishing.PrivPfC": (
        "epsilon",
        "max_grids taxonomies schema budget on_invalid release random_state",
    ),
    "dpml.publishing.ImportanceWeights": ("epsilon reg_lambda", "schema budget on_invalid random_state"),
    "dpml.budget.Budget": ("epsilon delta relation path", ""),
    "dpml.auditing.audit": ("mechanism data neighbour epsilon", ""),
    "dpml.auditing.recorded_cost": ("call data neighbour", ""),
    "dpml.tuning.BestSelector": ("", ""),
    "dpml.evaluation.BestSelector": ("", ""),
    "dpml.tuning.PrivateSearch": ("", ""),
    "dpml.evaluation.PrivateSearch": ("", ""),
    "dpml.schema.Schema": ("features classes", "n_lower"),
    "dpml.schema.Feature": ("name kind", ""),
    "dpml.schema.Schema.describe": ("frame", ""),
    "dpml.sweep.sweep": ("study", ""),
    "dpml_app.explore": ("X y schema", ""),
    "dpml_app.card": ("name", ""),
}
ATTRIBUTES = {
    "dpml.budget.Budget": ("split", "spend", "ledger"),
    "dpml.publishing.PrivPfC": ("fit", "sample"),
    "dpml.publishing.ImportanceWeights": ("fit", "weights"),
    "dpml.auditing.AuditResult": ("epsilon", "passed", "exact", "epsilon_lower"),
    "dpml.datasets.Dataset": ("X_train", "y_train", "X_test", "y_test", "feature_names", "schema", "card", "frame"),
}


def object_at(path):
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            value = getattr(value, name)
        return value
    raise AssertionError(path)


@pytest.mark.parametrize("path", NAMES)
def test_a_public_name_is_called_as_it_was(path):
    positional, keywords = (names.split() for names in NAMES[path])
    value = object_at(path)
    assert callable(value)
    parameters = inspect.signature(value).parameters
    if "arguments" in parameters:  # the app passes these on
        return
    by_position = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert by_position[: len(positional)] == positional
    assert [name for name in keywords if name.lstrip("*") not in parameters] == []


@pytest.mark.parametrize("path", ATTRIBUTES)
def test_a_public_name_has_its_attributes(path):
    value = object_at(path)
    named = {*dir(value), *inspect.signature(value).parameters}
    assert [name for name in ATTRIBUTES[path] if name not in named] == []


def test_evaluation_loads_tuning_when_it_is_asked_for_it():
    program = """
import sys, dpml.evaluation
before = "dpml.tuning" in sys.modules
known = {"BestSelector", "release_evaluation"} <= set(dir(dpml.evaluation))
from dpml.evaluation import BestSelector
print(before, known, "dpml.tuning" in sys.modules, BestSelector.__module__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True", "dpml.tuning.best_selector"]
