"""A ledger's file is missing, foreign, locked, read-only or on a full disk: a named error, and nothing is charged."""

import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import dpml.budget.file
from dpml.budget import Budget
from dpml.exceptions import (
    InvalidParameter,
    LedgerDamaged,
    LedgerError,
    LedgerOutdated,
    LedgerUnavailable,
)


def run(program, *arguments):
    """Return what a program prints."""
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# ---- the name ---------------------------------------------------------------------------------------------------


def test_the_home_folder_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    budget = Budget(1.0, path="~/ledger.db")
    budget.spend(0.5)
    assert budget.path == str((tmp_path / "ledger.db").resolve())
    assert Budget(1.0, path=tmp_path / "ledger.db").spent == 0.5


@pytest.mark.parametrize("name", ["sp ace", "100%25?mode=ro#x", "ä\udce9", "a;b'c\"d", "file:x"])
def test_odd_file_names_are_accepted(tmp_path, name):
    budget = Budget(1.0, path=tmp_path / name)
    budget.spend(0.25)
    assert [os.fsdecode(entry) for entry in os.listdir(tmp_path)] == [name]
    assert Budget(1.0, path=os.fsencode(tmp_path / name)).spent == 0.25


@pytest.mark.parametrize("path", ["", "a\0b", 3.5, ["x"], object()])
def test_a_path_that_names_no_file_is_refused(path):
    with pytest.raises(InvalidParameter, match="`path` must be "):
        Budget(1.0, path=path)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("none/ledger.db", "the folder .* does not exist"),
        ("file/ledger.db", "cannot be read: Not a directory"),
        ("folder", "is a folder"),
        ("pipe", "is a device or a pipe"),
    ],
)
def test_what_cannot_hold_a_ledger_is_named(tmp_path, name, cause):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("text")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerUnavailable, match=cause) as caught:
        Budget(1.0, path=tmp_path / name)
    assert caught.value.path == str(tmp_path / name)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (LedgerUnavailable, str(caught.value))


def database(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_text("epsilon,delta\n1,0\n" * 500), "another kind of file"),
        (lambda path: path.write_bytes(bytes(range(256)) * 40), "another kind of file"),
        (lambda path: database(path, "CREATE TABLE mine (x)"), "not a complete ledger"),
        (lambda path: database(path, "PRAGMA user_version = 1"), "not a complete ledger"),
    ],
    ids=["empty", "text", "bytes", "database", "empty database"],
)
def test_another_kind_of_file_is_refused_and_stays_as_it_is(tmp_path, make, cause):
    path = tmp_path / "ledger.db"
    make(path)
    content = path.read_bytes()
    with pytest.raises(LedgerDamaged, match=cause):
        Budget(1.0, path=path)
    assert path.read_bytes() == content


def test_a_ledger_of_the_earlier_format_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    database(path, "CREATE TABLE total (epsilon REAL, delta REAL, relation TEXT)")
    database(path, "CREATE TABLE part (id TEXT PRIMARY KEY, parent TEXT, disjoint TEXT)")
    database(path, "CREATE TABLE charge (id INTEGER PRIMARY KEY, label TEXT, epsilon REAL)")
    with pytest.raises(LedgerOutdated, match=r"read its charges with sqlite3\.connect.* start a ledger"):
        Budget(1.0, path=path)


def test_must_exist_creates_no_file(tmp_path):
    path = tmp_path / "ledger.db"
    with pytest.raises(LedgerUnavailable, match="must_exist=True forbids starting it"):
        Budget(1.0, path=path, must_exist=True)
    assert os.listdir(tmp_path) == []
    Budget(1.0, path=path).spend(0.25)
    assert Budget(1.0, path=path, must_exist=True).spent == 0.25
    for wrong in ({"path": path, "must_exist": "yes"}, {"must_exist": True}):
        with pytest.raises(InvalidParameter, match="`must_exist` must be "):
            Budget(1.0, **wrong)


def test_another_journal_mode_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    Budget(1.0, path=path).spend(0.25)
    database(path, "PRAGMA journal_mode = WAL")
    with pytest.raises(LedgerDamaged, match="journal mode"):
        Budget(1.0, path=path)


# ---- the file changes while it is in use ------------------------------------------------------------------------


def remove(path):
    path.unlink()


def cut(path):
    os.truncate(path, 0)


def replace(path):
    path.unlink()
    Budget(1.0, path=path)


def lose_folder(path):
    path.unlink()
    path.parent.rmdir()


@pytest.mark.parametrize(("harm", "of"), [(remove, "whole"), (cut, "part"), (replace, "whole"), (lose_folder, "part")])
def test_a_ledger_that_vanished_is_not_begun_anew(tmp_path, harm, of):
    path = tmp_path / "folder" / "ledger.db"
    path.parent.mkdir()
    budget = Budget(1.0, path=path)
    budget.spend(0.75)
    user = budget if of == "whole" else budget.split(1)[0]
    (tmp_path / "pickled").write_bytes(pickle.dumps(user))
    harm(path)
    for use in (lambda: user.spend(0.125), lambda: user.spent, lambda: user.ledger, lambda: user.split(1)):
        with pytest.raises(LedgerError):
            use()
    # a worker process gets the same
    assert run(UNPICKLER, tmp_path / "pickled") == ["refused"]
    assert harm is replace or not path.exists() or path.stat().st_size == 0


