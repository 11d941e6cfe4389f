"""What each control trades, and who pays: one line for every setting that a link can name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

FILE = Path(__file__).with_suffix(".yaml")


@lru_cache(maxsize=1)
def helps() -> dict[str, dict[str, str]]:
    """Return, by the name of each setting, what its control trades, and the picture beside it, if it has one.

    Examples
    --------
    >>> sorted(helps()["epsilon"])
    ['picture', 'says']
    """
    return dict(yaml.safe_load(FILE.read_text(encoding="utf-8")))
