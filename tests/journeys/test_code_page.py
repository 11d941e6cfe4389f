"""Code and pictures of the app in a browser: by keyboard, as files that other programs read."""

import ast
import io
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
DRAWN = """() => {
  const plot = globalThis.Bokeh?.documents?.[0]?.get_model_by_name("noise-rivals")
  const bars = globalThis.Bokeh?.documents?.[0]?.get_model_by_name("noise-rivals-laplace")
  return bars?.data.mean.length > 0 && Bokeh.index.find_one_by_id(plot.id)?.bbox.width > 0
}"""


def saved(page, act):
    """Return the name and the content of what is downloaded."""
    with page.expect_download() as kept:
        act()
    return kept.value.suggested_filename, Path(kept.value.path()).read_bytes()


def test_code_and_pictures_are_kept_as_files_by_keyboard(app):
    app.enter("noise", "", wait=False)
    page = app.page
    page.wait_for_function(DRAWN)
    page.get_by_role("button", name="Noise size by mechanism: numbers and code", exact=True).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Numbers")
    script = dialog.get_by_label("Script", exact=True)
    dialog.get_by_text("Code", exact=True).focus()
    expect(script).to_be_hidden()
    page.keyboard.press("Enter")
    expect(script).to_contain_text("dpml_app.pages.noise.compute.rival_sizes(")
    name, content = saved(page, dialog.get_by_role("button", name="Download script").click)
    assert name == "dpml-noise-rivals-epsilon-1.py"
    ast.parse(content.decode())
    name, content = saved(page, dialog.get_by_role("button", name="noise-rivals-laplace.csv", exact=True).click)
    assert name == "dpml-noise-rivals-epsilon-1-noise-rivals-laplace.csv"
    kept = pd.read_csv(io.BytesIO(content), dtype=str)
    # every digit
    drawn = app.read("noise-rivals-laplace")
    assert {column: [float(v) for v in kept[column]] for column in ("epsilon", "mean")} == {
        column: drawn[column] for column in ("epsilon", "mean")
    }
    name, content = saved(page, dialog.get_by_role("button", name="noise-rivals.png", exact=True).click)
    assert name == "dpml-noise-rivals-epsilon-1-noise-rivals.png"
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    name, content = saved(page, dialog.get_by_role("button", name="noise-rivals.svg", exact=True).click)
    drawing = ElementTree.fromstring(content)
    assert drawing.tag.endswith("svg")
    # lines and letters, no picture of them: a path for each curve, and the axis in words
    assert sum(part.tag.endswith("path") for part in drawing.iter()) > 4
    assert any(part.tag.endswith("text") and part.text == "mean size (log scale)" for part in drawing.iter())
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
