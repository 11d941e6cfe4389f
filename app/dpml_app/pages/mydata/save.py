"""Buttons that hand over files from memory: a file travels when its button is pressed, and is in no address."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from dpml_app.drawing.figure import script

STYLE = script("pages/mydata/save.css")


class Save(JSComponent):
    """Offers files by their titles."""

    names = param.List(default=[], item_type=str)
    titles = param.List(default=[], item_type=str)

    _esm = Path(__file__).with_name("save.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar = [STYLE]

    def __init__(self, **params: Any):
        super().__init__(**params)
        self._files: dict[str, bytes] = {}

    def offer(self, files: Mapping[str, tuple[str, bytes]]) -> None:
        """Offer files, each a title and its content by its name, instead of those before."""
        self._files = {name: content for name, (_title, content) in files.items()}
        self.param.update(names=list(files), titles=[title for title, _content in files.values()])

    def forget(self) -> None:
        """Let all files go, without a word to a browser that may be gone."""
        self._files = {}

    def _handle_msg(self, data: Any) -> None:
        """Hand over a file; what comes from a browser is not trusted."""
        name = data.get("name") if isinstance(data, dict) else None
        if isinstance(name, str) and name in self._files:
            kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
            content = base64.b64encode(self._files[name]).decode()
            self._send_msg({"name": name, "kind": kind, "content": content})
