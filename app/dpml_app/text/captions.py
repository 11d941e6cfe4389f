"""The captions of a page's cards, from the file of texts that stands beside the page's modules."""

from __future__ import annotations

from pathlib import Path

import yaml


def read_captions(file: Path, **values: object) -> dict[str, str]:
    """Return captions by their cards, with `values` in their places; a text that begins with _ is a part of others."""
    texts: dict[str, str] = yaml.safe_load(file.read_text(encoding="utf-8"))
    parts = {name: text.format_map(values) for name, text in texts.items() if name.startswith("_")}
    return {name: text.format_map({**values, **parts}) for name, text in texts.items() if name not in parts}
