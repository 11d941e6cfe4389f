"""The fault of an entry in one of the app's files of texts."""

from typing import ClassVar

from dpml.exceptions import DpmlError, shown


class InvalidEntry(DpmlError, ValueError):
    """An entry of a file is not as it must be.

    `allowed`: what is allowed, in words.
    """

    file: ClassVar[str]

    def __init__(self, entry: str, field: str, value: object, allowed: str):
        super().__init__(f"{self.file}, {entry}, {field} = {shown(value)} is not allowed: it must be {allowed}")
