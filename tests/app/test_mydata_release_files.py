"""The files of a release, its words, and the whole way by keyboard in a browser."""

import base64
import io
import re
import zipfile
from pathlib import Path

import joblib
import pandas as pd
import pytest
from dpml_app.pages.mydata import words
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.files import Save
from dpml_app.pages.mydata.forecast_pane import forecast_html
from dpml_app.pages.mydata.release import MODES
from own_session import csv, release

from dpml.exceptions import InvalidSchema, NotPrivate
from dpml.release.forecast import Forecast, TableWarning

# the width of the widest thing that could be scrolled sideways
SCROLL = """() => Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth)"""
EVIL = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize(
    "message", [None, [], "x", {}, {"name": None}, {"name": ["a"]}, {"name": "../a"}, {"name": "b"}]
)
def test_only_what_is_offered_is_handed_over(message):
    made, sent = Save(), []
    made._send_msg = sent.append
    made.offer({"a.csv": ("A", b"1"), "b.zip": ("B", b"2")})
    made.offer({"a.csv": ("A", b"1")})
    made._handle_msg(message)
    assert sent == []
    made._handle_msg({"name": "a.csv"})
    assert sent == [{"name": "a.csv", "kind": "text/csv", "content": base64.b64encode(b"1").decode()}]
    made.forget()
    made._handle_msg({"name": "a.csv"})
    assert len(sent) == 1


def test_a_problem_of_a_fact_names_it_without_its_value():
    assert words.against(InvalidSchema("categories of 'plan'", ("01", "1"), "different")) == (
        "categories of 'plan' must be different",
        "Go back to the table and correct it.",
    )


def test_warnings_of_a_forecast_are_sentences_without_markup():
    warning = TableWarning("leak", "<b>", "", "column '<b>' predicts 'left' alone (`ignored`).")
    text = forecast_html(Forecast(0.8, 0.7, 0.75, 0.6, 100, (warning,)))
    assert "<b>80.0%</b> (majority-class baseline 60.0%)" in text
    assert "Column &#x27;&lt;b&gt;&#x27; predicts &#x27;left&#x27; alone (<code>ignored</code>)." in text


def test_no_text_of_the_table_is_markup():
    frame = pd.DataFrame({"a": [EVIL, "b"] * 3, EVIL: [1, 2] * 3, "left": ["no", EVIL] * 3})
    preview = pd.DataFrame([{"part": EVIL, "released": EVIL, "epsilon": 1.0, "relation": "add-remove", "noise": EVIL}])
    charges = pd.DataFrame([{"label": EVIL, "epsilon": 1.0}])
    found = [words.against(NotPrivate(EVIL))]
    measures = pd.DataFrame([{"measure": EVIL, "value": 0.5, "low": 0.1, "high": 0.9}])
    texts = [words.facts(Draft(frame, EVIL)), words.plan(preview), words.ledger(charges)]
    for text in [*texts, words.problems(found, known=True), words.evaluation(measures)]:
        assert "<img" not in text
        assert "&lt;img" in text


def test_a_part_that_is_left_out_has_no_file(ready):
    one = ready()
    step = one.page.release
    one.do(lambda: step.shares._move("publishing", 0))
    release(one)
    [made] = step.done
    assert "release-1-table.csv" not in made.files
    assert "release-1-model.joblib" in made.files
    one.do(lambda: step.shares._move("publishing", 100))
    release(one)
    assert "release-2-table.csv" in step.done[1].files
    assert not {"release-2-model.joblib", "release-2-evaluation.json"} & set(step.done[1].files)


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_release_by_keyboard_to_its_downloads(make_app, server, tmp_path):
    """The bar is moved by keys, what is in the way is put right, and the files are saved from a page that says so."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    (tmp_path / "customers.csv").write_bytes(csv())
    app = make_app(server, width=1440, height=900)
    page = app.page
    app.enter("mydata", wait=False)
    page.locator("section.shown input[type=file]").first.set_input_files(tmp_path / "customers.csv")
    facts = page.get_by_label(re.compile("source of the")).and_(page.locator(".proposed"))
    expect(facts).to_have_count(6)
    for name in [fact.get_attribute("aria-label") for fact in facts.all()]:
        page.get_by_label(name, exact=True).select_option("stated")
    expect(page.get_by_text("Every entry is stated.")).to_be_visible()
    page.get_by_role("button", name="Use this table").click()
    page.get_by_role("button", name="Plan a release").click()
    strip = page.locator("#mode")
    expect(strip).to_have_text(MODES["releasing"])
    # a part takes from those that are not locked
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "50%")
    page.get_by_role("checkbox", name="Lock publishing").check()
    expect(app.slider("Publishing")).to_be_disabled()
    app.push("Training")
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "51%")
    expect(app.slider("Evaluation")).to_have_attribute("aria-valuetext", "24%")
    app.push("Training", "End")
    expect(app.slider("Evaluation")).to_have_attribute("aria-valuetext", "0%")
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "75%")
    app.push("Evaluation", "PageUp")
    expect(app.slider("Training")).to_have_attribute("aria-valuetext", "65%")
    expect(app.slider("Publishing")).to_have_attribute("aria-valuetext", "25%")
    parts = page.get_by_role("list", name="Parts of ε = 0.5")
    expect(parts).to_contain_text("Training 0.325")
    plan = page.get_by_role("table", name="Plan")
    expect(plan).to_contain_text("0.325")
    button = page.get_by_role("button", name="Release", exact=True)
    expect(button).to_be_disabled()
    grave = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]]) for v in grave] == []
    page.get_by_role("checkbox", name="This metadata is public").check()
    expect(button).to_be_enabled()
    button.dblclick()
    expect(page.get_by_text("1 release in this session")).to_be_visible()
    for title, name in (("All files (zip)", "release-1.zip"), ("Model (joblib)", "release-1-model.joblib")):
        for _again in range(2):
            with page.expect_download() as kept:
                page.get_by_role("button", name=title, exact=True).click()
            assert kept.value.suggested_filename == name
            content = Path(kept.value.path()).read_bytes()
        if title.startswith("All"):
            assert "release-1/statement.html" in zipfile.ZipFile(io.BytesIO(content)).namelist()
        else:
            assert joblib.load(io.BytesIO(content)).status_ == "release"
    # a phone: nothing is wider than it, and the strip stays
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"() => ({SCROLL})() <= 390")
    expect(strip).to_be_in_viewport()
    # the mode is of this page
    app.turn("noise")
    expect(strip).to_be_hidden()
    app.turn("mydata")
    expect(strip).to_be_visible()
    page.get_by_role("button", name="Back to the table").click()
    expect(strip).to_be_hidden()
