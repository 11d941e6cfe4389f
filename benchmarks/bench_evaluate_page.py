"""How long the Evaluate page takes from a key on a control to the drawn figure, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_evaluate_page.py [census adult ...]``. The clock is that of
``bench_app.py``: it starts in the keydown event and stops when the figure's canvas has been painted with newer data.

- curves: ε slider until the private ROC curves of the bins are drawn, by the browser alone.
- numbers: the same slider until the intervals of ten releases are drawn, which the server sends.
- busy: the same while the worker processes compute the curves of another setting.

Each data set starts from a new seed, so that no answer comes from a cache.
"""

from __future__ import annotations

import os
import sys
import time

from bench_app import app_page, press, summary

TARGETS = {"curves": 35, "numbers": 120, "busy": 150}
ROC = ("evaluate-roc", "evaluate-roc-histogram")
INTERVALS = ("evaluate-intervals", "evaluate-intervals-rows")
PRESSES = 15


def settled(page) -> None:
    """Wait until the page has answered and all curves are there."""
    page.wait_for_function(
        """() => {
          const sweep = globalThis.Bokeh?.documents[0]?.get_model_by_name("evaluate-sweep-state")?.data
          return sweep && !sweep.sweeping[0] && sweep.total[0] > 0
        }""",
        timeout=180_000,
    )
    page.wait_for_timeout(500)


def measure(page, url: str, dataset: str) -> dict[str, list[float]]:
    """Return the times of each path on one data set."""
    times = {}
    seed = time.time_ns() % 10**6
    methods = "histogram.laplace"
    page.goto(f"{url}?page=evaluate&dataset={dataset}&epsilon=0.01&seed={seed}&evaluate_methods={methods}")
    settled(page)
    times["curves"] = press(page, "ε", *ROC, ["ArrowRight"] * PRESSES)
    settled(page)
    times["numbers"] = press(page, "ε", *INTERVALS, ["ArrowRight"] * PRESSES)
    settled(page)
    page.get_by_role("slider", name="Draws", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("Bokeh.documents[0].get_model_by_name('evaluate-sweep-state').data.sweeping[0]")
    times["busy"] = press(page, "ε", *INTERVALS, ["ArrowLeft"] * PRESSES)
    return times


def main(datasets: list[str]) -> None:
    """Serve the app, measure and print."""
    with app_page() as (page, url):
        print(f"{'data set':<12} {'path':<8} {'median':>7} {'90 %':>7} {'target':>7}  presses   (milliseconds)")
        for dataset in datasets:
            for kind, values in measure(page, url, dataset).items():
                print(f"{dataset:<12} {kind:<8} {summary(values, TARGETS[kind])}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["census"] + (["sms", "adult"] if os.environ.get("DPML_DATA") else []))
