"""Results kept under the call that made them, and with the table that the call names: they go when it goes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

import numpy as np

from dpml_app import uploaded_table
from dpml_app.serving import log

MOST_RESULTS = 20_000
K = TypeVar("K")
P = ParamSpec("P")
T = TypeVar("T")


def key_of(function: Callable[..., Any], arguments: tuple) -> tuple:
    """Return what the result of a call is kept under."""
    return (function.__module__, function.__qualname__, *arguments)


def read_only(value: Any) -> Any:
    """Return the value with every array in it locked: cached arrays are shared by all pages."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict) or is_dataclass(value):
        for part in (value if isinstance(value, dict) else vars(value)).values():
            read_only(part)
    return value


class Cache:
    """Results under their keys; the least recently used goes first. Safe for threads."""

    def __init__(self, size: int = MOST_RESULTS):
        self.size = size
        self._results: OrderedDict[tuple, Any] = OrderedDict()
        self._lock = threading.Lock()
        _CACHES.add(self)

    def get(self, key: tuple) -> Any:
        """Return a result, or None."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        return None

    def among(self, keys: Mapping[K, tuple]) -> dict[K, Any]:
        """Return the results that are there of several keys, each under its name."""
        with self._lock:
            there = {name: self._results[key] for name, key in keys.items() if key in self._results}
            for name in there:
                self._results.move_to_end(keys[name])
        return there

    def put(self, key: tuple, value: Any) -> Any:
        """Keep a result and return it, its arrays locked."""
        with self._lock:
            if not all(map(uploaded_table.here, uploaded_table.named(key))):
                return value  # of a table whose session has ended meanwhile
            self._results[key] = read_only(value)
            self._results.move_to_end(key)
            while len(self._results) > self.size:
                self._results.popitem(last=False)
        return value

    def drop(self, name: str) -> None:
        """Drop all results of a session's table."""
        with self._lock:
            for key in [key for key in self._results if name in uploaded_table.named(key)]:
                del self._results[key]

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return function(*arguments), kept under the same key as the task of that call."""
        key = key_of(function, arguments)
        value = self.get(key)
        if value is not None:
            return value
        with log.timed("server", function):
            result = function(*arguments)
        return self.put(key, result)


_CACHES: WeakSet[Cache] = WeakSet()


def forget(name: str) -> None:
    """Drop what every cache of this process has of a session's table, and nothing else."""
    for cache in list(_CACHES):
        cache.drop(name)


def kept(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the results of a function under its arguments, the last `most` of them."""

    def keep(function: Callable[P, T]) -> Callable[P, T]:
        cache = Cache(most)

        @wraps(function)
        def call(*arguments: P.args, **options: P.kwargs) -> T:
            key = (*arguments, *sorted(options.items()))
            value: T | None = cache.get(key)
            return cache.put(key, function(*arguments, **options)) if value is None else value

        return call

    return keep
