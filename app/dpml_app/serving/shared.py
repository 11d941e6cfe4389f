"""What the server processes of one app share: a folder with what each holds of common limits, and with their results.

A process that is alone has no folder: all of each limit is its own, and its results stay in its memory.
"""

import hashlib
import os
import pickle
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

# the environment variables by which a process knows the folder, and which of how many it is, such as 2/3
FOLDER, PROCESS = "DPML_SHARED_FOLDER", "DPML_PROCESS"
# under what a session's token states its process
STATED = "dpml_process"
RESULTS = "results"
# what is limited for all of them: the bytes of uploaded tables, and classes
TABLES, CLASSES = "tables", "classes"
# results are some kilobytes each; what is larger, or has no room, is computed by each process
MOST_BYTES, MOST_TAKEN = 1_000_000, 40_000_000
# without those that are read for another one
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
CODE = 8


def place() -> tuple[int, int]:
    """Return the number of this process, from 0, and how many there are."""
    number, _, count = os.environ.get(PROCESS, "1/1").partition("/")
    return int(number) - 1, int(count)


def folder() -> Path | None:
    """Return the folder that the processes share, None where one is alone."""
    path = os.environ.get(FOLDER)
    return Path(path) if path else None


# ---- limits ----------------------------------------------------------------------------------------------------------


def hold(what: str, amount: float) -> None:
    """Tell the other processes how much of something this one holds."""
    here = folder()
    if here is not None:
        _write(here / f"{what}-{place()[0]}", repr(float(amount)).encode())


def others(what: str) -> float:
    """Return how much of something the other processes hold."""
    here, (number, count) = folder(), place()
    if here is None:
        return 0.0
    return sum(held(here, what, other) for other in range(count) if other != number)


def held(here: Path, what: str, number: int) -> float:
    """Return how much of something a process holds."""
    try:
        return float((here / f"{what}-{number}").read_text())
    except FileNotFoundError:
        return 0.0


def clear(here: Path, number: int) -> None:
    """Forget what a process held that has ended."""
    for path in here.glob(f"*-{number}"):
        path.unlink(missing_ok=True)


# ---- classes ---------------------------------------------------------------------------------------------------------


def new_code() -> str:
    """Return a new code of a class; its first letter says which process has the class."""
    number, count = place()
    return secrets.choice(LETTERS[number::count]) + "".join(secrets.choice(LETTERS) for _ in range(CODE - 1))


def process_of(code: str, count: int) -> int | None:
    """Return the process that has a class, None if the code is none.

    Examples
    --------
    >>> process_of("3abcdefg", 2), process_of("", 2)
    (1, None)
    """
    return LETTERS.index(code[0]) % count if code and code[0] in LETTERS else None


# ---- results ---------------------------------------------------------------------------------------------------------


class Results:
    """Results of published data sets in files, one piece of bytes each, under the calls that made them."""

    def __init__(self, here: Path):
        self._folder = here / RESULTS

    def get(self, key: tuple) -> Any:
        """Return a result, or None."""
        try:
            return pickle.loads(self._path(key).read_bytes())
        except OSError:
            return None

    def put(self, key: tuple, value: Any) -> None:
        """Keep a result if its call can be named and it can be written."""
        with suppress(OSError, TypeError, AttributeError, pickle.PicklingError):
            content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            if _is_plain(key) and len(content) <= MOST_BYTES:
                _write(self._path(key), content)

    def _path(self, key: tuple) -> Path:
        return self._folder / hashlib.sha256(repr(key).encode()).hexdigest()


def results() -> Results | None:
    """Return the results that the processes share, None where one is alone."""
    here = folder()
    return None if here is None else Results(here)


def prune(here: Path) -> None:
    """Remove the oldest results where they take too much room."""
    taken = 0
    with os.scandir(here / RESULTS) as entries:
        files = [(entry.stat(), entry.path) for entry in entries]
    for stat, path in sorted(files, key=lambda file: -file[0].st_mtime):
        taken += stat.st_blocks * 512
        if taken > MOST_TAKEN:
            Path(path).unlink(missing_ok=True)


def _is_plain(value: Any) -> bool:
    """Return whether what is written of a value names it in any process."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _write(path: Path, content: bytes) -> None:
    """Write a file that others find whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)  # what tidies /tmp may have removed it
    new = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    new.write_bytes(content)
    os.replace(new, path)
