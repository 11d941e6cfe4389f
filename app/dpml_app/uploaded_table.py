"""The table of one session: under a name that nobody can guess, in memory alone, until the session ends.

A result is kept under the arguments of its call, and the name is one of them. So no other session finds a result of the
table. The name is in no link and no message. When the session ends the table goes, and so does what was computed of it,
in the server and in the workers.
"""

import pickle
import secrets
import threading
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dpml.datasets import Dataset
from dpml.datasets.own import CUTS, own_dataset
from dpml.exceptions import DpmlError, TableTooLarge
from dpml.schema import Schema
from dpml_app.serving.clients import current_client
from dpml_app.serving.limits import CLIENT_MB, SESSION_MB, TABLES_MB, UPLOAD_MB, ServerFull, most

PREFIX = "own-"
TITLE = "My table"
# encoded records are zeros and ones of 8 bytes
CELL = 8


class NotHere(DpmlError, KeyError):
    """The table of a session was asked for, and the session has ended."""

    def __str__(self) -> str:
        return "the table of this session was deleted. Upload it again"


@dataclass(frozen=True, eq=False)
class UploadedTable:
    """A session's table."""

    # what calls and results name
    name: str
    # what a worker makes it from
    payload: bytes
    # that it takes in the server: its encoded records and the payload
    bytes: int
    data: Dataset
    # what was stated of the format of its file, as `read_table` takes it
    stated: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "<the table of a session>"  # no name, no number, wherever it is printed


_HELD: dict[str, Any] = {}
# the client of each held table; and of each upload that is no table in use, with its bytes
_CLIENTS: dict[str, str] = {}
_UPLOADS: dict[int, tuple[str, int]] = {}
_CHANGING = threading.RLock()


def is_uploaded(name: Any) -> bool:
    """Return whether a data set's name is that of a session's table."""
    return isinstance(name, str) and name.startswith(PREFIX)


def display_name(name: str) -> str:
    """Return how a message calls a data set.

    >>> display_name("toy"), display_name("own-1f")
    ('toy', 'My table')
    """
    return TITLE if is_uploaded(name) else name


def named(arguments: Iterable[Any]) -> set[str]:
    """Return the sessions' tables that a call's arguments name.

    >>> named(("accuracy", ("own-1f", 3), 0.1))
    {'own-1f'}
    """
    names: set[str] = set()
    for each in arguments:
        names |= named(each) if isinstance(each, tuple) else {each} if is_uploaded(each) else set()
    return names


def most_bytes() -> int:
    """Return the most bytes of an upload: 50 MB, or what the server was started with."""
    return int(1e6 * most(UPLOAD_MB))


def encoded_cells(records: int, schema: Schema) -> int:
    """Return how many zeros and ones a table becomes."""
    widths = {"numeric": CUTS, "binary": 1}
    return records * sum(widths.get(f.kind, len(f.categories or ())) for f in schema.features)


# ---- in the server ---------------------------------------------------------------------------------------------------


def make(
    frame: pd.DataFrame, label: str, schema: Schema, file: str, stated: Mapping[str, Any] | None = None
) -> UploadedTable:
    """Return a session's table, not yet held; raise what is too large or does not fit."""
    cells, allowed = encoded_cells(len(frame), schema), most(SESSION_MB)
    if CELL * cells > 1e6 * allowed:
        takes = f"they need {CELL * cells / 1e6:,.1f} MB of memory, the limit is {allowed:g} MB"
        cause = f"one-hot encoding gives {cells:,} cells: {takes}"
        raise TableTooLarge(file, f"{cause}. Leave out columns with many categories")
    name = PREFIX + secrets.token_hex(16)
    frame = frame[[*schema.feature_names, label]]
    data = own_dataset(frame, label, schema, name=name, title=TITLE)
    payload = pickle.dumps((frame, label, schema))
    return UploadedTable(name, payload, CELL * cells + len(payload), data, stated or {})


def attach(table: UploadedTable) -> None:
    """Hold a table while its session lives."""
    with _CHANGING:
        client = current_client()
        _check_room(client, table.bytes)
        _HELD[table.name] = table
        _CLIENTS[table.name] = client


class UploadRoom:
    """The memory of an upload that is no table in use: on its way, being read, or waiting for facts.

    It counts for the client of the session until it is freed or garbage-collected.
    """

    def __init__(self) -> None:
        self._client = current_client()
        weakref.finalize(self, _free, id(self))

    def take(self, size: int) -> None:
        """Take so many bytes instead of those before; `ServerFull` where the client or the server has too many."""
        with _CHANGING:
            _check_room(self._client, size - _UPLOADS.get(id(self), ("", 0))[1])
            _UPLOADS[id(self)] = self._client, size

    def free(self) -> None:
        """Give it all back."""
        _free(id(self))


def _free(key: int) -> None:
    with _CHANGING:
        _UPLOADS.pop(key, None)


def _check_room(client: str, more: int) -> None:
    """Raise `ServerFull` where a client, or all of them, would hold more than they may."""
    if _held_bytes() + more > 1e6 * most(TABLES_MB):
        raise ServerFull("the server has no memory left for tables. Try again later")
    allowed = most(CLIENT_MB)
    if _held_bytes(client) + more > 1e6 * allowed:
        held = f"the tables of one address must fit into {allowed:g} MB ({CLIENT_MB.name})"
        raise ServerFull(f"{held}. Remove a table, or close other windows of this app")


def _held_bytes(client: str | None = None) -> int:
    tables = ((_CLIENTS.get(each.name), each.bytes) for each in _HELD.values() if isinstance(each, UploadedTable))
    return sum(size for who, size in (*tables, *_UPLOADS.values()) if client in (None, who))


def stated(name: str) -> Mapping[str, Any]:
    """Return what was stated of the format of a table's file."""
    held = _HELD.get(name)
    return held.stated if isinstance(held, UploadedTable) else {}


# ---- in the server and in workers ------------------------------------------------------------------------------------


def here(name: str) -> bool:
    """Return whether a table is held in this process."""
    return name in _HELD


def payload(name: str) -> bytes:
    """Return what a worker makes a table from."""
    held: UploadedTable = _HELD[name]
    return held.payload


def keep(name: str, payload: bytes) -> None:
    """Take a table that the server lends."""
    _HELD.setdefault(name, payload)


def dataset(name: str) -> Dataset:
    """Return a table as a data set; `NotHere` once its session has ended."""
    with _CHANGING:
        held = _HELD.get(name)
    if held is None:
        raise NotHere
    if isinstance(held, bytes):
        frame, label, schema = pickle.loads(held)
        _HELD[name] = held = own_dataset(frame, label, schema, name=name, title=TITLE)
    data: Dataset = held.data if isinstance(held, UploadedTable) else held
    return data


def drop(name: str) -> None:
    """Let a table go."""
    with _CHANGING:
        _CLIENTS.pop(name, None)
        _HELD.pop(name, None)
