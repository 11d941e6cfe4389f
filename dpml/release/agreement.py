"""Faults of a received folder: impossible statements in its files, and disagreements between them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dpml.exceptions import shown
from dpml.release.folder import MODEL_FORMAT, README, UNIFORM_KEPT, UNIFORM_LEFT_OUT, baseline_note, readme
from dpml.release.received import RefusedError, name_shown
from dpml.release.received_folder import DEMONSTRATION, RELEASE, ReceivedFiles, Verified

ROUNDING = 1e-9
RELATIONS = ("add-remove", "replace-one")
# the file that each part of a plan releases
FILE_OF_PART = {"training": "model.joblib", "evaluation": "evaluation.json", "publishing": "table.csv"}
PARTS = {"facts", "selection", *FILE_OF_PART}
KEYS_OF_LEDGER = {"status", "epsilon", "spent", "relation", "delta", "charges"}
KEYS_OF_CHARGE = {"part", "released", "epsilon", "relation", "noise", "source"}
MOST_CHARGES = 10_000
# of a schema, at its top
MOST_KEYS = 12
# noise that no release draws
FOR_STUDY = {"Laplace noise", "Gaussian noise", "geometric noise", "exponential mechanism"}
TITLES = {RELEASE: "Privacy report of a release", DEMONSTRATION: "Simulation, not a release"}
TAGS = {
    "<!DOCTYPE html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<p class="banner">',
    *(
        "<html>",
        "<head>",
        "<title>",
        "<style>",
        "<body>",
        "<h1>",
        "<h2>",
        "<h3>",
        "<p>",
        "<br>",
        "<ul>",
        "<ol>",
        "<li>",
    ),
    *(
        "<table>",
        "<caption>",
        "<thead>",
        "<tbody>",
        "<tr>",
        "<th>",
        "<td>",
        "<sup>",
        "<sub>",
        "<b>",
        "<strong>",
        "<em>",
    ),
}
FACTS_HEADING = "<h2>Public metadata</h2>"


class Terms:
    """The status, ε, δ and relation of the ledger, which every other file must state too."""

    def __init__(self, ledger: dict[str, Any]):
        self.ledger = ledger
        self.is_release = ledger["status"] == RELEASE

    def status(self, other: Any) -> Iterator[str]:
        """Yield the fault of a file with another status."""
        if other != self.ledger["status"]:
            yield f"states another status than the ledger, {shown(self.ledger['status'])}"

    def facts(self, epsilon: Any, delta: Any, relation: Any) -> Iterator[str]:
        """Yield the faults of a file with another ε, δ or relation."""
        spent = self.ledger["spent"]
        if not _is_number(epsilon) or abs(epsilon - spent) > ROUNDING * max(spent, 1.0):
            yield f"states ε = {shown(epsilon)}, but the ledger {spent:.6g}"
        if not _is_number(delta) or delta != self.ledger["delta"]:
            yield f"states δ = {shown(delta)}, but the ledger {self.ledger['delta']:g}"
        if relation != self.ledger["relation"]:
            yield f"states the relation {shown(relation)}, but the ledger {shown(self.ledger['relation'])}"

    def charged(self, part: str) -> float:
        """Return ε of a part's charges."""
        return math.fsum(charge["epsilon"] for charge in self.ledger["charges"] if charge["part"] == part)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def ledger_problems(ledger: dict[str, Any]) -> list[str]:
    """Return the faults of the ledger, or raise KeyError or TypeError where it has another form."""
    charges, spent, allowed = ledger["charges"], ledger["spent"], ledger["epsilon"]
    if set(ledger) != KEYS_OF_LEDGER or not isinstance(charges, list) or len(charges) > MOST_CHARGES:
        raise TypeError
    for charge in charges:
        if set(charge) != KEYS_OF_CHARGE or not all(
            isinstance(charge[key], str) for key in KEYS_OF_CHARGE - {"epsilon"}
        ):
            raise TypeError
    numbers = {"spent": spent, "epsilon": allowed, "delta": ledger["delta"]}
    numbers |= {f"epsilon of charge {i}": charge["epsilon"] for i, charge in enumerate(charges, 1)}
    problems = [
        f"ledger.json: {name} is {shown(value)}, but must be a finite number greater than 0."
        for name, value in numbers.items()
        if name != "delta" and (not _is_number(value) or value <= 0)
    ]
    if not _is_number(ledger["delta"]) or ledger["delta"] != 0:
        problems.append(f"ledger.json: delta is {shown(ledger['delta'])}, but must be 0.")
    if problems:
        raise RefusedError(problems[0].removeprefix("ledger.json: ").removesuffix("."))
    total = math.fsum(charge["epsilon"] for charge in charges)
    if not abs(total - spent) <= ROUNDING * max(total, 1.0):
        problems.append(f"ledger.json: the charges add up to {total:.6g}, but the stated total is {spent:.6g}.")
    if not spent <= allowed * (1 + ROUNDING):
        problems.append(f"ledger.json: the spent ε, {spent:.6g}, exceeds the budget, {allowed:.6g}.")
    if not {charge["part"] for charge in charges} <= PARTS:
        problems.append("ledger.json: a charge is for a part that no release has.")
    if ledger["relation"] not in RELATIONS:
        problems.append(f"ledger.json: {shown(ledger['relation'])} is not a neighbouring relation.")
    others = {charge["relation"] for charge in charges} - {ledger["relation"]}
    if others:
        listed = ", ".join(map(name_shown, sorted(others)[:3]))
        problems.append(
            f"ledger.json: charges under {listed}, but the relation is {name_shown(str(ledger['relation']))}."
        )
    if ledger["status"] not in TITLES:
        problems.append(f"ledger.json states the unknown status {shown(ledger['status'])}.")
    noise = {kind for charge in charges for kind in charge["noise"].split(", ")}
    if ledger["status"] == RELEASE and noise & FOR_STUDY:
        problems.append(f"ledger.json: {', '.join(sorted(noise & FOR_STUDY))} is simulation noise.")
    return problems


