"""Each notebook is committed without outputs, runs from top to bottom in its own kernel, and has levers that answer."""

import ast
import importlib
import inspect
import json
import re
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import pytest

from dpml.datasets import NAMES, card

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
SECONDS_PER_CELL = 180
SECONDS_PER_ANSWER = 1.0  # of the processor, from a moved slider to the new data of its plot
LINES_PER_CELL = 20  # what is longer does not fit on a screen beside its figure

# what is run at each commit; the names and arguments of all are looked up there
AT_EACH_COMMIT = ("01_from_data_to_plot",)

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    """Return a notebook's cells with their sources as text; `nbformat` takes seconds to import."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [SimpleNamespace(**{**cell, "source": "".join(cell["source"])}) for cell in cells]


def code_of(path):
    return [cell for cell in read(path) if cell.cell_type == "code"]


def needs_data_files(path):
    code = "\n".join(cell.source for cell in code_of(path)).replace("'", '"')
    return any(card(name)["files"] and f'"{name}"' in code for name in NAMES)


def test_there_are_numbered_notebooks():
    assert NOTEBOOKS, "notebooks/ holds no notebook"
    assert [path.name for path in NOTEBOOKS if not path.name[:2].isdigit()] == []
    assert set(AT_EACH_COMMIT) <= {path.stem for path in NOTEBOOKS}


@each_notebook
def test_notebook_is_stripped(path):
    cells = code_of(path)
    assert cells, "no code"
    assert [number for number, cell in enumerate(cells) if cell.outputs or cell.execution_count is not None] == []
    assert "widgets" not in json.loads(path.read_text(encoding="utf-8"))["metadata"]


@each_notebook
def test_every_code_cell_is_short(path):
    lines = {number: len(cell.source.splitlines()) for number, cell in enumerate(code_of(path))}
    assert {number: count for number, count in lines.items() if count > LINES_PER_CELL} == {}


@each_notebook
def test_pictures_are_views_of_tables(path):
    """A picture made by hand has colours of its own, and may show no spread. Single draws need neither."""
    code = "\n".join(cell.source for cell in code_of(path))
    assert set(re.findall(r"\bhv\.(\w+)", code)) <= {"Layout", "Points", "Slope"}


@each_notebook
def test_notebook_begins_with_a_question(path):
    first = read(path)[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# "), "no title"
    assert "?" in first.source


def imported(tree):
    """Return what is imported, by the names that the code calls it by; a name that is not there raises."""
    things = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = importlib.import_module(alias.name)
                things[alias.asname or alias.name.partition(".")[0]] = module
        elif isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
                things[alias.asname or alias.name] = getattr(module, alias.name)
    return things


def of_dpml(thing):
    """Return whether an object is defined in the library, the app or the benchmarks."""
    return getattr(thing, "__module__", "").startswith(("dpml", "benchmarks."))


def unknown_arguments(tree, things):
    """Return the calls of imported objects of dpml with an argument that they do not take."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in calls:
        thing = things.get(call.func.id)
        if not of_dpml(thing) or any(k.arg is None for k in call.keywords):
            continue
        try:
            inspect.signature(thing).bind_partial(*call.args, **{k.arg: k.value for k in call.keywords})
        except TypeError as error:
            yield call.func.id, str(error)


@each_notebook
def test_what_a_notebook_imports_is_there_and_takes_its_arguments(path):
    tree = ast.parse("\n".join(cell.source for cell in code_of(path)))
    things = imported(tree)
    assert any(map(of_dpml, things.values()))
    assert list(unknown_arguments(tree, things)) == []


@pytest.mark.parametrize(
    ("code", "fault"),
    [("from dpml.schema import Schemas", ImportError), ("import dpml.no_such_room", ImportError)],
)
def test_a_name_that_is_not_there_is_noticed(code, fault):
    with pytest.raises(fault):
        imported(ast.parse(code))


def test_an_argument_that_is_not_taken_is_noticed():
    tree = ast.parse("from dpml.budget import Budget\nBudget(1.0)\nBudget(epsilons=1.0)")
    [(name, _message)] = unknown_arguments(tree, imported(tree))
    assert name == "Budget"


def move_levers(plots):
    """Return a row for each slider: its name, whether it changes its plot's data, and the seconds of each answer.

    The kernel of a notebook calls this function, so its imports are its own.
    """
    import time

    import panel
    from bokeh.models import ColumnDataSource

    def data(root):
        return [
            repr({name: list(column) for name, column in s.data.items()})
            for s in root.select({"type": ColumnDataSource})
        ]

    rows = []
    for plot in plots:
        pane = panel.pane.HoloViews(plot)
        root = pane.get_root()
        for slider in pane.widget_box:
            first, seconds, changed = slider.value, [], False
            for position in [each for each in slider.values if each != first] + [first]:
                before, began = data(root), time.process_time()
                slider.value = position
                seconds.append(time.process_time() - began)
                changed |= data(root) != before
            rows.append({"lever": slider.name, "changed": changed, "seconds": seconds})
    return rows


LEVERS = """
import json
import holoviews
json.dumps(move_levers([each for each in list(Out.values()) if isinstance(each, holoviews.DynamicMap) and each.kdims]))
"""


def check_levers(output):
    """Check that a notebook has a lever, and that each lever changes its plot's data soon."""
    levers = json.loads(ast.literal_eval(output.data["text/plain"]))
    assert levers, "no lever"
    assert [each["lever"] for each in levers if not each["changed"]] == []
    assert max(median(each["seconds"]) for each in levers) < SECONDS_PER_ANSWER, levers


# The kernel's client, not dpml: jupyter_client, zmq and tornado announce their own deprecations and leave an event
# loop's sockets to the garbage collector. What the notebook itself warns about is checked on its stderr.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[pytest.mark.full] * (p.stem not in AT_EACH_COMMIT), id=p.stem) for p in NOTEBOOKS],
)
def test_notebook_runs(path, tmp_path, monkeypatch, request):
    # imported here so that the marks above govern what the imports warn about
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    if needs_data_files(path):
        # the kernel works in notebooks/, where a relative DPML_DATA would point elsewhere
        monkeypatch.setenv("DPML_DATA", str(request.getfixturevalue("data_home")))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no start-up files of this machine
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook.cells.append(nbformat.v4.new_code_cell(f"{inspect.getsource(move_levers)}\n{LEVERS}"))
    client = NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3")
    client.execute(cwd=str(path.parent))
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    stderr = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stderr")
    assert "Warning" not in stderr, stderr
    check_levers(notebook.cells[-1].outputs[-1])
