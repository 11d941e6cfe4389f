"""Mutants of dpml.auditing, the recorder included, and of dpml.catalogue."""

from mutants.lists._tests import fit
from mutants.mutant import Mutant

RECORDER = "test_auditing_recorder.py"
AUDIT = "test_auditing.py"
MUTANTS = [
    Mutant("dpml.auditing.recorder._Replay.release", "a mechanism that changed not seen", "noted.mechanism != mechanism or", "", (RECORDER,), quick=True),
    Mutant("dpml.auditing.recorder._Replay.release", "the neighbour's own noise", "return copy.deepcopy(noted.output)",
           "return mechanism._sample(statistic, rng)", (RECORDER,)),
    Mutant("dpml.auditing.recorder._Replay.release", "a release too many not seen", "position == len(self.first.releases)",
           "False", (RECORDER,)),
    Mutant("dpml.auditing.recorder._compared", "a result that differs not seen", "and same(result, neighbour_result)", "", (RECORDER,), quick=True),
    Mutant("dpml.auditing.recorder._compared", "an exception not seen",
           'return [*replay.compared, Release(None, "no exception", "an exception", EVERYTHING)], [*runs, ()]',
           "return replay.compared, runs", (RECORDER,)),
    Mutant("dpml.auditing.recorder._Replay._diverge", "a divergence that costs nothing", "neighbour, EVERYTHING", "neighbour, NOTHING", (RECORDER,)),
    Mutant("dpml.auditing.recorder._by_run", "the factor of random stopping left out", "pure=factor * max", "pure=max", (RECORDER,)),
    Mutant("dpml.auditing.recorder._by_run", "the first release only", "total += release.loss", "total = release.loss", (RECORDER,)),
    Mutant("dpml.auditing.recorder._epsilon", "NaN costs nothing", "return math.inf  # a", "return 0.0  # a", (RECORDER,)),
    Mutant("dpml.auditing.recorder._epsilon", "δ for nothing", "if delta == 0.0 or math.isinf(loss.pure):", "if math.isinf(loss.pure):", (RECORDER,)),
    Mutant("dpml.auditing.recorder._Replay.coins", "coins of its own", "return copy.deepcopy(before)", "return drawn", (RECORDER,)),
    Mutant("dpml.auditing.recorder.recorded_cost", "the first past only", "worst = max(worst, ", "worst = max(0.0, ", (RECORDER,)),
    Mutant("dpml.auditing.composition.epsilon_without_pure", "all of δ for each release", "delta / len(parts)", "delta", (RECORDER,)),
    Mutant("dpml.auditing.composition.epsilon_without_pure", "noise as if it were three times as much", "1 / math.sqrt(loss.gaussian)",
           "3 / math.sqrt(loss.gaussian)", (RECORDER,)),
    Mutant("dpml.auditing.sameness._same", "shapes only", 'return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")', "return True", (RECORDER,)),
    Mutant("dpml.auditing.audit.audit", "passes twice the claim", "worst <= epsilon + TOLERANCE", "worst <= 2 * epsilon + TOLERANCE", (AUDIT,)),
    Mutant("dpml.auditing.audit.audit_outputs", "passes whatever is found", "lower <= epsilon, confidence", "True, confidence", (AUDIT,)),
    Mutant("dpml.auditing.audit.audit_outputs", "judged by the draws that chose", "(np.asarray(attacker(side[half:]), float)", "(np.asarray(attacker(side[:half]), float)", (AUDIT,)),
    Mutant("dpml.auditing.audit.lower_bounds", "frequencies for their bounds", "high = np.where(misses < n, beta.ppf(1 - alpha / 2, misses + 1, np.maximum(n - misses, 1)), 1.0)",
           "high = np.maximum(misses / n, 1e-12)", (AUDIT,)),
    Mutant("dpml.auditing.audit.hockey_stick", "one side only", "float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))",
           "float(np.maximum(p - bound * q, 0).sum())", (AUDIT,)),
    Mutant("dpml.auditing.audit.exact_epsilon", "one side only", "np.abs(p - q)", "p - q", (AUDIT,)),
    Mutant("dpml.auditing.audit.smallest_epsilon", "the other end", "(middle, high) if profile(middle) > delta else (low, middle)",
           "(middle, high) if profile(middle) > 2 * delta else (low, middle)", (AUDIT, RECORDER)),
    Mutant("dpml.catalogue._recorded.RecordedLoss.privacy_loss", "half of the cost", "return recorded_cost(", "return 0.5 * recorded_cost(",
           ("test_catalogue.py::test_these_claims_are_tight",)),
    Mutant("dpml.catalogue._recorded.RecordedProfile.privacy_profile", "every ε is enough", "self.delta if epsilon >= known[0] else 1.0", "self.delta",
           ("test_catalogue.py::test_these_claims_are_tight", "test_catalogue.py::test_a_change_of_the_library_fails_an_exact_audit")),
    Mutant("dpml.catalogue._recorded.Compared._loss", "two mechanisms that differ not seen", "if one == other else door.EVERYTHING", "",
           ("test_catalogue.py::test_these_claims_are_tight",)),
    Mutant("dpml.catalogue._method.neighbouring_tables", "the same table twice", "table_from_rows(base + after, 4)", "table_from_rows(base + before, 4)",
           ("test_catalogue.py::test_these_claims_are_tight",)),
]  # fmt: skip
