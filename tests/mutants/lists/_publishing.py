"""Mutants of PrivPfC's competitors: DiffGen, PPH, PrivBayes, uniform grids and private trees."""

from mutants.lists._tests import audit
from mutants.mutant import Mutant

ALIKE, DIFFGEN, UNIFORM = "test_publishing_alike.py", "test_publishing_diffgen.py", "test_publishing_uniform.py"
BAYES, TREE = "test_publishing_privbayes.py", "test_classifiers_tree.py"
BOTH = ("add-remove", "replace-one")
AT_THE_DOOR = f"{ALIKE}::test_all_that_a_fit_hands_to_the_door_costs_epsilon_and_what_follows_costs_nothing"


def audits(entry: str) -> tuple[str, ...]:
    return tuple(audit(entry, relation) for relation in BOTH)


MUTANTS = [
    Mutant(
        "dpml.publishing.dependence.dependence_range",
        "half the range of mutual information",
        "return 2 * information_sensitivity(n_lower)",
        "return information_sensitivity(n_lower)",
        (audit("privbayes-many-attributes", "replace-one"),),
    ),
    Mutant(
        "dpml.classifiers.tree.growth._Grower.grown",
        "numbers of records with half their noise under replace-one",
        "self.epsilon, self.factor)[0]",
        "self.epsilon, 1)[0]",
        (audit("diffp-c45-deep", "replace-one"),),
    ),
    Mutant(
        "dpml.publishing._publisher.Publisher.fit",
        "an exact number in a closure",
        "self._learn(table)",
        "n = len(table.codes); self._learn(table); self._default = lambda: n",
        (audit("privpfc", "add-remove"),),
    ),
    Mutant(
        "dpml.mechanisms.source.Source.choice",
        "a choice with twice its ε",
        "ExponentialMechanism(epsilon,",
        "ExponentialMechanism(2 * epsilon,",
        audits("diffgen"),
        quick=True,
    ),
    Mutant(
        "dpml.mechanisms.source.Source.counts",
        "noise without its sensitivity",
        "Laplace(epsilon, sensitivity)",
        "Laplace(epsilon, 1)",
        audits("privbayes"),
    ),
    Mutant(
        "dpml.mechanisms.source.LargestScore._compare",
        "a choice without noise that costs nothing",
        "door.NOTHING if alike else door.EVERYTHING",
        "door.NOTHING",
        (audit("diffgen-struct-nf", "add-remove"),),
    ),
    Mutant(
        "dpml.classifiers.grid.fitting.check_table",
        "a choice without noise for release",
        "if not private and (model.release or model.budget is not None):",
        "if False:",
        (f"{ALIKE}::test_a_choice_without_noise_is_for_study",),
    ),
    Mutant(
        "dpml.publishing._publisher.Publisher.fit",
        "no charge",
        "charge(self.budget, table.relation, parts)",
        "None",
        (f"{ALIKE}::test_charges_come_before_the_first_draw_or_not_at_all",),
    ),
    Mutant(
        "dpml.publishing.diffgen.specialisation_range",
        "relation left out",
        "float(FACTOR[check_relation(relation)])",
        "1.0",
        (f"{DIFFGEN}::test_one_record_adds_nothing_or_one_to_the_largest_classes", audit("diffgen", "replace-one")),
    ),
    Mutant(
        "dpml.publishing.diffgen.release_specialisations",
        "each step with the whole share",
        "equal_share(for_choice, check_integer(n_steps, \"n_steps\", 1))",
        "for_choice",
        (f"{DIFFGEN}::test_each_step_has_an_equal_part_of_the_first_share",),
    ),
    Mutant(
        "dpml.publishing.diffgen._children",
        "children of the level after the next",
        "if len(inside) > 1:",
        "if len(inside) > 2:",
        (f"{DIFFGEN}::test_without_noise_the_grid_is_the_papers",),
    ),
    Mutant(
        "dpml.publishing.diffgen._candidates",
        "no limit on cells",
        "<= MOST_CELLS",
        "<= 1 << 40",
        (f"{DIFFGEN}::test_a_grid_has_no_more_cells_than_allowed",),
    ),
    Mutant(
        "dpml.publishing.pph.discernibility",
        "not divided by the number of records",
        "/ max(len(codes), 1)",
        "/ 1",
        (f"{UNIFORM}::test_one_record_changes_discernibility_within_its_range", *audits("pph")),
    ),
    Mutant(
        "dpml.publishing.pph.release_projection",
        "relation left out of the choices",
        "FACTOR[table.relation] * DISCERNIBILITY_RANGE",
        "0.3 * DISCERNIBILITY_RANGE",
        audits("pph"),
    ),
    Mutant(
        "dpml.publishing.pph.release_projection",
        "bins from the exact number of records",
        "n = noisy_size(table, for_size, source)",
        "n = float(len(table.codes))",
        (AT_THE_DOOR, *audits("pph")),
    ),
    Mutant(
        "dpml.publishing.uniform.number_of_cells",
        "another exponent",
        "2 * d / (2 + d)",
        "d / (2 + d)",
        (f"{UNIFORM}::test_numbers_of_cells_are_the_papers",),
    ),
    Mutant(
        "dpml.publishing.uniform.release_uniform_grid",
        "cells from the exact number of records",
        "n = noisy_size(table, for_size, source)",
        "n = float(len(table.codes))",
        (audit("uniform-grid", "add-remove", 3.0), f"{UNIFORM}::test_a_uniform_grid_has_the_counts_of_its_cells"),
    ),
    Mutant(
        "dpml.publishing.uniform.uniform_bins",
        "more cells than allowed",
        "<= most",
        "<= 2 * most",
        (f"{UNIFORM}::test_bins_are_as_many_as_fit_and_as_even_as_possible",),
    ),
    Mutant(
        "dpml.publishing.dependence.dependence_range",
        "half of the range",
        "return 4.0 *",
        "return 2.0 *",
        (f"{BAYES}::test_one_record_changes_dependence_by_less_than_two",),
    ),
    Mutant(
        "dpml.publishing.dependence.information_sensitivity",
        "the bound of another number of records",
        "n = max(check_integer(n, \"n\", 1), 2)",
        "n = max(check_integer(n, \"n\", 1), 2) + 2",
        (f"{BAYES}::test_one_record_changes_mutual_information_as_published",),
    ),
    Mutant(
        "dpml.publishing.dependence.mutual_information",
        "fewer records than promised",
        "max(n, n_lower)",
        "n",
        (f"{BAYES}::test_fewer_records_than_promised_change_it_no_more",),
    ),
    Mutant(
        "dpml.publishing.privbayes.release_network",
        "each choice with the whole share",
        "equal_share(for_network, max(d - 1, 1))",
        "for_network",
        (f"{BAYES}::test_marginals_that_are_in_others_are_not_released",),
    ),
    Mutant(
        "dpml.publishing.privbayes._noisy_tables",
        "one marginal paid for all",
        "factor * len(released)",
        "factor",
        audits("privbayes"),
    ),
    Mutant(
        "dpml.publishing.privbayes.parent_sets",
        "sets that could be larger",
        "if k == degree or not rest or",
        "if k <= degree or not rest or",
        (f"{BAYES}::test_parent_sets_are_the_largest_that_fit",),
    ),
    Mutant(
        "dpml.publishing._publisher.drawn_given",
        "values of another row",
        "at - row * table.shape[1]",
        "at - np.roll(row, 20_000) * table.shape[1]",
        (f"{BAYES}::test_values_follow_the_row_of_their_parents",),
    ),
    Mutant(
        "dpml.classifiers.tree.growth.split_range",
        "relation left out",
        "one * FACTOR[check_relation(relation)]",
        "one",
        (f"{TREE}::test_one_record_changes_a_score_one_way_and_within_its_range",),
    ),
    Mutant(
        "dpml.classifiers.tree.growth.release_tree",
        "one release of a level not paid for",
        "2 * (depth + 1)",
        "(depth + 1)",
        (f"{TREE}::test_a_record_pays_for_one_path", *audits("diffp-c45")),
    ),
    Mutant(
        "dpml.classifiers.tree.growth._Grower.grown",
        "exact class counts in a leaf",
        "Node(self.source.counts(exact, self.epsilon, self.factor))",
        "Node(exact.astype(float))",
        audits("diffp-c45"),
    ),
    Mutant(
        "dpml.classifiers.tree.growth._Grower.grown",
        "the exact number of records decides",
        "n = float(self.source.counts(np.array([float(len(members))]), self.epsilon, self.factor)[0])",
        "n = float(len(members))",
        (AT_THE_DOOR,
         f"{TREE}::test_a_record_pays_for_one_path"),
    ),
    Mutant(
        "dpml.classifiers.tree.growth._Grower._chosen",
        "cuts one group away",
        "range(first + 1, last)",
        "range(first, last - 1)",
        (f"{TREE}::test_with_much_epsilon_the_first_split_is_the_best",),
    ),
    Mutant(
        "dpml.classifiers.tree.pruning._pruned",
        "nothing pruned",
        "if errors >= own:",
        "if errors > 2 * own + 1:",
        (f"{TREE}::test_pruning_keeps_what_helps_and_no_more",),
    ),
]  # fmt: skip
