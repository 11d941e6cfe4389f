"""Mutants of dpml.tuning and of the base of the estimators that use an exact value; the others are with evaluation."""

from mutants.mutant import Mutant

MUTANTS = [
    Mutant(
        "dpml.tuning.search.PrivateSearch._chosen",
        "the exact best",
        "mechanism(epsilon, most).release(correct, rng=rng)",
        "np.argmax(correct)",
        ("test_tuning_search_estimator.py::test_a_large_epsilon_finds_the_better_candidate",),
        quick=True,
    ),
    Mutant(
        "dpml.tuning.search.PrivateSearch._most_stable",
        "the exact best",
        "mechanism.release(scores, rng=rng)",
        "np.argmax(scores)",
        ("test_tuning_search_estimator.py::test_stability_finds_the_regulariser_that_sees_the_exception",),
    ),
    Mutant(
        "dpml.tuning.search.PrivateSearch.fit",
        "parts by the exact number of records",
        "if disjoint else 1, self.validation_share",
        "if disjoint and records.number > 99 else 1, self.validation_share",
        ("test_tuning_search.py::test_what_each_step_is_given",),
    ),
    Mutant(
        "dpml.tuning.search.PrivateSearch._most_stable",
        "validated on the exact number of records",
        "math.floor(self.validation_share * self._schema.n_lower)",
        "validation.number",
        ("test_tuning_search_estimator.py::test_stability_finds_the_regulariser_that_sees_the_exception",),
    ),
    Mutant(
        "dpml.tuning.best_selector.BestSelector.fit",
        "the mask by exact counts",
        "choice = choose_features(X, codes, schema, epsilon",
        "choice = choose_features(X, codes, schema, epsilon if codes.size > 99 else 2 * epsilon",
        ("test_tuning_best_selector.py::test_interface_budget_and_frames",),
    ),
    Mutant(
        "dpml.estimators.base.PrivateEstimator._check_records",
        "the exact number told in a release",
        "if not release:\n",
        "if True:\n",
        (
            "test_tuning_private.py::test_a_release_is_silent_and_a_study_is_told_what_is_clipped_and_that_records_are_few",
        ),
    ),
    Mutant(
        "dpml.estimators.base.PrivateEstimator._private_records",
        "records left in the open",
        "return Private(X), Private(codes), schema",
        "return X, codes, schema",
        ("test_selection_private.py::test_a_fit_holds_counts_that_no_rule_can_read",),
    ),
]
