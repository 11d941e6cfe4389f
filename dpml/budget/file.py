"""The entries of a budget in a file that processes share, and that is checked whole before it is believed.

The file is an SQLite database of two tables: one row an entry, and a head with the terms, the number of entries and
the checksum of all of them. A change of any of these that is not a charge no longer fits the head.
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

from dpml.budget.book import Book, link
from dpml.budget.ledger import FORKING, Check, Ledger, Terms
from dpml.exceptions import DpmlError, InvalidParameter, LedgerDamaged, LedgerOutdated, LedgerUnavailable

__all__ = ["FileLedger"]

# seconds that a charge waits for other processes
LOCK_TIMEOUT = 60.0
# ledgers that a worker process keeps between its tasks, each of which brings the budget anew
KEPT = 8

TABLES = (
    "CREATE TABLE head (id INTEGER PRIMARY KEY, facts TEXT NOT NULL, checksum BLOB NOT NULL)",
    "CREATE TABLE entry (id INTEGER PRIMARY KEY, facts TEXT NOT NULL)",
)
OLD_TABLES = {b"total", b"part", b"charge"}


class FileLedger(Ledger):
    """Entries in a file; every charge is on the disk before `record` returns."""

    path: str

    def __init__(self, terms: Terms, path: str, key: str = "", seen: tuple[int, bytes] | None = None):
        super().__init__(terms, key)
        self.path = path
        self._uri = Path(path).as_uri()
        # the number of entries and their checksum, here or in the process that handed the ledger over
        self._seen = seen
        # of the file at the last look, with its head: any change but new entries makes the next look check all of it
        self._stamp: tuple[int, int, int] | None = None
        self._row: tuple[bytes, bytes] | None = None

    @classmethod
    def open(cls, terms: Terms, path: str, must_exist: bool = False) -> FileLedger:
        """Open a ledger and check all of it, or begin one."""
        ledger = cls(terms, path)
        if not ledger._stands():
            if must_exist:
                raise LedgerUnavailable(path, "does not exist, and must_exist=True forbids to begin it")
            ledger._create()
        with ledger.look():
            return ledger

    @contextmanager
    def look(self) -> Iterator[Book]:
        """Hold the entries as they are now."""
        with self._transaction("BEGIN"):
            yield self._book

    def record(self, entries: list[dict[str, Any]], check: Check | None = None) -> None:
        """Write new entries, all or none, unless the check raises; they count from when they are on the disk."""
        texts = [Book.text(entry) for entry in entries]
        with self._lock:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                if check is not None:
                    check(self._book)
                count, chain = self._book.count, self._book.chain
                for text in texts:
                    count, chain = count + 1, link(chain, text)
                    connection.execute("INSERT INTO entry VALUES (?, ?)", (count, text.decode()))
                head = _head(self.terms, self.key, count, chain)
                connection.execute("UPDATE head SET facts = ?, checksum = ? WHERE id = 1", head)
                connection.execute("COMMIT")
            for text in texts:
                self._book.add(text)
            self._seen = count, chain
            self._row, self._stamp = (head[0].encode(), head[1]), _stamp(self.path)

    # ---- the file ---------------------------------------------------------------------------------------------

    def _stands(self) -> bool:
        """Return whether the file is there, before SQLite may touch it."""
        if self._is_file():
            return True
        # another process may begin the ledger at this moment, so the file is looked for once more
        if os.path.lexists(self.path + "-journal") and not self._is_file():
            raise LedgerDamaged(self.path, "is gone, but the journal of a charge to it is still there")
        return self._is_file()

    def _is_file(self) -> bool:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            folder = os.path.dirname(self.path)
            if not os.path.isdir(folder):
                raise LedgerUnavailable(self.path, f"cannot be there: the folder {folder!r} does not exist") from None
            return False
        except OSError as error:
            raise LedgerUnavailable(self.path, f"cannot be looked at: {error.strerror}") from error
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
            raise LedgerUnavailable(self.path, f"is {kind}; it must be a file")
        if found.st_size == 0:
            raise LedgerDamaged(self.path, "is empty: it has lost its charges, or never was a ledger")
        return True

    def _create(self) -> None:
        """Begin a ledger: it is written under another name, and gets its own only when it is whole on the disk."""
        folder = os.path.dirname(self.path)
        draft = os.path.join(folder, f".ledger-{uuid.uuid4().hex}.new")
        key = uuid.uuid4().hex
        try:
            with self._connection(f"{Path(draft).as_uri()}?mode=rwc") as connection:
                connection.execute("BEGIN IMMEDIATE")
                for table in TABLES:
                    connection.execute(table)
                head = _head(self.terms, key, 0, Book(key.encode(), self.terms.relation).chain)
                connection.execute("INSERT INTO head VALUES (1, ?, ?)", head)
                connection.execute("COMMIT")
            # another process may be first: its ledger is the one
            with suppress(FileExistsError):
                _give_name(draft, self.path)
            _sync_folder(folder)
        except OSError as error:
            cause = f"cannot be begun: {error.strerror}"
            if error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                cause += "; the file system of its folder must have hard links"
            raise LedgerUnavailable(self.path, cause) from error
        finally:
            for name in (draft, draft + "-journal"):
                with suppress(OSError):
                    os.unlink(name)

    @contextmanager
    def _connection(self, uri: str) -> Iterator[sqlite3.Connection]:
        """Connect anew each time: a connection outlives neither a fork nor a file that is put in the file's place."""
        try:
            connection = sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None)
            try:
                connection.text_factory = bytes
                # FULL, and the folder is synced too: else the journal of a charge could return after a power cut
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA cell_size_check = ON")
                yield connection
            finally:
                # what is not committed is undone
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
        """Bring the book up to date: by the new entries alone, or by all of them where anything else changed."""
        try:
            # the first query takes the lock, so nobody else writes between this and the rest
            row = None if self._row is None else _head_row(connection, self.path)
            stamp = _stamp(self.path)
            if row is not None and row == self._row and stamp == self._stamp:
                return
            if stamp is None:
                raise _gone(self.path)
            pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            if stamp[1] < pages * size:
                raise LedgerDamaged(self.path, f"is cut: it has {stamp[1]:,} of {pages * size:,} bytes")
            if row is None or row == self._row:
                _check_file(connection, self.path)
                row = _head_row(connection, self.path)
                facts = self._facts(row)
                self._take(connection, facts, Book(facts["ledger"].encode(), self.terms.relation))
            else:
                facts = self._facts(row)
                if facts["entries"] <= self._book.count:
                    raise LedgerDamaged(self.path, "is not what it was: charges that were there before are missing")
                self._take(connection, facts, self._book)
            self._row = row
            self._stamp = stamp
        except DpmlError:
            raise
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise LedgerDamaged(self.path, f"is damaged: {error!r}") from error

    def _facts(self, row: tuple[bytes, bytes]) -> dict[str, Any]:
        """Return what the head says, if it is of this ledger."""
        facts = json.loads(row[0])
        if self.key and facts["ledger"] != self.key:
            raise LedgerDamaged(self.path, "is another ledger than the one that was there before")
        terms = Terms(facts["epsilon"], facts["delta"], facts["relation"])
        if terms != self.terms:
            allowed = f"{tuple(terms)}, as the ledger {self.path} was begun with"
            raise InvalidParameter("(epsilon, delta, relation)", tuple(self.terms), allowed)
        return facts

    def _take(self, connection: sqlite3.Connection, facts: dict[str, Any], book: Book) -> None:
        """Add to a book the entries that it has not got, once they are known to fit the head."""
        rows = connection.execute("SELECT id, facts FROM entry WHERE id > ? ORDER BY id", (book.count,)).fetchall()
        count, chain = book.count, book.chain
        is_seen = self._seen in (None, (count, chain))
        for number, text in rows:
            count, chain = count + 1, link(chain, text)
            if number != count:
                raise LedgerDamaged(self.path, f"is damaged: entry {count} is missing")
            is_seen = is_seen or self._seen == (count, chain)
        if (count, chain.hex()) != (facts["entries"], facts["chain"]):
            raise LedgerDamaged(self.path, "is damaged: its entries do not fit its checksum")
        if not is_seen:
            raise LedgerDamaged(self.path, "is not what it was: charges that were there before are missing")
        for _, text in rows:
            book.add(text)
        self.key, self._book, self._seen = facts["ledger"], book, (count, chain)

    def __reduce__(self) -> tuple:
        with self._lock:
            return _same_file, (self.terms, self.path, self.key, self._seen)


