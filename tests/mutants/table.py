"""Which tests must notice a fault of a module, and which faults change nothing that a test could see."""

from __future__ import annotations

LEFT_OUT = tuple(f"dpml.{name}" for name in "studies sweep datasets catalogue auditing _commands __main__".split())

# E, F: no neighbours cost more than was charged; C: exact audits; D: draws follow the law. The quickest first.
LETTERS = {"E": "wholes_estimators", "F": "wholes_functions", "C": "catalogue", "D": "mechanisms_door", "R": "release"}
# The longest name that a function begins with decides. After a slash: a word that a test has in its name.
TESTS = r"""
budget budget_shares public_door_budget budget_several budget
classifiers._base release
classifiers.automatic classifiers_automatic classifiers_automatic_words classifiers_automatic_dense \
  classifiers_automatic_estimator C/test_exact_audits[auto classifiers_linear_released E/AutoClassifier release
classifiers.grid classifiers_grid publishing_privpfc publishing_alike C/test_exact_audits[privpfc E/PrivPfC
classifiers.linear classifiers_linear_perturbation classifiers_descent classifiers_functional classifiers_linear \
  classifiers_linear_one_hot classifiers_linear_solver D/Minimum D/_Cover D/SampledStep classifiers_linear_released \
  E/LogisticRegression E/LinearSVC release
classifiers.linear.functional classifiers_functional classifiers_linear_released E/LogisticRegression[functional release
classifiers.linear.descent classifiers_descent D/SampledStep classifiers_linear_released E/noisy-descent
classifiers.linear._weights classifiers_linear classifiers_linear_released E/LogisticRegression E/LinearSVC
classifiers.local_search classifiers_local_search classifiers_local_search_estimators E/PrivLocal E/PrivGene release
classifiers.naive_bayes classifiers_naive_bayes classifiers_cells classifiers_mixed classifiers_partition E/BernoulliNB \
  E/MixedNB release
classifiers.naive_bayes.bernoulli classifiers_naive_bayes parquet E/BernoulliNB release
classifiers.naive_bayes.mixed classifiers_mixed E/MixedNB classifiers_cells release
classifiers.naive_bayes.moments classifiers_moments classifiers_mixed budget_shares E/MixedNB C/test_exact_audits[moments
classifiers.naive_bayes.as_published classifiers_moments classifiers_mixed E/MixedNB
classifiers.naive_bayes.cells classifiers_cells classifiers_mixed
classifiers.naive_bayes.partition classifiers_partition E/BernoulliNB[partitioned classifiers_private_fits
classifiers.naive_bayes.private_prediction classifiers_private_prediction C/test_exact_audits[nb-private release
classifiers.tree classifiers_tree publishing_alike C/test_exact_audits[diffp E/DiffP
counts counts encoding classifiers_naive_bayes E/BernoulliNB selection_ranking
encoding encoding public_door_table
estimators release schema_describe tuning_search_estimator wholes_wrappers
evaluation evaluation_release evaluation_intervals evaluation_private evaluation_roc
evaluation.attack evaluation_attack
evaluation.comparison evaluation_comparison F/compare_classifiers
evaluation.cross_validation evaluation_cross_validation wholes_wrappers E/cross-validation
evaluation.histogram evaluation_release evaluation_private evaluation_roc F/private_roc_auc F/release_evaluation
evaluation.multiclass evaluation_release evaluation_private F/multiclass F/private_confusion
evaluation.roc evaluation_roc_curves evaluation_roc evaluation_roc_thresholds D/_ExponentialCut F/thresholds F/medians \
  F/noisy_n
evaluation.roc.as_published evaluation_roc_as_published F/published_roc_curve wholes_wrappers
mechanisms mechanisms_noise mechanisms mechanisms_door F/test_no_neighbours_cost_a_mechanism
mechanisms.aggregate mechanisms_smooth F/SampleAndAggregate mechanisms_noise
mechanisms.choice mechanisms_choice D/Exponential D/Noisy F/Exponential F/NoisyMax F/ClampedLikelihood F/PermuteAndFlip
mechanisms.one_hot mechanisms_one_hot mechanisms_norm D/OneHot
mechanisms.norm mechanisms_norm D/NormGamma mechanisms_noise F/NormGamma
mechanisms.private schema_extremes private_type private_values
mechanisms.ranges mechanisms_ranges F/Privelet F/IdentityRanges F/Hierarchy
mechanisms.secure mechanisms_secure D/test_draws release
mechanisms.smooth D/Cauchy D/StudentT D/Smooth D/LogNormal D/Arsinh mechanisms_smooth mechanisms_tails \
  mechanisms_admissible F/Cauchy F/StudentT
mechanisms.smooth.pure_noise D/Cauchy D/StudentT mechanisms_admissible F/Cauchy F/StudentT
mechanisms.smooth.approximate_noise D/Smooth mechanisms_admissible
mechanisms.smooth.concentrated_noise D/LogNormal D/Arsinh mechanisms_tails mechanisms_admissible
mechanisms.source C/test_exact_audits[diffgen C/test_exact_audits[privpfc C/test_exact_audits[privbayes publishing_alike
mechanisms.sparse_vector D/SparseVector selection_ranking F/SparseVector mechanisms_noise
parquet parquet
publishing publishing_diffgen publishing_privbayes publishing_privpfc publishing_graphical publishing_uniform \
  publishing_alike E/DiffGen E/PPH E/PrivBayes E/UniformGrid
publishing.diffgen publishing_diffgen publishing_alike C/test_exact_audits[diffgen E/DiffGen
publishing.pph publishing_uniform publishing_alike C/test_exact_audits[pph E/PPH
publishing.uniform publishing_uniform publishing_alike C/test_exact_audits[uniform E/UniformGrid
publishing.privbayes publishing_privbayes publishing_alike C/test_exact_audits[privbayes E/PrivBayes
publishing.marginals publishing_graphical publishing_alike C/test_exact_audits[mst C/test_exact_audits[aim
publishing.dependence publishing_privbayes C/test_exact_audits[privbayes
publishing.perturbed publishing_importance_queries C/test_exact_audits[direct C/test_exact_audits[table publishing_importance
publishing.ratio publishing_importance_penalty C/test_exact_audits[importance publishing_importance
publishing.importance publishing_importance_penalty publishing_importance C/test_exact_audits[importance
release release_plan release_released release_errors
schema schema_extremes schema_reading public_door_table encoding release
selection selection_scores selection_selectors selection_masks selection_ranking selection_top release
selection.as_published D/Iterative selection_top selection_ranking selection_selectors C/test_exact_audits[iterative \
  C/test_exact_audits[cluster C/infinite
selection.ranking selection_ranking E/NoisyScore E/NoisyCount release
selection.plan tuning_best_selector E/BestSelector
selection.scores selection_scores selection_selectors E/NoisyScoreSelector E/MaskSelector
selection.threshold selection_ranking E/SparseVector
selection.top D/OneShot D/Peel D/Joint selection_top E/TopSelector F/one_shot F/peel F/joint release
selection.masks D/_MaskDraw selection_masks
tuning tuning_search tuning_search_estimator tuning_stability E/PrivateSearch wholes_wrappers release
tuning.best_selector tuning_best_selector E/BestSelector wholes_wrappers release
"""

_TABLE = {f"dpml.{line.split()[0]}": line.split()[1:] for line in TESTS.replace("\\\n", "").strip().splitlines()}

EQUIVALENT: dict[str, str] = {}


def tests_of(function: str) -> tuple[str, ...]:
    """Return the files of tests for a function, each with a word of the names of tests, or without."""
    prefix = max((name for name in _TABLE if f"{function}.".startswith(f"{name}.")), key=len)
    entries = [entry.partition("/") for entry in _TABLE[prefix]]
    return tuple(f"tests/test_{LETTERS.get(file, file)}.py/{word}" for file, _, word in entries)
