"""The cache that all pages share."""

import numpy as np
from dpml_app.work.cache import Cache
from dpml_app.work.pool import Task


def square(x):
    return np.array([x * x])


def test_cache_keeps_the_recent_and_locks_arrays():
    cache = Cache(2)
    array = cache.put(("a",), np.zeros(2))
    cache.put(("b",), {"x": np.zeros(1)})
    assert not array.flags.writeable
    assert not cache.get(("b",))["x"].flags.writeable
    cache.get(("a",))
    cache.put(("c",), 1)
    assert cache.get(("b",)) is None
    assert cache.get(("a",)) is array


def test_call_shares_its_key_with_the_task():
    cache = Cache()
    value = cache.call(square, 3)
    assert cache.get(Task(square, (3,)).key) is value
    assert cache.call(square, 3) is value
