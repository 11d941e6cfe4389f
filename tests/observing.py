"""What passes the boundary of the mechanisms while something runs, for tests of what each step is given."""

import pickle
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import numpy as np

from dpml.mechanisms import boundary
from dpml.mechanisms.private import is_private


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

    with patch.object(boundary, "release", noted):
        call()
    return len(handed), [mechanism for mechanism, private in handed if not private]


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
