"""What passes the door of the mechanisms while something runs, for tests of what each step is given."""

from contextlib import contextmanager, nullcontext

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
