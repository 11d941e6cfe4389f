"""Pages, cards and the levers of notebooks in JupyterLab: a moved slider is answered, and no cell shows a traceback."""

import json
import os
import secrets
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest
from app_server import ROOT, alive, children, free_port
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

# seconds; a kernel starts and imports all
PATIENCE, TRIES = 180, 6
CELLS = (
    "from dpml_app import views\nviews.extension()\nviews.roc(exact=([0, 1], [0, 1]), claim=1.0)",
    'import dpml_app\ndpml_app.explore(data="toy", draws=10)',
    'dpml_app.card("select.accuracy", data="toy", draws=10)',
    # what VS Code shows
    'import panel as pn\npn.ipywidget(dpml_app.card("rivals", noise_epsilon=0.5))',
)


# which need neither files nor minutes
NOTEBOOKS = ("01_from_data_to_plot", "02_audit", "03_noise")
LEVER = "views.interactive("


def notebook(codes):
    cells = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
        for i, code in enumerate(codes)
    ]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def until_its_lever(name):
    """Return the code of a notebook, without the cells after its first lever."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return codes[: next(i for i, code in enumerate(codes) if LEVER in code) + 1]


@pytest.fixture
def lab(tmp_path):
    """Return a function from a notebook's name to its address, in a JupyterLab without settings of this machine."""
    for name, codes in {"cells": CELLS, **{name: until_its_lever(name) for name in NOTEBOOKS}}.items():
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook(codes)))
    port, token = free_port(), secrets.token_hex(16)
    mine = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    places = {name: str(tmp_path / name.lower()) for name in mine}
    path = os.pathsep.join([str(ROOT), str(ROOT / "app"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={tmp_path}", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    environment = {**os.environ, **places, "PYTHONPATH": path}
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + PATIENCE
        while not answers(f"{address}/api?token={token}"):
            assert process.poll() is None, (tmp_path / "lab.log").read_text()
            assert time.monotonic() < deadline, "JupyterLab did not start"
            time.sleep(0.2)
        yield lambda name: f"{address}/lab/workspaces/{name}/tree/{name}.ipynb?token={token}"
    finally:
        family = [process.pid, *children(process.pid)]
        process.terminate()
        process.wait(20)
        deadline = time.monotonic() + 20
        while any(alive(pid) for pid in family) and time.monotonic() < deadline:
            time.sleep(0.1)
    assert not any(alive(pid) for pid in family), "a kernel or a worker did not end"


def answers(address):
    try:
        with urlopen(address, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def opened(browser, address):
    """Open a notebook and run its cells; return its page, requests to other hosts, and messages with a traceback."""
    page, elsewhere, failures = browser.new_page(), [], []
    page.set_viewport_size({"width": 1500, "height": 1400})
    host = address.partition("/lab")[0].partition("//")[2]
    page.on(
        "request", lambda r: elsewhere.append(r.url) if r.url.startswith("http") and f"//{host}" not in r.url else None
    )
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: with_traceback(frame, failures)))
    page.goto(address)
    expect(page.get_by_text("| Idle")).to_be_visible()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    return page, elsewhere, failures


def with_traceback(frame, failures):
    text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
    if "Traceback" in text:
        failures.append(text)


def moved(slider, answered):
    """Move a slider by a step, and wait for the answer."""
    for _ in range(TRIES):
        slider.press("ArrowRight")
        deadline = time.monotonic() + PATIENCE / TRIES
        while time.monotonic() < deadline:
            if answered():
                return
            slider.page.wait_for_timeout(200)
        # a move before the page is ready may be lost, as elsewhere with Panel 1.9
        slider.press("ArrowLeft")
    raise AssertionError("a moved slider was not answered")


def slider_of(output, setting):
    return output.locator(f".setting-{setting}").get_by_role("slider").first


# test_notebook_cells.py checks the answers of cells
@pytest.mark.full
def test_cells_show_pages_that_answer(lab, browser):
    page, elsewhere, failures = opened(browser, lab("cells"))
    outputs = page.locator(".jp-OutputArea-child").filter(has=page.get_by_role("slider"))
    expect(outputs).to_have_count(3, timeout=PATIENCE * 1000)
    expect(page.locator(".jp-OutputArea-child canvas").first).to_be_visible()
    whole = outputs.nth(0)
    expect(whole.locator("canvas").first).to_be_visible()
    expect(whole.get_by_role("heading", name="Privacy cost at ε = 0.1", exact=True)).to_be_visible()
    answer = whole.get_by_role("heading", name="Privacy cost at ε = 0.125", exact=True)
    moved(slider_of(whole, "epsilon"), answer.is_visible)
    # fades the curve of the setting before, which the browser sends back
    moved(slider_of(whole, "n_features"), whole.get_by_text("Computing").first.is_visible)
    card = outputs.nth(1)
    card.scroll_into_view_if_needed()
    expect(card.locator("canvas").first).to_be_visible()
    widget = outputs.nth(2)
    widget.scroll_into_view_if_needed()
    expect(widget.get_by_text("At ε = 0.5")).to_be_attached()
    moved(slider_of(widget, "noise_epsilon"), widget.get_by_text("At ε = 0.63").count)
    page.close()
    assert elsewhere == [], elsewhere
    assert failures == []


@pytest.mark.full
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_lever_of_a_notebook_moves_its_plot(lab, browser, name):
    page, elsewhere, failures = opened(browser, lab(name))
    output = page.locator(".jp-OutputArea-child").filter(has=page.get_by_role("slider"))
    plot, slider = output.locator("canvas").first, output.get_by_role("slider").first
    expect(plot).to_be_visible(timeout=PATIENCE * 1000)
    slider.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    before = plot.screenshot()
    moved(slider, lambda: plot.screenshot() != before)
    page.close()
    assert elsewhere == [], elsewhere
    assert failures == []
