"""What one step of the ε slider makes a page of the app do: files entered, entries into files, and processor time.

Run from the project's root: ``python benchmarks/bench_step.py [page ...] [--cards] [--query "&dataset=adult"]``. Each
page stands alone, without a browser, as it opens: its picture, and with ``--cards`` all of its cards. An entry is a
call of code of the app or of the library whose caller is in another file, in the thread of the page: what the server's
other threads and the workers compute is not counted. Every step goes to an ε that was not asked for before, once all
curves are there. Printed are the dearest of three steps by its entries, and the median processor time of three more,
in milliseconds, of the page's thread.
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
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from page_alone import PageAlone, pool_here  # noqa: E402

PARTS = tuple(str(ROOT / part) for part in ("app/dpml_app", "dpml"))
COUNTED, TIMED = (0.125, 0.16, 0.2), (0.25, 0.315, 0.4)


@contextmanager
def entries() -> Iterator[Counter[str]]:
    """Count entries into files of the app and the library, by file, in this thread."""
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or frame.f_back is None:
            return
        file, caller = frame.f_code.co_filename, frame.f_back.f_code.co_filename
        # the page alone asks again and again whether the page is at rest
        if file != caller and file.startswith(PARTS) and not caller.endswith("page_alone.py"):
            counts[file] += 1

    sys.setprofile(count)
    try:
        yield counts
    finally:
        sys.setprofile(None)


def dearest_step(page: PageAlone) -> Counter[str]:
    """Return the entries by file of the step with the most."""
    steps = []
    for epsilon in COUNTED:
        with entries() as counts:
            page.act(epsilon=epsilon)
        steps.append(counts)
    return max(steps, key=Counter.total)


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
    print("page        files  entries  milliseconds")
    for name in options.pages:
        page.enter(name, options.query, only=() if options.cards else ("none",))
        counts = dearest_step(page)
        spent = statistics.median(seconds(page, epsilon) for epsilon in TIMED)
        print(f"{name:10}  {len(counts):5}  {counts.total():7}  {1000 * spent:12.1f}", flush=True)
    page.close()
    pool.stop()


if __name__ == "__main__":
    main()
