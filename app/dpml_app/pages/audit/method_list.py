"""The list of methods that can be audited, with a search: panel-material-ui's lists have none with a name (0.16)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dpml.catalogue import CATALOGUE, Method
from dpml_app.drawing.figure import script
from dpml_app.pages.audit.compute import CHECKED_AT
from dpml_app.pages.audit.words import FAMILIES

STYLE = script("pages/audit/method_list.css")


def title(entry: Method) -> str:
    """Return a method's name in the list, with a sign and the reason where its claim fails.

    Examples
    --------
    >>> from dpml.catalogue import method
    >>> title(method("laplace")), title(method("private-threshold-testing"))
    ('Laplace mechanism', '✗ Private threshold testing (not private)')
    """
    if not entry.private:
        return f"✗ {entry.title} (not private)"
    return entry.title if entry.holds(CHECKED_AT) else f"✗ {entry.title} (claims too little)"


def groups() -> list[dict[str, Any]]:
    """Return the methods of the catalogue by family, each with the words of its source, which can be searched too."""
    by_family = {
        name: [
            {"value": key, "shown": title(entry), "words": entry.citation}
            for key, entry in CATALOGUE.items()
            if entry.family == family
        ]
        for family, name in FAMILIES.items()
    }
    return [{"title": name, "methods": methods} for name, methods in by_family.items() if methods]


class MethodList(JSComponent):
    """A list of methods with a search; `value` is the name of the one that is chosen."""

    label = param.String("")
    groups = param.List([])
    value = param.String("")

    _esm = Path(__file__).with_suffix(".js")
    _stylesheets = [STYLE]  # noqa: RUF012

    def __init__(self, **params: Any):
        super().__init__(groups=groups(), **params)
