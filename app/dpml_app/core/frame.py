"""The frame of a document, and the places that pages have in it."""

from collections.abc import Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from panel.io.resources import LOCAL_DIST
from panel.links import Callback
from panel.viewable import Viewable

from dpml_app.compat import forget
from dpml_app.core.base_page import BasePage


class Places:
    """Where pages are laid: each region of a page is a root of the document, made at the first visit.

    The template holds the roots of the first page. Those of another page come later, and the browser moves each to the
    element that its class names.
    """

    def __init__(self, pages: Mapping[str, BasePage]) -> None:
        self._pages = pages
        # regions as they were laid, with their models
        self._laid: list[tuple[pn.Column, Any]] = []
        self._doc: Document | None = None
        self._design: pmui.theme.MaterialDesign | None = None

    def open(self, doc: Document) -> None:
        """Put the pages that have been made into a document, and from now on each that is made."""
        self._doc, self._design = doc, pmui.theme.MaterialDesign(theme=pn.config.theme)
        for page in self._pages.values():
            self.lay(page)

    def lay(self, page: BasePage) -> None:
        """Lay a page into its places, if there is a document."""
        if self._doc is None:
            return
        for region, content in page.regions.items():
            name = f"{page.page_id}_{region}"
            look: Any = {"css_classes": ["place", name], "sizing_mode": "stretch_width", "margin": 0}
            laid = pn.Column(content, name=name, hooks=[self._dress], **look)
            # to connect callbacks of the browser, Panel gathers all models of a root several times
            linked = any(part in Callback.registry for part in laid.select(Viewable))
            root = laid.get_root(self._doc, preprocess=linked)
            if not linked:
                self._dress(laid, root, laid, None)
            self._doc.add_root(root)
            self._laid.append((laid, root))

    def clear(self) -> None:
        """Let go of all that was laid, once the document has ended."""
        for laid, root in self._laid:
            laid.clear()
            forget(root)
        self._laid.clear()

    def _dress(self, _region: Any, root: Any, changed: Any, _old: Any) -> None:
        assert self._design is not None
        self._design.apply(changed, root, isolated=False)


class Frame(pn.Template):
    """The template, laid into a document at once: else its models are gathered anew for each root."""

    places: Places

    def __repr__(self) -> str:
        return "Frame()"  # Panel writes down all that is inside, at every panel that is added

    def server_doc(self, doc: Document | None = None, title: str | None = None, location: Any = False) -> Document:
        """Return the document, its models gathered once."""
        doc = doc or pn.state.curdoc or Document()
        # a session that a slow browser comes too late for is made anew without its page, which alone says so by itself
        doc.template_variables["dist_url"] = LOCAL_DIST
        with doc.models.freeze():
            super().server_doc(doc, title, False)
            self.places.open(doc)
        return doc
