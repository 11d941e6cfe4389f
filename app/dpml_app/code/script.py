"""A script that gives a plot's numbers again."""

import json
import math
from collections.abc import Mapping
from textwrap import fill, wrap
from typing import Any, NamedTuple

from dpml import __version__
from dpml_app import uploaded_table
from dpml_app.core.card import Card, ResultKey
from dpml_app.core.page import CardPage
from dpml_app.jobs import Task
from dpml_app.settings import DatasetValues, PageValues, file_name

WIDTH = 100
HEAD = """\
{title}: reproduce the numbers of a dpml plot.

Page “{page}”, card {card}. Written by dpml {version}.
It needs dpml and its app. The same versions of dpml and NumPy give the same numbers, to the last digit.{more}"""
OWN_HEAD = "\nIt reads your own table. Its output is not private."
OWN_IMPORTS = (
    "from dataclasses import replace",
    "from pathlib import Path",
    "from dpml.schema import Schema",
    "from dpml.tables import read_table",
    "from dpml_app import uploaded_table",
)
OWN = """\
# Your own table: the file, and the schema that the page "My data" saves. Neither is in this script.
frame = read_table(Path("table.csv").read_bytes(), {stated})
schema = Schema.from_yaml(Path("schema.yaml").read_text(encoding="utf-8"))
table = uploaded_table.make(frame, {label}, schema, "table.csv")
uploaded_table.attach(table)
settings = replace(settings, dataset=table.name)"""
SHOW = """\
# The tables behind the plot
for name, table in tables.items():
    print(f"\\n{name}")
    print(table.to_string(index=False, max_rows=20))
    # table.to_csv(f"{name}.csv", index=False)
"""


class Script(NamedTuple):
    """A script, and the name of its file without an ending."""

    name: str
    text: str


def literal(value: Any) -> str:
    """Return a plain value as Python writes it; a session's table is read from a file, so it goes by its setting.

    >>> literal((0.1, "toy", None)), literal(("own-1f", 3))
    ('(0.1, "toy", None)', '(settings.dataset, 3)')
    >>> literal({"price": "number"})
    '{"price": "number"}'
    """
    if uploaded_table.is_uploaded(value):
        return "settings.dataset"
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


def script_of(page: CardPage, name: str) -> Script | None:
    """Return the script of a page's card at the settings of the moment; None where it has none."""
    facts, values = page.known, page.values()
    card = page.cards.get(name)
    if card is None or facts is None or card.no_script or card.refusal(values, facts):
        return None
    kind = type(values)
    imports, lines = _computation(page, card, card.work(values, facts))
    imports.append(f"from {kind.__module__} import {kind.__name__}")
    table, more = [], f"\n{card.takes}" if card.takes else ""
    if isinstance(values, DatasetValues) and uploaded_table.is_uploaded(values.dataset):
        imports += OWN_IMPORTS
        more += OWN_HEAD
        label = uploaded_table.dataset(values.dataset).card["label"]["name"]
        stated = {"name": "table.csv", **uploaded_table.stated(values.dataset)}
        form = ", ".join(f"{option}={literal(each)}" for option, each in stated.items())
        table = [OWN.format(stated=form, label=repr(label))]
    head = HEAD.format(title=card.title, page=page.title, card=name, version=__version__, more=more)
    folded = "\n".join(fill(line, WIDTH) for line in head.split("\n"))
    computation = "\n".join(["# The computation", *lines])
    parts = [f'"""{folded}\n"""', "\n".join(sorted(imports)), _settings(values), *table, computation, SHOW]
    return Script(file_name(page.page_id, name, values.as_dict()), "\n\n".join(parts))


def _settings(values: PageValues) -> str:
    lines = ["# Settings of the page", f"settings = {type(values).__name__}(", "   "]
    for name, value in values.as_dict().items():
        written = '"my table"' if uploaded_table.is_uploaded(value) else literal(value)
        part = f" {name}={written},"
        if len(lines[-1] + part) > WIDTH:
            lines.append("   ")
        lines[-1] += part
    return "\n".join([*lines, ")"])


def _computation(page: CardPage, card: Card, work: Mapping[ResultKey, Task]) -> tuple[list[str], list[str]]:
    """Return imports, and lines that make the calls behind a card and have the card lay out their results."""
    kind = type(card)
    name = kind.__name__
    imports = [f"from {kind.__module__} import {name}"]
    imports.append("from dpml_app.code.tables import tables_of")
    known = "NoFacts()"
    if (facts_of := page.facts_of) is None:
        imports.append("from dpml_app.data.facts import NoFacts")
    else:
        imports.append(f"from {facts_of.__module__} import {facts_of.__name__} as facts_of")
        known = f"facts_of({literal(page.settings.dataset)})"
    result = "call.function(*call.arguments)"
    if card.takes:
        imports.append("from dpml_app.data.default_study import result_of")
        result = "result_of(call)"
    return imports, [
        f"facts = {known}",
        "# every result behind the plot, under its series and its place:",
        *_examples(work),
        f"calls = {name}().work(settings, facts)",
        f"results = {{place: {result} for place, call in calls.items()}}",
        f"tables = tables_of({name}(), settings, facts, results)",
    ]


def _examples(work: Mapping[ResultKey, Task]) -> list[str]:
    """Return how often each function is called, and its first call."""
    calls: dict[Any, list[Task]] = {}
    for task in work.values():
        calls.setdefault(task.function, []).append(task)
    lines = []
    for function, tasks in calls.items():
        more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
        text = f"{function.__module__}.{function.__name__}({', '.join(map(literal, tasks[0].arguments))}){more}"
        lines += wrap(text, WIDTH, initial_indent="# - ", subsequent_indent="#   ", break_long_words=False)
    return lines
