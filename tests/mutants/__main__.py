"""Break the library in every way of the rules, one at a time, and see that the tests notice: `python tests/mutants`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]


def main() -> int:
    """Run the mutants and print what became of each; 0 if all were killed."""
    from mutants import engine
    from mutants.mutant import MUTANTS, PART

    parser = argparse.ArgumentParser(prog="python tests/mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only the mutants with one of these in their name")
    parser.add_argument("--part", action="store_true", help="only the part that runs with the other tests")
    parser.add_argument("--list", action="store_true", help="only print their names")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 2), help="how many at a time")
    parser.add_argument("--verbose", action="store_true", help="show what the tests said of those that survive")
    asked = parser.parse_args()
    chosen = [m for m in (PART if asked.part else MUTANTS) if any(word in m.name for word in asked.words or [""])]
    if asked.list:
        print(*(m.name for m in chosen), sep="\n")
        return 0
    begun, killed, failed = time.monotonic(), 0, []

    def tell(outcome: engine.Outcome) -> None:
        nonlocal killed
        killed += outcome.verdict == "killed" and outcome.mutant is not None
        name, wanted = (outcome.mutant.name, "killed") if outcome.mutant else ("the library as it is", "survived")
        verdict = f"{outcome.verdict} by {outcome.test}" if outcome.test else outcome.verdict.upper()
        print(f"{name}: {verdict}   {outcome.seconds:.1f} s", flush=True)
        if outcome.verdict != wanted:
            failed.append(name)
            if asked.verbose:
                print(outcome.output)

    status = engine.Engine(chosen, asked.jobs, tell).run()
    print(f"{len(chosen)} mutants, {killed} killed, not: {failed}, {time.monotonic() - begun:.0f} s")
    return int(bool(failed) or not killed or status)


if __name__ == "__main__":
    sys.exit(main())
