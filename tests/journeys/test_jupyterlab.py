"""A page and cards in JupyterLab, driven by keyboard: what the kernel computes arrives, a moved slider is answered."""

import json
import os
import secrets
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest
from app_server import ROOT, alive, children, free_port
from playwright.sync_api import TimeoutError as TooLate
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

# seconds; a kernel starts and imports all
PATIENCE, TRIES = 180, 6
CELLS = (
    "import pandas as pd\nfrom dpml_app import views\nviews.extension()\n"
    "views.points(pd.DataFrame({'first': [1, 2], 'second': [2, 1]}), 'first', 'second')",
    'import dpml_app\ndpml_app.explore(data="toy", draws=10)',
    'dpml_app.card("select.accuracy", data="toy", draws=10)',
    # what VS Code shows
    'import panel as pn\npn.ipywidget(dpml_app.card("accuracy", data="toy", draws=10, epsilon=0.5))',
)


def notebook():
    cells = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
        for i, code in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def lab(tmp_path):
    """Return the address of a JupyterLab with one notebook and nothing of this machine's settings."""
    (tmp_path / "cells.ipynb").write_text(json.dumps(notebook()))
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
        yield f"{address}/lab/tree/cells.ipynb?token={token}"
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


def moved(output, answer):
    """Move ε of a cell's output by a step, and wait for the answer."""
    slider, told = output.get_by_role("slider", name="ε").first, output.get_by_text(answer)
    for _ in range(TRIES):
        slider.press("ArrowRight")
        try:
            told.wait_for(timeout=PATIENCE / TRIES * 1000)
        except TooLate:
            # what is moved before the page is ready may be lost, as elsewhere with Panel 1.9
            slider.press("ArrowLeft")
        else:
            break
    expect(told).to_be_visible()


# test_notebook_cells.py holds what a cell answers
@pytest.mark.full
def test_cells_show_pages_that_answer(lab, browser):
    page, elsewhere = browser.new_page(), []
    page.set_viewport_size({"width": 1500, "height": 1400})
    here = lab.partition("/lab")[0].partition("//")[2]
    page.on(
        "request", lambda r: elsewhere.append(r.url) if r.url.startswith("http") and f"//{here}" not in r.url else None
    )
    page.goto(lab)
    expect(page.get_by_text("| Idle")).to_be_visible()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    outputs = page.locator(".jp-OutputArea-child").filter(has=page.get_by_role("slider"))
    expect(outputs).to_have_count(3)
    expect(page.locator(".jp-OutputArea-child canvas").first).to_be_visible()
    whole = outputs.nth(0)
    expect(whole.locator("canvas").first).to_be_visible()
    expect(whole.get_by_text("Privacy cost at ε = 0.1")).to_be_visible()
    moved(whole, "Privacy cost at ε = 0.125")
    card = outputs.nth(1)
    card.scroll_into_view_if_needed()
    expect(card.locator("canvas").first).to_be_visible()
    widget = outputs.nth(2)
    widget.scroll_into_view_if_needed()
    expect(widget.get_by_text("At ε = 0.5")).to_be_visible()
    moved(widget, "At ε = 0.63")
    page.close()
    assert elsewhere == []
