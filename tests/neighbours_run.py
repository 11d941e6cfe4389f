"""Many generated neighbours for every whole of tests/library/test_wholes_*.py, in parts, going on where it stopped.

``python tests/neighbours_run.py --examples 10000 --part 1/4 --out FILE`` appends a row a block of examples of a subject
under a relation to a CSV file, and leaves out the blocks that are in it. Several parts may run at once, each with a
file of its own. ``--table FILE...`` prints a row a subject and relation: examples, the largest cost over its charge,
seconds of processor time. The status is 1 where a cost is above its charge or an example fails.
"""

import argparse
import csv
import importlib
import inspect
import itertools
import math
import os
import sys
import time
import warnings
import zlib
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "library"))

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

MODULES = ("test_wholes_estimators", "test_wholes_functions", "test_wholes_more")
FIELDS = ("subject", "relation", "first", "examples", "largest", "seconds", "failure")
BLOCK = 500
MOST = 1 + 1e-9


class _Captured(Exception):
    """Carries out the function that a test would hand to `worst_ratio`."""


def subjects():
    """Yield (name, test, arguments) of each test that looks for the dearest neighbours, in the order of its file."""
    for name in MODULES:
        module = importlib.import_module(name)
        module.worst_ratio = _capture
        for test in list(vars(module).values()):
            if not inspect.isfunction(test) or not test.__name__.startswith("test_no_neighbours"):
                continue
            marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
            [(names, values)] = [mark.args for mark in marks]
            names = [names] if isinstance(names, str) else list(names)
            for value in values:
                arguments = dict(zip(names, value if isinstance(value, tuple) else (value,), strict=True))
                yield f"{name.removeprefix('test_wholes_')}: {arguments['name']}", test, arguments


def _capture(name, ratio_of, _examples=0):
    raise _Captured(ratio_of)


def ratio_of(test, arguments):
    """Return the function from choices to cost over charge that a test checks."""
    try:
        test(**arguments)
    except _Captured as captured:
        return captured.args[0]
    raise AssertionError(f"{test.__name__} compares no neighbours")


def run(name, ratio, relation, first, count):
    """Return the row of one block; an example that fails ends it."""
    from neighbours import RELATIONS, Rolled

    class Under(Rolled):
        def among(self, options):
            choice = super().among(options)
            return relation if options is RELATIONS else choice

    largest, failure, begun = 0.0, "", time.process_time()
    for example in range(first, first + count):
        try:
            cost = ratio(Under([zlib.crc32(name.encode()), example]))
        except Exception as error:
            failure = f"example {example}: {type(error).__name__}: {error}"[:300]
            break
        largest = max(largest, cost)
        if not cost <= MOST:
            failure = f"example {example}: {cost:.12g}"
            break
    seconds = f"{time.process_time() - begun:.1f}"
    return dict(zip(FIELDS, (name, relation, first, count, f"{largest:.12g}", seconds, failure), strict=True))


def rows_of(paths):
    """Return the rows of files that are there."""
    rows = []
    for path in paths:
        if os.path.exists(path):
            with open(path, encoding="utf-8", newline="") as file:
                rows += [row for row in csv.DictReader(file) if row["failure"] is not None]  # no row that was cut short
    return rows


def table(paths):
    """Print a row a subject and relation; return whether all costs are within their charges."""
    # the last row of a block counts: one that failed is run again
    blocks = {(row["subject"], row["relation"], row["first"]): row for row in rows_of(paths)}
    groups = {}
    for row in blocks.values():
        groups.setdefault((row["subject"], row["relation"]), []).append(row)
    out = csv.writer(sys.stdout)
    out.writerow(("subject", "relation", "examples", "largest", "seconds", "failure"))
    for key, rows in groups.items():
        failure = next((row["failure"] for row in rows if row["failure"]), "")
        largest = max(float(row["largest"]) for row in rows)
        seconds = sum(float(row["seconds"]) for row in rows)
        out.writerow((*key, sum(int(row["examples"]) for row in rows), f"{largest:.9g}", f"{seconds:.0f}", failure))
    return not any(row["failure"] for rows in groups.values() for row in rows)


def main():
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=10_000, help="of each subject, half under each relation")
    parser.add_argument("--part", default="1/1", help="K/N: each N-th subject, from the K-th")
    parser.add_argument("--out", help="the CSV file that rows are added to")
    parser.add_argument("--words", nargs="*", default=[], help="only subjects with one of these in their name")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print the rows of files, summed up")
    asked = parser.parse_args()
    if asked.table:
        return int(not table(asked.table))
    if not asked.out:
        parser.error("--out FILE is missing")
    part, parts = map(int, asked.part.split("/"))
    from neighbours import RELATIONS

    warnings.simplefilter("ignore")
    done = {
        (row["subject"], row["relation"], int(row["first"]), int(row["examples"]))
        for row in rows_of([asked.out])
        if not row["failure"]
    }
    chosen = list(subjects())[part - 1 :: parts]
    chosen = [one for one in chosen if not asked.words or any(word in one[0] for word in asked.words)]
    each, failed, new = math.ceil(asked.examples / len(RELATIONS)), False, not os.path.exists(asked.out)
    with open(asked.out, "a", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, FIELDS)
        if new:
            out.writeheader()
        ratios = {name: ratio_of(test, arguments) for name, test, arguments in chosen}
        starts = range(0, each, BLOCK)
        blocks = [(relation, first, min(BLOCK, each - first)) for first in starts for relation in RELATIONS]
        # a run that is cut short has seen every subject
        for block, name in itertools.product(blocks, ratios):
            if (name, *block) in done:
                continue
            row = run(name, ratios[name], *block)
            out.writerow(row)
            file.flush()
            failed = failed or bool(row["failure"])
            print(*row.values(), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
