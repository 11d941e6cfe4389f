"""Mutants of taxonomies, of grids and their release, and of the published table."""

from mutants.lists._tests import audit, opened
from mutants.mutant import Mutant

GRID, TESTS, PUBLISHED = "dpml.classifiers.grid", "test_classifiers_grid.py", "test_publishing_privpfc.py"
TAXONOMY = "test_schema_taxonomy.py"
CHANGES = f"{TESTS}::test_one_record_changes_the_quality_as_stated"
LEMMA = f"{TESTS}::test_lemma_1_over_all_counts"
ROLLED = f"{TESTS}::test_rolled_up_counts_are_the_counts"
CHARGES = f"{PUBLISHED}::test_three_shares_are_charged_or_none"
EVERY_GRID = f"{TESTS}::test_candidates_are_all_grids_that_are_small_enough_each_once"
FOLLOWS = "test_publishing_alike.py::test_what_a_fit_and_its_table_are_follows_from_what_was_released"
FIT = audit("privpfc", "add-remove")
SECURE = audit("privpfc-release", "add-remove")

MUTANTS = [
    Mutant(
        f"{GRID}.cells.release_grid",
        "choice with the ε of all",
        "source.choice(qualities, for_choice, width)",
        "source.choice(qualities, epsilon, width)",
        (FIT,),
        quick=True,
    ),
    Mutant(
        f"{GRID}.cells.release_grid",
        "range halved",
        "quality_range(for_counts",
        "0.5 * quality_range(for_counts",
        (FIT,),
    ),
    Mutant(
        f"{GRID}.cells.release_grid",
        "range of another ε",
        "quality_range(for_counts, relation, calibration)",
        "quality_range(50 * for_counts, relation, calibration)",
        (FIT,),
    ),
    Mutant(
        f"{GRID}.cells.release_grid",
        "relation left out of the choice",
        "quality_range(for_counts, relation, calibration)",
        "quality_range(for_counts, 'add-remove', calibration)",
        (f"{TESTS}::test_a_replaced_record_has_twice_the_noise",),
    ),
    Mutant(
        f"{GRID}.cells.noisy_grid",
        "relation left out of the counts",
        "sensitivity = FACTOR[relation]",
        "sensitivity = 1",
        (audit("privpfc", "replace-one"),),
    ),
    Mutant(
        f"{GRID}.cells.release_grid",
        "number of records with the ε of all",
        "noisy_size(records, for_size, source)",
        "noisy_size(records, epsilon, source)",
        (FIT,),
    ),
    Mutant(
        f"{GRID}.cells.release_grid",
        "limit from the exact number",
        "min(n * for_counts / SIGNAL",
        "min(len(records.codes) * for_counts / SIGNAL",
        (f"{TESTS}::test_the_limit_on_cells_follows_the_noisy_number",),
    ),
    Mutant(
        f"{GRID}.cells.release_grid",
        "limit from the exact number, opened",
        "min(n * for_counts / SIGNAL",
        f"min(len({opened('records.codes')}) * for_counts / SIGNAL",
        (FOLLOWS,),
    ),
    Mutant(
        f"{GRID}.cells.released_grid",
        "the choice without noise",
        "return release_grid(table.records(), model.epsilon,",
        "return release_grid(table.records(), model.epsilon, exact_choice=True,",
        ("test_publishing_alike.py::test_only_what_is_for_study_chooses_without_noise",),
    ),
    Mutant(
        "dpml.mechanisms.source.Source.choice",
        "secure choice with twice its ε",
        "noisy_max(scores, epsilon",
        "noisy_max(scores, 2 * epsilon",
        (SECURE,),
    ),
    Mutant(
        f"{GRID}.cells.noisy_grid",
        "exact counts published",
        "counts = source.counts(grid_counts(records, levels), epsilon, sensitivity)",
        "counts = grid_counts(records, levels)",
        (FIT,),
    ),
    Mutant(
        f"{GRID}.fitting.charge",
        "no charge",
        "budget.spend_all(dict(parts), relation=relation)",
        "pass",
        (CHARGES,),
        quick=True,
    ),
    Mutant(
        f"{GRID}.fitting.check_table",
        "not clipped in a release",
        "model._private_records(schema, X, y)",
        "schema.check_table(X, y, model.on_invalid)",
        (f"{PUBLISHED}::test_a_value_outside_the_taxonomy_is_named_and_clipped_in_a_release",),
    ),
    Mutant(
        f"{GRID}.fitting.check_table",
        "a seed used in a release",
        "check_release(model.random_state)",
        "check_release(None)",
        (f"{PUBLISHED}::test_a_seed_is_refused_in_a_release",),
    ),
    Mutant(
        f"{GRID}.cells.consistent",
        "total left out",
        "np.cumsum(flat) - total",
        "np.cumsum(flat) - 2 * total",
        (f"{TESTS}::test_counts_that_fit_together_are_the_nearest",),
    ),
    Mutant(f"{GRID}.quality.quality_range", "range without its lower end", "1 + 2 * excess", "1 + excess", (CHANGES,)),
    Mutant(f"{GRID}.quality.quality_sensitivity", "no excess", "1 + quality_excess(epsilon)", "1.0", (CHANGES, LEMMA)),
    Mutant(
        f"{GRID}.quality.quality_excess",
        "the wrong whole number",
        "np.arange(3.0)",
        "np.arange(1.0)",
        (CHANGES, LEMMA),
    ),
    Mutant(
        f"{GRID}.quality._g",
        "another law of the noise",
        "(1 + y / 2)",
        "(1 + y)",
        (f"{TESTS}::test_the_quality_of_two_classes_is_the_expected_number_of_records_classified_right",),
    ),
    Mutant(
        f"{GRID}.quality.GridQuality.of_grids",
        "the second class forgotten",
        "second = np.maximum(second, np.minimum(first, more))",
        "second = np.minimum(first, more)",
        (f"{TESTS}::test_the_quality_of_more_classes_takes_the_two_largest",),
    ),
    Mutant(
        f"{GRID}.counts._Family._descend",
        "grids counted from the wrong place",
        "int(self.first[m]) + low",
        "int(self.first[m])",
        (ROLLED,),
    ),
    Mutant(
        f"{GRID}.counts.added_runs",
        "the third of a run left out",
        "range(first + 2, last)",
        "range(first + 3, last)",
        (f"{TESTS}::test_runs_are_added_up_along_any_axis",),
    ),
    Mutant(
        f"{GRID}.counts._Family._counted",
        "classes mixed",
        "found[1:] - found[:1]",
        "found[:1] - found[1:]",
        (ROLLED,),
    ),
    Mutant(
        f"{GRID}.candidates.Pool.blocks", "an attribute twice", "range(last + 1,", "range(max(last, 0),", (EVERY_GRID,)
    ),
    Mutant(f"{GRID}.candidates._n_children", "the limit itself left out", 'side="right"', 'side="left"', (EVERY_GRID,)),
    Mutant(
        f"{GRID}.classifier.cell_probabilities",
        "no back-off",
        "BACK_OFF * np.sqrt(2 * merged)",
        "1e-9 * np.sqrt(2 * merged)",
        (f"{TESTS}::test_noise_moves_a_cell_towards_the_coarser_cell",),
    ),
    Mutant(
        "dpml.publishing._publisher.Publisher._drawn",
        "labels of another class",
        "labels[codes]",
        "labels[codes - 1]",
        (PUBLISHED,),
    ),
    Mutant(
        "dpml.schema.taxonomy.halved",
        "levels that do not refine",
        "not above < set(level)",
        "not above <= set(level)",
        (f"{TAXONOMY}::test_cut_points_that_do_not_refine_are_named",),
    ),
    Mutant(
        "dpml.schema.taxonomy._check_groups",
        "a category left out",
        "(times != 1).any()",
        "(times > 1).any()",
        (f"{TAXONOMY}::test_levels_that_do_not_refine_or_cover_are_named",),
    ),
    Mutant(
        "dpml.schema.taxonomy.Taxonomy.draw",
        "numbers beyond the group",
        "(high - low)",
        "(2 * high - low)",
        (f"{TAXONOMY}::test_drawn_values_lie_in_their_groups_and_all_are_drawn",),
    ),
    Mutant(
        "dpml.budget.budget.Budget.spend_all",
        "the sum not checked",
        "sum(map(exact, epsilons.values()))",
        "max(map(exact, epsilons.values()))",
        (f"{PUBLISHED}::test_three_shares_are_charged_or_none",),
    ),
]
