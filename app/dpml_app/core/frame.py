"""The frame of a document, and the places that pages have in it."""

from collections.abc import Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document
from bokeh.models import Column
from panel.io.resources import LOCAL_DIST

from dpml_app.compat import forget
from dpml_app.core.page import REGIONS, BasePage


class Places:
    """An empty place for each region of every page; a page is laid into its places when it has been made.

    A place is Bokeh's own column: Panel takes ten times as long for an empty one, and most pages are never visited.
    """

    def __init__(self, pages: Mapping[str, type[BasePage]]) -> None:
        self._columns = {
            (name, region): Column(name=f"{name}_{region}", sizing_mode="stretch_width")
            for name, page in pages.items()
            for region in REGIONS
        }
        self._filled: list[BasePage] = []
        # regions as they were laid, with their models
        self._laid: list[tuple[pn.Column, Any]] = []
        self._doc: Document | None = None
        self._design: pmui.theme.MaterialDesign | None = None

    def lay(self, doc: Document) -> None:
        """Put all places into a document, with the pages that have been made."""
        self._doc, self._design = doc, pmui.theme.MaterialDesign(theme=pn.config.theme)
        for column in self._columns.values():
            doc.add_root(column)
        for page in self._filled:
            self._lay(page)
        self._filled.clear()

    def fill(self, page: BasePage) -> None:
        """Lay a page into its places, now or with them."""
        if self._design is None:
            self._filled.append(page)
        else:
            self._lay(page)

    def _lay(self, page: BasePage) -> None:
        for region, content in page.regions.items():
            laid = pn.Column(content, hooks=[self._dress], sizing_mode="stretch_width", margin=0)
            root = laid.get_root(self._doc)
            self._columns[page.page_id, region].children = [root]
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
            self.places.lay(doc)
        return doc
