"""Checks of the folder of a release that somebody else has written. Nothing in it is trusted, run or unpickled.

Each file must be a regular one, of those that a release has, with the size and SHA-256 in the manifest. All must state
the same status, ε, δ and relation, and such a release must be possible. A person who writes all files anew can make
them agree: nothing is signed, so the digest of the manifest must come from the author by another way.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dpml.exceptions import DataNotFound, InvalidSchema, shown
from dpml.release.folder import (
    DEMONSTRATION,
    LIBRARIES,
    MANIFEST,
    MODEL_FORMAT,
    README,
    RELEASE,
    UNIFORM_KEPT,
    UNIFORM_LEFT_OUT,
    baseline_note,
    digest,
    readme,
)
from dpml.release.received import (
    LARGE,
    MOST,
    Deadline,
    ReceivedFiles,
    RefusedError,
    Verified,
    content,
    entries,
    json_values,
    name_shown,
)

LONGEST = 60.0  # seconds for the whole folder
ROUNDING = 1e-9
RELATIONS = ("add-remove", "replace-one")
# the file that each part of a plan releases
FILE_OF_PART = {"training": "model.joblib", "evaluation": "evaluation.json", "publishing": "table.csv"}
PARTS = {"facts", "selection", *FILE_OF_PART}
KEYS_OF_MANIFEST = {"status", "epsilon", "delta", "relation", "python", "versions", "bytes", "files"}
KEYS_OF_LEDGER = {"status", "epsilon", "spent", "relation", "delta", "charges"}
KEYS_OF_CHARGE = {"part", "released", "epsilon", "relation", "noise", "source"}
MOST_CHARGES = 10_000
MOST_KEYS = 12  # at the top of a schema
# noise that no release draws
FOR_STUDY = {"Laplace noise", "Gaussian noise", "geometric noise", "exponential mechanism"}
TITLES = {RELEASE: "Privacy report of a release", DEMONSTRATION: "Simulation, not a release"}
PLAIN_TAGS = "html head title style body h1 h2 h3 p br ul ol li table caption thead tbody tr th td sup sub b strong em"
TAGS = {
    "<!DOCTYPE html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<p class="banner">',
    *(f"<{tag}>" for tag in PLAIN_TAGS.split()),
}
FACTS_HEADING = "<h2>Public metadata</h2>"
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)


def verify(folder: str | os.PathLike) -> tuple[str, ...]:
    """Return the faults of a folder that `Released.save` wrote, in sentences.

    Parameters
    ----------
    folder : path-like
        The folder.

    Returns
    -------
    tuple of str
        A sentence for each fault, or an empty tuple.

    Raises
    ------
    DataNotFound
        There is no such folder, or it has no manifest that can be read.

    See Also
    --------
    Released : Writes such a folder.

    Notes
    -----
    Only regular files of the folder are read, each up to a limit, and nothing is unpickled or run. Each file must have
    the size and the SHA-256 in the manifest, and all must state the same status, ε, δ and relation. The charges must be
    finite, positive and add up. Nothing is signed: the function does not find files that a person wrote anew so that
    they agree. Compare the SHA-256 of the manifest with the one that `python -m dpml release` printed.

    Examples
    --------
    >>> verify("no such folder")
    Traceback (most recent call last):
    dpml.exceptions.DataNotFound: 'no such folder' has no readable manifest.json: ...
    """
    return tuple(inspect(folder).problems)


def inspect(folder: str | os.PathLike) -> Verified:
    """Return the terms that a folder states, and its faults."""
    path, deadline = Path(folder), Deadline(LONGEST)
    try:
        written = content(path / MANIFEST, MOST[MANIFEST], deadline)
        facts = json_values(written)
        stated = _of_manifest(facts, digest(written))
        names, is_full = entries(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        cause = f"it {error}" if isinstance(error, RefusedError) else "the folder is not a release, or has changed"
        raise DataNotFound(f"{shown(str(folder))} has no readable {MANIFEST}: {cause}") from error
    files = ReceivedFiles(path, facts, names, deadline)
    stated.problems += files.problems
    if is_full:
        stated.problems.append(f"the folder has more than {len(names)} files.")
    stated.problems += _contradictions(stated, files)
    stated.problems += _version_problems(facts["versions"])
    return stated


def _of_manifest(facts: dict[str, Any], manifest_digest: str) -> Verified:
    """Return what the manifest states, or raise if it is none."""
    digests, versions = facts["files"], facts["versions"]
    if not all(isinstance(each, dict) and len(each) <= len(MOST) + len(LARGE) for each in (digests, versions)):
        raise TypeError
    if not all(isinstance(value, str) for value in (*digests.values(), *versions.values())):
        raise TypeError
    status = facts.get("status")
    terms: dict[str, Any] = {name: facts.get(name) for name in ("epsilon", "delta", "relation")}
    stated = Verified(str(status), **terms, digest=manifest_digest)
    if not set(facts) <= KEYS_OF_MANIFEST:
        stated.problems.append(f"{MANIFEST} has an unknown key.")
    if status not in TITLES:
        stated.problems.append(f"{MANIFEST} states the unknown status {shown(status)}.")
    return stated


def _contradictions(stated: Verified, files: ReceivedFiles) -> list[str]:
    """Return the impossible statements of the files, and the disagreements between them."""
    if "ledger.json" not in files.small:
        return []
    try:
        ledger = files.json("ledger.json")
        problems = ledger_problems(ledger)
    except UNREADABLE as error:
        cause = str(error) if isinstance(error, RefusedError) else "cannot be read"
        return [f"ledger.json {cause}."]
    terms = Terms(ledger)
    problems += _faults(
        files,
        {
            MANIFEST: lambda: manifest_faults(stated, files, terms),
            README: lambda: readme_faults(files, terms),
            "schema.yaml": lambda: terms.simulated(files.text("schema.yaml").startswith(f"# {DEMONSTRATION}\n")),
            "evaluation.json": lambda: evaluation_faults(files.json("evaluation.json"), terms),
            "model.json": lambda: model_faults(files.json("model.json"), terms),
            "model.joblib": lambda: model_file_faults(files.large["model.joblib"], terms),
            "score.py": lambda: script_faults(files),
            "table.csv": lambda: terms.simulated(DEMONSTRATION in files.header()),
            "statement.html": lambda: (*statement_status_faults(files, terms), *statement_faults(files, terms)),
        },
    )
    if problems or files.problems:
        # refused already, without the import of pandas and the reading of YAML that follow
        return problems
    try:
        schema = schema_of(files.text("schema.yaml"))
    except (ValueError, InvalidSchema, RecursionError):
        return ["schema.yaml cannot be read."]
    if terms.is_release and schema.unconfirmed:
        problems.append("schema.yaml has data-derived entries that are not confirmed.")
    return problems + _faults(
        files,
        {
            "evaluation.json": lambda: class_faults(files.json("evaluation.json"), schema),
            "model.json": lambda: column_faults(files.json("model.json"), schema),
            "table.csv": lambda: header_faults(files.header(), schema),
        },
    )


def _faults(files: ReceivedFiles, checks: Mapping[str, Callable[[], Iterable[str]]]) -> list[str]:
    """Return the faults that checks find in the files that could be read, each with its file's name."""
    problems = []
    for name, check in checks.items():
        if name != MANIFEST and name not in files.small and name not in files.large:
            continue
        try:
            problems += [f"{name} {fault}." for fault in check()]
        except RefusedError as error:
            problems.append(f"{name} {error}.")
        except UNREADABLE:
            problems.append(f"{name} cannot be read.")
    return problems


