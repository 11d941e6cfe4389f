"""What ships of other projects' models: their measured results, and with what they were made."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "shipped" / "peers.json"


@cache
def shipped() -> dict[str, dict[str, Any]]:
    """Return what ships of each peer."""
    peers: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["peers"]
    return peers
