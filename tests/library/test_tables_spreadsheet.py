"""CSV that is written is safe to open in a spreadsheet, and comes back as it was."""

import csv
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpml.tables import read_table, safe_cell, safe_csv

ROOT = Path(__file__).parents[2]
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1"]
FORMULAS += ["＋1", "－1", "＠x"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_becomes_text_wherever_it_stands(formula):
    assert safe_cell(formula) == f"'{formula}"
    [names, row] = csv.reader(io.StringIO(safe_csv(pd.DataFrame({formula: [formula]})), newline=""))
    assert names == row == [f"'{formula}"]


def test_a_number_keeps_its_sign_and_a_missing_value_is_empty():
    frame = pd.DataFrame({"x": [-1.5, np.nan], "n": [-3, 4], "t": ["a", None], "b": [True, False]})
    assert safe_csv(frame) == '"x","n","t","b"\n-1.5,-3,"a","True"\n"",4,"","False"\n'


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5))
def test_no_text_is_left_that_a_spreadsheet_computes(rows):
    written = safe_csv(pd.DataFrame(rows, columns=["a", "b"]))
    for row in csv.reader(io.StringIO(written, newline="")):
        for cell in row:
            assert not cell.strip().startswith(("=", "+", "-", "@"))


def test_what_is_written_can_be_read_again():
    frame = pd.DataFrame({"age": [31, 58], "job": ['a "clerk"', "a, b\nc"]})
    pd.testing.assert_frame_equal(
        read_table(safe_csv(frame).encode()).astype({"job": object}), frame.astype({"job": object})
    )


def test_the_files_of_the_app_s_plots_are_as_safe():
    """The same texts through the function of the app's script; Playwright brings what runs it."""
    driver = pytest.importorskip("playwright._impl._driver", reason="Playwright is not installed")
    script = (ROOT / "app" / "dpml_app" / "core" / "numbers.js").read_text(encoding="utf-8")
    function = "const quoted" + script.split("const quoted", 1)[1].split("\n}\n", 1)[0] + "\n}"
    given = [*FORMULAS, "-1.5", "+2e-3", "a=b", 'say "x"']
    program = f"{function}\nprocess.stdout.write(JSON.stringify({json.dumps(given)}.map(quoted)))"
    ended = subprocess.run([driver.compute_driver_executable()[0], "-e", program], capture_output=True, check=True)
    read = [next(csv.reader(io.StringIO(cell, newline=""))) for cell in json.loads(ended.stdout)]
    assert read == [*([f"'{formula}"] for formula in FORMULAS), ["-1.5"], ["+2e-3"], ["a=b"], ['say "x"']]
