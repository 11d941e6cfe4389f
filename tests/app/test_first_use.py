"""A new user's path by clicks: from a CSV file to an ε, a release, and its model in another process."""

import re
import zipfile

import pytest
from first_use import MOST_ACTIONS, check_elsewhere, with_gaps

from dpml.tables import safe_csv

ANSWER = re.compile(r"^ε = [\d.]+ \([\d.]+ to (more than )?[\d.]+\)$")


class Visitor:
    """Who sees a page for the first time: finds what it names, does one thing with it, and is counted."""

    def __init__(self, page):
        self.page, self.actions = page, 0

    def find(self, role, name):
        return self.page.locator("body").get_by_role(role, name=name, exact=True)

    def see(self, role, name):
        from playwright.sync_api import expect

        expect(self.find(role, name)).to_be_visible()

    def read(self, text):
        """Wait until something says this."""
        from playwright.sync_api import expect

        said = self.page.get_by_text(text).filter(visible=True)
        expect(said).to_be_visible()
        return said

    def click(self, role, name):
        self.actions += 1
        self.find(role, name).click()

    def fill(self, name, text):
        self.actions += 1
        self.find("textbox", name).fill(text)

    def press(self, role, name, key):
        self.actions += 1
        self.find(role, name).press(key)

    def choose_file(self, label, path):
        self.actions += 1
        self.page.get_by_label(label).set_input_files(path)


@pytest.mark.browser
def test_from_a_file_to_a_model_elsewhere_by_clicks(make_app, server, tmp_path):
    """Nobody waits for the server between two fields: what is typed quickly is taken as well."""
    pytest.importorskip("opendp", reason="the extra release is not installed")
    from playwright.sync_api import expect

    page = make_app(server, width=1440, height=900).page
    me = Visitor(page)
    (tmp_path / "customers.csv").write_text(safe_csv(with_gaps()), encoding="utf-8")
    me.actions += 1  # the address
    page.goto(server.url)
    me.see("heading", "Privacy cost")
    me.click("link", "My data")
    me.choose_file(re.compile("Upload a table"), tmp_path / "customers.csv")
    # what everybody knows of a column
    me.see("heading", "Public metadata of this table")
    for field, value in (("Lower bound", "18"), ("Upper bound", "98"), ("Replace missing values by", "40")):
        me.fill(field, value)
    me.click("checkbox", "From a public source: labels, number of records")
    for entries in ("lower bound, upper bound", "categories"):
        me.click("button", "Next column to check")
        me.click("checkbox", f"From a public source: {entries}")
    expect(me.find("button", "Next column to check")).to_be_disabled()
    me.click("button", "Use this table")
    me.read("Pages with a data set list it as")
    me.see("heading", "Advice")
    me.read(re.compile("^Start with ε|^Too few records at each"))
    # the ε for a target
    me.click("button", "Open Privacy cost")
    expect(me.find("combobox", "Data set")).to_have_text("My table")
    me.page.locator("section.shown aside").get_by_text("Advanced", exact=True).click()
    for key in ("PageDown", "PageDown"):
        me.press("slider", "Target accuracy (%)", key)
    expect(me.find("slider", "Target accuracy (%)")).to_have_value("65")
    me.read(ANSWER)
    # a release
    me.click("link", "My data")
    me.click("button", "Plan a release")
    me.see("heading", "Release")
    me.press("slider", "ε of this release", "ArrowLeft")
    me.click("checkbox", "This metadata is public")
    expect(me.find("button", "Release")).to_be_enabled()
    me.click("button", "Release")
    me.read("Done in")
    with page.expect_download() as download:
        me.click("button", "Save all files of release-1 (zip)")
    assert me.actions <= MOST_ACTIONS
    model = zipfile.ZipFile(download.value.path()).extract("release-1/model.joblib", tmp_path)
    check_elsewhere(model, tmp_path)
