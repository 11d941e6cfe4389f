"""The messages of a page: what went wrong, or was changed for the user."""

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml_app.core.card import WHOLE
from dpml_app.kit.widgets import in_notebook

# Panel's names of Material's severities
ALERT_TYPES = {"error": "danger", "info": "info"}


class Alerts(pn.Column):
    """The messages of a page, at most one on each topic; `topics` has those that are not closed."""

    def __init__(self) -> None:
        super().__init__(**WHOLE)
        self.topics: dict[str, Any] = {}
        self._in_notebook = in_notebook()

    def report(self, topic: str, text: str, severity: str = "error") -> None:
        """Show a message in place of the one on the same topic; without a text, remove that one."""
        before = self.topics.pop(topic, None)
        look: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (8, 12, 0, 12)}
        if text and self._in_notebook:
            self.topics[topic] = pn.pane.Alert(escape(text), alert_type=ALERT_TYPES[severity], **look)
        elif text:
            alert = self.topics[topic] = pmui.Alert(object=escape(text), severity=severity, closeable=True, **look)
            # another message must not show it again
            alert.param.watch(lambda _event: self.topics.pop(topic, None), "closed")
        if text or before is not None:
            self.objects = list(self.topics.values())
