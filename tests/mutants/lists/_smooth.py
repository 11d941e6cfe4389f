"""Mutants of dpml.mechanisms: smooth sensitivities, and the noises that they scale."""

from mutants.lists._tests import fit, law, records
from mutants.mutant import Mutant

ROOM = "dpml.mechanisms"
SMOOTH, ADMISSIBLE = "test_mechanisms_smooth.py", "test_mechanisms_admissible.py"
NOISE = [
    ("smooth._noise.SmoothNoise._sample", "noise *= scale", "noise *= scale / 3", "Cauchy"),
    ("smooth.pure_noise.Cauchy._draw", "rng.standard_cauchy(shape)", "rng.standard_cauchy(shape) / 3", "Cauchy"),
    ("smooth.pure_noise.ScaledCauchy._sample", "scale * rng", "scale / 3 * rng", "ScaledCauchy"),
    (
        "smooth.pure_noise.StudentT._draw",
        "rng.standard_t(self.degrees, shape)",
        "rng.standard_t(self.degrees, shape) / 3",
        "StudentT",
    ),
    ("smooth.approximate_noise.SmoothLaplace._draw", "rng.laplace(size=shape)", "rng.laplace(0, 1 / 3, shape)",
     "SmoothLaplace"),
    ("smooth.approximate_noise.SmoothGaussian._draw", "rng.standard_normal(shape)", "rng.standard_normal(shape) / 3",
     "SmoothGaussian"),
    ("smooth.concentrated_noise.LaplaceLogNormal._draw", "rng.laplace(size=shape)", "rng.laplace(0, 1 / 3, shape)",
     "LaplaceLogNormal"),
    ("smooth.concentrated_noise.UniformLogNormal._draw", "rng.uniform(-1, 1, shape)", "rng.uniform(-1, 1, shape) / 3",
     "UniformLogNormal"),
    ("smooth.concentrated_noise.ArsinhNormal._draw", "/ self.sigma)", "/ self.sigma / 3)", "ArsinhNormal"),
]  # fmt: skip

MUTANTS = [
    *[Mutant(f"{ROOM}.{function}", "noise to a third", old, new, (law(name),)) for function, old, new, name in NOISE],
    Mutant(f"{ROOM}.smooth.concentrated_noise.UniformLogNormal._draw", "noise on one side only", "rng.uniform(-1, 1",
           "rng.uniform(0, 1", (law("UniformLogNormal"),)),
    Mutant(f"{ROOM}.smooth.pure_noise._exact_scale", "calibration to a third", "math.exp(max(log_scale, -690.0))",
           "math.exp(max(log_scale, -690.0)) / 3", (records("Cauchy(median)"),), quick=True),
    Mutant(f"{ROOM}.smooth.pure_noise._exact_scale", "one end of the steps only", "(0.0, beta)", "(0.0,)", ("test_mechanisms_admissible.py::test_exact_cauchy_costs_epsilon_and_never_more",)),
    Mutant(f"{ROOM}.smooth.pure_noise.cauchy_scale", "the published constant halved", "math.sqrt(2) / epsilon",
           "math.sqrt(2) / 8 / epsilon", ("test_mechanisms_admissible.py::test_published_calibrations_cost_what_is_said",)),
    Mutant(f"{ROOM}.smooth.approximate_noise._exact_scale", "calibration to a third", "return math.exp(found + 1e-9)",
           "return math.exp(found) / 3", ("test_mechanisms_admissible.py::test_delta_is_paid_and_never_more",)),
    Mutant(f"{ROOM}.smooth.approximate_noise._worst", "the change of scale left out", "np.linspace(-beta, beta, points)",
           "np.zeros(points)", ("test_mechanisms_admissible.py::test_delta_is_paid_and_never_more",)),
    Mutant(f"{ROOM}.smooth.concentrated_noise._Concentrated._left", "the change of scale not paid for",
           "epsilon - cls._dilation(beta, sigma, calibration)", "epsilon", ("test_mechanisms_admissible.py::test_renyi_divergences_stay_below_the_claim",)),
    Mutant(f"{ROOM}.smooth.concentrated_noise._Concentrated.scale", "noise to a third", "/ left", "/ left / 3",
           ("test_mechanisms_admissible.py::test_renyi_divergences_stay_below_the_claim",)),
    Mutant(f"{ROOM}.smooth.location._Gaps.smooth", "half of the decay", "decayed_gaps(high[1:], low, beta)",
           "decayed_gaps(high[1:], low, 2 * beta)", ("test_mechanisms_smooth.py::test_replace_one_equals_brute_force",)),
    Mutant(f"{ROOM}.smooth.location._Gaps.smooth", "local sensitivity only", "np.arange(min(limit + 1, self.bottom) + 1)",
           "np.arange(min(1, self.bottom) + 1)", ("test_mechanisms_smooth.py::test_replace_one_equals_brute_force",)),
    Mutant(f"{ROOM}.smooth.location.Median._rank", "the rank of another median", "(self.sample.n + 1) // 2",
           "self.sample.n // 2", ("test_mechanisms_smooth.py::test_replace_one_equals_brute_force",)),
    Mutant(f"{ROOM}.smooth.location.Mean.ceiling", "a bound taken from the data", "return self.sample.width / 2",
           "return max((float(self.sample.values.max()) if self.sample.n else 0.0) / 2, 1e-9)", ("test_mechanisms_smooth.py::test_add_remove_bounds_every_pair",)),
    Mutant(f"{ROOM}.smooth.variance.Variance.ceiling", "sensitivity halved", "return width**2 / 4",
           "return width**2 / 8", ("test_mechanisms_smooth.py::test_add_remove_bounds_every_pair",)),
    Mutant(f"{ROOM}.smooth.sensitivity.smooth_sensitivity", "β doubled", 'check_number(beta, "beta", 0.0, open_lower=True)',
           '2 * check_number(beta, "beta", 0.0, open_lower=True)', ("test_mechanisms_smooth.py::test_replace_one_equals_brute_force",), quick=True),
    Mutant(f"{ROOM}.smooth.sensitivity._function", "relation swapped", "return Median(sample, relation)",
           'return Median(sample, "add-remove" if relation == "replace-one" else "replace-one")', ("test_mechanisms_smooth.py::test_replace_one_equals_brute_force",)),
    Mutant(f"{ROOM}.smooth._order.ordered", "clip skipped", "np.where(np.isnan(x), lower + (upper - lower) / 2, x), lower, upper",
           "np.where(np.isnan(x), lower + (upper - lower) / 2, x), -np.inf, np.inf", ("test_mechanisms_smooth.py::test_clipping_moves_values_into_the_domain",)),
    Mutant(f"{ROOM}.smooth._order.widen", "the search ends early", "ceiling * math.exp(-beta * (limit + 1)) <= best", "True",
           ("test_mechanisms_smooth.py::test_many_distances_agree_with_the_envelope",)),
    Mutant("dpml.classifiers.naive_bayes.moments.scaled_statistics", "smooth sensitivity halved",
           "return np.array(exact), np.array(smooth)", "return np.array(exact), np.array(smooth) / 2",
           (fit("MixedNB[smooth, cauchy]"),), quick=True),
]  # fmt: skip
