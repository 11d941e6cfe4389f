"""The app around its pages: title, drawer, badge, theme, and the link that carries every setting."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJS
from panel.io.location import Location
from panel.util import edit_readonly

from dpml_app.audit.page import AuditPage
from dpml_app.evaluate.page import EvaluatePage
from dpml_app.explore.page import ExplorePage
from dpml_app.noise.page import NoisePage
from dpml_app.select.page import SelectPage
from dpml_app.settings import PAGES, Settings
from dpml_app.train.page import TrainPage
from dpml_app.widgets import tie
from dpml_app.work.pool import pool

__all__ = ["Shell", "build_app"]

ROOMS: dict[str, type] = {
    "explore": ExplorePage,
    "audit": AuditPage,
    "noise": NoisePage,
    "select": SelectPage,
    "train": TrainPage,
    "evaluate": EvaluatePage,
}

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


class Shell:
    """The pages of one session; each is made, and started, when it is first shown."""

    def __init__(self):
        self.settings = Settings()
        self.pages: dict[str, Any] = {}
        self.drawer = pn.Column(sizing_mode="stretch_width", margin=0)
        self.menu = pmui.RadioButtonGroup(
            options={title: name for name, title in PAGES.items()},
            size="small",
            margin=(10, 16, 0, 16),
            # a second row on a phone
            sx={"flexWrap": "wrap", "& button": {"width": "auto", "flexGrow": 0}},
        )
        # above the page and not in the header, where a phone has no room
        self.body = pn.Column(self.menu, sizing_mode="stretch_width", margin=0)
        self.live = False
        self._starting: asyncio.Task | None = None

    def link(self, location: Location | None) -> None:
        """Take the settings from the address, and write every change back into it."""
        problems = [] if location is None else _tie_to_link(location, self.settings)
        tie(self.settings, "page", self.menu, lambda _name, text: self.shown.report("page", text))
        self.settings.param.watch(lambda _event: self.show(), "page")
        self.show()
        for topic, text, severity in problems:
            self.shown.report(topic, text, severity)

    @property
    def shown(self) -> Any:
        """The page that is shown."""
        return self.pages[self.settings.page]

    def show(self) -> None:
        """Show the page that the settings name, and nothing of the others."""
        name = self.settings.page
        for other, page in self.pages.items():
            page.main.visible = page.controls.column.visible = other == name
        if name not in self.pages:
            page = self.pages[name] = ROOMS[name](self.settings, pool())
            page.first_data.js_on_change("data", CustomJS(code=CLOSE_DRAWER))
            self.drawer.append(page.controls.column)
            self.body.append(page.main)
            if self.live:
                self._starting = asyncio.get_running_loop().create_task(page.start())
        else:
            self.shown.resume()

    async def start(self) -> None:
        """Let the page that is shown begin, now that it is in the browser."""
        self.live = True
        await self.shown.start()

    def stop(self) -> None:
        """Stop computing for a session that has ended."""
        for page in self.pages.values():
            page.stop()


def build_app() -> pmui.Page:
    """Return a new page; in a server it takes its settings from the link and starts to compute once it is shown."""
    shell = Shell()
    shell.link(pn.state.location)
    badge = pmui.Chip(label=BADGE, color="warning", variant="filled", size="medium", margin=(0, 8), sx=BADGE_STYLE)
    page = pmui.Page(
        title="dpml",
        meta_name="dpml: explore private classification",
        sidebar=[shell.drawer],
        sidebar_open=not _on_phone(),
        sidebar_width=330,
        header=[badge],
        main=[shell.body],
        busy_indicator=None,
    )
    # Panel ties the page's busy flag to every event of every widget, and each change walks all models of the page
    # (measured: 25 ms, twice an event); progress is shown by the page itself
    with edit_readonly(page):
        page.busy = False
    if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
        pn.state.onload(_send_at_once)
        pn.state.onload(shell.start)
        pn.state.on_session_destroyed(lambda _context: shell.stop())
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


def _tie_to_link(location: Location, settings: Settings) -> list[tuple[str, str, str]]:
    """Tie settings and link; return what was wrong with the link, as (topic, sentence, severity)."""
    problems: list[tuple[str, str, str]] = []

    def refused(values: dict) -> None:
        wrong = settings.assign(values)
        if wrong:
            problems.append(("link", "In the link, " + " Also, ".join(wrong), "error"))

    unknown = sorted(set(location.query_params) - set(settings.all_names()))
    location.sync(settings, settings.all_names(), on_error=refused)
    # a page that opens sends the address it was opened with, over what has been written into it so far
    pn.state.onload(lambda: location.update_query(**_as_text(settings)))  # type: ignore[arg-type]
    if unknown:
        problems.append(("unknown", f"The link has {', '.join(unknown)}, which no control has.", "warning"))
    return problems


def _as_text(settings: Settings) -> dict[str, str]:
    values = {name: settings.param[name].serialize(value) for name, value in settings.everything().items()}
    # what is empty has no place in a link: reading it back leaves it out
    return {name: v if isinstance(v, str) else json.dumps(v) for name, v in values.items() if v != ""}
