"""Every notebook is committed without outputs and runs from top to bottom in a kernel of its own."""

import re
from pathlib import Path

import pytest

from dpml.datasets import NAMES, card

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
SECONDS_PER_CELL = 180
LINES_PER_CELL = 20  # what is longer does not fit on a screen beside its figure

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    # imported here so that the marks below govern what the import warns about
    import nbformat

    return nbformat.read(path, as_version=4)


def needs_data_files(notebook):
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code").replace("'", '"')
    return any(card(name)["files"] and f'"{name}"' in code for name in NAMES)


def test_there_are_numbered_notebooks():
    assert NOTEBOOKS, "notebooks/ holds no notebook"
    assert [path.name for path in NOTEBOOKS if not path.name[:2].isdigit()] == []


@each_notebook
def test_notebook_is_stripped(path):
    notebook = read(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells, "no code"
    assert [number for number, cell in enumerate(cells) if cell.outputs or cell.execution_count is not None] == []
    assert "widgets" not in notebook.metadata


@each_notebook
def test_every_code_cell_is_short(path):
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    lines = {number: len(cell.source.splitlines()) for number, cell in enumerate(cells)}
    assert {number: count for number, count in lines.items() if count > LINES_PER_CELL} == {}


@each_notebook
def test_pictures_are_views_of_tables(path):
    """A picture made by hand has colours of its own, and may show no spread."""
    code = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code")
    assert set(re.findall(r"\bhv\.(\w+)", code)) <= {"extension", "Layout"}


@each_notebook
def test_notebook_begins_with_a_question(path):
    first = read(path).cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# "), "no title"
    assert "?" in first.source


# The kernel's client, not dpml: jupyter_client, zmq and tornado announce their own deprecations and leave an event
# loop's sockets to the garbage collector. What the notebook itself warns about is checked on its stderr.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@each_notebook
def test_notebook_runs(path, tmp_path, monkeypatch, request):
    from nbclient import NotebookClient

    notebook = read(path)
    if needs_data_files(notebook):
        # the kernel works in notebooks/, where a relative DPML_DATA would point elsewhere
        monkeypatch.setenv("DPML_DATA", str(request.getfixturevalue("data_home")))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no start-up files of this machine
    monkeypatch.setenv("MPLBACKEND", "agg")
    client = NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3")
    client.execute(cwd=str(path.parent))
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    stderr = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stderr")
    assert "Warning" not in stderr, stderr
