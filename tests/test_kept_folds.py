"""A long study that was stopped goes on where it was."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "benchmarks" / "kept_folds.py"


@pytest.fixture
def kept_folds():
    spec = importlib.util.spec_from_file_location("kept_folds", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KeptFolds


def test_a_stopped_run_goes_on_and_a_half_written_piece_is_measured_again(kept_folds, tmp_path):
    path, measured, told = tmp_path / "some" / "kept.jsonl", [], []

    def measure(name, epsilon):
        if name == "c" and not measured[2:]:
            measured.append("stopped")
            raise KeyboardInterrupt
        measured.append((name, epsilon))
        return [[name, epsilon, "row 1"], [name, epsilon, "row 2"]]

    pieces = [("a", None), ("b", 0.1), ("c", 1.0)]
    with pytest.raises(KeyboardInterrupt):
        kept_folds(path).run(pieces, measure, 1, told.append)
    assert [len(rows) for rows in told] == [2, 4], "after each piece it says what is there"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-5], encoding="utf-8")
    rows = kept_folds(path).run(pieces, measure, 1, told.append)
    assert measured == [("a", None), ("b", 0.1), "stopped", ("b", 0.1), ("c", 1.0)]
    assert rows == [[*piece, f"row {k}"] for piece in pieces for k in (1, 2)]
    assert kept_folds(path).run(pieces, measure, 1, told.append) == rows, "nothing is left to measure"
    assert len(measured) == 5
