"""The folder of a sweep: Parquet files that appear whole or not at all, so that you can resume a sweep that was killed.

A folder has ``manifest.json``, which records the study and the versions, and ``parts/``, one file for each batch of
cells. The declaration alone decides which cells a file has, and its content. A file is written under another name,
forced to the disk, and renamed; a rename is atomic. So a kill at any moment leaves each batch either missing or
complete, and no row is lost or written twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpml
from dpml.exceptions import MissingExtra, StoreBusy, StoreChanged, StoreDamaged, StoreError
from dpml.sweep.declaration import Cell, Declaration, batches, cells_of, of_facts
from dpml.sweep.table import joined, rows_of, settings_of

FORMAT = 2
MANIFEST, PARTS, LOCK, PARTIAL = "manifest.json", "parts", ".lock", ".partial"
MARK, VERSIONS = b"dpml.sweep", "made with"


class Store:
    """The results of one declaration in one folder. As a context it locks the folder, which must be empty or its own.

    A folder of another sweep or of other versions raises `StoreChanged`, and the message names the first difference.
    """

    def __init__(self, folder: str | os.PathLike, declaration: Declaration, jobs: Sequence[Sequence[Cell]]):
        import scipy

        try:
            import pyarrow.parquet
        except ImportError as error:
            raise MissingExtra("Storing a sweep as Parquet", "pyarrow", "large") from error
        self._parquet = pyarrow.parquet
        self.folder, self.jobs = Path(folder), jobs
        versions = {"dpml": dpml.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
        self.facts = {"format": FORMAT, **declaration.facts(), VERSIONS: versions}
        self._lock: Any = None

    def __enter__(self) -> Store:
        try:
            # checked before anything is made in it, so that a foreign folder stays unchanged
            names = {each.name for each in self.folder.iterdir()} if self.folder.is_dir() else set()
            if MANIFEST not in names and names - {PARTS, LOCK, MANIFEST + PARTIAL}:
                raise StoreDamaged(str(self.folder), "holds files but no manifest.json: name an empty folder")
            (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
            self._take_lock()
        except OSError as error:
            raise StoreError(str(self.folder), f"cannot be made or written: {error.strerror or error}") from error
        try:
            self._open()
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    # ---- batches ----------------------------------------------------------------------------------------------------

    def has(self, index: int) -> bool:
        """Return whether a batch is complete."""
        return self._path(index).is_file()

    def put(self, index: int, results: Sequence[dict[str, np.ndarray]]) -> None:
        """Write a batch."""
        import pyarrow

        table = pyarrow.Table.from_pandas(rows_of(self.jobs[index], results), preserve_index=False)
        table = table.replace_schema_metadata({MARK: self._mark(index)})
        _write(self._path(index), lambda path: self._parquet.write_table(table, path, compression="zstd"))

    def read(self, index: int) -> pd.DataFrame:
        """Return the rows of a batch."""
        path = self._path(index)
        try:
            table = self._parquet.read_table(path)
        except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
            raise StoreDamaged(str(path), "is not a Parquet file: delete it to have it computed again") from error
        expected = sum(cell.draws for cell in self.jobs[index])
        if len(table) != expected or (table.schema.metadata or {}).get(MARK) != self._mark(index):
            raise StoreDamaged(str(path), "has other rows than this sweep's: delete it to have it computed again")
        return table.to_pandas()

    def _mark(self, index: int) -> bytes:
        """Return the mark in a file: the fingerprint of the sweep and the number of the batch."""
        return f"{_fingerprint(self.facts)} {index}".encode()

    def _path(self, index: int) -> Path:
        return self.folder / PARTS / f"{index:07d}.parquet"

    # ---- the folder -------------------------------------------------------------------------------------------------

    def _take_lock(self) -> None:
        """Lock the folder until this process ends; a system without such locks trusts the user."""
        self._lock = (self.folder / LOCK).open("ab")
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise StoreBusy(str(self.folder), "is written by another process: wait for it or end it") from error

    def _open(self) -> None:
        """Remove partial files of a killed run, and compare the manifest with this sweep, or write it."""
        path = self.folder / MANIFEST
        for partial in (*self.folder.glob(f"*{PARTIAL}"), *path.parent.glob(f"{PARTS}/*{PARTIAL}")):
            if partial.is_file():
                partial.unlink()
        names = {each.name for each in (self.folder / PARTS).iterdir()}
        if path.exists():
            self._compare(_manifest(path))
        elif names:
            raise StoreDamaged(str(self.folder), "holds files but no manifest.json: name an empty folder")
        else:
            stated = {"fingerprint": _fingerprint(self.facts), **self.facts}
            text = json.dumps(stated, indent=1, ensure_ascii=False) + "\n"
            _write(path, lambda partial: partial.write_text(text, encoding="utf-8"))
        foreign = names - {self._path(index).name for index in range(len(self.jobs))}
        if foreign:
            raise StoreDamaged(str(self.folder / PARTS / min(foreign)), "is no file of this sweep")

    def _compare(self, stated: dict[str, Any]) -> None:
        """Refuse a folder whose manifest states another sweep or other versions."""
        facts = json.loads(json.dumps(self.facts))
        for name in dict.fromkeys([*facts, *stated]):
            if facts.get(name) != stated.get(name):
                was, now = (_short(each.get(name)) for each in (stated, facts))
                difference = f"{was}, not {now}" if name == VERSIONS else f"{name} = {was}, not {now}"
                raise StoreChanged(str(self.folder), f"was made with {difference}: name another folder")


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


def _fingerprint(facts: dict[str, Any]) -> str:
    """Return a checksum of all facts that decide the results."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _manifest(path: Path) -> dict[str, Any]:
    """Return the facts in a manifest, which must be unchanged."""
    try:
        stated: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        mark = stated.pop("fingerprint")
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise StoreDamaged(str(path), "is not the manifest of a sweep") from error
    if mark != _fingerprint(stated):
        raise StoreDamaged(str(path), "was changed after it was written")
    return stated


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under another name, force it to the disk, rename it, and force the rename to the disk."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        write(partial)
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise StoreError(str(path), f"could not be written: {error.strerror or error}") from error
    with contextlib.suppress(OSError):  # some systems do not open folders
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _short(value: Any) -> str:
    """Return a value of a manifest as a short text, versions as a list of names and numbers."""
    if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        text = ", ".join(f"{name} {each}" for name, each in value.items())
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:80]} ... {text[-30:]}"
