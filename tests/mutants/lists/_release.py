"""Mutants of the plan of a release, and of what it delivers."""

from mutants.mutant import Mutant

PLAN, RELEASED, CELLS = "test_release_plan.py", "test_release_released.py", "test_release_cells.py"
LINES, ERRORS, DESCRIBED = "test_tables_lines.py", "test_release_errors.py", "test_schema_describe.py"
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
        "dpml.release.records._kept",
        "held-out records train, too",
        "chosen = (drawn < share) == below",
        "chosen = (drawn < share) == below if below else drawn < 2",
        (f"{RELEASED}::test_a_record_trains_or_evaluates",),
    ),
    Mutant(
        "dpml.release.steps._bare",
        "the inner budget goes along",
        'for name in ("budget", "random_state")',
        'for name in ("random_state",)',
        (f"{RELEASED}::test_the_model_holds_no_inner_budget_and_no_generator",),
    ),
    Mutant(
        "dpml.release.steps._predictions",
        "a tie counts as the second class",
        "np.minimum(scores, -1e-300)",
        "scores",
        (f"{RELEASED}::test_a_tie_counts_as_what_the_model_predicts",),
    ),
    Mutant(
        "dpml.release.cells.normalised",
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
    Mutant(
        "dpml.tables.lines._Line.fields",
        "a byte that is no text is read as a mark",
        "raw.decode(self.encoding)",
        'raw.decode(self.encoding, "replace")',
        (f"{LINES}::test_an_odd_line_is_a_record_of_its_own_and_changes_no_other",),
    ),
    Mutant(
        "dpml.tables.lines._Line.cells",
        "a long cell is read",
        "or max(map(len, fields)) > self.limits.field",
        "",
        (f"{LINES}::test_an_odd_line_is_a_record_of_its_own_and_changes_no_other",),
    ),
    Mutant(
        "dpml.tables.lines.read_lines",
        "the number of records depends on a blank line",
        "while part := [line.cells(raw, len(names)) for raw in islice(file, some)]:",
        "while part := [line.cells(raw, len(names)) for raw in islice(file, some) if raw.strip()]:",
        (f"{LINES}::test_any_line_that_is_added_removed_or_changed_leaves_the_others_as_they_are",),
    ),
    Mutant(
        "dpml._commands.release._release",
        "the command reads as for study",
        "encoding=arguments.encoding, release=True",
        "encoding=arguments.encoding",
        (f"{ERRORS}::test_no_record_ends_the_command",),
    ),
    Mutant(
        "dpml.release.records.read_records",
        "a null record of a list keeps its label",
        "labels[none] = None",
        "pass",
        (f"{ERRORS}::test_records_of_a_list_and_their_labels",),
    ),
    Mutant(
        "dpml.schema.schema.Schema.check_table",
        "a null record of a list counts in its class",
        "codes[none] = -1",
        "pass",
        ("test_release.py::test_what_is_no_record_in_a_list_is_a_null_record",),
    ),
    Mutant(
        "dpml.schema.describe.bounds_around",
        "an extreme is proposed",
        "_one_digit(lower - half, ROUND_FLOOR)",
        "float(lower)",
        (f"{DESCRIBED}::test_proposed_bounds_have_one_digit_and_twice_the_range_and_are_no_extremes",),
    ),
    Mutant(
        "dpml.schema.facts.confirm",
        "one fact confirms all of its column",
        "_moved(features[name], facts)",
        "_moved(features[name], features[name].data_derived)",
        (f"{DESCRIBED}::test_each_fact_is_confirmed_by_its_own_name",),
    ),
    Mutant(
        "dpml.encoding.BinaryEncoding.binary_schema",
        "an encoded column loses its mark",
        '"data_derived": bool(f.data_derived)',
        '"data_derived": False',
        (f"{DESCRIBED}::test_a_mark_lasts_through_every_copy_of_a_schema",),
    ),
]