def _version_problems(versions: Mapping[str, str]) -> list[str]:
    """Return the libraries whose versions differ on this machine, so that a model may fail to load."""
    problems = [f"{name} has no version in {MANIFEST}." for name in LIBRARIES if name not in versions]
    for name, expected in versions.items():
        try:
            found = version(name) if name_shown(name) == name else "missing"
        except PackageNotFoundError:
            found = "missing"
        if found != expected:
            was, name = name_shown(expected), name_shown(name)
            problems.append(f"{name} was {was} and is {found} here: model.joblib may not load.")
    return problems


class Terms:
    """The status, ε, δ and relation of the ledger, which every other file must state too."""

    def __init__(self, ledger: dict[str, Any]):
        self.ledger = ledger
        self.is_release = ledger["status"] == RELEASE

    def status(self, other: Any) -> Iterator[str]:
        """Yield the fault of a file with another status."""
        if other != self.ledger["status"]:
            yield f"states another status than the ledger, {shown(self.ledger['status'])}"

    def simulated(self, is_simulation: bool) -> Iterator[str]:
        """Yield the fault of a file that is marked as a simulation, or not, against the ledger."""
        return self.status(DEMONSTRATION if is_simulation else RELEASE)

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
    """Return the faults of the ledger, or raise an error of `UNREADABLE` if it has another form."""
    charges, spent, allowed = ledger["charges"], ledger["spent"], ledger["epsilon"]
    if set(ledger) != KEYS_OF_LEDGER or not isinstance(charges, list) or len(charges) > MOST_CHARGES:
        raise TypeError
    texts = KEYS_OF_CHARGE - {"epsilon"}
    for charge in charges:
        if set(charge) != KEYS_OF_CHARGE or not all(isinstance(charge[key], str) for key in texts):
            raise TypeError
    numbers = {"spent": spent, "epsilon": allowed}
    numbers |= {f"epsilon of charge {i}": charge["epsilon"] for i, charge in enumerate(charges, 1)}
    for name, value in numbers.items():
        if not _is_number(value) or value <= 0:
            raise RefusedError(f"{name} is {shown(value)}, but must be a finite number greater than 0")
    if not _is_number(ledger["delta"]) or ledger["delta"] != 0:
        raise RefusedError(f"delta is {shown(ledger['delta'])}, but must be 0")
    problems = []
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
        listed, relation = ", ".join(map(name_shown, sorted(others)[:3])), name_shown(str(ledger["relation"]))
        problems.append(f"ledger.json: charges under {listed}, but the relation is {relation}.")
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
    """Return the notes that the README must have. The note on uniform columns must also be in the privacy report."""
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

    # without this check, a text of another form is read for seconds before it is refused
    keys = re.findall(r"^[^\s#-][^:\n]*", text, re.MULTILINE)
    if len(set(keys)) < len(keys) or len(keys) > MOST_KEYS:
        raise ValueError
    return Schema.from_yaml(text)


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
    counts = (count for values in _values_of(facts, "counts") for count in _numbers(values))
    if terms.is_release and any(count != int(count) for count in counts):
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
    yield from terms.simulated(DEMONSTRATION.encode() in texts)
    if b"status_" not in texts:
        yield "is not a model of a release"


