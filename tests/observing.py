"""What passes the boundary of the mechanisms while something runs, for tests of what each step is given."""

import pickle
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import numpy as np

from dpml.mechanisms import boundary
from dpml.mechanisms.private import Private, is_private, opened


class Passed(list):
    """An observer that lets every release happen, and lists it as (mechanism, statistic)."""

    def release(self, mechanism, statistic, rng):
        self.append((mechanism, statistic))
        with boundary.unreleased():
            return boundary.release(mechanism, statistic, rng)

    def public_randomness(self, rng, draw, arguments, size):
        return boundary.drawn_by(rng, draw, arguments, size)

    @contextmanager
    def best_of_runs(self, factor):
        yield nullcontext

    def of(self, *kinds):
        """Return the mechanisms of these kinds, in the order of their releases."""
        return [mechanism for mechanism, _ in self if isinstance(mechanism, kinds)]


@contextmanager
def observing():
    """Return the list of what passes the boundary in the block."""
    passed = Passed()
    with boundary.observe(passed):
        yield passed


def plain_releases(call):
    """Return how many releases a call has, and the mechanisms of those whose statistic was no private value."""
    handed, release = [], boundary.release

    def noted(mechanism, statistic, rng):
        handed.append((mechanism, is_private(statistic)))
        return release(mechanism, statistic, rng)

    with patch.object(boundary, "release", noted), read_only_values():
        call()
    return len(handed), [mechanism for mechanism, private in handed if not private]


@contextmanager
def read_only_values():
    """Make the arrays of exact values read-only in the block, so that a statistic that changes one raises an error."""
    make = Private.__init__

    def make_read_only(self, value):
        make(self, value)
        for array in _arrays(opened(self)):
            array.flags.writeable = False

    with patch.object(Private, "__init__", make_read_only):
        yield


def _arrays(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [array for part in value for array in _arrays(part)]
    return [part for part in (value, getattr(value, "data", None)) if isinstance(part, np.ndarray)]


class Again:
    """An observer that keeps what the first run releases, and gives the second run the same."""

    def __init__(self):
        self.kept, self.first = [], True

    def release(self, mechanism, statistic, rng):
        shapes = [np.shape(part) for part in (statistic if type(statistic) is tuple else [statistic])]
        if self.first:
            with boundary.unreleased():
                self.kept.append((mechanism, shapes, boundary.release(mechanism, statistic, rng)))
            return self.kept[-1][-1]
        before, same, value = self.kept.pop(0)
        assert (mechanism, shapes) == (before, same), "another release than before, after the same ones"
        return value

    def public_randomness(self, rng, draw, arguments, size):
        if self.first:
            self.kept.append(boundary.drawn_by(rng, draw, arguments, size))
            return self.kept[-1]
        return self.kept.pop(0)

    @contextmanager
    def best_of_runs(self, factor):
        yield nullcontext


def assert_function_of_releases(call, data, other):
    """Assert that a result depends on the data through releases alone, however different the other data are.

    No type has to notice: a decision by an exact value shows as another release, or in the pickled result. A result
    that cannot be pickled holds a function, which may keep anything, or an exact value.
    """

    def written(result):
        try:
            return pickle.dumps(result)
        except Exception as error:
            raise AssertionError(f"the result cannot be written: {error}") from error

    again = Again()
    with boundary.observe(again):
        expected = written(call(data))
        again.first = False
        result = written(call(other))
    assert not again.kept, "fewer releases than before"
    assert result == expected
