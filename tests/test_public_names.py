"""Every public name stays importable from where it was before the modules moved into rooms.

`NAMES` was written from the tree before the move: each public module, and what its `__all__` held. It only grows.
"""

import importlib
import pickle
import re
import subprocess
import sys

import pytest

from dpml._moved import MOVED

NAMES = """
dpml.auditing: Answers Attack AuditResult Box Event HasPrivacyLoss HasPrivacyProfile HasProbabilities Neighbours
    Outcomes Pairs Release SearchResult Values as_rows attack_outputs attacker_roc attackers audit audit_outputs
    best_event claimed_region exact_epsilon hockey_stick largest_bound lower_bounds outcome_probabilities outcomes
    recorded_cost recorded_releases search simultaneous_confidence
dpml.auditing.alignment: difference_last entries_of_a_record
dpml.auditing.attack: Attack Box attack_outputs
dpml.auditing.audit: AuditResult Event HasPrivacyLoss HasPrivacyProfile HasProbabilities as_rows attacker_roc
    attackers audit audit_outputs best_event exact_epsilon hockey_stick lower_bounds smallest_epsilon
dpml.auditing.limits: claimed_region largest_bound simultaneous_confidence
dpml.auditing.literature: LITERATURE Specimen
dpml.auditing.literature.histograms: HISTOGRAMS NoisyAnswers TruncatedGeometric
dpml.auditing.literature.noisy_max: NOISY_MAXIMA NoisyMax
dpml.auditing.literature.rappor: RAPPORS Rappor
dpml.auditing.literature.sparse_vector: SPARSE_VECTORS SparseVectorVariant
dpml.auditing.outcomes: Outcomes outcome_probabilities outcomes
dpml.auditing.recorder: Release recorded_cost recorded_releases
dpml.auditing.sameness: fingerprint same
dpml.auditing.search: SearchResult search
dpml.auditing.search_events: Encoder classifiers
dpml.auditing.search_neighbours: Answers Neighbours Pairs SharedRecords Values of_case
dpml.budget: Budget charge zcdp_epsilon
dpml.budget.book: Book down exact link nearest up
dpml.budget.budget: Budget charge
dpml.budget.conversion: zcdp_epsilon
dpml.budget.file: FileLedger
dpml.budget.ledger: FORKING Ledger Terms
dpml.catalogue: CATALOGUE Case Method as_table claims method read_neighbours read_table
dpml.catalogue.editable: CLASSES FEATURES MOST_RECORDS RECORD TABLE check_neighbours read_neighbours read_table
dpml.classifiers: BernoulliNB DiffPC45 DiffPID3 LinearClassifier LinearSVC LogisticRegression MixedNB PrivGene PrivLocal
    PrivPfCClassifier PrivatePredictionNB
dpml.classifiers.binned: cell_counts default_n_bins entry_bounds models_from_cells
dpml.classifiers.descent: default_iterations descent_noise gaussian_objective_noise release_approximate_minima
    release_descent
dpml.classifiers.design: Design
dpml.classifiers.functional: SENSITIVITIES TaylorCoefficients functional_lambda functional_sensitivity
    polynomial_minimisers release_coefficients release_integer_coefficients taylor_coefficients
dpml.classifiers.gaussian: CONCENTRATED ClassStatistics KINDS Moments NOISES class_statistics default_trim
    models_from_moments release_moments scaled_statistics shares smooth_noise
dpml.classifiers.grid: GridQuality NoisyGrid PrivPfCClassifier Records candidate_grids cell_probabilities
    children_counts consistent grid_counts places_of quality_range quality_sensitivity release_grid
dpml.classifiers.grid.candidates: Blocks Layer Pool candidate_grids
dpml.classifiers.grid.cells: MOST_CELLS NoisyGrid SHARES STEP consistent fit_grid grid_qualities release_grid
dpml.classifiers.grid.classifier: PrivPfCClassifier cell_probabilities coarser_grids
dpml.classifiers.grid.fitting: Checked charge check_table with_taxonomies
dpml.classifiers.grid.counts: Children MOST_ENTRIES Records children_counts grid_counts places_of
dpml.classifiers.grid.quality: CALIBRATIONS GridQuality MOST_EXCESS quality_excess quality_range quality_sensitivity
dpml.classifiers.leader: LinearClassifier default_linear_method
dpml.classifiers.linear: CALIBRATIONS HuberHinge LOGISTIC LOGISTIC_METHODS LinearSVC LogisticRegression SVC_METHODS
    default_linear_row_bound default_reg_lambda linear_models minimiser objective_noise release_objective
    release_output release_weights squared_norm_bound
dpml.classifiers.local_search: PrivGene PrivLocal Records candidate_range default_decay default_iterations
    neighbourhood_range offspring release_genetic_search release_local_search
dpml.classifiers.mixed: MixedNB
dpml.classifiers.mixture: LIKELIHOODS MixedModels log_cells log_prior
dpml.classifiers.models: LinearModels
dpml.classifiers.naive_bayes: BernoulliNB default_class_share default_row_bound default_shrinkage
    models_from_published models_from_row_bounded
dpml.classifiers.partition: contingency_of_partition release_partitioned
dpml.classifiers.prediction: PrivatePredictionNB default_pseudocount label_scores release_labels score_range
dpml.classifiers.published: class_sums_by_width published_moments resampled_count resampled_count_loss vaidya_cost
    vaidya_moments
dpml.classifiers.tree: CRITERIA DiffPC45 DiffPID3 Node pruned release_tree split_range split_score
dpml.classifiers.tree.growth: CRITERIA Node release_tree split_range split_score
dpml.classifiers.tree.pruning: pessimistic_errors pruned
dpml.counts: Contingency NoisyCounts contingency contingency_of_subsamples perturbed published_scale release_published
    release_row_bounded row_bounded_scales
dpml.datasets: Dataset NAMES TAXONOMIES card data_folder fetch load missing shipped taxonomies
dpml.encoding: BinaryEncoding SHARE_GRID columns_of cut_rows interval_names share_rows unit_scale
dpml.evaluation: BestSelector Comparison MulticlassEvaluation PrivateConfusionMatrix PrivateCrossValidation
    PrivateEvaluation PrivateSearch alpha_fixed_space area_between attack_bound attack_success best_attack_success
    compare_classifiers expected_f1 expected_runs fixed_space labels_from_curve noisy_n private_confusion_matrix
    private_cross_val_score private_roc_auc private_roc_curve published_roc_curve published_roc_is_private
    quantile_thresholds random_stopping recover_label recover_label_from_counts recursive_medians release_evaluation
    release_histogram release_multiclass_evaluation roc_from_histogram roc_from_sums roc_histogram roc_thresholds
    search_costs selection_quality stopping_distribution stopping_epsilon truncated_negative_binomial
dpml.evaluation.attack: AttackResult attack_bound attack_success best_attack_success labels_from_curve recover_label
    recover_label_from_counts
dpml.evaluation.best: BestSelector keep_columns
dpml.evaluation.comparison: Comparison compare_classifiers
dpml.evaluation.cross_validation: PrivateCrossValidation private_cross_val_score
dpml.evaluation.curves: area_between
dpml.evaluation.figures: CalibrationCurve PrivateEvaluation area_under
dpml.evaluation.histogram: check_thresholds noise_scale release_histogram roc_from_histogram roc_histogram
    roc_thresholds
dpml.evaluation.intervals: ROCBand auc_noise auc_sums noise_variance ratio_interval ratio_intervals roc_bands simulate
    stretched
dpml.evaluation.mixed_studies: BinnedNBStudy MomentsNBStudy non_private_mixed_nb
dpml.evaluation.published_roc: published_roc_curve published_roc_is_private roc_from_sums
dpml.evaluation.quality: expected_f1 selection_quality
dpml.evaluation.report: LOG_LOSS_CLIP PrivateEvaluation release_evaluation
dpml.evaluation.roc: private_roc_auc private_roc_curve release_histogram roc_from_histogram roc_histogram
    roc_thresholds
dpml.evaluation.scaling: Cell LAMBDAS SCALINGS SCALING_METHODS least_records next_cell run_cell scale_toy toy_records
dpml.evaluation.several: MulticlassEvaluation PrivateConfusionMatrix private_confusion_matrix
    release_multiclass_evaluation
dpml.evaluation.stability: default_reach margins_of solver_tolerance stability_range stable_score
dpml.evaluation.stopping: expected_runs random_stopping stopping_distribution stopping_epsilon stopping_gamma
    truncated_negative_binomial
dpml.evaluation.studies: AccuracyStudy PublishedNBStudy RowBoundedNBStudy SelectedNBStudy SelectionStudy
    accuracy_of_selected majority_accuracy non_private_nb
dpml.evaluation.thresholds: alpha_fixed_space check_scores fixed_space noisy_n quantile_thresholds recursive_medians
dpml.evaluation.tuning: PrivateSearch choice_range search_costs split_records
dpml.evaluation.tuning_plan: choice_range search_costs split_records
dpml.evaluation.tuning_studies: SCHEMES TuningStudy
dpml.exceptions: BudgetExceeded DataDamaged DataNotFound DpmlError InvalidData InvalidParameter InvalidSchema
    InvalidTaxonomy LedgerDamaged LedgerError LedgerOutdated LedgerUnavailable MissingExtra NoExactScore NoSecureSampler
    NotPrivate RelationMismatch shown
dpml.mechanisms: ClampedLikelihood ExponentialMechanism Gaussian Geometric Hierarchy IdentityRanges Laplace NormGamma
    PermuteAndFlip Privelet ReportNoisyMax SampleAndAggregate SparseVector Staircase above_threshold cauchy_scale
    gaussian_delta gaussian_sigma isotonic smooth_sensitivity
dpml.mechanisms.additive: Laplace
dpml.mechanisms.admissible: ArsinhNormal Cauchy Claim LaplaceLogNormal SmoothGaussian SmoothLaplace SmoothNoise
    StudentT UniformLogNormal cauchy_scale student_scale
dpml.mechanisms.aggregate: SampleAndAggregate
dpml.mechanisms.choice: ClampedLikelihood ExponentialMechanism PermuteAndFlip ReportNoisyMax
dpml.mechanisms.consistency: IntervalTree isotonic
dpml.mechanisms.discrete: Geometric Staircase
dpml.mechanisms.door: Listener Loss alternatives coins l1_distance listen release unreleased
dpml.mechanisms.gaussian: Gaussian NormalNoise gaussian_delta gaussian_sigma
dpml.mechanisms.norm: NormGamma
dpml.mechanisms.ranges: Hierarchy IdentityRanges Privelet
dpml.mechanisms.secure: check_release discrete_gaussian gaussian_scale integer_laplace integer_scale noisy_max
    split_epsilon
dpml.mechanisms.smooth: KINDS SensitivityEnvelope global_sensitivity local_sensitivity sensitivity_envelope
    smooth_sensitivity statistic
dpml.mechanisms.source: LargestScore STEP Source
dpml.mechanisms.threshold: SparseVector above_threshold
dpml.publishing: DiffGen DiffGenStructNF ImportanceWeights PPH PrivBayes PrivBayesStructNF PrivPfC PrivPfCSelNF
    UniformGrid WeightedTable release_answers release_table
dpml.publishing.dependence: SCORES dependence dependence_range information_sensitivity mutual_information
dpml.publishing.diffgen: DiffGen DiffGenStructNF SCORES release_specialisations specialisation_range
dpml.publishing.graphical: AIM MST
dpml.publishing.importance: CALIBRATIONS FEW_RECORDS METHODS ImportanceWeights
dpml.publishing.marginals: AIM_SHARES MST_SHARES Marginal independent release_aim release_mst
dpml.publishing.moments: moment_minimiser
dpml.publishing.penalty: LAMBDAS PRIOR choose_reg_lambda public_reg_lambda
dpml.publishing.perturbed: release_answers release_table
dpml.publishing.pph: DISCERNIBILITY_RANGE PPH discernibility release_projection
dpml.publishing.privbayes: Network PrivBayes PrivBayesStructNF release_network
dpml.publishing.privpfc: PrivPfC PrivPfCSelNF
dpml.publishing.ratio: CALIBRATIONS METHODS BalancedMinimum balanced_minimiser balanced_noise record_change
    release_balanced_objective release_balanced_output release_sums
dpml.publishing.ratio_features: Parts RatioFeatures public_pairs
dpml.publishing.spread: Spread noise_variance
dpml.publishing.uniform: RULES UniformGrid binned number_of_cells release_uniform_grid uniform_bins
dpml.publishing.weighted: Interval WeightedTable limit_bias
dpml.schema: Feature Schema Taxonomy resolve_schema
dpml.schema.taxonomy: EACH HALVINGS Taxonomy grouped halved
dpml.selection: Choice KINDS MaskSelector NoisyClusterSelector NoisyCountSelector NoisyScoreSelector Plan
    PrivateSelector PublicFacts PublishedSelector SparseVectorSelector TopSelector best_single_feature change_range
    choose_features features_touched inclusion_probabilities l1_sensitivity log_normaliser mask_change_range
    mask_log_probability mask_weight one_shot peel plan public_n_rows published_mask_weight sample_joint sample_masks
    scores scores_from_counts scores_from_tables sensitivity
dpml.selection.masks: inclusion_probabilities log_normaliser mask_log_probability sample_masks
dpml.selection.plan: Choice Plan best_single_feature choose_features plan
dpml.selection.published: PublishedSelector cluster_selection cluster_selection_log_probabilities iterative_sampling
    noisy_cut private_threshold_testing threshold_testing_log_probabilities
dpml.selection.ranking: NoisyClusterSelector NoisyCountSelector NoisyScoreSelector
dpml.selection.scores: KINDS change_range features_touched l1_sensitivity mask_change_range mask_weight scores
    scores_from_counts scores_from_tables sensitivity
dpml.selection.selectors: CALIBRATIONS MaskSelector published_mask_weight
dpml.selection.threshold: SparseVectorSelector
dpml.selection.top: TopSelector joint_gaps one_shot peel sample_joint
dpml.sweep: summarise sweep
"""
MODULES = {
    module: names.split() for module, names in re.findall(r"^(dpml[\w.]*): ((?:.+\n(?: +.+\n)*))", NAMES, flags=re.M)
}


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_list_is_read_whole():
    assert len(MODULES) == NAMES.count("dpml")
    assert sum(map(len, MODULES.values())) == len(NAMES.split()) - len(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_importable(module):
    found = importlib.import_module(module)
    assert [name for name in MODULES[module] if not hasattr(found, name)] == []


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_new_module(old):
    module = importlib.import_module(old)
    assert module is importlib.import_module(MOVED[old])
    assert module.__name__ == module.__spec__.name == MOVED[old]
    package, _, name = old.rpartition(".")
    assert getattr(importlib.import_module(package), name) is module


def test_an_old_name_comes_first_in_a_new_process():
    program = "import dpml.evaluation.tuning as old, dpml.tuning.search as new; print(old is new, old.__spec__.name)"
    assert run(program) == "True dpml.tuning.search"


def test_what_was_never_there_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"dpml\.evaluation\.nothing"):
        importlib.import_module("dpml.evaluation.nothing")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("dpml.evaluation").nothing  # noqa: B018  looking it up is the test


def test_objects_pickled_under_an_old_name_load():
    from dpml.tuning.best_selector import BestSelector

    assert pickle.loads(b"cdpml.evaluation.best\nBestSelector\n.") is BestSelector


def test_evaluation_loads_tuning_when_it_is_asked_for_it():
    program = """
import sys, dpml.evaluation
before = "dpml.tuning" in sys.modules
known = {"BestSelector", "release_evaluation"} <= set(dir(dpml.evaluation))
from dpml.evaluation import BestSelector
print(before, known, "dpml.tuning" in sys.modules, BestSelector.__module__)
"""
    assert run(program) == "False True True dpml.tuning.best_selector"