def script_faults(files: ReceivedFiles) -> Iterator[str]:
    """Yield the fault of a script that differs from that of this version, since the receiver of the folder runs it."""
    own = Path(__file__).with_name("score.py").read_text(encoding="utf-8")
    if files.same_version and files.text("score.py") != own:
        yield "differs from the script of this version of dpml. Do not run it"


def header_faults(header: list[str], schema: Any) -> Iterator[str]:
    """Yield the fault of a table with other columns than the schema."""
    from dpml.tables.spreadsheet import safe_cell

    # one more column has the labels
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
    # the public metadata may contain any text of the schema's author
    before, _, rest = text.partition(FACTS_HEADING)
    if re.search(r"<style>|[εδ] ?[=<≤]|epsilon", before + rest.partition("<h2>")[2], re.IGNORECASE):
        yield "states more about ε or δ than the other files"


class _Rows(list):
    """Rows with the methods of a DataFrame that the privacy report uses."""

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        return list(self)

    def __getitem__(self, column: Any) -> Any:
        return [row[column] for row in self]


def _claims(files: ReceivedFiles, terms: Terms) -> list[str]:
    """Return the parts that the privacy report must have, from the ledger and the evaluation."""
    from dpml.release.statement import claims

    evaluation = files.json("evaluation.json") if "evaluation.json" in files.small else None
    released = SimpleNamespace(
        ledger=_Rows(terms.ledger["charges"]),
        evaluation=None if evaluation is None else _Rows(evaluation["measures"]),
        test_share=None if evaluation is None else evaluation.get("test_share"),
        **{name: terms.ledger[name] for name in ("status", "epsilon", "spent", "relation")},
    )
    return claims(released)