UNPICKLER = """
import pickle, sys
from dpml.exceptions import LedgerError

with open(sys.argv[1], "rb") as file:
    budget = pickle.load(file)
try:
    budget.spend(0.125)
except LedgerError:
    print("refused")
"""


def test_a_worker_refuses_an_older_copy_than_the_sender_saw(tmp_path):
    path = tmp_path / "ledger.db"
    budget = Budget(1.0, path=path)
    budget.spend(0.25)
    older = path.read_bytes()
    budget.spend(0.5)
    (tmp_path / "pickled").write_bytes(pickle.dumps(budget))
    assert run(UNPICKLER, tmp_path / "pickled") == []
    path.write_bytes(older)
    assert run(UNPICKLER, tmp_path / "pickled") == ["refused"]


def test_a_journal_without_its_ledger_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    (tmp_path / "ledger.db-journal").write_bytes(b"\xd9\xd5\x05\xf9 and so on")
    with pytest.raises(LedgerDamaged, match="the journal of a charge to it still exists"):
        Budget(1.0, path=path)


# ---- locked, read-only, full ------------------------------------------------------------------------------------


def test_a_locked_ledger_says_so_and_charges_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(dpml.budget.file, "LOCK_TIMEOUT", 0.05)
    path = tmp_path / "ledger.db"
    budget = Budget(1.0, path=path)
    budget.spend(0.25)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for use in (lambda: budget.spend(0.5), lambda: budget.spent, lambda: Budget(1.0, path=path)):
        with pytest.raises(LedgerUnavailable, match=r"locked by another process for more than 0\.05 s"):
            use()
    other.execute("COMMIT")
    # a reader keeps a charge from its commit
    other.execute("BEGIN")
    other.execute("SELECT * FROM entry").fetchall()
    with pytest.raises(LedgerUnavailable, match="locked"):
        budget.spend(0.5)
    other.execute("COMMIT")
    other.close()
    assert budget.spent == Budget(1.0, path=path).spent == 0.25


def folder_that_anyone_may_enter():
    """Return a place for files of which another user sees what the permissions of the files themselves allow."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if os.path.isdir(place) and all(
            p.stat().st_mode & 0o001 for p in (Path(place), *Path(place).resolve().parents)
        ):
            return place
    pytest.skip("no folder for temporary files that another user may enter")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("what", ["file", "folder", "new"])
def test_a_read_only_ledger_is_read_and_not_charged(what):
    """As a user that the system's permissions bind: root, whom they do not, becomes another one first."""
    with tempfile.TemporaryDirectory(dir=folder_that_anyone_may_enter()) as folder:
        path = Path(folder) / "ledger.db"
        if what != "new":
            Budget(1.0, path=path).spend(0.25)
            path.chmod(0o444 if what == "file" else 0o666)
        os.chmod(folder, 0o777 if what == "file" else 0o555)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            said = []
            try:
                if os.getuid() == 0:
                    os.setuid(65534)
                budget = Budget(1.0, path=path)
                said.append(str(budget.spent))
                budget.spend(0.5)
                said.append("charged")
            except BaseException as error:
                said.append(type(error).__name__)
            os.write(writer, " ".join(said).encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        os.chmod(folder, 0o777)
        assert said == ("LedgerUnavailable" if what == "new" else "0.25 LedgerUnavailable")
        assert what == "new" or Budget(1.0, path=path).spent == 0.25
        assert sorted(os.listdir(folder)) == ([] if what == "new" else ["ledger.db"])


FULL = """
import resource, sys
from pathlib import Path
from dpml.budget import Budget
from dpml.exceptions import LedgerUnavailable

path, room = Path(sys.argv[1]), int(sys.argv[2])
limit, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
if room:
    # a write past this size fails, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
granted = refused = 0
try:
    budget = Budget(1e6, path=path)
    while granted < 2000:
        budget.spend(1.0, label="count " * 20)
        granted += 1
except LedgerUnavailable:
    refused = 1
    try:
        budget.spend(1.0, label="count " * 2000)
        granted += 1
    except (LedgerUnavailable, NameError):
        refused += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
left = Budget(1e6, path=path).spent if path.exists() else "none"
print(granted, refused, left, len(list(path.parent.iterdir())))
"""


@pytest.mark.parametrize("room", [1, 8192, 20480])
def test_a_file_that_cannot_grow_grants_nothing_more(tmp_path, room):
    granted, refused, left, files = run(FULL, tmp_path / "ledger.db", room)
    assert refused == "2"
    if room < 3 * 4096:
        # there is no room for a ledger at all, and none is left half begun
        assert (granted, left, files) == ("0", "none", "0")
    else:
        assert (float(left), files) == (float(granted), "1")
        assert int(granted) > 20
