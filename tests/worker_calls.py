"""Calls for worker processes that tests need: a worker can import this file, but not the file of a test."""

import os
import signal
import sys
import time
from pathlib import Path


def _count(path):
    with Path(path).open("a") as file:
        file.write("x")
    return Path(path).stat().st_size


def end_once(path, value):
    """Kill the worker at the first call, return the value at the second."""
    if _count(path) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def end_always(path):
    """Kill the worker at every call."""
    _count(path)
    os.kill(os.getpid(), signal.SIGKILL)


def linger_once(path):
    """Never end at the first call, return the number of the call afterwards."""
    number = _count(path)
    if number == 1:
        time.sleep(3600)
    return number


def unsendable():
    """Return what no pipe can carry."""
    return lambda: None


class Unreceivable(Exception):
    """An error that can be sent, but not received."""

    def __init__(self, what, where):
        super().__init__(f"{what} {where}")


def raise_unreceivable():
    raise Unreceivable("it", "came")


def stat(path):
    return os.stat(path)


def pid():
    """Return the process; its result is kept under another key than that of `os.getpid`."""
    return os.getpid()


def loaded(*names):
    """Return which modules the worker has imported."""
    return tuple(name in sys.modules for name in names)
