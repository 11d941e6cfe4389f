"""The ledger of a budget in a file that processes can share. The whole file is checked before it is used.

The file is an SQLite database of two tables: `entry` has one row for each entry, and `head` holds the terms, the number
of entries and the checksum of all of them. Any change other than a charge makes the entries and the head disagree.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpml.budget.ledger import FORKING, Check, Ledger, RunningTotals, Terms, chain_hash
from dpml.exceptions import DpmlError, InvalidParameter, LedgerDamaged, LedgerOutdated, LedgerUnavailable

# seconds that a charge waits for other processes
LOCK_TIMEOUT = 60.0
# ledgers that a worker process keeps open between tasks; every task unpickles the budget again
KEPT = 8

TABLES = (
    "CREATE TABLE head (id INTEGER PRIMARY KEY, facts TEXT NOT NULL, checksum BLOB NOT NULL)",
    "CREATE TABLE entry (id INTEGER PRIMARY KEY, facts TEXT NOT NULL)",
)
OLD_TABLES = {b"total", b"part", b"charge"}


def ledger_path(path: str | os.PathLike | None) -> str | None:
    """Return the absolute path of a file, or None."""
    if path is None:
        return None
    allowed = "a file's name, or None"
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise InvalidParameter("path", path, allowed) from None
    if not name or "\0" in name:
        raise InvalidParameter("path", path, allowed)
    return os.path.realpath(os.path.expanduser(name))


class FileLedger(Ledger):
    """Entries in a file. Every charge is on disk before `record` returns."""

    path: str

    def __init__(self, terms: Terms, path: str, key: str = "", seen: tuple[int, bytes] | None = None):
        super().__init__(terms, key)
        self.path = path
        self._uri = Path(path).as_uri()
        # the number of entries and their checksum when last seen, here or in the process that pickled the ledger
        self._seen = seen
        # the file's stamp and head at the last look: after any change other than new entries, all of it is checked
        self._stamp: tuple[int, int, int] | None = None
        self._row: tuple[bytes, bytes] | None = None

    @classmethod
    def open(cls, terms: Terms, path: str, must_exist: bool = False) -> FileLedger:
        """Open a ledger and check all of it, or start a new one."""
        ledger = cls(terms, path)
        if not ledger._exists():
            if must_exist:
                raise LedgerUnavailable(path, "does not exist, and must_exist=True forbids starting it")
            ledger._create()
        with ledger.read():
            return ledger

    @contextmanager
    def read(self) -> Iterator[RunningTotals]:
        """Return a context that holds the current entries still."""
        with self._transaction("BEGIN"):
            yield self._totals

    def record(self, entries: list[dict[str, Any]], check: Check | None = None) -> None:
        """Write all new entries to disk, or none if the check raises or the write fails."""
        texts = [RunningTotals.text(entry) for entry in entries]
        with self._transaction("BEGIN IMMEDIATE") as connection:
            if check is not None:
                check(self._totals)
            count, chain = self._totals.count, self._totals.chain
            for text in texts:
                count, chain = count + 1, chain_hash(chain, text)
                connection.execute("INSERT INTO entry VALUES (?, ?)", (count, text.decode()))
            head = _head(self.terms, self.key, count, chain)
            connection.execute("UPDATE head SET facts = ?, checksum = ? WHERE id = 1", head)
            version = _data_version(connection)
            connection.execute("COMMIT")
            for text in texts:
                self._totals.add(text)
            self._seen, self._row, self._stamp = (count, chain), (head[0].encode(), head[1]), None
            # the charge is made: after a fault here, the next look checks all of the file
            with suppress(sqlite3.Error):
                connection.execute("BEGIN")
                if _data_version(connection) == version:
                    self._stamp = _stamp(self.path)

    # ---- the file ---------------------------------------------------------------------------------------------

    def _exists(self) -> bool:
        """Return whether the file exists, before SQLite opens it."""
        if self._is_file():
            return True
        # another process may start the ledger at this moment, so look for the file once more
        if os.path.lexists(self.path + "-journal") and not self._is_file():
            raise LedgerDamaged(self.path, "is missing, but the journal of a charge to it still exists")
        return self._is_file()

    def _is_file(self) -> bool:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            folder = os.path.dirname(self.path)
            if not os.path.isdir(folder):
                raise LedgerUnavailable(self.path, f"cannot exist: the folder {folder!r} does not exist") from None
            return False
        except OSError as error:
            raise LedgerUnavailable(self.path, f"cannot be read: {error.strerror}") from error
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
            raise LedgerUnavailable(self.path, f"is {kind}. It must be a file")
        if status.st_size == 0:
            raise LedgerDamaged(self.path, "is empty: it has lost its charges, or was never a ledger")
        return True

    def _create(self) -> None:
        """Start a ledger. It is written under a temporary name, and gets its own name once it is complete on disk."""
        folder = os.path.dirname(self.path)
        draft = os.path.join(folder, f".ledger-{uuid.uuid4().hex}.new")
        key = uuid.uuid4().hex
        try:
            with self._connection(f"{Path(draft).as_uri()}?mode=rwc") as connection:
                connection.execute("BEGIN IMMEDIATE")
                for table in TABLES:
                    connection.execute(table)
                head = _head(self.terms, key, 0, RunningTotals(key.encode(), self.terms.relation).chain)
                connection.execute("INSERT INTO head VALUES (1, ?, ?)", head)
                connection.execute("COMMIT")
            # if another process was first, use its ledger
            with suppress(FileExistsError):
                _give_name(draft, self.path)
            _sync_folder(folder)
        except OSError as error:
            cause = f"cannot be started: {error.strerror}"
            if error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                cause += ". The file system of its folder must support hard links"
            raise LedgerUnavailable(self.path, cause) from error
        finally:
            for name in (draft, draft + "-journal"):
                with suppress(OSError):
                    os.unlink(name)

    @contextmanager
    def _connection(self, uri: str) -> Iterator[sqlite3.Connection]:
        """Open a new connection for each use, since a fork or a replaced file would make an old one invalid."""
        try:
            connection = sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None)
            try:
                connection.text_factory = bytes
                # FULL plus a sync of the folder: otherwise a power cut could bring back the journal of a charge
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA cell_size_check = ON")
                yield connection
            finally:
                # closing rolls back what was not committed
                connection.close()
        except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:
            raise _named(self.path, error) from error

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if not self._is_file():
                raise _gone(self.path)
            with self._connection(f"{self._uri}?mode=rw") as connection:
                connection.execute(begin)
                self._read(connection)
                yield connection

    # ---- reading ----------------------------------------------------------------------------------------------

    def _read(self, connection: sqlite3.Connection) -> None:
        """Update the totals: read only the new entries, or all entries if anything else has changed."""
        try:
            # the first query takes the lock: all facts about the file are read under it, while no other process writes
            pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            row = None if self._row is None else _head_row(connection, self.path)
            stamp = _stamp(self.path)
            if row is not None and row == self._row and stamp == self._stamp:
                return
            if stamp is None:
                raise _gone(self.path)
            if stamp[1] < pages * size:
                raise LedgerDamaged(self.path, f"is truncated: it has {stamp[1]:,} of {pages * size:,} bytes")
            if row is None or row == self._row:
                _check_file(connection, self.path)
                row = _head_row(connection, self.path)
                facts = self._facts(row)
                self._take(connection, facts, RunningTotals(facts["ledger"].encode(), self.terms.relation))
            else:
                facts = self._facts(row)
                if facts["entries"] <= self._totals.count:
                    raise LedgerDamaged(self.path, "has changed: charges that were there before are missing")
                self._take(connection, facts, self._totals)
            self._row = row
            self._stamp = stamp
        except DpmlError:
            raise
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise LedgerDamaged(self.path, f"is damaged: {error!r}") from error

    def _facts(self, row: tuple[bytes, bytes]) -> dict[str, Any]:
        """Return the facts in the head, or raise if they belong to another ledger."""
        facts = json.loads(row[0])
        if self.key and facts["ledger"] != self.key:
            raise LedgerDamaged(self.path, "is a different ledger from the one that was there before")
        terms = Terms(facts["epsilon"], facts["delta"], facts["relation"])
        if terms != self.terms:
            allowed = f"{tuple(terms)}, the values that the ledger {self.path} was started with"
            raise InvalidParameter("(epsilon, delta, relation)", tuple(self.terms), allowed)
        return facts

    def _take(self, connection: sqlite3.Connection, facts: dict[str, Any], totals: RunningTotals) -> None:
        """Read the entries that the totals do not have yet, and check that they fit the head."""
        rows = connection.execute("SELECT id, facts FROM entry WHERE id > ? ORDER BY id", (totals.count,)).fetchall()
        count, chain = totals.count, totals.chain
        is_seen = self._seen in (None, (count, chain))
        for number, text in rows:
            count, chain = count + 1, chain_hash(chain, text)
            if number != count:
                raise LedgerDamaged(self.path, f"is damaged: entry {count} is missing")
            is_seen = is_seen or self._seen == (count, chain)
        if (count, chain.hex()) != (facts["entries"], facts["chain"]):
            raise LedgerDamaged(self.path, "is damaged: its entries do not fit its checksum")
        if not is_seen:
            raise LedgerDamaged(self.path, "has changed: charges that were there before are missing")
        for _, text in rows:
            totals.add(text)
        self.key, self._totals, self._seen = facts["ledger"], totals, (count, chain)

    def __reduce__(self) -> tuple:
        with self._lock:
            return _same_file, (self.terms, self.path, self.key, self._seen)


# ---- the file's parts ---------------------------------------------------------------------------------------------


def _head(terms: Terms, key: str, count: int, chain: bytes) -> tuple[str, bytes]:
    facts = json.dumps({"ledger": key, **terms._asdict(), "entries": count, "chain": chain.hex()})
    return facts, chain_hash(b"head", facts.encode())


def _head_row(connection: sqlite3.Connection, path: str) -> tuple[bytes, bytes]:
    """Return the stored head, or raise if it is damaged."""
    rows = connection.execute("SELECT id, facts, checksum FROM head").fetchall()
    if len(rows) != 1 or rows[0][0] != 1 or chain_hash(b"head", rows[0][1]) != rows[0][2]:
        raise LedgerDamaged(path, "is damaged: its head does not fit its checksum")
    return rows[0][1:]


def _data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes with each write of another connection, and take the lock of the transaction."""
    connection.execute("PRAGMA page_count").fetchone()
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _check_file(connection: sqlite3.Connection, path: str) -> None:
    """Raise if SQLite finds a fault in the file, or if it holds anything but the tables of a ledger."""
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != b"delete":
        raise LedgerDamaged(path, "is damaged: its journal mode is not a ledger's")
    schema = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
    if {name for name, _ in schema} >= OLD_TABLES:
        raise LedgerOutdated(
            path,
            "was started by an earlier version of dpml, whose ledgers have no checksums and cannot be checked: read "
            f"its charges with sqlite3.connect({path!r}).execute('SELECT * FROM charge').fetchall(), start a ledger "
            "under another path, and spend the sum of the charges there",
        )
    if sorted(sql or b"" for _, sql in schema) != sorted(table.encode() for table in TABLES):
        raise LedgerDamaged(path, "is a database, but not a complete ledger of dpml")
    report = connection.execute("PRAGMA integrity_check").fetchall()
    if report != [(b"ok",)]:
        raise LedgerDamaged(path, f"is damaged: {report[0][0].decode(errors='replace')}")


