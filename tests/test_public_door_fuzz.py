"""No cell, no label, no container and no number of records makes a release raise, or a study that clips.

2,000 examples here; ``DPML_FUZZ=10000 pytest tests/test_public_door_fuzz.py`` or ``python tests/fuzz.py`` runs more.
"""

import os

import pytest
from fuzz import failure

EXAMPLES, PARTS = int(os.environ.get("DPML_FUZZ", "2000")), 20


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_in_the_data_makes_a_public_door_raise(part):
    found = [text for seed in range(part, EXAMPLES, PARTS) if (text := failure(seed))]
    assert not found, "\n\n".join(found[:3])
