"""A released folder, for whoever receives it: what each file is, and whether all is as it was written."""

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpml.exceptions import DataNotFound, InvalidSchema
from dpml.schema import Schema

MANIFEST, README = "manifest.json", "README.md"
MODEL_FORMAT = "dpml additive model, version 1"
# what each file is, in one line
CONTENTS = {
    "model.joblib": "the model: predicts from the raw table, needs Python with dpml",
    "model.json": "the same model as plain text, for any program",
    "score.py": "predicts with model.json, needs Python alone: python score.py new.csv",
    "table.csv": "the synthetic table",
    "evaluation.json": "how good the model is, measured privately, and the noisy counts behind it",
    "ledger.json": "every charge: what was released, with which ε and which noise",
    "schema.yaml": "the facts that were said to be public",
    "statement.html": "the statement for a data-protection officer",
}
# a model that is loaded with others may fail, or predict otherwise
LIBRARIES = ("dpml", "joblib", "numpy", "pandas", "scikit-learn", "scipy")
ROUNDING = 1e-9


def manifest(
    files: Mapping[str, bytes], status: str, *, epsilon: float | None = None, relation: str | None = None
) -> str:
    """Return as JSON the status, ε and relation, the size and SHA-256 of each file, and the versions of libraries."""
    facts = {
        "status": status,
        "epsilon": epsilon,
        "delta": 0.0,
        "relation": relation,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
        "bytes": {name: len(content) for name, content in sorted(files.items())},
        "files": {name: digest(content) for name, content in sorted(files.items())},
    }
    return json.dumps(facts, indent=2)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(content).hexdigest()


def readme(names: list[str], *, epsilon: float, relation: str, status: str) -> str:
    """Return the folder's README, for somebody who has never heard of dpml."""
    lines = [
        "# A private release",
        "",
        f"Status: {status}. ε = {epsilon:.6g} under {relation}, δ = 0.",
        "statement.html says what that means for one person; read it first.",
        "",
        *(f"- `{name}`: {CONTENTS[name]}" for name in CONTENTS if name in names),
        f"- `{MANIFEST}`: the SHA-256 of each file, and the versions of the libraries",
        "",
        "Is all as it was written?",
        "",
        "    python -m dpml verify .",
        "",
    ]
    if "model.joblib" in names:
        lines += [
            "Predict (a joblib file can run code when it is loaded: load it only from people you trust):",
            "",
            "    import joblib, pandas as pd",
            '    model = joblib.load("model.joblib")',
            '    print(model.predict(pd.read_csv("new.csv")))',
            "",
        ]
    return "\n".join(lines)


def verify(folder: str | os.PathLike) -> tuple[str, ...]:
    """Return what is wrong with a folder that `Released.save` wrote, in sentences; none if nothing is.

    Released: nothing. Each file must have the SHA-256 in the manifest. The charges of the ledger must add up to what it
    says was spent, and be no more than was allowed. Ledger, evaluation, schema and statement must say the same status.
    Nothing is unpickled. A manifest that was changed together with a file is not seen: compare its own digest with the
    one that `python -m dpml release` printed.

    Parameters
    ----------
    folder : path-like

    Raises
    ------
    DataNotFound
        There is no such folder, or it has no manifest that can be read.

    Examples
    --------
    >>> verify("no such folder")
    Traceback (most recent call last):
    dpml.exceptions.DataNotFound: 'no such folder' has no manifest.json that can be read: ...
    """
    path = Path(folder)
    try:
        facts = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        files, versions = dict(facts["files"]), dict(facts["versions"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        cause = f"{str(folder)!r} has no {MANIFEST} that can be read: it is no folder of a release, or was changed"
        raise DataNotFound(cause) from error
    problems = []
    for name, expected in sorted(files.items()):
        try:
            same = digest((path / name).read_bytes()) == expected
        except OSError:
            problems.append(f"{name} is missing.")
        else:
            problems += [] if same else [f"{name} is not as it was written: its SHA-256 differs."]
    problems += [
        f"{each.name} is in no list of files: it does not belong to the release."
        for each in sorted(path.iterdir())
        if each.name not in (*files, MANIFEST)
    ]
    problems += _said(path)
    return (*problems, *_versions(versions))


def _said(path: Path) -> list[str]:
    """Return what the files say that cannot be, or that they do not agree on."""
    problems, status = [], ""
    try:
        ledger = json.loads((path / "ledger.json").read_text(encoding="utf-8"))
        status, total = str(ledger["status"]), math.fsum(charge["epsilon"] for charge in ledger["charges"])
        if not abs(total - ledger["spent"]) <= ROUNDING * max(total, 1.0):
            problems.append(f"ledger.json: its charges add up to {total:.6g}, and it says {ledger['spent']:.6g}.")
        if not ledger["spent"] <= ledger["epsilon"] * (1 + ROUNDING):
            problems.append(f"ledger.json: it spent {ledger['spent']:.6g} of {ledger['epsilon']:.6g}.")
        others = {charge["relation"] for charge in ledger["charges"]} - {ledger["relation"]}
        if others:
            problems.append(f"ledger.json: charges under {', '.join(sorted(others))} beside {ledger['relation']}.")
    except (OSError, ValueError, KeyError, TypeError):
        problems.append("ledger.json cannot be read.")
    problems += _statuses(path, status)
    try:
        Schema.from_yaml((path / "schema.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, InvalidSchema):
        problems.append("schema.yaml cannot be read.")
    return problems


def _statuses(path: Path, status: str) -> list[str]:
    """Return the files that say another status than the ledger."""
    release = status == "release"
    others: list[tuple[str, Any]] = []
    try:
        statement, schema = ((path / name).read_text(encoding="utf-8") for name in ("statement.html", "schema.yaml"))
        others.append(("statement.html", "Statement of a private release" in statement))
        others.append(("schema.yaml", "not a release" not in schema.split("\n")[0]))
        if (path / "evaluation.json").exists():
            evaluation = json.loads((path / "evaluation.json").read_text(encoding="utf-8"))
            others.append(("evaluation.json", evaluation["status"] == "release"))
    except (OSError, ValueError, KeyError, TypeError):
        return ["statement.html, schema.yaml or evaluation.json cannot be read."]
    return [
        f"{name} says another status than the ledger, {status!r}." for name, status_of in others if status_of != release
    ]


def _versions(versions: Mapping[str, str]) -> list[str]:
    """Return the libraries whose versions differ here; a model may then fail to load, or predict otherwise."""
    problems = []
    for name, expected in versions.items():
        try:
            here = version(name)
        except PackageNotFoundError:
            here = "missing"
        if here != expected:
            problems.append(f"{name} was {expected} and is {here} here: model.joblib may not load.")
    return problems
