"""The script of a page's card at the settings of the moment."""

from __future__ import annotations

from dataclasses import replace

from dpml_app import uploaded_table
from dpml_app.code.generated import generated
from dpml_app.code.script import Script
from dpml_app.core.card_page import CardPage
from dpml_app.core.values import DatasetValues


def script_of(page: CardPage, name: str) -> Script | None:
    """Return the script of a page's card at the settings of the moment; None where it has none."""
    facts, values = page.known, page.values()
    card = page.cards.get(name)
    if card is None or facts is None or card.no_script or card.refusal(values, facts):
        return None
    code = generated(card, card.work(values, facts), page.facts_task(values))
    script = Script(page.page_id, name, card.title, page.question, values, code)
    if isinstance(values, DatasetValues) and uploaded_table.is_uploaded(values.dataset):
        label = uploaded_table.dataset(values.dataset).card["label"]["name"]
        return replace(script, label=label, stated=uploaded_table.stated(values.dataset))
    return script
