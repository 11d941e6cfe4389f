"""A script that gives a plot's numbers again: its text, and the same as a notebook."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpml import __version__
from dpml_app import uploaded_table
from dpml_app.settings import DatasetValues, PageValues, file_name

WIDTH = 100
DATASET = "settings.dataset"


def literal(value: Any) -> str:
    """Return a plain value as Python writes it; a session's table is read from a file, so it goes by its setting.

    >>> literal((0.1, "toy", None)), literal(("own-1f", 3))
    ('(0.1, "toy", None)', '(settings.dataset, 3)')
    >>> literal({"price": "number"})
    '{"price": "number"}'
    """
    if uploaded_table.is_uploaded(value):
        return DATASET
    if isinstance(value, tuple):
        inside = ", ".join(map(literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(name)}: {literal(each)}" for name, each in value.items()) + "}"
    if value is not None and not isinstance(value, bool | int | float | str):
        raise TypeError(f"an argument of a script is a plain value, not {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    # what JSON writes of a text, Python reads as the same
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


STANDARD = ("dataclasses", "itertools", "math", "pathlib")
OWN = """\
# Your own table: the file, and the schema that the page "My data" saves. Neither is in this script.
frame = read_table(Path("table.csv").read_bytes(), FORMAT)
schema = Schema.from_yaml(Path("schema.yaml").read_text(encoding="utf-8"))
"""
OWN_USED = """\
table = uploaded_table.make(frame, LABEL, schema, "table.csv")
uploaded_table.attach(table)
settings = replace(settings, dataset=table.name)
"""
SHOW = """\
for name, table in tables.items():
    print(f"\\n{name}")
    print(table.to_string(index=False, max_rows=20))
    # table.to_csv(f"{name}.csv", index=False)
"""


@dataclass(frozen=True)
class Code:
    """What makes a plot's numbers."""

    # lines, in any order
    imports: tuple[str, ...]
    # lines that read `settings`, the values of the page, and make `tables`: a data frame for each table behind the
    # plot
    body: str
    # how long it takes, where that is not seconds
    takes: str = ""


@dataclass(frozen=True)
class Script:
    """The code of one plot at one setting."""

    page: str
    card: str
    title: str
    page_title: str
    values: PageValues
    code: Code
    # of a table of one's own: its label's column, and what was stated of its file's format
    label: str = ""
    stated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its file, without an ending."""
        return file_name(self.page, self.card, self.values.as_dict())

    @property
    def _own(self) -> bool:
        return isinstance(self.values, DatasetValues) and uploaded_table.is_uploaded(self.values.dataset)

    def parts(self) -> list[tuple[str, str]]:
        """Return the heading of each part, and its lines."""
        kind = type(self.values)
        imports = {*self.code.imports, f"from {kind.__module__} import {kind.__name__}"}
        if self._own:
            imports |= {
                "from dataclasses import replace",
                "from pathlib import Path",
                "from dpml.schema import Schema",
                "from dpml.tables import read_table",
                "from dpml_app import uploaded_table",
            }
        parts = [("Imports", "\n".join(_sorted_imports(imports)))]
        parts.append(("Settings of the page", self._settings()))
        if self._own:
            form = ", ".join(f"{name}={literal(value)}" for name, value in {"name": "table.csv", **self.stated}.items())
            table = OWN.replace("FORMAT", form) + OWN_USED.replace("LABEL", repr(self.label))
            parts.append(("The table", table.rstrip()))
        parts.append(("The computation", self.code.body.strip("\n")))
        parts.append(("The tables behind the plot", SHOW.rstrip()))
        return parts

    def _settings(self) -> str:
        lines = [f"settings = {type(self.values).__name__}(", "   "]
        for name, value in self.values.as_dict().items():
            part = f" {name}={self._written(value)},"
            if len(lines[-1] + part) > WIDTH:
                lines.append("   ")
            lines[-1] += part
        return "\n".join([*lines, ")"])

    @staticmethod
    def _written(value: Any) -> str:
        return '"my table"' if uploaded_table.is_uploaded(value) else literal(value)

    def _head(self) -> str:
        takes = f"\n{self.code.takes}" if self.code.takes else ""
        mine = "\nIt reads your own table. Its output is not private." if self._own else ""
        return (
            f"{self.title}: reproduce the numbers of a dpml plot.\n\n"
            f"Page “{self.page_title}”, card {self.card}. Written by dpml {__version__}.\n"
            "It needs dpml and its app. The same versions of dpml and NumPy give the same numbers, to the last digit."
            f"{takes}{mine}"
        )

    @property
    def text(self) -> str:
        """The script."""
        first, *rest = self.parts()
        parts = [f'"""{_wrapped(self._head())}\n"""', first[1], *(f"# {title}\n{lines}" for title, lines in rest)]
        return "\n\n".join(parts) + "\n"

    @property
    def notebook(self) -> str:
        """The same as a notebook, as JSON (nbformat 4.5)."""
        cells = [_cell(0, "markdown", self._head())]
        for title, lines in self.parts():
            cells.append(_cell(len(cells), "markdown", f"## {title}"))
            cells.append(_cell(len(cells), "code", lines))
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        content = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}}
        return json.dumps({**content, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1) + "\n"


def _cell(place: int, kind: str, text: str) -> dict[str, Any]:
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": f"part-{place}", "metadata": {}, "source": text, **more}


def _sorted_imports(lines: Iterable[str]) -> list[str]:
    """Return imports by where they come from, those of one module in a line: Python, other packages, this project."""
    names_of: dict[str, set[str]] = {}
    for line in lines:
        start, _, names = line.partition(" import ")
        names_of.setdefault(start, set()).update(names.split(", ") if names else ())
    written: list[str] = []
    last = None
    for start in sorted(names_of, key=lambda line: (_origin(line), line)):
        if last not in (None, _origin(start)):
            written.append("")
        last = _origin(start)
        written.append(f"{start} import {', '.join(sorted(names_of[start]))}" if names_of[start] else start)
    return written


def _origin(line: str) -> int:
    package = line.split()[1].split(".")[0]
    return 0 if package in STANDARD else 2 if package in ("dpml", "dpml_app") else 1


def _wrapped(text: str) -> str:
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if line and len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return "\n".join(lines)
