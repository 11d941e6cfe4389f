"""Mutants of the plan of a release, and of what it delivers."""

from mutants.mutant import Mutant

PLAN, RELEASED, CELLS = "test_release_plan.py", "test_release_released.py", "test_release_cells.py"
REFUSED = f"{PLAN}::test_a_release_is_refused_by_name_before_the_data_are_touched"

MUTANTS = [
    Mutant(
        "dpml.release.plan.Plan._share_problems",
        "overspent shares pass",
        "total > 1.0 + ROUNDING",
        "total > 2.0",
        (f"{REFUSED}[overspent]",),
        quick=True,
    ),
    Mutant(
        "dpml.release.plan.Plan.problems",
        "facts of the data pass",
        "if secure and marked:",
        "if False:",
        (f"{REFUSED}[bounds of the data]",),
    ),
    Mutant(
        "dpml.release.plan._charge",
        "a budget that is not charged",
        "for row in planned:",
        "for row in planned[:1]:",
        (f"{PLAN}::test_a_budget_is_charged_every_row_once",),
    ),
    Mutant(
        "dpml.release.methods.method_problems",
        "a method outside the catalogue released",
        "if secure and unknown:",
        "if False:",
        (f"{REFUSED}[charges nothing]",),
    ),
    Mutant(
        "dpml.release.records.Records.split",
        "held-out records train, too",
        "self.kept(~held_out)",
        "self",
        (f"{RELEASED}::test_a_record_trains_or_evaluates",),
    ),
    Mutant(
        "dpml.release.steps._bare",
        "the purse goes along",
        'for name in ("budget", "random_state")',
        'for name in ("random_state",)',
        (f"{RELEASED}::test_the_model_holds_no_purse_and_no_generator",),
    ),
    Mutant(
        "dpml.release.steps._predictions",
        "a tie counts as the second class",
        "np.minimum(scores, -1e-300)",
        "scores",
        (f"{RELEASED}::test_a_tie_counts_as_what_the_model_predicts",),
    ),
    Mutant(
        "dpml.release.cells.spelled",
        "the type of a column decides",
        "not _has_numbers(stated)",
        "True",
        (f"{CELLS}::test_one_odd_record_in_a_file_costs_no_more_than_the_plan",),
    ),
    Mutant(
        "dpml.release.files.write",
        "half a release stays",
        "shutil.rmtree(draft, ignore_errors=True)",
        "pass",
        (f"{RELEASED}::test_a_fault_in_the_middle_leaves_nothing",),
    ),
    Mutant(
        "dpml.release.statement._table",
        "a cell as markup",
        "escape(str(cell))",
        "str(cell)",
        (f"{RELEASED}::test_every_text_in_the_statement_is_escaped",),
    ),
    Mutant(
        "dpml.release.statement.percent_up",
        "a chance rounded down",
        "math.ceil",
        "math.floor",
        (f"{RELEASED}::test_the_statement_rounds_chances_up",),
    ),
    Mutant(
        "dpml.schema.written.to_yaml",
        "marks lost in YAML",
        "for name in NAMES if getattr(schema, name)",
        "for name in NAMES[:1] if getattr(schema, name)",
        ("test_schema_written.py::test_marks_of_what_was_read_off_the_data_come_back",),
    ),
]
