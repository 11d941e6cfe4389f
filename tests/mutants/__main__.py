"""Break the library in every way of the rules, one at a time, and see that the tests notice: `python tests/mutants`."""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path[:1] = [str(TESTS.parent), str(TESTS), str(TESTS / "library")]


def main() -> int:
    """Run the mutants and print what became of each; 0 if all were killed."""
    from mutants import engine
    from mutants.mutant import is_equivalent, mutants_of_library

    parser = argparse.ArgumentParser(prog="python tests/mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only the mutants with one of these in their name")
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of N parts of the mutants")
    parser.add_argument("--out", type=Path, help="a file that keeps each result; what is there is not run again")
    parser.add_argument("--list", action="store_true", help="only print their names")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 2), help="how many at a time")
    parser.add_argument("--seconds", type=int, default=60, help="of the processor, after which a mutant is too slow")
    parser.add_argument("--verbose", action="store_true", help="show what the tests said of those that survive")
    asked = parser.parse_args()
    part, parts = (int(number) for number in asked.part.split("/"))
    every = mutants_of_library()
    # in a random order, the same each time, so that a run that is cut short has a sample of all
    chosen = [m for m in every if not is_equivalent(m) and any(word in m.name for word in asked.words or [""])]
    chosen = random.Random(0).sample(chosen, len(chosen))[part - 1 :: parts]
    if asked.list:
        print(*(m.name for m in chosen), sep="\n")
        return 0
    begun = time.monotonic()

    def tell(name: str, value: Any, seconds: float, output: str) -> None:
        good = isinstance(value, dict) or value[0] == ("survived" if name == engine.UNCHANGED else "killed")
        text = f"{len(value)} tests" if isinstance(value, dict) else " by ".join(filter(None, value))
        print(f"{name}: {text if good else text.upper()}   {seconds:.1f} s", flush=True)
        if asked.verbose and not good:
            print(output)

    files = sorted((TESTS / "library").glob("test_*.py"))
    tests = [path for path in files if not path.stem[5:].startswith(engine.OTHERS)]
    with tempfile.TemporaryDirectory() as folder:
        run = engine.Runner(every, chosen, [str(p) for p in tests], asked.out or Path(folder) / "record", tell)
        run.jobs, run.seconds = max(asked.jobs, 1), asked.seconds
        status = run.run()
    failed = run.failed()
    killed = sum(m.name not in failed for m in chosen)
    print(f"{len(chosen)} mutants, {killed} killed, not: {failed}, {time.monotonic() - begun:.0f} s")
    return int(bool(failed) or not killed or status)


if __name__ == "__main__":
    sys.exit(main())
