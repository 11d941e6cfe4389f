"""A report of what was seen: its words, its settings and the link that brings them back; a table of one's own in it."""

import json
import re
from itertools import count

import pytest
from dpml_app import uploaded_table
from dpml_app.code.report import NOT_PRIVATE, STUDY, as_html, plain_text, report_of
from dpml_app.core import link
from dpml_app.pages.select.compute import SelectValues
from dpml_app.shell import Shell
from dpml_app.state import Settings
from page_alone import PageAlone, pool_here


@pytest.fixture
def alone():
    page = PageAlone(pool_here())
    yield page
    page.close()


def test_it_says_what_the_page_says_and_its_link_brings_the_settings_back(alone):
    alone.enter("select", "&dataset=toy&draws=10&epsilon=1&n_features=7&select_methods=joint.exact")
    report = report_of({"select": alone.page}, "select", alone.page.settings)
    (page,) = report["pages"]
    assert (report["warning"], report["mine"]) == (STUDY, False)
    assert report["file"] == "dpml-select-report-toy-epsilon-1"
    assert page["question"] == "Which features does private selection keep?"
    assert page["answer"] == plain_text(alone.page.headline.object)
    assert [card["title"] for card in page["cards"]] == [card.title for card in alone.page.cards.values()]
    plots = {name: tables for card in page["cards"] for name, tables in card["plots"]}
    assert "<caption>select-rows</caption>" in plots["select-chosen"]
    assert all(card["said"] and not re.search("</?[a-z]", card["said"]) for card in page["cards"])
    assert ["Data set", "Toy, generated"] in page["settings"]
    assert ["ε", "1"] in page["settings"]
    again = Settings()
    assert link.read(again, link.parse(page["link"]), ["page", *again.names()]) == []
    assert SelectValues.of(again) == alone.page.values()
    assert again.page == "select"


def test_a_data_set_that_is_the_default_stands_in_the_link(alone):
    alone.enter("select", "&dataset=toy&draws=10", ("f1",))
    alone.page.settings.param["dataset"].default = "toy"
    (page,) = report_of({"select": alone.page}, "select", alone.page.settings)["pages"]
    assert link.parse(page["link"])["dataset"] == "toy"


def test_a_table_of_one_s_own_is_called_so_and_its_figures_are_said_not_to_be_private(alone, table):
    alone.enter("select", "&dataset=toy&draws=10", ("f1",))
    alone.page.settings.hold(table)
    alone.act(dataset=table.name)
    report = report_of({"select": alone.page}, "select", alone.page.settings)
    (page,) = report["pages"]
    assert (report["warning"], report["mine"], page["mine"]) == (NOT_PRIVATE, True, True)
    assert "NOT private" in report["warning"]
    assert report["file"] == "dpml-select-report-my-table-epsilon-0.1"
    assert ["Data set", uploaded_table.TITLE] in page["settings"]
    assert "dataset" not in link.parse(page["link"])
    assert table.name not in json.dumps(report)


def test_the_page_that_is_shown_comes_first_and_what_was_not_visited_is_left_out(alone):
    alone.enter("noise")
    noise = alone.page
    alone.page = None
    alone.enter("select", "&dataset=toy&draws=10", ("f1",))
    report = report_of({"noise": noise, "select": alone.page}, "select", alone.page.settings)
    assert [page["name"] for page in report["pages"]] == ["select", "noise"]


def test_the_browser_is_told_the_code_of_a_card_and_the_report():
    shell = Shell()
    shell.link({"page": "noise"})
    shell.shown.card_slots["rivals"].mount()

    serials = count(1)

    def ask(what, of=""):
        shell.messages.asking = json.dumps({"what": what, "of": of, "serial": next(serials)})
        return json.loads(shell.messages.answered)

    told = ask("noise-rivals-readout")
    assert told["serial"] == 1
    assert told["file"] == "dpml-noise-rivals-epsilon-1"
    assert "RivalsCard().work(settings, facts)" in told["script"]
    assert "script" not in ask("noise-nothing-readout")
    assert ask("<script>", "<b>") == {"tables": "", "csv": {}, "serial": 3}
    assert ask("address", "http://localhost/app")["svg"].startswith("<svg")
    report = ask("report")
    assert report["file"] == "dpml-noise-report-epsilon-1"
    assert '<h2 class="first">Noise</h2>' in report["html"]
    assert 'data-plot="noise-rivals"' in report["html"]
    shell.stop()


def test_what_a_report_says_is_text_and_never_html():
    page = {"title": "<b>", "question": "?", "answer": "", "link": '"<', "settings": [["a", "<i>"]], "cards": []}
    html = as_html({"title": "<script>", "made": "dpml", "warning": STUDY, "mine": False, "pages": [page]})
    assert not any(tag in html for tag in ("<script", "<b>", "<i>", '"<"'))
    assert "default-src 'none'" in html


def test_words_are_taken_out_of_html():
    assert plain_text("<table><tr><td>a</td><td>1 &lt; 2</td></tr></table><p>b&nbsp;c</p>") == "a 1 < 2 b c"
