"""Which code a card of a page has: its own, or the calls behind it and its own layout of their results."""

from __future__ import annotations

from dpml_app.code.generated import generated
from dpml_app.code.left_out import LEFT_OUT
from dpml_app.code.script import Code, Script
from dpml_app.core.card_page import CardPage
from dpml_app.data import uploaded_table

__all__ = ["script_of"]


def script_of(page: CardPage, name: str) -> Script | None:
    """Return the script of a page's card at the settings of the moment; None where it has none."""
    facts, values = page.known, page.values()
    card = page.cards.get(name)
    if card is None or facts is None or (page.room, name) in LEFT_OUT or card.refusal(values, facts):
        return None
    code = card.code(values, facts)
    if code is None:
        code = generated(card, page.room, card.work(values, facts), values, page.facts_chunk(values))
    more = card.browser_code(values)
    if more is not None:
        code = Code((*code.imports, *more.imports), f"{code.body}\n\n{more.body}", code.uses)
    label = ""
    if uploaded_table.is_own(values.get("dataset")):
        label = uploaded_table.dataset(values["dataset"]).card["label"]["name"]
    return Script(page.room, name, card.title, page.question, values, code, label)
