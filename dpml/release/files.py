"""The files of a release: written into a folder beside the one that is asked for, which then takes its name."""

import io
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import joblib

from dpml.exceptions import InvalidParameter
from dpml.release.folder import MANIFEST, README, manifest, readme
from dpml.release.plain_model import plain_model, score_script
from dpml.release.values import ReleasedValues, baseline_note, uniform_note
from dpml.tables import safe_csv


def check_folder(folder: str | os.PathLike) -> Path:
    """Return the path of a folder that can be written to: new, or empty."""
    path = Path(folder)
    try:
        free = not path.exists() or (path.is_dir() and not path.is_symlink() and not any(path.iterdir()))
    except OSError:
        free = False
    if not free:
        raise InvalidParameter("folder", str(folder), "a folder that does not exist, or is empty")
    return path


def write(released: ReleasedValues, folder: str | os.PathLike, statement: str) -> Path:
    """Write all files, or none: see `Released.save`."""
    path = check_folder(folder).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        draft.mkdir()
        texts = {
            "ledger.json": released.ledger_json(),
            "statement.html": statement,
            "schema.yaml": released.schema_yaml(),
        }
        if released.evaluation is not None:
            texts["evaluation.json"] = released.evaluation_json()
        if released.table is not None:
            texts["table.csv"] = safe_csv(released.table)
        contents = {name: text.encode("utf-8") for name, text in texts.items()}
        if released.model is not None:
            written = io.BytesIO()
            joblib.dump(released.model, written)
            contents["model.joblib"] = written.getvalue()
            plain = plain_model(released.model, released.status)
            if plain is not None:
                contents |= {"model.json": plain.encode("utf-8"), "score.py": score_script().encode("utf-8")}
        notes = [] if released.evaluation is None else [baseline_note(released.evaluation)]
        notes += [] if released.table is None else [uniform_note(released.uniform, released.table)]
        facts: dict[str, Any] = {"relation": released.relation, "status": released.status, "notes": notes}
        contents[README] = readme(list(contents), epsilon=released.spent, **facts).encode("utf-8")
        contents[MANIFEST] = manifest(contents, released.status).encode("utf-8")
        for name, content in contents.items():
            _write(draft / name, content)
        if path.exists():
            # no longer empty: somebody else has written there in the meantime
            path.rmdir()
        draft.rename(path)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return path


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