def _gone(path: str) -> LedgerDamaged:
    return LedgerDamaged(path, "is no longer there, and its charges are no longer known")


def _named(path: str, error: Exception) -> DpmlError:
    """Return the named error for an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    if code == sqlite3.SQLITE_READONLY_DBMOVED:
        return _gone(path)
    kind = code & 0xFF
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerUnavailable(path, f"was locked by another process for more than {LOCK_TIMEOUT:g} s")
    if kind == sqlite3.SQLITE_READONLY:
        return LedgerUnavailable(path, f"is read-only, or its folder is ({error})")
    if kind == sqlite3.SQLITE_FULL:
        return LedgerUnavailable(path, f"cannot be written: the disk is full ({error})")
    if kind == sqlite3.SQLITE_NOTADB:
        return LedgerDamaged(path, "is another kind of file, or its beginning is damaged")
    if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT):
        return LedgerDamaged(path, f"is damaged: {error}")
    return LedgerUnavailable(path, f"cannot be opened, read or written ({error})")


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _give_name(draft: str, path: str) -> None:
    """Give a file its name unless the name is taken. If several processes try at once, one succeeds."""
    if os.name == "nt":
        os.rename(draft, path)
    else:
        os.link(draft, path)


def _sync_folder(folder: str) -> None:
    """Write a folder's file names to disk, where the system supports it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_recent: OrderedDict[tuple[str, str], FileLedger] = OrderedDict()


def _same_file(terms: Terms, path: str, key: str, seen: tuple[int, bytes]) -> FileLedger:
    """Return this process's ledger for a file, or a new one that checks the whole file at its first use."""
    with FORKING:
        ledger = _recent.pop((path, key), None)
        # a ledger that has seen fewer entries than the sender could not tell if later ones went missing
        if ledger is None or ledger._totals.count < seen[0]:
            ledger = FileLedger(terms, path, key, seen)
        _recent[path, key] = ledger
        while len(_recent) > KEPT:
            _recent.popitem(last=False)
        return ledger
