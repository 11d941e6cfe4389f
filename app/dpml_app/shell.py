"""The app around its pages: title, drawer, badge, theme, and the link that carries every setting."""

from __future__ import annotations

import json

import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJS
from panel.io.location import Location
from panel.util import edit_readonly

from dpml_app.jobs import pool
from dpml_app.pages.explore import ExplorePage
from dpml_app.settings import Settings

__all__ = ["build_app"]

BADGE = "Demonstration: study noise, not a release"
# two lines on a phone, where one would push the theme's button off the screen
BADGE_STYLE = {
    "@media (max-width: 600px)": {
        "maxWidth": "180px",
        "height": "auto",
        "fontSize": "0.7rem",
        "& .MuiChip-label": {"whiteSpace": "normal", "py": "3px"},
    }
}
# In a narrow window the drawer covers the page, so it closes when the first data arrive. The server sees a phone in
# the request's headers; only the browser knows a narrow window.
CLOSE_DRAWER = """
if (window.innerWidth < 600 && !window.dpml_drawer_seen) {
  for (const root of cb_obj.document.roots()) {
    if (root.data?.sidebar_open) { root.data.sidebar_open = false }
  }
}
window.dpml_drawer_seen = true
"""


def build_app() -> pmui.Page:
    """Return a new page; in a server it takes its settings from the link and starts to compute once it is shown."""
    settings = Settings()
    explore = ExplorePage(settings, pool())
    badge = pmui.Chip(label=BADGE, color="warning", variant="filled", size="medium", margin=(0, 8), sx=BADGE_STYLE)
    page = pmui.Page(
        title="dpml",
        meta_name="dpml: explore private classification",
        sidebar=[explore.controls.column],
        sidebar_open=not _on_phone(),
        sidebar_width=330,
        header=[badge],
        main=[explore.main],
        busy_indicator=None,
    )
    # Panel ties the page's busy flag to every event of every widget, and each change walks all models of the page
    # (measured: 25 ms, twice an event); progress is shown by the page itself
    with edit_readonly(page):
        page.busy = False
    explore.selection.unit.js_on_change("data", CustomJS(code=CLOSE_DRAWER))
    if pn.state.location is not None:
        _tie_to_link(pn.state.location, settings, explore)
    if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
        pn.state.onload(_send_at_once)
        pn.state.onload(explore.start)
        pn.state.on_session_destroyed(lambda _context: explore.stop())
    return page


def _on_phone() -> bool:
    return "Mobi" in (pn.state.headers or {}).get("User-Agent", "")


def _send_at_once() -> None:
    """Switch off Nagle's algorithm on this page's socket: Bokeh leaves it on, and messages then wait 40 ms."""
    session = getattr(getattr(pn.state.curdoc, "session_context", None), "session", None)
    for connection in getattr(session, "_subscribed_connections", ()):
        set_nodelay = getattr(getattr(connection, "_socket", None), "set_nodelay", None)
        if set_nodelay is not None:
            set_nodelay(True)


def _tie_to_link(location: Location, settings: Settings, explore: ExplorePage) -> None:
    """Take settings from the link, one by one, and write every change back into it."""

    def refused(values: dict) -> None:
        problems = settings.assign(values)
        if problems:
            explore.report("link", "In the link, " + " Also, ".join(problems))

    unknown = sorted(set(location.query_params) - set(settings.names()))
    location.sync(settings, settings.names(), on_error=refused)
    # a page that opens sends the address it was opened with, over what has been written into it so far
    pn.state.onload(lambda: location.update_query(**_as_text(settings.snapshot())))  # type: ignore[arg-type]
    if unknown:
        explore.report("unknown", f"The link has {', '.join(unknown)}, which no control of this page has.", "warning")


def _as_text(values: dict) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
