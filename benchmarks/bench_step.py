"""What one step of the ε slider makes a page of the app do: files, functions and entries, and processor time.

Run from the project's root: ``python benchmarks/bench_step.py [page ...] [--cards] [--query "&dataset=adult"]``. Each
page stands alone, without a browser, as it opens: its picture, and with ``--cards`` all of its cards. An entry is a
call of code of the app or of the library whose caller is in another file, in the thread of the page: what the
server's other threads and the workers compute is not counted. Functions are those with a name, each counted once.
Every step goes to an ε that was not asked for before, once all curves are there. Printed are the dearest of three
steps by its entries, and the median processor time of three more, in milliseconds, of the page's thread.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from page_alone import PageAlone, pool_here  # noqa: E402

PARTS = tuple(str(ROOT / part) for part in ("app/dpml_app", "dpml"))
COUNTED, TIMED = (0.125, 0.16, 0.2), (0.25, 0.315, 0.4)


class Step(NamedTuple):
    """Entries into files of the app and the library, by file, and the functions that ran."""

    entries: Counter[str]
    functions: set[CodeType]


@contextmanager
def observed() -> Iterator[Step]:
    """Observe the calls of this thread."""
    step = Step(Counter(), set())

    def count(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or frame.f_back is None:
            return
        file, caller = frame.f_code.co_filename, frame.f_back.f_code.co_filename
        # the page alone asks again and again whether the page is at rest
        if file.startswith(PARTS) and not caller.endswith("page_alone.py"):
            if file != caller:
                step.entries[file] += 1
            if not frame.f_code.co_name.startswith("<"):
                step.functions.add(frame.f_code)

    sys.setprofile(count)
    try:
        yield step
    finally:
        sys.setprofile(None)


def dearest_step(page: PageAlone) -> Step:
    """Return the step with the most entries."""
    steps = []
    for epsilon in COUNTED:
        with observed() as step:
            page.act(epsilon=epsilon)
        steps.append(step)
    return max(steps, key=lambda step: step.entries.total())


def seconds(page: PageAlone, epsilon: float) -> float:
    start = time.thread_time()
    page.act(epsilon=epsilon)
    return time.thread_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=["explore", "train"])
    parser.add_argument("--cards", action="store_true")
    parser.add_argument("--query", default="")
    options = parser.parse_args()
    pool = pool_here()
    page = PageAlone(pool)
    print("page        files  functions  entries  milliseconds")
    for name in options.pages:
        page.enter(name, options.query, only=() if options.cards else ("none",))
        step = dearest_step(page)
        spent = statistics.median(seconds(page, epsilon) for epsilon in TIMED)
        numbers = f"{len(step.entries):5}  {len(step.functions):9}  {step.entries.total():7}  {1000 * spent:12.1f}"
        print(f"{name:10}  {numbers}", flush=True)
    page.close()
    pool.stop()


if __name__ == "__main__":
    main()
