"""A name that is longer than its frame is cut where its room ends, and whole again where it has room."""

import pytest

pytestmark = pytest.mark.browser
# the names of rows as they are painted
PAINTED = """(name) => {
  const plot = [...Bokeh.documents[0]._all_models.values()].find((one) => one.type === "Figure" && one.name === name)
  const view = plot && Bokeh.index.find_one_by_id(plot.id)
  const texts = view?.views.find_one(plot.renderers.find(({glyph}) => glyph.type === "Text"))?.glyph.text
  return plot?.inner_width && texts ? [plot.inner_width, [...texts]] : null
}"""
LONG = "Logistic regression, noisy descent (δ = 10⁻⁵)"


def test_a_name_is_cut_on_a_phone_and_whole_again_on_a_wide_page(make_app, server):
    app = make_app(server, width=320, height=9000)
    app.enter("audit", "&audit_draws=1000")

    def names():
        painted = app.page.evaluate(PAINTED, "audit-one-run")
        return [] if painted is None else painted[1]

    app.check_becomes(lambda: [name.startswith("Logistic") and name.endswith("…") for name in names()].count(True), 1)
    assert "Linear classifier" in names()
    app.page.set_viewport_size({"width": 1440, "height": 9000})
    app.check_becomes(lambda: LONG in names(), True)
