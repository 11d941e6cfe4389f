"""What tests of releases share: the numbers that a model holds, and a cell that breaks whoever looks at it."""

import numpy as np


def numbers_in(value):
    """Return every number in a nest of attributes."""
    if isinstance(value, np.ndarray):
        return set() if value.dtype.kind not in "biuf" else {float(v) for v in value.ravel()}
    if isinstance(value, dict):
        return set().union(*map(numbers_in, [*value, *value.values()]))
    if isinstance(value, (list, tuple, set)):
        return set().union(*map(numbers_in, value))
    if isinstance(value, (bool, int, float, np.number)):
        return {float(value)}
    return numbers_in(vars(value)) if hasattr(value, "__dict__") else set()


class Hostile:
    """An object that raises, and would tell why, whatever is asked of it."""

    def _refuse(self, *args):
        raise RuntimeError("SECRET")

    __eq__ = __float__ = __index__ = __int__ = __bool__ = __len__ = __repr__ = __str__ = __array__ = _refuse
    __hash__ = __iter__ = __getitem__ = __lt__ = __gt__ = __le__ = __ge__ = __add__ = __mul__ = __abs__ = _refuse
