"""Return the tables, files and code of a plot, which the browser requests when a person opens its numbers."""

from collections.abc import Iterable
from typing import Any

from bokeh.models import Plot

from dpml.tables import safe_csv
from dpml_app.code.script import script_of
from dpml_app.code.tables import html_of, tables_of_plots
from dpml_app.core.base_page import BasePage
from dpml_app.core.page import CardPage
from dpml_app.settings import file_name


def payload(page: BasePage, readout_name: str, plots: Iterable[Plot]) -> dict[str, Any]:
    """Return the tables behind a card's plots, how its files are called, and its script if it has one.

    `readout_name` is the name of the card's sentence, which is how the browser calls a card.
    """
    tables, files = tables_of_plots(plots), {}
    name = readout_name.removeprefix(f"{page.page_id}-").removesuffix("-readout")
    if isinstance(page, CardPage) and name in page.cards:
        values, script = page.values(), script_of(page, name)
        files = {"file": file_name(page.page_id, name, values.as_dict())}
        if tables:
            tables |= page.cards[name].browser_tables(values)
        files |= {} if script is None else {"script": script.text}
    return {**files, "tables": html_of(tables), "csv": {name: safe_csv(each) for name, each in tables.items()}}
