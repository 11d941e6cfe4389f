"""What a parametrised test runs at each commit, and what only `.ci/run full` runs."""

import pytest


def others_in_full(names, *kept, first=0):
    """Return parameters of which all but those that are kept, by name or as the first ones, are marked `full`."""
    kept = kept or names[:first]
    assert 0 < len(kept) < len(names)
    assert all(name in names for name in kept)
    return [
        name if name in kept else pytest.param(*(name if isinstance(name, tuple) else [name]), marks=pytest.mark.full)
        for name in names
    ]
