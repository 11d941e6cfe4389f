"""Short names of tests that several mutants share."""

ESTIMATORS, FUNCTIONS = "test_wholes_estimators.py", "test_wholes_functions.py"


def fit(name: str) -> str:
    """No neighbours cost this estimator more than was charged."""
    return f"{ESTIMATORS}::test_no_neighbours_cost_more_than_was_charged[{name}]"


def folds(name: str) -> str:
    """No neighbours cost this cross-validation more than was charged."""
    return f"{ESTIMATORS}::test_no_neighbours_cost_more_than_cross_validation_was_charged[{name}]"


def scored(name: str) -> str:
    """No neighbours cost this function of scores more than it charged."""
    return f"{FUNCTIONS}::test_no_neighbours_cost_a_function_of_scores_more_than_it_charged[{name}]"


def claim(name: str) -> str:
    """No neighbours cost this mechanism more than its claim."""
    return f"{FUNCTIONS}::test_no_neighbours_cost_a_mechanism_more_than_its_claim[{name}]"


def records(name: str) -> str:
    """No neighbours cost this mechanism of records more than its claim."""
    return f"{FUNCTIONS}::test_no_neighbours_cost_a_mechanism_of_records_more_than_its_claim[{name}]"


def law(name: str) -> str:
    """The draws of this mechanism follow the stated law."""
    return f"test_mechanisms_boundary.py::test_draws_follow_the_stated_law[{name}]"


def audit(entry: str, relation: str, epsilon: float = 1.0) -> str:
    """An exact audit of the public call, on the worst neighbours that are known, passes."""
    return f"test_catalogue.py::test_exact_audits[{entry}-{relation}-{epsilon}]"


def opened(value: str) -> str:
    """Return an expression for what a private value holds, which no method may write, for mutants that do."""
    return f"__import__('dpml').mechanisms.private.opened({value})"
