"""Mutants of importance weights and of their baselines."""

from mutants.lists._tests import audit, opened
from mutants.mutant import Mutant

WEIGHTS, QUERIES = "test_publishing_importance.py", "test_publishing_importance_queries.py"
BRUTE = f"{WEIGHTS}::test_the_public_bounds_hold_for_all_records_and_are_reached"
FOLLOWS = f"{WEIGHTS}::test_what_a_fit_is_follows_from_what_was_released"
CHARGED = f"{WEIGHTS}::test_a_fit_is_charged_once_for_replace_one_before_it_draws"


def far(entry: str) -> tuple[str, ...]:
    return (audit(entry, "replace-one"),)


MUTANTS = [
    Mutant(
        "dpml.publishing.weights.density_ratio.output_noise",
        "noise for half of the change",
        "(record_change(features, calibration) + 2 * tolerance) /",
        "(record_change(features, calibration) / 2 + 2 * tolerance) /",
        far("importance-output"),
        quick=True,
    ),
    Mutant(
        "dpml.publishing.weights.density_ratio.record_change",
        "the norm of a record instead of the distance of two",
        "min(features.squared_change, features.dimension)",
        "min(features.squared_norm, features.dimension)",
        far("importance-objective"),
    ),
    Mutant(
        "dpml.publishing.weights.density_ratio.balanced_noise",
        "nothing paid for the determinant",
        "(epsilon - cost) /",
        "epsilon /",
        far("importance-objective"),
    ),
    Mutant(
        "dpml.publishing.weights.density_ratio.BalancedMinimum._compare",
        "the determinant costs nothing",
        "change / self.noise.scale + math.log1p(squares / (4 * self.reg_lambda))",
        "change / self.noise.scale",
        (f"{WEIGHTS}::test_the_recorder_charges_objective_perturbation_for_one_record_only",),
    ),
    Mutant(
        "dpml.publishing.weights.density_ratio.release_sums",
        "noise for a single count",
        "Laplace(epsilon, float(features.change))",
        "Laplace(epsilon, 1.0)",
        far("importance-moments"),
        quick=True,
    ),
    Mutant(
        "dpml.publishing.weights.density_ratio.release_sums",
        "secure noise that forgets the grid of numbers",
        "integer_scale(epsilon, features.change * grid)",
        "integer_scale(epsilon, features.change)",
        (f"{WEIGHTS}::test_all_that_a_fit_hands_to_the_boundary_costs_epsilon_at_most",),
    ),
    Mutant(
        "dpml.publishing.weights.features.RatioFeatures._bounds",
        "one column that differs for each attribute",
        "min(sum(binary), 2 * most)",
        "most",
        (BRUTE,),
    ),
    Mutant(
        "dpml.publishing.weights.features.RatioFeatures._read",
        "a row bound that is not enforced",
        "ones.any(axis=1) & (kept < self.schema.row_bound)",
        "ones.any(axis=1)",
        (BRUTE, f"{WEIGHTS}::test_a_record_with_too_many_ones_is_named_or_loses_its_last_ones"),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights.fit",
        "no charge",
        "charge(self.budget, self.relation, shares)",
        "None",
        (CHARGED,),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights._check_parameters",
        "a choice of λ that is not paid",
        'return {"ImportanceWeights, choice of λ": part, label: rest}',
        'return {"ImportanceWeights, choice of λ": epsilon, label: epsilon}',
        (CHARGED,),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights._learn",
        "λ from exact sums",
        "choose_reg_lambda(X_public, noisy,",
        "choose_reg_lambda(X_public, features.sums(records) / n,",
        (FOLLOWS,),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights._learn",
        "λ from exact sums, opened",
        "choose_reg_lambda(X_public, noisy,",
        f"choose_reg_lambda(X_public, {opened('features.sums(records)')} / n,",
        (FOLLOWS,),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights._learn",
        "the misspecification from exact sums, opened",
        "interaction_size(X_public, known,",
        f"interaction_size(X_public, {opened('features.sums(records)')} / n,",
        (FOLLOWS,),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights._learn",
        "β without its noise",
        "self.coef_ = release_balanced_output(exact, epsilon, reg_lambda, features, n, **options)",
        f"self.coef_ = {opened('exact')}",
        (FOLLOWS,),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights.fit",
        "records that are not private",
        "X_private = Private(X_private)",
        "pass",
        (f"{WEIGHTS}::test_every_statistic_is_private_until_it_is_drawn",),
    ),
    Mutant(
        "dpml.publishing.weights.importance.ImportanceWeights.fit",
        "a study that clips without a word",
        "RatioFeatures(schema).check_ones(X_private)",
        "None",
        (f"{WEIGHTS}::test_a_record_with_too_many_ones_is_named_or_loses_its_last_ones",),
    ),
    Mutant(
        "dpml.publishing.weights.weighted_table.WeightedTable.gradient",
        "the sum over ordered pairs",
        "return self._weighted_sums(self.shares * b)",
        "return 2 * self._weighted_sums(self.shares * b)",
        (f"{QUERIES}::test_the_gradient_is_half_of_the_sum_over_ordered_pairs",),
    ),
    Mutant(
        "dpml.publishing.weights.baselines.release_answers",
        "the whole of ε for each answer",
        "Laplace(epsilon, float(n_queries))",
        "Laplace(epsilon, 1.0)",
        far("direct-answers"),
    ),
    Mutant(
        "dpml.publishing.weights.baselines.release_table",
        "noise for one cell",
        "Laplace(epsilon, float(features.change))",
        "Laplace(epsilon, 1.0)",
        far("table-with-noise"),
    ),
]
