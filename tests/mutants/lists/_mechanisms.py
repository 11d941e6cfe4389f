"""Mutants of dpml.mechanisms: additive noise, choices, sparse vector, ranges, the secure sampler, the boundary."""

from mutants.lists._tests import claim, law, records
from mutants.mutant import Mutant

ROOM = "dpml.mechanisms"
THIRD = "noise to a third"
HALF = "sensitivity halved"

NOISE = [
    ("laplace.Laplace._sample", "scale=self.scale", "scale=self.scale / 3", "Laplace"),
    (
        "discrete.Geometric._sample",
        "-math.expm1(-self.epsilon / self.sensitivity)",
        "-math.expm1(-3 * self.epsilon / self.sensitivity)",
        "Geometric",
    ),
    ("discrete.Staircase._sample", "sign * self.sensitivity * size", "sign * self.sensitivity * size / 3", "Staircase"),
    ("gaussian.NormalNoise._sample", "scale=self.scale", "scale=self.scale / 3", "NormalNoise"),
    ("norm.NormGamma._sample", "self.dimension, self.scale, size", "self.dimension, self.scale / 3, size", "NormGamma"),
    (
        "choice.ExponentialMechanism._sample",
        "rng.gumbel(size=statistic.shape)",
        "rng.gumbel(size=statistic.shape) / 3",
        "ExponentialMechanism",
    ),
    (
        "choice.ReportNoisyMax._sample",
        "(noisy + statistic)",
        "(noisy / 3 + statistic)",
        "ReportNoisyMax exponential",
    ),
    ("sparse_vector.SparseVector._sample", "rng.laplace(scale=nu", "rng.laplace(scale=nu / 3", "SparseVector"),
    ("secure._IntegerLaplace._measurement", "scale=self.scale", "scale=self.scale / 3", "_IntegerLaplace"),
    ("secure._DiscreteGaussian._measurement", "scale=self.scale", "scale=self.scale / 3", "_DiscreteGaussian"),
    ("secure._NoisyMax._sample", "scale=self.scale", "scale=self.scale / 3", "_NoisyMax"),
]

