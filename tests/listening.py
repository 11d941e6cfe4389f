"""What passes the door of the mechanisms while something runs, for tests of what each step is given."""

import pickle
from contextlib import contextmanager, nullcontext

import numpy as np

from dpml.mechanisms import door


class Passed(list):
    """A listener that lets every release happen, and lists it as (mechanism, statistic)."""

    def release(self, mechanism, statistic, rng):
        self.append((mechanism, statistic))
        with door.unreleased():
            return door.release(mechanism, statistic, rng)

    def public_randomness(self, rng, draw, arguments, size):
        return door.drawn_by(rng, draw, arguments, size)

    @contextmanager
    def alternatives(self, factor):
        yield nullcontext

    def of(self, *kinds):
        """Return the mechanisms of these kinds, in the order of their releases."""
        return [mechanism for mechanism, _ in self if isinstance(mechanism, kinds)]


@contextmanager
def listening():
    """Return the list of what passes the door in the block."""
    passed = Passed()
    with door.listen(passed):
        yield passed


class Again:
    """A listener that keeps what the first run releases, and gives the second run the same."""

    def __init__(self):
        self.kept, self.first = [], True

    def release(self, mechanism, statistic, rng):
        shapes = [np.shape(part) for part in (statistic if type(statistic) is tuple else [statistic])]
        if self.first:
            with door.unreleased():
                self.kept.append((mechanism, shapes, door.release(mechanism, statistic, rng)))
            return self.kept[-1][-1]
        before, same, value = self.kept.pop(0)
        assert (mechanism, shapes) == (before, same), "another release than before, after the same ones"
        return value

    def public_randomness(self, rng, draw, arguments, size):
        if self.first:
            self.kept.append(door.drawn_by(rng, draw, arguments, size))
            return self.kept[-1]
        return self.kept.pop(0)


def assert_function_of_releases(call, data, other):
    """Assert that a result depends on the data through releases alone, however different the other data are.

    No type has to notice: a decision by an exact value shows as another release, or in the pickled result.
    """
    again = Again()
    with door.listen(again):
        expected = pickle.dumps(call(data))
        again.first = False
        result = pickle.dumps(call(other))
    assert not again.kept, "fewer releases than before"
    assert result == expected
