"""Results that ship in files beside a page's modules: how they are read, and what they say they were made with."""

import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

# on which numbers may depend
VERSIONS = ("numpy", "scipy", "scikit-learn")


@cache
def read_shipped(folder: Path, name: str) -> dict[str, Any]:
    """Return what ships under a name, empty where nothing does."""
    path = folder / f"{name}.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return kept


def made_with(*packages: str) -> dict[str, str]:
    """Return the versions of packages."""
    return {package: version(package) for package in packages}