# ---- the file's parts ---------------------------------------------------------------------------------------------


def _head(terms: Terms, key: str, count: int, chain: bytes) -> tuple[str, bytes]:
    facts = json.dumps({"ledger": key, **terms._asdict(), "entries": count, "chain": chain.hex()})
    return facts, link(b"head", facts.encode())


def _head_row(connection: sqlite3.Connection, path: str) -> tuple[bytes, bytes]:
    """Return the head as it is stored, if it is whole."""
    rows = connection.execute("SELECT id, facts, checksum FROM head").fetchall()
    if len(rows) != 1 or rows[0][0] != 1 or link(b"head", rows[0][1]) != rows[0][2]:
        raise LedgerDamaged(path, "is damaged: its head does not fit its checksum")
    return rows[0][1:]


def _check_file(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless SQLite finds no fault in the file, and nothing in it but the tables of a ledger."""
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != b"delete":
        raise LedgerDamaged(path, "is damaged: its journal mode is not a ledger's")
    schema = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
    if {name for name, _ in schema} >= OLD_TABLES:
        raise LedgerOutdated(
            path,
            "was begun by an earlier version of dpml, whose ledgers have no checksums and cannot be checked: read its "
            f"charges with sqlite3.connect({path!r}).execute('SELECT * FROM charge').fetchall(), begin a ledger under "
            "another path, and spend there what they add up to",
        )
    if sorted(sql or b"" for _, sql in schema) != sorted(table.encode() for table in TABLES):
        raise LedgerDamaged(path, "is a database, but not a whole ledger of dpml")
    found = connection.execute("PRAGMA integrity_check").fetchall()
    if found != [(b"ok",)]:
        raise LedgerDamaged(path, f"is damaged: {found[0][0].decode(errors='replace')}")


def _gone(path: str) -> LedgerDamaged:
    return LedgerDamaged(path, "is gone from where it was; its charges are not known any more")


def _named(path: str, error: Exception) -> DpmlError:
    """Return a named error for one of SQLite's."""
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
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _give_name(draft: str, path: str) -> None:
    """Give a file its name, unless that is taken: of several processes at once, one succeeds."""
    if os.name == "nt":
        os.rename(draft, path)
    else:
        os.link(draft, path)


def _sync_folder(folder: str) -> None:
    """Put a folder's names on the disk, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_recent: OrderedDict[tuple[str, str], FileLedger] = OrderedDict()


def _same_file(terms: Terms, path: str, key: str, seen: tuple[int, bytes]) -> FileLedger:
    """Return this process's ledger for a file, or one that checks the whole file when it is first used."""
    with FORKING:
        found = _recent.pop((path, key), None)
        # one that knows less than the sender did would not miss what the sender saw
        if found is None or found._book.count < seen[0]:
            found = FileLedger(terms, path, key, seen)
        _recent[path, key] = found
        while len(_recent) > KEPT:
            _recent.popitem(last=False)
        return found
