"""A step of a page's slider prepares what is shown, and nothing for cards that are not open."""

from collections import Counter

import pytest

from benchmarks.bench_step import dearest_step


@pytest.mark.parametrize(
    ("page_id", "query", "files", "most"),
    [("explore", "", 12, 250), ("train", "", 20, 450)],
)
def test_a_step_enters_few_files_and_few_times(alone, page_id, query, files, most):
    page = alone.enter(page_id, query, only=("none",))
    # results that come in two parts on a busy machine are shown twice
    counts = min((dearest_step(page) for _ in range(2)), key=Counter.total)
    assert len(counts) <= files, counts
    assert counts.total() <= most, counts
