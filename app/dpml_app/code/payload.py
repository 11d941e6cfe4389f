"""Return the tables, files and code of a plot, which the browser requests when a person opens its numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from textwrap import wrap
from typing import Any

from bokeh.models import Plot

from dpml.tables import safe_csv
from dpml_app import uploaded_table
from dpml_app.code.script import WIDTH, Code, Script, literal
from dpml_app.code.tables import html_of, tables_of_plots
from dpml_app.core.card import Card, ResultKey
from dpml_app.core.page import BasePage, CardPage
from dpml_app.jobs import Task
from dpml_app.settings import DatasetValues, file_name


def generated(card: Card, work: Mapping[ResultKey, Task], facts: Task | None) -> Code:
    """Return code that makes the calls behind a card and has the card lay out their results."""
    kind: Any = type(card)
    name = kind.__name__
    imports = [f"from {kind.__module__} import {name}", "from dpml_app.code.tables import tables_of"]
    if facts is None:
        imports.append("from dpml_app.data.facts import NoFacts")
        known = "facts = NoFacts()"
    else:
        imports.append(f"from {facts.function.__module__} import {facts.function.__name__} as facts_of")
        known = f"facts = facts_of({_arguments(facts)})"
    lines = [
        known,
        "# every result behind the plot, under its series and its place:",
        *_examples(work),
    ]
    if card.takes:
        lines += [
            f"card = {name}()",
            "results = card.short_results(settings, facts)",
            "tables = tables_of(card, settings, facts, results)",
            f'card.figure.save("{card.name}.html")',
        ]
    else:
        lines += [
            f"calls = {name}().work(settings, facts)",
            "results = {place: call.function(*call.arguments) for place, call in calls.items()}",
            f"tables = tables_of({name}(), settings, facts, results)",
        ]
    return Code(tuple(imports), "\n".join(lines), card.takes)


def _arguments(task: Task) -> str:
    return ", ".join(map(literal, task.arguments))


def _examples(work: Mapping[ResultKey, Task]) -> list[str]:
    """Return how often each function is called, and its first call."""
    calls: dict[Any, list[Task]] = {}
    for task in work.values():
        calls.setdefault(task.function, []).append(task)
    lines = []
    for function, tasks in calls.items():
        more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
        text = f"{function.__module__}.{function.__name__}({_arguments(tasks[0])}){more}"
        lines += wrap(text, WIDTH, initial_indent="# - ", subsequent_indent="#   ", break_long_words=False)
    return lines


def script_of(page: CardPage, name: str) -> Script | None:
    """Return the script of a page's card at the settings of the moment; None where it has none."""
    facts, values = page.known, page.values()
    card = page.cards.get(name)
    if card is None or facts is None or card.no_script or card.refusal(values, facts):
        return None
    code = generated(card, card.work(values, facts), page.facts_task(values))
    script = Script(page.page_id, name, card.title, page.title, values, code)
    if isinstance(values, DatasetValues) and uploaded_table.is_uploaded(values.dataset):
        label = uploaded_table.dataset(values.dataset).card["label"]["name"]
        return replace(script, label=label, stated=uploaded_table.stated(values.dataset))
    return script


def payload(page: BasePage, readout_name: str, plots: Iterable[Plot]) -> dict[str, Any]:
    """Return the tables behind a card's plots, how its files are called, and its script and notebook if it has them.

    `readout_name` is the name of the card's sentence, which is how the browser calls a card.
    """
    name = next((name for name, readout in page.readouts.items() if readout.name == readout_name), None)
    tables, files, script = tables_of_plots(plots), {}, None
    if isinstance(page, CardPage) and name is not None:
        values = page.values()
        files, script = {"file": file_name(page.page_id, name, values.as_dict())}, script_of(page, name)
        if tables and name in page.cards:
            tables |= page.cards[name].browser_tables(values)
    files |= {} if script is None else {"script": script.text, "notebook": script.notebook}
    return {**files, "tables": html_of(tables), "csv": {name: safe_csv(each) for name, each in tables.items()}}
