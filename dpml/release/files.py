"""The files of a release, and the folder that takes them: held before the charge, and never half a release."""

import contextlib
import errno
import io
import os
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import joblib

from dpml.budget.ledger import signals_held
from dpml.exceptions import InvalidParameter
from dpml.release.folder import MANIFEST, README, baseline_note, manifest, readme, uniform_note
from dpml.release.plain_model import plain_model, score_script
from dpml.release.values import ReleasedValues
from dpml.tables import safe_csv

# the file in a held folder that keeps others from writing there
HOLD = "unfinished-release"
# bytes that are written as a trial, and bytes that are reserved for a release of usual size
TRIAL, RESERVED = 1_000_000, 16_000_000
MOST_RESERVED = 2_000_000_000


def file_contents(released: ReleasedValues, statement: str) -> dict[str, bytes]:
    """Return every file of a release by its name, with the manifest last."""
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
    facts: dict[str, Any] = {"epsilon": released.spent, "relation": released.relation, "status": released.status}
    if released.model is not None:
        written = io.BytesIO()
        joblib.dump(released.model, written)
        contents["model.joblib"] = written.getvalue()
        plain = plain_model(released.model, released.status, epsilon=released.spent, relation=released.relation)
        if plain is not None:
            contents |= {"model.json": plain.encode("utf-8"), "score.py": score_script().encode("utf-8")}
    notes = [] if released.evaluation is None else [baseline_note(released.evaluation)]
    notes += [] if released.table is None else [uniform_note(released.uniform, released.table)]
    contents[README] = readme(list(contents), notes=notes, **facts).encode("utf-8")
    contents[MANIFEST] = manifest(contents, **facts).encode("utf-8")
    return contents


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
    """A new or empty folder that is held for a release and has proven that it can be written.

    The files are written into a draft beside it, which takes its name at the end. If that fails, they are written into
    another new folder, and the error names it.

    Parameters
    ----------
    folder : path-like
    size : int
        The bytes that are reserved on its disk until the files are written.

    Raises
    ------
    InvalidParameter
        On entering the context, if the folder has content, or is a file.
    FolderNotWritten
        On entering the context, if it cannot be written.
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
        with signals_held():
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
        """Remove what is not a release; a folder that has its files is not empty, and stays."""
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
