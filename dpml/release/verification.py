"""Checks of the folder of a release that somebody else has written. Nothing in it is trusted, run or unpickled.

Each file must be a regular one, of those that a release has, with the size and SHA-256 in the manifest. All must state
the same status, ε, δ and relation, and such a release must be possible. A person who writes all files anew can make
them agree: nothing is signed, so the digest of the manifest must come from the author by another way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpml.exceptions import DataNotFound, InvalidSchema, shown
from dpml.release.agreement import (
    TITLES,
    Terms,
    class_faults,
    column_faults,
    confirmation_faults,
    evaluation_faults,
    header_faults,
    ledger_problems,
    manifest_faults,
    model_faults,
    model_file_faults,
    readme_faults,
    schema_of,
    schema_status_faults,
    script_faults,
    statement_faults,
    statement_status_faults,
)
from dpml.release.folder import LIBRARIES, MANIFEST, README, digest
from dpml.release.received import Deadline, RefusedError, content, entries, json_values, name_shown
from dpml.release.received_folder import DEMONSTRATION, LARGE, MOST, RELEASE, ReceivedFiles, Verified

# for the whole folder
LONGEST = 60.0
KEYS_OF_MANIFEST = {"status", "epsilon", "delta", "relation", "python", "versions", "bytes", "files"}


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
    Plan : Plans a release.

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
    """Return what the files state that cannot be, or that they do not agree on."""
    problems: list[str] = []
    if "ledger.json" not in files.small:
        return problems
    try:
        ledger = json_values(files.small["ledger.json"])
        problems += ledger_problems(ledger)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        cause = str(error) if isinstance(error, RefusedError) else "cannot be read"
        return [f"ledger.json {cause}."]
    terms = Terms(ledger)
    problems += _faults(
        files,
        {
            MANIFEST: lambda: manifest_faults(stated, files, terms),
            README: lambda: readme_faults(files, terms),
            "schema.yaml": lambda: schema_status_faults(files.text("schema.yaml"), terms),
            "evaluation.json": lambda: evaluation_faults(files.json("evaluation.json"), terms),
            "model.json": lambda: model_faults(files.json("model.json"), terms),
            "model.joblib": lambda: model_file_faults(files.large["model.joblib"], terms),
            "score.py": lambda: script_faults(files),
            "table.csv": lambda: terms.status(DEMONSTRATION if DEMONSTRATION in files.header() else RELEASE),
            "statement.html": lambda: (*statement_status_faults(files, terms), *statement_faults(files, terms)),
        },
    )
    if problems or files.problems:
        # what follows imports pandas and reads YAML: a folder that is refused anyway is refused at once
        return problems
    try:
        schema = schema_of(files.text("schema.yaml"))
    except (ValueError, InvalidSchema, RecursionError):
        return ["schema.yaml cannot be read."]
    return _faults(
        files,
        {
            "schema.yaml": lambda: confirmation_faults(schema, terms),
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
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
            problems.append(f"{name} cannot be read.")
    return problems


def _version_problems(versions: Mapping[str, str]) -> list[str]:
    """Return the libraries whose versions differ here; a model may then fail to load, or predict otherwise."""
    problems = [f"{name} has no version in {MANIFEST}." for name in LIBRARIES if name not in versions]
    for name, expected in versions.items():
        try:
            here = version(name) if name_shown(name) == name else "missing"
        except PackageNotFoundError:
            here = "missing"
        if here != expected:
            problems.append(
                f"{name_shown(name)} was {name_shown(expected)} and is {here} here: model.joblib may not load."
            )
    return problems
