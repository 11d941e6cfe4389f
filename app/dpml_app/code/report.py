"""Write the HTML of a session report. The browser adds its plots."""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

from bokeh.models import Plot
from jinja2 import Environment

from dpml import __version__
from dpml_app import uploaded_table
from dpml_app.code.tables import html_of, tables_of_plots
from dpml_app.core import link
from dpml_app.core.card import Card
from dpml_app.core.page import BasePage, CardPage
from dpml_app.core.pins import in_words
from dpml_app.settings import PageValues, Shared, file_name

STUDY = "Simulation (never publish): this report uses noise from a simulation and contains no release."
NOT_PRIVATE = (
    "These results are NOT private. They are computed from the records of an uploaded table and can reveal information "
    "about its people. Protect this file like the table."
)
PAGE = Environment(autoescape=True).from_string(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
WAITING = "Computing…"
# of each table
MOST_ROWS = 60
GAP = re.compile(r"</?(?:p|div|li|tr|td|th|h\d|br|summary|details|caption)\b[^>]*>")


def report_of(pages: Mapping[str, BasePage], shown: str, settings: Shared) -> dict[str, Any]:
    """Return the report's texts of all visited pages, the shown page first."""
    names = [shown, *(name for name in pages if name != shown)]
    visited = [(name, pages[name]) for name in names]
    reports = [
        _page(name, page, settings) for name, page in visited if isinstance(page, CardPage) and page.known is not None
    ]
    mine = any(page["mine"] for page in reports)
    values: dict[str, Any] = next((p.values().as_dict() for _name, p in visited if isinstance(p, CardPage)), {})
    return {
        "title": "dpml session report",
        "made": f"dpml {__version__}",
        "file": file_name(shown, "report", values),
        "warning": NOT_PRIVATE if mine else STUDY,
        "mine": mine,
        "pages": reports,
    }


def as_html(report: Mapping[str, Any]) -> str:
    """Return a report as an HTML page without scripts, with a figure of each plot's name for the browser to fill."""
    return PAGE.render(report)


def _page(name: str, page: CardPage, settings: Shared) -> dict[str, Any]:
    used = page.names
    mine = "dataset" in used and uploaded_table.is_uploaded(settings.dataset)
    named = [setting for setting in used if not (mine and setting == "dataset")]
    query = link.query_of(settings, named, beside={"page": name})
    if "dataset" in named and "dataset" not in link.parse(query):
        query += f"&dataset={settings.dataset}"
    return {
        "name": name,
        "title": page.title,
        "question": page.question,
        "answer": plain_text(str(page.headline.object or "")),
        "mine": mine,
        "link": query,
        "settings": [
            [str(settings.param[each].label), in_words(settings, each, getattr(settings, each))] for each in used
        ],
        "cards": _cards(page),
    }


def _cards(page: CardPage) -> list[dict[str, Any]]:
    values = page.values()
    reports = []
    for name, card in page.cards.items():
        if not page.card_slots[name].objects:
            continue
        # the model holds escaped HTML, as its view takes it
        sentence = plain_text(unescape(page.readouts[name].text))
        if sentence == WAITING:
            continue  # left before it was answered
        plots = [(str(plot.name), _tables(card, plot, values)) for plot in card.drawn(values) if plot.visible]
        reports.append({"title": card.title, "said": sentence, "plots": plots})
    return reports


def _tables(card: Card, plot: Plot, values: PageValues) -> str:
    tables = tables_of_plots([plot])
    return html_of(tables | {n: each for n, each in card.browser_tables(values).items() if n in tables}, MOST_ROWS)


def plain_text(html: str) -> str:
    """Return the words of a piece of HTML.

    Examples
    --------
    >>> plain_text("<p>It costs <b>3</b> points.</p><p>1 &lt; 2</p>")
    'It costs 3 points. 1 < 2'
    """
    words = re.sub(r"<[^>]+>", "", GAP.sub(" ", html))
    return " ".join(unescape(words).split())
