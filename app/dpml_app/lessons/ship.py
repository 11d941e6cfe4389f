"""Compute all figures that the lessons name, for the app to ship: ``python -m dpml_app.lessons.ship``."""

import json
import sys

from dpml_app.lessons import figures
from dpml_app.lessons.figures import Value
from dpml_app.lessons.read import lessons


def ship() -> dict[str, dict[str, Value]]:
    """Return all figures that the lessons name, computed anew."""
    figures.KNOWN.clear()
    lessons.cache_clear()
    lessons()
    return {key: dict(sorted(named.items())) for key, named in sorted(figures.KNOWN.items()) if named}


if __name__ == "__main__":
    shipped = ship()
    figures.FILE.write_text(json.dumps(shipped, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{figures.FILE}: {sum(map(len, shipped.values()))} figures\n")
