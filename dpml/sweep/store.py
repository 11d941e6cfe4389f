"""The folder of a sweep: Parquet files that appear whole or not at all, so that a sweep that was killed goes on.

A folder holds ``manifest.json``, what is swept and by which versions, and ``parts/``, one file for each batch of cells.
Which cells a file holds follows from the declaration alone, and so does its content. A file is written under another
name, forced to the disk, and renamed; a rename is atomic. So a kill at any moment leaves each batch either missing or
complete, and no row is lost or stands twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpml
from dpml.exceptions import MissingExtra, StoreBusy, StoreChanged, StoreDamaged, StoreError
from dpml.sweep.declaration import Declaration, of_facts
from dpml.sweep.plan import Cell, batches, cells_of
from dpml.sweep.table import joined, rows_of, settings_of

FORMAT = 2
MANIFEST, PARTS, LOCK, PARTIAL = "manifest.json", "parts", ".lock", ".partial"
# what a kill before the manifest may leave
LEFT = (f"{MANIFEST}{PARTIAL}",)
MARK, VERSIONS = b"dpml.sweep", "made with"


def require_pyarrow() -> Any:
    """Return pyarrow's Parquet module, or say which extra brings it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("Storing a sweep as Parquet", "pyarrow", "large") from error
    return pyarrow.parquet


def made_with() -> dict[str, str]:
    """Return the versions on which the numbers may depend."""
    import scipy

    return {"dpml": dpml.__version__, "numpy": np.__version__, "scipy": scipy.__version__}


