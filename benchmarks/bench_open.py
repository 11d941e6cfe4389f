"""How long each page of the app takes to open in headless Chromium.

Run from the project's root: ``python benchmarks/bench_open.py [explore audit ...]``. Each page is opened once to fill
the caches of server and browser, then VISITS times. The first time ends when the document has come from the server,
the second when its first figure has data. Medians are printed in seconds.
"""

from __future__ import annotations

import statistics
import sys
import time

from bench_app import app_page

# a source that has data when the first answer is drawn
FIRST = {
    "explore": ("cost-hand-now", "mean"),
    "audit": ("audit-output-first", "share"),
    "noise": ("noise-releases", "x"),
    "select": ("select-rows", "row"),
    "train": ("train-methods-rows", "mean"),
    "evaluate": ("evaluate-roc-exact", "fpr"),
}
VISITS = 3
HAS_DATA = """([name, column]) => Bokeh.documents[0].get_model_by_name(name)?.data[column]?.length > 0"""


def visit(page, url: str, name: str) -> tuple[float, float]:
    """Return the seconds until the document has arrived, and until its first figure has data."""
    begun = time.perf_counter()
    page.goto(f"{url}?page={name}&draws=10")
    page.wait_for_function("globalThis.Bokeh?.documents?.length > 0", timeout=60_000)
    there = time.perf_counter()
    page.wait_for_function(HAS_DATA, arg=list(FIRST[name]), timeout=60_000)
    return there - begun, time.perf_counter() - begun


def main(names: list[str]) -> None:
    """Serve the app, measure and print."""
    with app_page() as (page, url):
        print(f"{'page':<10} {'document':>9} {'data':>9}   (seconds, median of {VISITS})")
        for name in names:
            times = [visit(page, url, name) for _ in range(VISITS + 1)][1:]
            there, data = (statistics.median(column) for column in zip(*times, strict=True))
            print(f"{name:<10} {there:9.1f} {data:9.1f}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(FIRST))
