"""What tests of releases share: a cell that breaks whoever looks at it."""


class Hostile:
    """An object that raises, and would tell why, whatever is asked of it."""

    def _refuse(self, *args):
        raise RuntimeError("SECRET")

    __eq__ = __float__ = __index__ = __int__ = __bool__ = __len__ = __repr__ = __str__ = __array__ = _refuse
    __hash__ = __iter__ = __getitem__ = __lt__ = __gt__ = __le__ = __ge__ = __add__ = __mul__ = __abs__ = _refuse
