"""Where the parts of a page stand in a notebook's output, which has no template."""

from html import escape
from typing import Any

import panel as pn

from dpml_app.core.card import WHOLE
from dpml_app.core.page import CardPage

# as beside the pages of the app, where there is room for it
SIDES = """
:host { display: grid !important; grid-template-columns: minmax(0, 1fr) minmax(260px, 320px); gap: 4px 24px; }
@media (max-width: 900px) { :host { grid-template-columns: minmax(0, 1fr); } }
"""
HEAD = """
h2 { font-size: 1.5rem; line-height: 1.2; margin: 0; }
p { margin: 4px 0; opacity: 0.8; }
.study { font-size: 0.8rem; }
"""
STUDY = '<p class="study">Simulation (never publish).</p>'


def page_parts(page: CardPage) -> list[Any]:
    """Return a page: its question, its picture beside its controls, and the cards below; `card` shows all others."""
    regions = page.regions
    advanced = pn.Card(regions["advanced"], title="Advanced", collapsed=True, sizing_mode="stretch_width")
    study = pn.pane.HTML(STUDY, stylesheets=[HEAD], **WHOLE)
    side = pn.Column(regions["side"], advanced, regions["work"], study, **WHOLE)
    page.slots["advanced"].mount()
    for slot in regions["details"].objects:
        slot.mount()
    head = f"<h2>{escape(page.question)}</h2><p>{page.lead}</p>"
    return [
        pn.pane.HTML(head, stylesheets=[HEAD], **WHOLE),
        pn.Column(regions["top"], side, stylesheets=[SIDES], **WHOLE),
        regions["details"],
    ]


def card_parts(page: CardPage, name: str) -> list[Any]:
    """Return one card, with the control of its page that stands under the picture."""
    study = pn.pane.HTML(STUDY, stylesheets=[HEAD], **WHOLE)
    slot = page.slots[name]
    if name == page.main_card:
        return [page.alerts, slot, page.regions["work"], study]
    page.slots[page.main_card].objects = []  # nobody sees it, so nothing is computed for it
    slot.mount()
    kind = next(one for one in page.kinds if one.name == name)
    control = page.controls.in_top
    above = [] if control in kind.controls else [page.controls.widgets[control]]
    return [page.alerts, *above, slot, page.regions["work"], study]
