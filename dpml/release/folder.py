"""The folder of a release: its files, manifest and README, and its writing, which leaves no half of a release."""

import contextlib
import errno
import hashlib
import json
import os
import platform
import shutil
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from dpml.exceptions import DISTRIBUTION, InvalidParameter

MANIFEST, README = "manifest.json", "README.md"
RELEASE, DEMONSTRATION = "release", "simulation, not a release"
MODEL_FORMAT = "dpml additive model, version 1"
# the beginnings of the note on columns of a synthetic table that carry no information
UNIFORM_KEPT = "Columns of table.csv sampled uniformly from their public domain, without information from the data"
UNIFORM_LEFT_OUT = "Left out of table.csv, because the released counts carry no information about them"
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
# with other versions, a model may fail to load or predict otherwise
LIBRARIES = (DISTRIBUTION, "joblib", "numpy", "pandas", "scikit-learn", "scipy")
# the file that marks a folder as held
HOLD = "unfinished-release"
# bytes that are written as a trial, and bytes that are reserved for a release without a large table
TRIAL, RESERVED = 1_000_000, 16_000_000
MOST_RESERVED = 2_000_000_000


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
    """Return a sentence that compares the accuracy with the majority-class baseline. Post-processing."""
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
    """Return a sentence on the uninformative columns of a synthetic table, or an empty text."""
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


def check_folder(folder: str | os.PathLike) -> Path:
    """Return the path of a folder that can be written to: new, or empty."""
    path = Path(folder)
    try:
        free = not os.path.lexists(path) or (path.is_dir() and not path.is_symlink() and not any(path.iterdir()))
    except OSError:
        free = False
    if not free or "\0" in os.fsdecode(path):
        raise InvalidParameter("folder", str(folder), "a folder that does not exist, or is empty")
    return path


class FolderNotWritten(OSError):
    """The folder of a release cannot be written. The message names the folder that has the files, if there is one."""

    @classmethod
    def by(cls, error: OSError, message: str) -> Self:
        """Return the error that follows from one of the system, with its number."""
        message = f"{error.strerror or error}: {message}"
        return cls(message) if error.errno is None else cls(error.errno, message)


class HeldFolder:
    """A new or empty folder that is held for a release, with a proof that it can be written and reserved bytes.

    The files are written into a draft beside it, which takes its name at the end. If that fails, they are written into
    another new folder, and the error names it.
    """

    def __init__(self, folder: str | os.PathLike, size: int = 0):
        self.path = check_folder(folder).absolute()
        self._size = min(size, MOST_RESERVED)
        self._hold, self._draft = self.path / HOLD, self.path.parent / f".dpml-{uuid.uuid4().hex}"
        self._reserve = self._draft / "reserve"
        self._is_new = self._is_held = False

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.path.mkdir()
                self._is_new = True
            if os.path.ismount(self.path):
                cause = "Is the root of a mounted file system. Choose a new folder inside it"
                raise OSError(errno.EBUSY, cause, str(self.path))
            _write(self._hold, b"A release is being written here.\n")
            self._is_held = True
            self._draft.mkdir()
            _write(self._reserve, bytes(min(self._size, TRIAL)))
            if self._size > TRIAL:
                _reserve(self._reserve, self._size)
        except OSError as error:
            self._let_go()
            raise FolderNotWritten.by(error, f"{str(self.path)!r} cannot be written") from error
        except BaseException:
            self._let_go()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._let_go()

    def write(self, contents: Mapping[str, bytes]) -> Path:
        """Write all files, and return the folder. Ctrl-C and SIGTERM wait until they are written."""
        from dpml.budget.ledger import delay_signals

        with delay_signals():
            try:
                self._reserve.unlink()
                shutil.copymode(self.path, self._draft)
                _fill(self._draft, contents)
                self._hold.unlink()
                if os.name == "nt":
                    self.path.rmdir()
                # fails if somebody else has written into the folder
                self._draft.rename(self.path)
            except OSError as error:
                shutil.rmtree(self._draft, ignore_errors=True)
                rescued = _rescue(self.path, contents)
                rest = (
                    "and no other folder could be written"
                    if rescued is None
                    else f"so the files are in {str(rescued)!r}"
                )
                raise FolderNotWritten.by(error, f"{str(self.path)!r} could not be written, {rest}") from error
            _sync_folder(self.path.parent)
        return self.path

    def _let_go(self) -> None:
        """Remove the draft and the mark, and a new folder without files."""
        shutil.rmtree(self._draft, ignore_errors=True)
        with contextlib.suppress(OSError):
            if self._is_held:
                self._hold.unlink(missing_ok=True)
            if self._is_new:
                self.path.rmdir()


def _rescue(path: Path, contents: Mapping[str, bytes]) -> Path | None:
    """Return a new folder beside the path, or of the system's temporary files, with all files; None if both fail."""
    for parent in (path.parent, Path(tempfile.gettempdir())):
        folder = None
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{path.name[:60]}-rescued-", dir=parent))
            _fill(folder, contents)
            return folder
        except OSError:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
    return None


def _fill(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        _write(folder / name, content)
    _sync_folder(folder)


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _reserve(path: Path, size: int) -> None:
    """Extend a file to a size that its disk sets aside, where the system supports it."""
    if not hasattr(os, "posix_fallocate"):
        return
    with path.open("r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise


def _sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