def fingerprint(facts: dict[str, Any]) -> str:
    """Return a checksum of all that decides the results."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Store:
    """The results of one declaration in one folder. Use it as a context: it locks the folder.

    `folder`: empty, missing, or of the same sweep. `batches`: from `dpml.sweep.plan.batches`. Raises `StoreChanged`
    where the folder is of another sweep, or of other versions. The message names the first difference.
    """

    def __init__(self, folder: str | os.PathLike, declaration: Declaration, batches: Sequence[Sequence[Cell]]):
        self._parquet = require_pyarrow()
        self.folder, self.batches = Path(folder), batches
        self.facts = {"format": FORMAT, **declaration.facts(), VERSIONS: made_with()}
        self._lock: Any = None

    def __enter__(self) -> Store:
        try:
            # before anything is made in it: another's folder stays as it is
            foreign = self.folder.is_dir() and {each.name for each in self.folder.iterdir()} - {PARTS, LOCK, *LEFT}
            if foreign and MANIFEST not in foreign:
                raise StoreDamaged(str(self.folder), "holds files but no manifest.json: name an empty folder")
            (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
            self._take_lock()
        except OSError as error:
            raise StoreError(str(self.folder), f"cannot be made or written: {error.strerror or error}") from error
        try:
            self._open()
        except BaseException:
            self._give_lock()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._give_lock()

    # ---- batches ------------------------------------------------------------------------------------------------

    def has(self, index: int) -> bool:
        """Return whether a batch is complete."""
        return self._path(index).is_file()

    def put(self, index: int, results: Sequence[dict[str, np.ndarray]]) -> None:
        """Write a batch."""
        import pyarrow

        frame = rows_of(self.batches[index], results)
        table = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(
            {MARK: self._mark(index)}
        )
        with self._new_file(self._path(index)) as partial:
            self._parquet.write_table(table, partial, compression="zstd")

    def read(self, index: int) -> pd.DataFrame:
        """Return the rows of a batch."""
        path = self._path(index)
        try:
            table = self._parquet.read_table(path)
        except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
            raise StoreDamaged(str(path), "is not a Parquet file: delete it to have it computed again") from error
        frame = table.to_pandas()
        expected = sum(cell.draws for cell in self.batches[index])
        mark = (table.schema.metadata or {}).get(MARK)
        if len(frame) != expected or mark != self._mark(index):
            raise StoreDamaged(str(path), "has other rows than this sweep's: delete it to have it computed again")
        return frame

    def _mark(self, index: int) -> bytes:
        """Return what a file says of itself: the sweep and the number of its batch."""
        return f"{fingerprint(self.facts)} {index}".encode()

    def _path(self, index: int) -> Path:
        return self.folder / PARTS / f"{index:07d}.parquet"

    # ---- the folder ---------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Compare the manifest with what is asked for, or write it; remove what a killed run has half written."""
        for folder in (self.folder, self.folder / PARTS):
            for partial in folder.glob(f"*{PARTIAL}"):
                if partial.is_file():
                    partial.unlink()
        path = self.folder / MANIFEST
        known = {f"{index:07d}.parquet" for index in range(len(self.batches))}
        names = {each.name for each in (self.folder / PARTS).iterdir()}
        if path.exists():
            self._compare(path)
        elif names:
            raise StoreDamaged(str(self.folder), "holds files but no manifest.json: name an empty folder")
        else:
            text = json.dumps({"fingerprint": fingerprint(self.facts), **self.facts}, indent=1, ensure_ascii=False)
            with self._new_file(path) as partial:
                partial.write_text(text + "\n", encoding="utf-8")
        if names - known:
            raise StoreDamaged(str(self.folder / PARTS / min(names - known)), "is no file of this sweep")

    def _compare(self, path: Path) -> None:
        stated = _manifest(path)
        facts = json.loads(json.dumps(self.facts))
        for name in dict.fromkeys([*facts, *stated]):
            if facts.get(name) != stated.get(name):
                was, now = (_short(_said(each.get(name))) for each in (stated, facts))
                difference = f"{was}, not {now}" if name == VERSIONS else f"{name} = {was}, not {now}"
                raise StoreChanged(str(self.folder), f"was made with {difference}: name another folder")

    @contextlib.contextmanager
    def _new_file(self, path: Path) -> Iterator[Path]:
        """Give a path to write to; then force the file to the disk and rename it."""
        partial = path.with_name(path.name + PARTIAL)
        try:
            yield partial
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(partial, path)
            _sync_folder(path.parent)
        except OSError as error:
            raise StoreError(str(path), f"could not be written: {error.strerror or error}") from error

    def _take_lock(self) -> None:
        """Lock the folder until this process ends; where the system has no such locks, trust the user."""
        self._lock = (self.folder / LOCK).open("ab")
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._give_lock()
            raise StoreBusy(str(self.folder), "is written by another process: wait for it or end it") from error

    def _give_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def stored(folder: str | os.PathLike) -> pd.DataFrame:
    """Return the table of a finished sweep from its folder.

    The folder may be from other versions of dpml.

    Parameters
    ----------
    folder : path
        The folder that you passed to `sweep` as ``out``.

    Returns
    -------
    DataFrame
        The table that the sweep returned.

    Raises
    ------
    StoreDamaged
        If the folder has no sweep, or the sweep is not finished.

    See Also
    --------
    sweep : Run a study and store its table.
    summarise : Summarise a table of draws.
    """
    facts = _manifest(Path(folder) / MANIFEST)
    try:
        declaration = of_facts(facts)
        jobs = batches(list(cells_of(declaration)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreDamaged(str(folder), "has the manifest of another version") from error
    store = Store(folder, declaration, jobs)
    store.facts = facts
    there = sum(map(store.has, range(len(jobs))))
    if there < len(jobs):
        raise StoreDamaged(str(folder), f"has {there:,} of {len(jobs):,} files: run the sweep to its end")
    return joined(map(store.read, range(len(jobs))), settings_of(declaration))


def _manifest(path: Path) -> dict[str, Any]:
    """Return what a manifest states, if nobody has changed it."""
    try:
        stated: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        mark = stated.pop("fingerprint")
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise StoreDamaged(str(path), "is not the manifest of a sweep") from error
    if mark != fingerprint(stated):
        raise StoreDamaged(str(path), "was changed after it was written")
    return stated


def _sync_folder(folder: Path) -> None:
    """Force a rename to the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _said(value: Any) -> str:
    """Return a value of a manifest in words; versions as they are written elsewhere."""
    if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:80]} ... {text[-30:]}"
