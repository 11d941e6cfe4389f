"""Make what ships, so that pages open with their curves and notebooks need not wait: ``python -m benchmarks.shipped``.

``studies`` are the library's standard studies (`dpml.sweep.standard_study`), ``cost`` and ``publish`` the first
pictures of two pages of the app, ``claims`` what every claim of the catalogue costs
and what one run certifies. Without names all data sets are
made that ship; adult and mushrooms need their files (DPML_DATA). Each file says with what it was made; tests make a
part of each again.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: a sum may depend on the number of threads

from dpml_app.pages.audit import shipped as claims
from dpml_app.pages.explore import shipped as cost
from dpml_app.pages.publish import shipped as publish

from benchmarks.standard_studies import make_standard
from dpml.sweep import STANDARD

DATA = Path(__file__).resolve().parents[1] / "data" / "studies"
FOLDERS = {"studies": DATA, "cost": cost.HERE, "publish": publish.HERE, "claims": claims.HERE}


def names(part: str) -> list[str]:
    """Return the data sets of which a part ships."""
    return list(STANDARD) if part == "studies" else sorted(path.stem for path in FOLDERS[part].glob("*.json"))


def make(part: str, name: str) -> dict[str, Any]:
    """Return what ships of a data set, computed."""
    if part == "studies":
        return make_standard(name, progress=True)
    if part == "cost":
        return cost.make(name)
    if part == "claims":
        results = Path(__file__).parent / "results"
        return claims.copy_one_run(results) if name == claims.ONE_RUN else claims.make(name)
    if name == "recorded":
        return publish.copy_recorded(Path(__file__).parent / "results")
    there = json.loads((publish.HERE / f"{name}.json").read_text(encoding="utf-8"))
    return publish.make(name, tuple(there["tables"]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shipped", description=__doc__)
    parser.add_argument("part", choices=tuple(FOLDERS), nargs="?", help="one part (default: all)")
    parser.add_argument("names", nargs="*", metavar="DATASET", help="data sets (default: all that ship)")
    asked = parser.parse_args(arguments)
    for part in [asked.part] if asked.part else FOLDERS:
        FOLDERS[part].mkdir(exist_ok=True)
        known = names(part)
        for name in asked.names or known:
            if name not in known:
                parser.error(f"{name!r} does not ship with {part}: it must be one of {', '.join(known)}")
            text = json.dumps(make(part, name), separators=(",", ":"))
            (FOLDERS[part] / f"{name}.json").write_text(text + "\n", encoding="utf-8")
            print(f"{part} {name}", flush=True)


if __name__ == "__main__":
    main()