MUTANTS = [
    *[
        Mutant(f"{ROOM}.{function}", THIRD, old, new, (law(name),), quick=name in ("Laplace", "_NoisyMax"))
        for function, old, new, name in NOISE
    ],
    Mutant(
        f"{ROOM}.sparse_vector.SparseVector._sample",
        "noise of the threshold to a third",
        "rng.laplace(scale=rho",
        "rng.laplace(scale=rho / 3",
        (law("SparseVector"),),
    ),
    Mutant(
        f"{ROOM}.discrete.Geometric._sample",
        "noise on one side only",
        "statistic + rng.geometric(success, shape) - rng.geometric(success, shape)",
        "statistic + rng.geometric(success, shape)",
        (law("Geometric"),),
    ),
    Mutant(
        f"{ROOM}.laplace.Laplace.scale",
        HALF,
        "self.sensitivity / self",
        "self.sensitivity / 2 / self",
        (claim("Laplace"),),
    ),
    Mutant(
        f"{ROOM}.discrete.Geometric._compare",
        "a comparison that forgets half",
        "* self.epsilon /",
        "* self.epsilon / 2 /",
        (claim("Geometric"),),
    ),
    Mutant(
        f"{ROOM}.norm.NormGamma.scale", "ε tripled", "/ self.epsilon", "/ (3 * self.epsilon)", (claim("NormGamma"),)
    ),
    Mutant(
        f"{ROOM}.norm.NormGamma._norm",
        "the wrong norm",
        "ord=None if self.p == 2 else self.p",
        "ord=None",
        ("test_mechanisms_noise.py::test_norm_mechanism_costs_epsilon",),
    ),
    Mutant(
        f"{ROOM}.gaussian.gaussian_sigma",
        "noise to a third",
        "return sensitivity * math",
        "return sensitivity / 3 * math",
        (claim("Gaussian"),),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.gaussian.gaussian_delta",
        "one of two tails",
        "first = log_ndtr(ratio / 2 - epsilon / ratio)",
        "first = log_ndtr(-epsilon / ratio)",
        ("test_mechanisms_noise.py::test_delta_is_the_hockey_stick_of_two_normals",),
    ),
    Mutant(
        f"{ROOM}.choice.ExponentialMechanism.weight",
        "ε tripled",
        "self.epsilon / self",
        "3 * self.epsilon / self",
        (claim("ExponentialMechanism"),),
    ),
    Mutant(
        f"{ROOM}.choice.ReportNoisyMax.scale",
        "range halved",
        "self.change_range / self",
        "self.change_range / 2 / self",
        (claim("PermuteAndFlip"),),
    ),
    Mutant(
        f"{ROOM}.choice.ClampedLikelihood.mechanism",
        "relation swapped",
        '"add-remove" else 2 * width',
        '"replace-one" else 2 * width',
        (records("ClampedLikelihood"),),
    ),
    Mutant(
        f"{ROOM}.choice.ClampedLikelihood.scores",
        "no clip for NaN",
        "np.where(np.isnan(values), self.lower, values)",
        "values",
        (records("ClampedLikelihood"),),
    ),
    Mutant(
        f"{ROOM}.choice.ClampedLikelihood.scores",
        "one side only clipped",
        "self.lower, self.upper).sum",
        "-np.inf, self.upper).sum",
        (records("ClampedLikelihood"),),
    ),
    Mutant(
        f"{ROOM}.sparse_vector.SparseVector.scales",
        "every query as if monotone",
        "if self.monotone else 2 * self.cutoff",
        "if self.monotone else self.cutoff",
        (claim("SparseVector"),),
    ),
    Mutant(
        f"{ROOM}.sparse_vector.SparseVector.scales",
        "the cut-off not paid for",
        "factor = self.cutoff if",
        "factor = 1 if",
        ("test_selection_ranking.py::test_sparse_vector_pays_for_as_many_answers_as_its_cut_off",),
    ),
    Mutant(
        f"{ROOM}.sparse_vector.SparseVector._sample",
        "answers after the cut-off",
        "before >= self.cutoff",
        "before > self.cutoff",
        (law("SparseVector"),),
    ),
    Mutant(
        f"{ROOM}.aggregate.SampleAndAggregate.scale",
        HALF,
        "(self.blocks * self.epsilon)",
        "(2 * self.blocks * self.epsilon)",
        (records("SampleAndAggregate"),),
    ),
    Mutant(
        f"{ROOM}.aggregate.SampleAndAggregate._block_results",
        "clip skipped",
        "np.clip(results, self.lower, self.upper)",
        "results",
        (records("SampleAndAggregate"),),
    ),
    Mutant(
        f"{ROOM}.ranges.queries.RangeMechanism.sensitivity",
        "relation swapped",
        'self.relation == "add-remove"',
        'self.relation == "replace-one"',
        ("test_mechanisms_ranges.py::test_sensitivity_by_enumeration_of_all_unit_changes",),
    ),
    Mutant(
        f"{ROOM}.ranges.queries.RangeMechanism.release",
        HALF,
        "Laplace(self.epsilon, self.sensitivity)",
        "Laplace(self.epsilon, self.sensitivity / 2)",
        (claim("Privelet"),),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.ranges.queries.Privelet.columns",
        "a level left out",
        "1 + self._levels",
        "self._levels",
        (claim("Privelet"),),
    ),
    Mutant(
        f"{ROOM}.ranges.queries.Hierarchy._moved",
        "one node of a move",
        "[-2:].sum() - 2",
        "[-1:].sum() - 1",
        ("test_mechanisms_ranges.py::test_sensitivity_by_enumeration_of_all_unit_changes",),
    ),
    Mutant(
        f"{ROOM}.ranges.queries.IdentityRanges.columns",
        "largest of the counts",
        "np.ones(self.n, dtype=np.int64)",
        "np.full(self.n, 1, dtype=np.int64) / 3",
        (claim("IdentityRanges"),),
    ),
    Mutant(
        f"{ROOM}.secure.check_release",
        "a seed used in a release",
        "random_state is not None",
        "False",
        ("test_release.py::test_a_seed_is_refused",),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.secure.integer_scale",
        "ε tripled",
        "/ Fraction(epsilon)",
        "/ Fraction(3 * epsilon)",
        ("test_mechanisms_secure.py::test_opendp_never_charges_more_than_epsilon",),
    ),
    Mutant(
        f"{ROOM}.secure.gaussian_scale",
        HALF,
        "open_lower=True)) ** 2 /",
        "open_lower=True)) ** 2 / 4 /",
        ("test_mechanisms_secure.py::test_opendp_never_charges_more_than_rho",),
    ),
    Mutant(
        f"{ROOM}.secure._float_from_above",
        "rounded to the nearest",
        "Fraction(scale) < exact",
        "False",
        ("test_mechanisms_secure.py::test_opendp_never_charges_more_than_epsilon",),
    ),
    Mutant(
        f"{ROOM}.secure.noisy_max",
        "the steps of the grid not counted",
        "Fraction(step)) + 2)",
        "Fraction(step)))",
        ("test_mechanisms_secure.py::test_noisy_max_on_a_grid_uses_the_widened_range",),
    ),
    Mutant(
        f"{ROOM}.secure.noisy_max",
        "range halved",
        "math.ceil(width))",
        "math.ceil(width / 2))",
        ("test_mechanisms_secure.py::test_noisy_max_on_a_grid_uses_the_widened_range",),
    ),
    Mutant(
        f"{ROOM}.boundary.l1_distance",
        "one side only",
        "np.abs(np.where(equal, 0.0, first - second))",
        "np.maximum(np.where(equal, 0.0, first - second), 0.0)",
        ("test_auditing_recorder.py::test_costs_by_hand",),
    ),
    Mutant(
        f"{ROOM}.boundary.Loss.__add__",
        "profiles left out",
        "self.profiles + other.profiles",
        "self.profiles",
        ("test_auditing_recorder.py::test_a_profile_is_the_divergence_of_the_densities",),
    ),
]
