"""The list of methods that can be audited, with a search: panel-material-ui's lists have none with a name (0.16)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dpml.catalogue import CATALOGUE, Method
from dpml_app.pages.audit.compute import CHECKED_AT
from dpml_app.pages.audit.words import FAMILIES

__all__ = ["MethodList", "groups", "title"]

STYLE = """
:host { position: relative; }
.field { position: relative; }
label { display: block; font-size: 0.78rem; opacity: 0.75; margin: 0 24px 3px 2px; }
input {
  width: 100%; box-sizing: border-box; font: inherit; color: inherit; background: transparent; padding: 11px 12px;
  border: 1px solid color-mix(in srgb, currentColor 35%, transparent); border-radius: 4px; text-overflow: ellipsis;
}
input:focus-visible { outline: 3px solid var(--focus, #0b6fb8); outline-offset: 1px; }
.popup {
  position: absolute; z-index: 30; left: 0; right: 0; top: 100%; margin-top: 4px; padding: 0 0 6px; overflow-y: auto;
  max-height: min(420px, 60vh); background: var(--panel-surface-color, #fff); border-radius: 8px;
  border: 1px solid color-mix(in srgb, currentColor 35%, transparent); box-shadow: 0 6px 24px #0004;
}
.popup[hidden], li[hidden] { display: none; }
.count { position: sticky; top: 0; margin: 0; padding: 8px 12px 6px; font-size: 0.8rem; background: inherit; }
ul { list-style: none; margin: 0; padding: 0; }
.group { padding: 8px 12px 3px; font-size: 0.8rem; font-weight: 600; opacity: 0.8; }
[role=option] {
  scroll-margin: 62px 0 6px; padding: 6px 12px 6px 20px; font-size: 0.92rem; line-height: 1.3; cursor: pointer;
}
[role=option][aria-selected=true] { font-weight: 600; }
[role=option].active, [role=option]:hover { background: color-mix(in srgb, currentColor 14%, transparent); }
"""


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
