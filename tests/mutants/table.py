"""Which tests must notice a fault of a module; the faults (pattern of names: reason) that change nothing to see."""

from __future__ import annotations

LEFT_OUT = ("dpml.studies", "dpml.sweep", "dpml.datasets", "dpml.catalogue", "dpml._commands", "dpml.__main__")
# E, F: no neighbours cost more than was charged; C: exact audits; D: draws follow the law. The quickest first.
LETTERS = {"E": "wholes_estimators", "F": "wholes_functions", "C": "catalogue", "D": "mechanisms_boundary"}
# The longest name that a function begins with decides. After a slash: a word that a test has in its name.
TESTS = r"""
auditing auditing auditing_attack auditing_search auditing_recorder
budget budget_shares public_input_budget budget_several budget
classifiers._base release
classifiers.automatic classifiers_automatic classifiers_automatic_words classifiers_automatic_dense \
  classifiers_automatic_estimator C/auto classifiers_linear_released E/AutoClassifier release
classifiers.grid classifiers_grid publishing_privpfc publishing_alike C/privpfc E/PrivPfC
classifiers.linear classifiers_linear_perturbation classifiers_descent classifiers_functional classifiers_linear \
  classifiers_linear_one_hot classifiers_linear_solver D/Minimum D/_Cover D/SampledStep classifiers_linear_released \
  E/LogisticRegression E/LinearSVC release
classifiers.linear.descent classifiers_descent D/SampledStep classifiers_linear_released E/noisy-descent
classifiers.local_search classifiers_local_search classifiers_local_search_estimators E/PrivLocal E/PrivGene release
classifiers.naive_bayes classifiers_naive_bayes classifiers_cells classifiers_mixed classifiers_partition \
  E/BernoulliNB E/MixedNB release
classifiers.naive_bayes.bernoulli classifiers_naive_bayes parquet E/BernoulliNB release
classifiers.naive_bayes.mixed classifiers_mixed E/MixedNB classifiers_cells release
classifiers.naive_bayes.moments classifiers_moments classifiers_mixed budget_shares E/MixedNB C/moments
classifiers.naive_bayes.as_published classifiers_moments classifiers_mixed E/MixedNB
classifiers.naive_bayes.partition classifiers_partition E/BernoulliNB[partitioned classifiers_private_fits
classifiers.naive_bayes.private_prediction classifiers_private_prediction C/nb-private release
classifiers.tree classifiers_tree publishing_alike C/diffp E/DiffP
counts counts encoding classifiers_naive_bayes E/BernoulliNB selection_ranking
encoding encoding public_input_table
estimators release schema_describe tuning_search_estimator wholes_wrappers
evaluation evaluation_release evaluation_intervals evaluation_private evaluation_roc
evaluation.attack evaluation_attack
evaluation.comparison evaluation_comparison F/compare_classifiers
evaluation.cross_validation evaluation_cross_validation wholes_wrappers E/cross-validation
evaluation.histogram evaluation_release evaluation_private evaluation_roc F/private_roc_auc F/release_evaluation
evaluation.multiclass evaluation_release evaluation_private F/multiclass F/private_confusion
evaluation.roc evaluation_roc_curves evaluation_roc evaluation_roc_thresholds D/_ExponentialCut F/thresholds \
  F/medians F/noisy_n
evaluation.roc.as_published evaluation_roc_as_published F/published_roc_curve wholes_wrappers
mechanisms mechanisms_noise mechanisms mechanisms_boundary F/test_no_neighbours_cost_a_mechanism
mechanisms.choice mechanisms_choice D/Exponential D/Noisy F/Exponential F/NoisyMax F/ClampedLikelihood F/PermuteAndFlip
mechanisms.one_hot mechanisms_one_hot mechanisms_norm D/OneHot
mechanisms.norm mechanisms_norm D/NormGamma mechanisms_noise F/NormGamma
mechanisms.private schema_extremes private_type private_values
mechanisms.ranges mechanisms_ranges F/Privelet F/IdentityRanges F/Hierarchy
mechanisms.secure mechanisms_secure D/test_draws release
mechanisms.smooth D/Cauchy D/StudentT D/Smooth D/LogNormal D/Arsinh mechanisms_smooth mechanisms_tails \
  mechanisms_admissible F/Cauchy F/StudentT
mechanisms.smooth.approximate_noise D/Smooth mechanisms_admissible
mechanisms.smooth.concentrated_noise D/LogNormal D/Arsinh mechanisms_tails mechanisms_admissible
mechanisms.source C/diffgen C/privpfc C/privbayes publishing_alike
mechanisms.sparse_vector D/SparseVector selection_ranking F/SparseVector mechanisms_noise
parquet parquet
publishing publishing_diffgen publishing_privbayes publishing_privpfc publishing_graphical publishing_uniform \
  publishing_alike E/DiffGen E/PPH E/PrivBayes E/UniformGrid
publishing.tables.diffgen publishing_diffgen publishing_alike C/diffgen E/DiffGen
publishing.tables.pph publishing_uniform publishing_alike C/pph E/PPH
publishing.tables.privbayes publishing_privbayes publishing_alike C/privbayes E/PrivBayes
publishing.graphical.marginals publishing_graphical publishing_alike C/mst C/aim
publishing.weights.baselines publishing_importance_queries C/direct C/table publishing_importance
publishing.weights.density_ratio publishing_importance_penalty C/importance publishing_importance
publishing.weights.importance publishing_importance_penalty publishing_importance C/importance
release release_plan release_released release_errors
schema schema_extremes schema_reading public_input_table encoding release
selection selection_scores selection_selectors selection_masks selection_ranking selection_top release
selection.as_published D/Iterative selection_top selection_ranking selection_selectors C/iterative C/cluster \
  catalogue/infinite
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
    return tuple(
        f"tests/test_{LETTERS.get(file, file)}.py/{'test_exact_audits[' * (file == 'C')}{word}"
        for file, _, word in entries
    )
