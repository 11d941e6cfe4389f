"""Controls that take a file, in parts and no more of it than is allowed, and that hand over files from memory."""

import base64
import binascii
import mimetypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from dpml.exceptions import DpmlError, InvalidTable, TableTooLarge, TableUnreadable
from dpml_app.drawing.figure import script
from dpml_app.serving.limits import ServerFull
from dpml_app.uploaded_table import UploadRoom

LONGEST_NAME = 100


class Upload(JSComponent):
    """Takes one file at a time.

    `most`: the most bytes that a file may have.
    `on_file`: takes the file's name and its bytes.
    `on_fault`: takes what is wrong with a file that did not come whole.
    """

    label = param.String("File")
    accept = param.String("")

    _esm = Path(__file__).with_name("upload.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar = [script("pages/mydata/upload.css")]

    def __init__(
        self,
        *,
        most: int,
        on_file: Callable[[str, bytes], None],
        on_fault: Callable[[DpmlError], None],
        **params: Any,
    ):
        super().__init__(**params)
        self._most, self._on_file, self._on_fault = most, on_file, on_fault
        self._serial, self._parts = -1, bytearray()
        self._room = UploadRoom()

    def free(self) -> None:
        """Let go of what has come of a file, without a word to a browser that may be gone."""
        self._parts = bytearray()
        self._room.free()

    def _handle_msg(self, data: Any) -> None:
        """Take a part; what comes from a browser is not trusted."""
        if not isinstance(data, dict) or not isinstance(data.get("serial"), int):
            return
        serial, name = data["serial"], str(data.get("name", "file"))[:LONGEST_NAME]
        if serial != self._serial:
            self._serial, self._parts = serial, bytearray()
        try:
            self._add(name, data)
        except (InvalidTable, ServerFull) as fault:
            self._end(serial)
            self._on_fault(fault)
            return
        if not data.get("last"):
            self._send_msg({"serial": serial, "go_on": True})
            return
        content = bytes(self._parts)
        self._end(serial)
        self._on_file(name, content)

    def _add(self, name: str, data: dict[str, Any]) -> None:
        size = data.get("size")
        if isinstance(size, int | float) and size > self._most:
            raise TableTooLarge(name, f"the file has {int(size):,} bytes, the limit is {self._most:,}")
        try:
            part = base64.b64decode(str(data.get("data", "")), validate=True)
        except (binascii.Error, ValueError) as error:
            raise TableUnreadable(name, "the upload was incomplete. Upload the file again") from error
        if len(self._parts) + len(part) > self._most:
            raise TableTooLarge(name, f"the file has more than {self._most:,} bytes, the limit")
        self._room.take(len(self._parts) + len(part))
        self._parts += part

    def _end(self, serial: int) -> None:
        self.free()
        self._send_msg({"serial": serial, "go_on": False})


class Save(JSComponent):
    """Offers files by their titles."""

    names = param.List(default=[], item_type=str)
    titles = param.List(default=[], item_type=str)

    _esm = Path(__file__).with_name("save.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar = [script("pages/mydata/save.css")]

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
