"""Make what ships, so that pages open with their curves and notebooks need not wait: ``python -m benchmarks.shipped``.

``studies`` are the library's standard studies (`dpml.sweep.standard_study`), ``default`` the study of the default
classifier that all pages show, ``cost``, ``train`` and ``publish`` the rest of the first pictures of three pages,
``claims`` the actual ε of every claim of the catalogue.
A data set that does not ship yet is made by its name. Without names all data sets are made that ship; adult and
mushrooms need their files (DPML_DATA). Each file says with what it was made; tests make a part of each again. Claims of
a release with secure noise, which has no seed, are lower bounds of one run: they differ by up to a third between runs.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: a sum may depend on the number of threads

from dpml_app.data import default_study
from dpml_app.pages.audit import compute as claims
from dpml_app.pages.explore import compute as cost
from dpml_app.pages.publish import compute as publish
from dpml_app.pages.train import compute as train

from benchmarks.standard_studies import make_standard
from dpml.datasets import NAMES
from dpml.sweep import STANDARD

DATA = Path(__file__).resolve().parents[1] / "data" / "studies"
FOLDERS = {
    "studies": DATA,
    "default": default_study.SHIPPED,
    "cost": cost.SHIPPED,
    "train": train.SHIPPED,
    "publish": publish.SHIPPED,
    "claims": claims.SHIPPED,
}


def names(part: str) -> list[str]:
    """Return the data sets of which a part ships."""
    there = sorted(path.stem for path in FOLDERS[part].glob("*.json"))
    return list(STANDARD) if part == "studies" else there


def make(part: str, name: str) -> Any:
    """Return what ships of a data set, computed."""
    if part == "studies":
        return make_standard(name, progress=True)
    if part == "default":
        return default_study.make(name)
    if part == "cost":
        return cost.make(name)
    if part == "train":
        return train.make_shipped(name)
    if part == "claims":
        return claims.make(name)
    return publish.make_shipped(name, tuple(publish.read_own(name).get("tables", ("cart",))))


def as_text(content: dict[str, Any]) -> str:
    """Return JSON with one line for each entry and each row of a table, so that two changes of a file can be merged."""

    def written(value: Any) -> str:
        if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
            return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in value) + "\n]"
        return json.dumps(value, separators=(",", ":"))

    return "{\n" + ",\n".join(f"{json.dumps(key)}:{written(value)}" for key, value in content.items()) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shipped", description=__doc__)
    parser.add_argument("part", choices=tuple(FOLDERS), nargs="?", help="one part (default: all)")
    parser.add_argument("names", nargs="*", metavar="DATASET", help="data sets (default: all that ship)")
    asked = parser.parse_args(arguments)
    for part in [asked.part] if asked.part else FOLDERS:
        FOLDERS[part].mkdir(exist_ok=True)
        known = names(part)
        for name in asked.names or known:
            if name not in known and (part in ("studies", "claims") or name not in NAMES):
                parser.error(f"{name!r} does not ship with {part}: it must be one of {', '.join(known)}")
            (FOLDERS[part] / f"{name}.json").write_text(as_text(make(part, name)), encoding="utf-8")
            print(f"{part} {name}", flush=True)


if __name__ == "__main__":
    main()
