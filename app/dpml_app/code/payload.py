"""What the browser is told of a plot's code, when its numbers are opened."""

from __future__ import annotations

from typing import Any

from dpml_app.code.write import script_of
from dpml_app.core.card_page import CardPage
from dpml_app.core.page import BasePage
from dpml_app.core.values import file_name


def payload(page: BasePage, readout_name: str) -> dict[str, Any]:
    """Return how the files of a card are called, and its script and notebook if it has them.

    `readout_name` is the name of the card's sentence, which is how the browser calls a card.
    """
    name = next((name for name, readout in page.readouts.items() if readout.name == readout_name), None)
    if not isinstance(page, CardPage) or name is None:
        return {}
    files = {"file": file_name(page.page_id, name, page.values().as_dict())}
    script = script_of(page, name)
    return files if script is None else {**files, "script": script.text, "notebook": script.notebook}
