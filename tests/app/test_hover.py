"""The pointer's words have the minus sign of all other words."""

import re

import pytest
from bokeh.models import HoverTool
from dpml_app.core.page import CardPage
from dpml_app.drawing.figure import DECIMAL
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from page_alone import pool_here

# what each tool writes of numbers, by its own code
WRITTEN = """([name, key, format]) => {
  const {tools} = Bokeh.documents[0].get_model_by_name(name).toolbar
  const {formatters} = tools.find((tool) => tool.type === "HoverTool")
  const own = formatters.get?.(key) ?? formatters[key]
  return [-1.256, 0, -0.0001, 0.5].map((value) => own.format(value, format, {}))
}"""


@pytest.mark.parametrize("page_id", [name for name, page in PAGES.items() if issubclass(page, CardPage)])
def test_every_number_with_decimals_is_written_with_a_minus_sign(page_id):
    page = PAGES[page_id](Settings(), pool_here())
    plots = [plot for kind in page.kinds for plot in page.make(kind).plots]
    tools = [(plot.name, tool) for plot in plots for tool in plot.select(HoverTool)]
    assert tools
    plain = {
        (name, column)
        for name, tool in tools
        for _, tip in tool.tooltips
        for column in re.findall(DECIMAL, tip)
        if f"@{column}" not in tool.formatters
    }
    # how many times likelier: never below 0
    assert plain <= {("noise-count", "ratio")}


@pytest.mark.browser
def test_the_pointer_s_words_have_a_minus_sign(make_app, server):
    app = make_app(server, width=1440, height=900)
    app.enter("noise", "", wait=False)
    app.page.wait_for_selector("section.shown .rest canvas", state="attached")
    app.wait_for_drawn()
    written = lambda *which: app.page.evaluate(WRITTEN, which)  # noqa: E731
    assert written("noise-count", "@release", "0.00") == ["−1.26", "0.00", "0.00", "0.50"]
    app.enter("audit", "&audit_draws=1000", wait=False)
    app.page.wait_for_selector("section.shown .rest canvas", state="attached")
    app.wait_for_drawn()
    assert written("audit-output", "@share", "0.00%") == ["−125.60%", "0.00%", "−0.01%", "50.00%"]
