"""scikit-learn's checks of every registered classifier without a schema: what fails has a stated reason."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from dpml.registry import of_family
from dpml.testing import expected_failed_checks

METHODS = [method.key for method in of_family() if method.target]
MADE = {method.key: method for method in of_family()}


def failures(key, on_invalid):
    model = MADE[key].make(1.0, random_state=0, on_invalid=on_invalid)
    expected = expected_failed_checks(model)
    results = check_estimator(model, on_fail=None)
    return {result["check_name"] for result in results if result["status"] == "failed"}, set(expected)


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns of the checks that it skips
@pytest.mark.parametrize("on_invalid", ["clip", "raise"])
@pytest.mark.parametrize("key", METHODS)
def test_no_check_fails_without_a_reason(key, on_invalid):
    failed, expected = failures(key, on_invalid)
    assert failed <= expected


@pytest.mark.filterwarnings("ignore")
def test_every_expected_failure_fails_somewhere():
    found = [failures(key, on_invalid) for key in ("row-bounded", "binned", "rule") for on_invalid in ("clip", "raise")]
    assert set.union(*(failed for failed, _ in found)) == found[1][1]
