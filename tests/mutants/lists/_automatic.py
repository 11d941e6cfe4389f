"""Mutants of the default classifier, of its words and bins, and of a proposed schema."""

from mutants.lists._linear import OPENED, RELEASED
from mutants.lists._tests import audit
from mutants.mutant import Mutant

ROOM, TESTS = "dpml.classifiers.automatic", "test_classifiers_automatic.py"
WHOLE = "test_classifiers_automatic_estimator.py"
NORM, ONE_HOT = "dpml.mechanisms.one_hot", "test_mechanisms_one_hot.py"
LOSSES = "test_classifiers_linear_one_hot.py"
DESCRIBED = "test_schema_describe.py"
RULE = f"{WHOLE}::test_the_rule_counts_records_for_each_weight"
FORMULA = f"{TESTS}::test_shrunken_models_follow_the_formula"
NOISE = f"{TESTS}::test_noise_of_histograms_and_counts_follows_the_sensitivity"
DROPPED = f"{WHOLE}::test_a_dropped_record_shows_in_nothing_public"
CLIPPED = f"{WHOLE}::test_clipping_says_what_it_changes_in_study_and_nothing_in_a_release"
TWIN = f"{TESTS}::test_a_twin_has_the_bins_of_equal_width_and_no_column"
DENSE, FEW = "test_classifiers_automatic_dense.py", "test_classifiers_automatic_words.py"
LOOK = f"{DENSE}::test_the_look_has_its_share_and_its_sensitivity"
LOOKS = f"{FEW}::test_the_looks_and_the_counts_add_up"
ADDED = f"{WHOLE}::test_the_parts_add_up_to_epsilon"
COUNTED = f"{WHOLE}::test_a_missing_number_of_records_is_counted_privately"


def of_releases(entry: str) -> str:
    """AutoClassifier is a function of its releases."""
    return f"{RELEASED}::test_the_automatic_classifier_is_a_function_of_its_releases[{entry}]"


