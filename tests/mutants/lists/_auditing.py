"""Mutants of dpml.auditing, the recorder included, and of dpml.catalogue."""

from mutants.lists._tests import fit
from mutants.mutant import Mutant

RECORDER = "test_auditing_recorder.py"
AUDIT = "test_auditing.py"
MUTANTS = [
    Mutant("dpml.auditing.recorder._Replay.release", "a mechanism that changed not seen", "noted.mechanism != mechanism or", "", ("test_auditing_recorder.py::test_what_tells_two_data_sets_apart_for_certain_has_no_finite_cost",), quick=True),
    Mutant("dpml.auditing.recorder._Replay.release", "the neighbour's own noise", "return copy.deepcopy(noted.output)",
           "return mechanism._sample(statistic, rng)", ("test_auditing_recorder.py::test_costs_by_hand",)),
    Mutant("dpml.auditing.recorder._compared", "a release too few not seen", "len(replay.compared) == len(first.releases) and", "",
           (f"{RECORDER}::test_what_tells_two_data_sets_apart_for_certain_has_no_finite_cost",)),
    Mutant("dpml.auditing.recorder._compared", "a result that differs not seen", "and same(result, neighbour_result)", "", ("test_auditing_recorder.py::test_what_is_kept_beside_the_releases_is_found",), quick=True),
    Mutant("dpml.auditing.recorder._compared", "an exception not seen",
           'return [*replay.compared, Release(None, "no exception", "an exception", EVERYTHING)], [*runs, ()]',
           "return replay.compared, runs", ("test_auditing_recorder.py::test_what_tells_two_data_sets_apart_for_certain_has_no_finite_cost",)),
    Mutant("dpml.auditing.recorder._Replay._diverge", "a divergence that costs nothing", "neighbour, EVERYTHING", "neighbour, NOTHING", ("test_auditing_recorder.py::test_what_tells_two_data_sets_apart_for_certain_has_no_finite_cost",)),
    Mutant("dpml.auditing.recorder._by_run", "the factor of random stopping left out", "pure=factor * max", "pure=max", ("test_auditing_recorder.py::test_random_stopping_costs_a_factor_of_its_dearest_run",)),
    Mutant("dpml.auditing.recorder._by_run", "the first release only", "total += release.loss", "total = release.loss", ("test_auditing_recorder.py::test_costs_by_hand",)),
    Mutant("dpml.auditing.recorder._epsilon", "NaN costs nothing", "return math.inf  # a", "return 0.0  # a", ("test_auditing_recorder.py::test_what_tells_two_data_sets_apart_for_certain_has_no_finite_cost",)),
    Mutant("dpml.auditing.recorder._epsilon", "δ for nothing", "if delta == 0.0 or math.isinf(loss.pure):", "if math.isinf(loss.pure):", ("test_auditing_recorder.py::test_gaussian_releases_add_up_exactly",)),
    Mutant("dpml.auditing.recorder._Replay.coins", "coins of its own", "return copy.deepcopy(before)", "return drawn", ("test_auditing_recorder.py::test_random_stopping_costs_a_factor_of_its_dearest_run",)),
    Mutant("dpml.auditing.recorder.recorded_cost", "the last past only", "worst = max(worst, ", "worst = max(0.0, ", (f"{RECORDER}::test_the_dearest_of_several_pasts_counts",)),
    Mutant("dpml.auditing.composition._evenly", "all of δ for each release", "delta / len(profiles)", "delta",
           (f"{RECORDER}::test_releases_with_profiles_share_delta",)),
    Mutant("dpml.auditing.composition.epsilon_without_pure", "noise as if it were three times as much", "1 / math.sqrt(loss.gaussian)",
           "3 / math.sqrt(loss.gaussian)", ("test_auditing_recorder.py::test_gaussian_releases_add_up_exactly",)),
    Mutant("dpml.auditing.sameness._same", "shapes only", 'return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")', "return True", (f"{RECORDER}::test_an_array_that_is_kept_is_compared_by_its_values",)),
    Mutant("dpml.auditing.audit.audit", "passes twice the claim", "worst <= epsilon + TOLERANCE", "worst <= 2 * epsilon + TOLERANCE", ("test_auditing.py::test_randomised_response_costs_what_it_costs",)),
    Mutant("dpml.auditing.audit.audit_outputs", "passes whatever is found", "lower <= epsilon, confidence", "True, confidence", ("test_auditing.py::test_the_sampled_bound_is_wrong_no_oftener_than_stated",)),
    Mutant("dpml.auditing.audit.audit_outputs", "judged by the draws that chose", "(np.asarray(attacker(side[half:]), float)", "(np.asarray(attacker(side[:half]), float)", ("test_auditing.py::test_half_the_noise_is_caught",)),
    Mutant("dpml.auditing.attacker.lower_bounds", "frequencies for their bounds", "high = np.where(misses < n, betaincinv(misses + 1, np.maximum(n - misses, 1), 1 - alpha / 2), 1.0)",
           "high = np.maximum(misses / n, 1e-12)", ("test_auditing.py::test_randomised_response_costs_what_it_costs",)),
    Mutant("dpml.auditing.audit.hockey_stick", "one side only", "float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))",
           "float(np.maximum(p - bound * q, 0).sum())", (f"{AUDIT}::test_the_hockey_stick_is_the_larger_of_both_sides",)),
    Mutant("dpml.auditing.audit.exact_epsilon", "one side only", "np.abs(p - q)", "p - q", ("test_auditing.py::test_exact_epsilon_by_hand",)),
    Mutant("dpml.auditing.audit.smallest_epsilon", "the other end", "(middle, high) if profile(middle) > delta else (low, middle)",
           "(middle, high) if profile(middle) > 2 * delta else (low, middle)", ("test_auditing.py::test_exact_epsilon_with_delta_inverts_the_hockey_stick",)),
    Mutant("dpml.catalogue._recorded.RecordedLoss.privacy_loss", "half of the cost", "return recorded_cost(", "return 0.5 * recorded_cost(",
           ("test_catalogue.py::test_these_claims_are_tight[laplace-add-remove]",)),
    Mutant("dpml.catalogue._recorded.RecordedProfile.privacy_profile", "every ε is enough", "self.delta if epsilon >= known[0] else 1.0", "self.delta",
           ("test_catalogue.py::test_these_claims_are_tight[gaussian-add-remove]",)),
    Mutant("dpml.catalogue._recorded.Compared._loss", "two mechanisms that differ not seen", "if one == other else door.EVERYTHING", "",
           ("test_catalogue.py::test_two_mechanisms_that_differ_have_no_finite_loss",)),
    Mutant("dpml.catalogue._method.neighbouring_tables", "the same table twice", "table_from_rows(base + after, 4)", "table_from_rows(base + before, 4)",
           ("test_catalogue.py::test_these_claims_are_tight[mask-total_count-add-remove]",)),
]  # fmt: skip
