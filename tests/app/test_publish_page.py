"""The Publish page in a browser: what it opens with, and what its links bring back."""

import pytest

pytestmark = pytest.mark.browser


def test_it_opens_with_what_ships_and_a_data_set_of_words_is_refused_in_words(make_app, server):
    app = make_app(server, width=1440, height=900).enter("publish", "", wait=False)
    app.page.wait_for_selector("section.shown .first canvas")
    app.wait_for_text("publishing costs")
    app.page.goto(app.url + "?page=publish&dataset=newsgroup1")
    said = "newsgroup1 has more than 60 columns, and a published table tells few apart: it shows census"
    app.wait_for_alerts(said)
    assert "classes" not in " ".join(app.alerts)


# test_link.py holds the links of all pages
@pytest.mark.full
def test_link_brings_back_every_control(make_app, server):
    query = (
        "&dataset=toy&relation=replace-one&epsilon=2&seed=7&publish_classifier=logistic&publish_grids=10"
        "&publish_share=0.17&publish_draws=5"
    )
    app = make_app(server, width=1440, height=900).enter("publish", query)
    wanted = dict(part.split("=", 1) for part in query.strip("&").split("&"))
    assert {k: v for k, v in app.query.items() if k in wanted} == wanted
    bad = "&publish_grids=7&publish_share=2&publish_classifier=oracle&publish_draws=5"
    app.enter("publish", f"&dataset=toy{bad}", wait=False)
    for said in ("publish_grids = 7", "publish_share = 2", "oracle"):
        app.wait_for_alerts(f"{said} is not allowed")
    assert app.query["publish_draws"] == "5"
