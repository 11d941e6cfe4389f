"""How long the Select page takes from a key on a control to the drawn figure, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_select_page.py [census newsgroup1 ...]``. The clock is that of
``bench_app.py``: it starts in the keydown event and stops when the figure's canvas has been painted with newer data.

- ranked: ε slider until the ranked probabilities by counts are drawn; T: the same for the number of features. Both by
  the browser alone.
- feature: the number of the feature until its counts are drawn, which the server sends.
- busy: the same while the worker processes compute the curves of another setting.

Each data set starts from a new seed, so that no answer comes from a cache.
"""

from __future__ import annotations

import os
import sys
import time

from bench_app import app_page, press, summary

TARGETS = {"ranked": 35, "T": 35, "feature": 120, "busy": 150}
RANKED = ("select-ranked-count", "select-drawn-count")
BARS = ("select-feature", "select-bars")
FEATURE = "Feature shown, by its column"
PRESSES = 15


def settled(page) -> None:
    """Wait until the page has answered and all curves are there."""
    page.wait_for_function(
        """() => {
          const sweep = globalThis.Bokeh?.documents[0]?.get_model_by_name("select-sweep-state")?.data
          return sweep && !sweep.sweeping[0] && sweep.total[0] > 0
        }""",
        timeout=180_000,
    )
    page.wait_for_timeout(500)


def measure(page, url: str, dataset: str) -> dict[str, list[float]]:
    """Return the times of each path on one data set."""
    times = {}
    seed = time.time_ns() % 10**6
    page.goto(f"{url}?page=select&dataset={dataset}&epsilon=0.01&draws=10&n_features=50&seed={seed}")
    settled(page)
    times["ranked"] = press(page, "ε", *RANKED, ["ArrowRight"] * PRESSES)
    settled(page)
    times["T"] = press(page, "Features selected, T", *RANKED, ["ArrowLeft"] * PRESSES)
    settled(page)
    times["feature"] = press(page, FEATURE, *BARS, ["ArrowUp"] * PRESSES, role="textbox")
    page.get_by_role("slider", name="Draws", exact=True).focus()
    page.keyboard.press("End")
    page.wait_for_function("Bokeh.documents[0].get_model_by_name('select-sweep-state').data.sweeping[0]")
    times["busy"] = press(page, FEATURE, *BARS, ["ArrowUp"] * PRESSES, role="textbox")
    return times


def main(datasets: list[str]) -> None:
    """Serve the app, measure and print."""
    with app_page() as (page, url):
        print(f"{'data set':<12} {'path':<8} {'median':>7} {'90 %':>7} {'target':>7}  presses   (milliseconds)")
        for dataset in datasets:
            for kind, values in measure(page, url, dataset).items():
                print(f"{dataset:<12} {kind:<8} {summary(values, TARGETS[kind])}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["census"] + (["newsgroup1", "xwindows", "sms"] if os.environ.get("DPML_DATA") else []))
