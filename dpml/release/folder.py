"""The files of a released folder: a description of each, its manifest and its README."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from dpml.exceptions import DISTRIBUTION

MANIFEST, README = "manifest.json", "README.md"
MODEL_FORMAT = "dpml additive model, version 1"
# the beginnings of the note on columns of a synthetic table that carry no information
UNIFORM_KEPT = "Columns of table.csv sampled uniformly from their public domain, without information from the data"
UNIFORM_LEFT_OUT = "Left out of table.csv, because the released counts carry no information about them"
# what each file is, in one line
CONTENTS = {
    "model.joblib": "the model for Python with dpml, predicts from the raw table",
    "model.json": "the same model as plain text, for any program",
    "score.py": "predicts with model.json, needs only Python: python score.py new.csv",
    "table.csv": "the synthetic table",
    "evaluation.json": "private measures of the model, and the noisy counts that they follow from",
    "ledger.json": "every charge to the privacy budget: released value, ε and noise",
    "schema.yaml": "the public metadata",
    "statement.html": "the privacy report for a data-protection officer",
}
# a model that is loaded with others may fail, or predict otherwise
LIBRARIES = (DISTRIBUTION, "joblib", "numpy", "pandas", "scikit-learn", "scipy")


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


def baseline_note(evaluation: Any) -> str:
    """Return how the accuracy compares with the majority-class baseline, in a sentence. Post-processing."""
    rows = {row["measure"]: row for row in evaluation.to_dict(orient="records")}
    accuracy, baseline = rows["accuracy"], rows["majority_accuracy"]
    area = rows["macro_auc" if "macro_auc" in rows else "roc_auc"]["value"]
    figures = f"accuracy {accuracy['value']:.1%}, majority-class baseline {baseline['value']:.1%}, AUC {area:.3f}"
    if accuracy["noise_low"] <= baseline["value"]:
        return (
            f"The model is not measurably better than the majority-class baseline ({figures}). Do not judge it by its "
            "accuracy alone."
        )
    return f"The model is more accurate than the majority-class baseline ({figures})."


def uniform_note(uniform: tuple[str, ...], table: Any) -> str:
    """Return the columns of a synthetic table that carry no information, in a sentence, or an empty text."""
    if not uniform:
        return ""
    kept = set(uniform) <= set(table.columns)
    return f"{UNIFORM_KEPT if kept else UNIFORM_LEFT_OUT}: {', '.join(uniform)}."


def readme(names: list[str], *, epsilon: float, relation: str, status: str, notes: Sequence[str] = ()) -> str:
    """Return the folder's README for a reader who does not know dpml. `notes` are on the model and the table."""
    lines = [
        "# A private release",
        "",
        f"Status: {status}. ε = {epsilon:.6g} under {relation}, δ = 0.",
        "Read statement.html first. This privacy report explains the guarantee for one person.",
        "",
        *(line for note in notes if note for line in (note, "")),
        *(f"- `{name}`: {CONTENTS[name]}" for name in CONTENTS if name in names),
        f"- `{MANIFEST}`: the SHA-256 digest of each file, and the versions of the libraries",
        "",
        "Check that no file has changed:",
        "",
        "    python -m dpml verify .",
        "",
    ]
    if "model.joblib" in names:
        lines += [
            "Predict with the model. Loading a joblib file can run code: load it only if you trust its author.",
            "",
            "    import joblib, pandas as pd",
            '    model = joblib.load("model.joblib")',
            '    print(model.predict(pd.read_csv("new.csv")))',
            "",
        ]
    return "\n".join(lines)