def manifest_faults(stated: Verified, files: ReceivedFiles, terms: Terms) -> Iterator[str]:
    """Yield the faults of the statements and the list in the manifest."""
    yield from terms.status(stated.status)
    yield from terms.facts(stated.epsilon, stated.delta, stated.relation)
    for part, name in FILE_OF_PART.items():
        if terms.charged(part) and name not in files.listed:
            yield f"does not list {name}, but the ledger charges ε for it"
        if name in files.listed and not terms.charged(part):
            yield f"lists {name}, but the ledger charges no ε for it"
    plain = files.listed & {"model.json", "score.py"}
    if len(plain) == 1 or (plain and "model.joblib" not in files.listed):
        yield "lists one of model.joblib, model.json and score.py without the others"


def readme_faults(files: ReceivedFiles, terms: Terms) -> Iterator[str]:
    """Yield the fault of a README that a release with these terms does not have."""
    text, ledger = files.text(README), terms.ledger
    if files.same_version:
        facts = {"epsilon": ledger["spent"], "relation": ledger["relation"], "status": ledger["status"]}
        if text != readme(list(files.listed), notes=_readme_notes(files, text), **facts):
            yield f"differs from the README for the status {shown(ledger['status'])} and ε = {ledger['spent']:.6g}"
    elif f"Status: {ledger['status']}. ε = {ledger['spent']:.6g} under {ledger['relation']}, δ = 0." not in text:
        yield "states another status, ε, δ or relation than the ledger"


def _readme_notes(files: ReceivedFiles, text: str) -> list[str]:
    """Return the notes that the README must have; the one on uniform columns must stand in the statement, too."""
    notes = []
    if "evaluation.json" in files.small:
        notes.append(baseline_note(_Rows(files.json("evaluation.json")["measures"])))
    if "table.csv" in files.listed:
        statement = unescape(files.text("statement.html"))
        lines = (line for line in text.splitlines() if line.startswith((UNIFORM_KEPT, UNIFORM_LEFT_OUT)))
        notes += [line for line in lines if line in statement][:1]
    return notes


def schema_of(text: str) -> Any:
    """Return the schema, or raise ValueError or InvalidSchema."""
    from dpml.schema import Schema

    # a text of another form would be read for seconds before it is refused
    keys = re.findall(r"^[^\s#-][^:\n]*", text, re.MULTILINE)
    if len(set(keys)) < len(keys) or len(keys) > MOST_KEYS:
        raise ValueError
    return Schema.from_yaml(text)


def schema_status_faults(text: str, terms: Terms) -> Iterator[str]:
    """Yield the fault of a schema whose first line states another status."""
    yield from terms.status(DEMONSTRATION if text.startswith(f"# {DEMONSTRATION}\n") else RELEASE)


def confirmation_faults(schema: Any, terms: Terms) -> Iterator[str]:
    """Yield the fault of a release with data-derived facts that no person has confirmed."""
    if terms.is_release and schema.unconfirmed:
        yield "has data-derived entries that are not confirmed"


def _values_of(values: Any, key: str) -> Iterator[Any]:
    """Yield the values of a key at every depth."""
    for name, value in values.items() if isinstance(values, dict) else enumerate(values):
        if name == key:
            yield value
        if isinstance(value, dict | list):
            yield from _values_of(value, key)


def _numbers(values: list[Any]) -> Iterator[float]:
    """Yield the numbers of a list of lists."""
    for value in values:
        if isinstance(value, list):
            yield from _numbers(value)
        else:
            yield value


