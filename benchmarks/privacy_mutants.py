"""Break privacy in one place at a time, and see whether the module's tests and ``python -m dpml audit`` notice.

``python -m benchmarks.privacy_mutants`` copies a commit into a temporary worktree, replaces one piece of source there
and runs the tests of the module and the audit of its methods. ``--commit`` chooses the commit, ``--only`` some mutants.
`tests/mutants` applies rules to every function; `privacy_mutants.toml` lists faults that a person may make.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-m", "not long and not full and not browser"]


class Mutant(NamedTuple):
    """One fault: the file below dpml, the source before and after, the module's tests, and methods of the catalogue.

    `end` is added to the end of the file.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    methods: str
    end: str = ""


MUTANTS = [
    Mutant(**entry) for entry in tomllib.loads((ROOT / "benchmarks" / "privacy_mutants.toml").read_text())["mutant"]
]


def run(command: list[str], folder: Path, seconds: int) -> int:
    """Return how a command ended; 124 if it took too long."""
    environment = os.environ | {"PYTHONPATH": f"{folder}:{folder / 'app'}", "OMP_NUM_THREADS": "1"}
    environment.pop("DPML_DATA", None)
    try:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=seconds).returncode
    except subprocess.TimeoutExpired:
        return 124


def judge(mutant: Mutant, folder: Path, seconds: int) -> dict[str, object]:
    """Apply one mutant in a worktree, run its tests and its audits, and undo it."""
    path = folder / "dpml" / mutant.file
    before = path.read_text()
    result: dict[str, object] = {"name": mutant.name}
    if before.count(mutant.old) != 1:
        return result | {"tests": f"does not apply: {before.count(mutant.old)} places", "audit": ""}
    path.write_text(before.replace(mutant.old, mutant.new) + mutant.end)
    try:
        tests = [f"tests/library/test_{name}.py" for name in mutant.tests.split()]
        if not tests:
            result["tests"] = "not run"
        else:
            status = run([sys.executable, "-m", "pytest", *OPTIONS, *tests], folder, seconds)
            result["tests"] = {0: "survived", 1: "killed", 124: "took too long"}.get(status, f"status {status}")
        found = []
        for method in mutant.methods.split():
            status = run([sys.executable, "-m", "dpml", "audit", method], folder, seconds)
            found.append(f"{method}: " + ("passes" if status == 0 else f"seen ({status})"))
        result["audit"] = "; ".join(found)
    finally:
        path.write_text(before)
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.privacy_mutants", description=__doc__)
    parser.add_argument("--commit", default="HEAD", help="the commit that is broken (default HEAD)")
    parser.add_argument("--only", default="", help="only mutants with this in their name")
    parser.add_argument("--audit-only", action="store_true", help="run no tests")
    parser.add_argument("--seconds", type=int, default=240, help="after which a command is too slow")
    parser.add_argument("--out", type=Path, help="a file to which one line of JSON a mutant is added")
    asked = parser.parse_args(arguments)
    chosen = [m for m in MUTANTS if asked.only in m.name]
    if asked.audit_only:
        chosen = [m._replace(tests="") for m in chosen]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "tree"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(folder), asked.commit], cwd=ROOT, check=True)
        try:
            for mutant in chosen:
                begun = time.monotonic()
                result = judge(mutant, folder, asked.seconds)
                print(
                    f"{mutant.name}: {result['tests']} | {result['audit']}  {time.monotonic() - begun:.0f} s",
                    flush=True,
                )
                if asked.out:
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(result, ensure_ascii=False) + "\n")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(folder)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