MUTANTS = [
    Mutant(
        "dpml.classifiers.automatic.classifier._number",
        "a number of records that is not deducted",
        "rest_of(epsilon, epsilon * COUNT_SHARE)",
        "epsilon",
        (audit("auto-number", "add-remove"),),
    ),
    Mutant(
        f"{ROOM}.classifier._is_dense",
        "relation left out",
        "Laplace(epsilon * LOOK_SHARE, FACTOR[relation])",
        "Laplace(epsilon * LOOK_SHARE, 1)",
        (LOOK, audit("auto-dense", "replace-one")),
    ),
    Mutant(
        f"{ROOM}.classifier._is_dense",
        "the look not paid for",
        "rest_of(epsilon, epsilon * LOOK_SHARE)",
        "epsilon",
        (audit("auto-dense", "add-remove"),),
    ),
    Mutant(
        f"{ROOM}.words.release_words",
        "the choice of a model not paid for",
        "epsilon = rest_of(epsilon, for_check)",
        "pass",
        (LOOKS,),
    ),
    Mutant(
        f"{ROOM}.words.release_words",
        "relation left out of the choice",
        "PermuteAndFlip(for_check, factor)",
        "PermuteAndFlip(for_check, 1)",
        (LOOKS,),
    ),
    Mutant(
        f"{ROOM}.words.release_words",
        "the larger class alone left out",
        "candidates = [shrunken, plain, constant_models(noisy, schema.n_features)]",
        "candidates = [shrunken, plain, plain]",
        (LOOKS,),
    ),
    Mutant(
        f"{ROOM}.tables.release_table",
        "grid with all that the bins leave",
        "release_grid(records, for_grid,",
        "release_grid(records, left,",
        (audit("auto-counts", "add-remove"),),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.tables.release_table",
        "bins not paid for",
        "left = rest_of(epsilon, for_bins)",
        "left = epsilon",
        (ADDED,),
    ),
    Mutant(
        f"{ROOM}.tables._added",
        "relation left out of the weights",
        'noise["relation"], "rng"',
        '"add-remove", "rng"',
        (audit("auto-weights", "replace-one"),),
    ),
    Mutant(
        f"{ROOM}.tables.cells_of",
        "cells of another level",
        "taxonomy.above(level)[places[a]]",
        "places[a]",
        (f"{TESTS}::test_cells_are_those_of_the_grid",),
    ),
    Mutant(
        f"{ROOM}.additive.release_others",
        "secure noise for one attribute",
        "Laplace(epsilon, factor * len(sizes))",
        "Laplace(epsilon, factor)",
        (NOISE,),
    ),
    Mutant(
        f"{ROOM}.additive.release_others",
        "relation left out",
        "factor = FACTOR[check_relation(relation)]",
        "factor = 1",
        (NOISE, audit("auto-counts", "replace-one")),
    ),
    Mutant(
        f"{ROOM}.additive.started_table",
        "records not in the unit ball",
        "offset, layout, math.sqrt(q))",
        "offset, layout, math.sqrt(q - 2))",
        (f"{TESTS}::test_records_of_the_started_regression_are_in_the_unit_ball",),
    ),
    Mutant(
        f"{ROOM}.additive.release_started",
        "no start",
        "centre[-2] = trust * MOST_MARGIN / length",
        "centre[-2] = 0.0",
        (f"{TESTS}::test_much_noise_leaves_the_answer_of_the_grid",),
    ),
    Mutant(
        f"{ROOM}.additive.others_of",
        "a twin's number counted twice",
        "attribute.columns not in told",
        "a not in grid.attributes",
        (TWIN,),
    ),
    Mutant(
        f"{ROOM}.additive.scores_of_counts",
        "noise not shrunk",
        "SHRINKAGE * scale",
        "0.0 * scale",
        (f"{TESTS}::test_noise_alone_adds_nothing",),
    ),
    Mutant(
        f"{ROOM}.additive.started_lambda",
        "relation left out",
        "FACTOR[relation] * norm.sensitivity",
        "norm.sensitivity",
        (f"{TESTS}::test_the_regulariser_is_a_deviation_of_the_noise",),
    ),
    Mutant(
        f"{ROOM}.tables.release_table",
        "weights paid for with all that the bins leave",
        "grid, for_rest = no_grid(layout, records.n_classes), left",
        "grid, for_rest = no_grid(layout, records.n_classes), epsilon",
        (f"{WHOLE}::test_weights_without_a_grid_get_what_the_bins_leave",),
    ),
    Mutant(
        f"{NORM}.OneHotNorm._sample",
        "two thirds of the noise",
        "rng.gamma(self.dimension + 1, self.scale",
        "rng.gamma(self.dimension + 1, self.scale * 2 / 3",
        (f"{ONE_HOT}::test_the_deviation_is_that_of_the_draws",),
        quick=True,
    ),
    Mutant(
        f"{NORM}.OneHotNorm._sample",
        "gamma of the norm instead of the factor",
        "rng.gamma(self.dimension + 1",
        "rng.gamma(self.dimension",
        (f"{ONE_HOT}::test_the_deviation_is_that_of_the_draws",),
    ),
    Mutant(
        f"{NORM}.OneHotNorm.norm",
        "mean instead of median",
        "np.median(values",
        "np.mean(values",
        (f"{ONE_HOT}::test_the_norm_is_the_gauge_of_the_body",),
    ),
    Mutant(
        f"{NORM}._signs",
        "all other values above the median",
        "d // 2, d - 1 - d // 2",
        "d - 1, 0",
        (f"{ONE_HOT}::test_points_of_one_attribute_are_uniform_in_its_body",),
    ),
    Mutant(
        "dpml.classifiers.linear._losses.ClippedLogistic.weights",
        "curvature of the logistic loss",
        "pull * (1 - pull / 2)",
        "pull * (1 - pull)",
        (f"{LOSSES}::test_the_clipped_logistic_loss_has_the_stated_pull_and_curvature",),
    ),
    Mutant(
        "dpml.classifiers.linear._losses.ClippedLogistic.largest_ratio",
        "determinant left out",
        "max(rate, 0.0) + math.log1p(self.curvature / reg_lambda)",
        "max(rate, 0.0)",
        (f"{LOSSES}::test_the_clipped_logistic_loss_has_the_stated_pull_and_curvature",),
    ),
    Mutant(
        f"{ROOM}.bins.release_histograms",
        "sensitivity of one number",
        "FACTOR[check_relation(relation)] * n_numbers",
        "FACTOR[check_relation(relation)]",
        (NOISE,),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.bins.default_n_cells",
        "relation left out",
        "n_numbers * FACTOR[check_relation(relation)] / epsilon",
        "n_numbers / epsilon",
        (f"{TESTS}::test_a_histogram_is_bought_where_it_is_worth_its_epsilon",),
    ),
    Mutant(
        f"{ROOM}.bins._half",
        "noise taken for records",
        "total < CLEAR * scale",
        "total < 0 * scale",
        (f"{TESTS}::test_a_common_value_gets_a_bin_of_its_own_and_noise_is_cut_in_the_middle",),
    ),
    Mutant(
        f"{ROOM}.layout.Layout._place",
        "a block by its last column",
        "ones.argmax(axis=1)",
        "ones.argmin(axis=1)",
        (f"{TESTS}::test_binary_tables_dense_sparse_and_framed_have_the_same_places",),
    ),
    Mutant(
        f"{ROOM}.plan.default_plan",
        "relation left out",
        "check_epsilon(epsilon) / FACTOR[check_relation(relation)]",
        "check_epsilon(epsilon)",
        (RULE,),
    ),
    Mutant(
        f"{ROOM}.plan.default_plan",
        "weights in a release",
        "if not release and each",
        "if each",
        (RULE,),
    ),
    Mutant(
        f"{ROOM}.words.shrunken_models",
        "a rare class shrunk as the others",
        "(1 - share) ** 2 + (C - 1) * share**2",
        "C",
        (FORMULA,),
    ),
    Mutant(f"{ROOM}.words._pooled", "pooled counts not shrunk", "(1 - kept) * mean", "(1 - kept) * raw", (FORMULA,)),
    Mutant(
        f"{ROOM}.classifier.AutoClassifier.fit",
        "no charge",
        'charge(self.budget, relation, epsilon, label="AutoClassifier")',
        "pass",
        (f"{WHOLE}::test_it_finds_what_two_attributes_say_together",),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.classifier.AutoClassifier.fit",
        "records left after clipping are public",
        "replace(schema, n_rows=count or None, n_lower",
        "replace(schema, n_rows=len(codes) if count else None, n_lower",
        (DROPPED,),
    ),
    Mutant(
        "dpml.estimators.base.PrivateEstimator._check_records",
        "a release says what it clips",
        'if not release and on_invalid == "clip"',
        'if release or on_invalid == "clip"',
        (CLIPPED,),
    ),
    Mutant(
        f"{ROOM}.classifier._number",
        "the exact number of records",
        'float(perturbed(repeated(number_of(codes), 1), mechanism, noise["rng"], noise["secure"])[0])',
        "float(number_of(codes))",
        (COUNTED,),
    ),
    Mutant(
        f"{ROOM}.classifier._number",
        "the exact number of records beside the noisy one",
        "math.floor(noisy - LOWERED * mechanism.scale)",
        f"len({OPENED}(codes))",
        (of_releases("counts, n unknown"),),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.classifier._number",
        "the count not deducted",
        "rest_of(epsilon, epsilon * COUNT_SHARE)",
        "epsilon",
        (COUNTED,),
    ),
    Mutant(
        f"{ROOM}.classifier._is_dense",
        "the exact lead of records with many ones",
        "bool(noisy[0] >= 0)",
        "bool(_lead_of_dense(X)[0] >= 0)",
        (of_releases("many ones"),),
    ),
    Mutant(
        f"{ROOM}.classifier.AutoClassifier.fit",
        "the plan by the exact number of records",
        "default_plan(schema, left, n,",
        f"default_plan(schema, left, len({OPENED}(codes)),",
        (of_releases("counts, n unknown"),),
    ),
    Mutant(
        f"{ROOM}.classifier.AutoClassifier.fit",
        "the exact number of records kept",
        "n_lower=min(int(n), count or int(n))",
        f"n_lower=len({OPENED}(codes))",
        (of_releases("words, looked at"),),
    ),
    Mutant(
        f"{ROOM}.tables.release_bins",
        "cut points of exact histograms",
        "noisy, scale = release_histograms(histograms(layout, X, plan.n_cells), len(layout.numbers), epsilon, **noise)",
        "noisy, scale = histograms(layout, X, plan.n_cells), 1.0",
        (of_releases("grid and weights"),),
    ),
    Mutant(
        f"{ROOM}.tables.release_bins",
        "cut points of exact histograms beside the noisy ones",
        "zip(noisy, layout.numbers, strict=True)",
        f"zip({OPENED}(histograms(layout, X, plan.n_cells)), layout.numbers, strict=True)",
        (of_releases("grid and weights"),),
        quick=True,
    ),
    Mutant(
        f"{ROOM}.tables._added",
        "exact shares of the classes",
        "class_sizes = consistent(grid.counts, grid.total).sum(axis=1)",
        f"class_sizes = np.bincount({OPENED}(records.codes), minlength=records.n_classes).astype(float)",
        (of_releases("counts, n unknown"), of_releases("counts, replace-one")),
    ),
    Mutant(
        f"{ROOM}.additive.release_started",
        "trust by the exact share of a class",
        "centre[-2] = trust * MOST_MARGIN",
        f"centre[-2] = {OPENED}(records.codes).mean() * MOST_MARGIN",
        (of_releases("grid and weights"),),
    ),
    Mutant(
        f"{ROOM}.words.release_words",
        "the model that is right most often, without noise",
        "int(noisy_max(right, for_check, factor))",
        "int(np.argmax(right))",
        (of_releases("words, looked at, released"),),
    ),
    Mutant(
        f"{ROOM}.words.numbers_right",
        "records counted by a product that others change",
        "np.count_nonzero(model.predicted(X)[0] == codes)",
        "round(float(model.accuracy(X, codes)[0] * len(codes)))",
        (f"{FEW}::test_who_is_right_is_counted_record_by_record",),
    ),
    Mutant(
        "dpml.classifiers.linear._minimum.PerturbedMinimum._sample",
        "centre with another sign",
        "b - self.reg_lambda",
        "b + self.reg_lambda",
        (f"{TESTS}::test_a_centre_moves_the_regulariser",),
    ),
    Mutant(
        "dpml.schema.describe._read_off",
        "bounds read and not marked",
        "upper=bounds[1], data_derived=OF_KIND[kind]",
        "upper=bounds[1]",
        (f"{DESCRIBED}::test_what_is_read_off_the_data_is_marked_and_asked_for",),
    ),
    Mutant(
        "dpml.schema.describe.describe",
        "values read unasked",
        "if peek else None)",
        "if True else None)",
        (f"{DESCRIBED}::test_names_and_types_alone_decide_without_a_peek",),
    ),
    Mutant(
        "dpml.estimators.base.PrivateEstimator._enter",
        "facts of the data released",
        "and schema.unconfirmed:",
        "and False:",
        (f"{DESCRIBED}::test_a_release_refuses_facts_that_were_read_off_the_data",),
    ),
    Mutant(
        "dpml.schema.schema.Schema.without_ignored",
        "nothing left out",
        "str(c) not in self.ignored",
        "True",
        (f"{DESCRIBED}::test_columns_left_out_are_named_once_and_are_no_features",),
    ),
]
