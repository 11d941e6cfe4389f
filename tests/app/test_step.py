"""A step of a page's slider prepares what is shown, and nothing for cards that are not open."""

import pytest

from benchmarks.bench_step import dearest_step


@pytest.mark.parametrize(
    ("page_id", "files", "functions", "entries"),
    [("explore", 12, 60, 200), ("train", 14, 80, 350)],
)
def test_a_step_enters_few_files_and_functions_and_few_times(alone, page_id, files, functions, entries):
    page = alone.enter(page_id, only=("none",))
    # on a busy machine results come in two parts, and cards are greyed meanwhile
    step = min((dearest_step(page) for _ in range(4)), key=lambda step: step.entries.total())
    assert len(step.entries) <= files, step.entries
    assert len(step.functions) <= functions, step.functions
    assert step.entries.total() <= entries, step.entries
