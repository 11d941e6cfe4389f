"""What a parametrised test runs at each commit, and what only `.ci/run full` runs."""

import pytest


def others_in_full(names, *kept):
    """Return parameters of which all but those that are kept are marked `full`."""
    assert set(kept) < set(names)
    return [
        name if name in kept else pytest.param(*(name if isinstance(name, tuple) else [name]), marks=pytest.mark.full)
        for name in names
    ]