def evaluation_faults(facts: dict[str, Any], terms: Terms) -> Iterator[str]:
    """Yield the faults of the evaluation that need no schema."""
    yield from terms.status(facts["status"])
    epsilons, spent = list(_values_of(facts, "epsilon")), terms.charged("evaluation")
    if not all(_is_number(each) and each > 0 for each in epsilons) or abs(math.fsum(epsilons) - spent) > 1e-6 * spent:
        yield f"states another ε than the ledger, {spent:.6g}"
    if facts["relation"] != terms.ledger["relation"]:
        yield f"states the relation {shown(facts['relation'])}, but the ledger {shown(terms.ledger['relation'])}"
    for row in facts["measures"]:
        if not row["low"] <= row["value"] <= row["high"]:
            yield f"has a measure outside its interval: {shown(row['measure'])}"
    if terms.is_release and any(
        count != int(count) for counts in _values_of(facts, "counts") for count in _numbers(counts)
    ):
        yield "has counts that are not integers, but a release has integer noise"


def class_faults(facts: dict[str, Any], schema: Any) -> Iterator[str]:
    """Yield the fault of a file with other classes than the schema."""
    if sorted(map(str, facts["classes"])) != sorted(map(str, schema.classes)):
        yield "has other classes than schema.yaml"


def model_faults(facts: dict[str, Any], terms: Terms) -> Iterator[str]:
    """Yield the faults of the model in JSON that need no schema."""
    yield from terms.status(facts["status"])
    yield from terms.facts(facts["epsilon"], facts["delta"], facts["relation"])
    if facts["format"] != MODEL_FORMAT:
        yield f"has the format {shown(facts['format'])}"


def column_faults(facts: dict[str, Any], schema: Any) -> Iterator[str]:
    """Yield the faults of a model with other classes or columns than the schema."""
    yield from class_faults(facts, schema)
    columns = {column for part in (*facts["attributes"], *facts["grid"]) for column in part["columns"]}
    if not columns <= set(schema.feature_names):
        yield "has other columns than schema.yaml"


def model_file_faults(texts: set[bytes], terms: Terms) -> Iterator[str]:
    """Yield the faults that the bytes of a model show, without loading it."""
    yield from terms.status(DEMONSTRATION if DEMONSTRATION.encode() in texts else RELEASE)
    if b"status_" not in texts:
        yield "is not a model of a release"


def script_faults(files: ReceivedFiles) -> Iterator[str]:
    """Yield the fault of a script that differs from that of this version, since the receiver of the folder runs it."""
    if files.same_version and files.text("score.py") != Path(__file__).with_name("score.py").read_text(
        encoding="utf-8"
    ):
        yield "differs from the script of this version of dpml. Do not run it"


def header_faults(header: list[str], schema: Any) -> Iterator[str]:
    """Yield the fault of a table with other columns than the schema."""
    from dpml.tables.files import safe_cell

    # the one that is left has the labels
    others = {*header} - {safe_cell(name) for name in schema.feature_names} - {DEMONSTRATION}
    if len(others) > 1:
        yield "has other columns than schema.yaml"


def statement_status_faults(files: ReceivedFiles, terms: Terms) -> Iterator[str]:
    """Yield the faults of the title and the tags of the statement."""
    text, status = files.text("statement.html"), terms.ledger["status"]
    for tag in ("title", "h1"):
        if text.count(f"<{tag}>") != 1 or f"<{tag}>{TITLES.get(status)}</{tag}>" not in text:
            yield f"states another status than the ledger, {shown(status)}"
            return
    tags = re.findall(r"<[^<>]*>", text)
    if len(tags) != text.count("<") or not {tag.replace("</", "<") for tag in tags} <= TAGS:
        yield "has a tag or an attribute that no privacy report has"


def statement_faults(files: ReceivedFiles, terms: Terms) -> Iterator[str]:
    """Yield the differences of the statement of this version from the other files."""
    text = files.text("statement.html")
    if not files.same_version:
        return
    for claim in _claims(files, terms):
        if text.count(claim) != 1:
            yield "states another ε, δ, relation, charge or measure than the ledger and evaluation.json"
            return
        text = text.replace(claim, "")
    # the facts have names and categories of the schema's author
    before, _, rest = text.partition(FACTS_HEADING)
    if re.search(r"<style>|[εδ] ?[=<≤]|epsilon", before + rest.partition("<h2>")[2], re.IGNORECASE):
        yield "states more about ε or δ than the other files"


class _Rows(list):
    """Rows that give what a DataFrame of them gives to the statement."""

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        return list(self)

    def __getitem__(self, column: Any) -> Any:
        return [row[column] for row in self]


def _claims(files: ReceivedFiles, terms: Terms) -> list[str]:
    """Return what the statement must say, from the ledger and the evaluation."""
    from dpml.release.statement import claims

    evaluation: Mapping[str, Any] | None = None
    if "evaluation.json" in files.small:
        evaluation = files.json("evaluation.json")
    released = SimpleNamespace(
        ledger=_Rows(terms.ledger["charges"]),
        evaluation=None if evaluation is None else _Rows(evaluation["measures"]),
        test_share=None if evaluation is None else evaluation.get("test_share"),
        **{name: terms.ledger[name] for name in ("status", "epsilon", "spent", "relation")},
    )
    return claims(released)  # type: ignore[arg-type]
