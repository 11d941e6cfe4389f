"""How long the page of models takes from a key on a slider to the drawn methods, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_train_page.py [census adult ...]``. The clock is that of
``bench_app.py``: it starts in the keydown event and stops when the rows of methods are painted with newer data.

- default: from the ε slider, with what the page shows by default; of adult the results ship.
- naive Bayes, linear: the same with a seed that nobody has had, so that the server, or a worker, trains each method.
"""

from __future__ import annotations

import os
import sys
import time

from bench_app import answered, main, press

TARGETS = {"default": 150, "naive Bayes": 200, "linear": 200}
ROWS = ("train-methods", "train-methods-rows")
PRESSES = 10
STATE, WORK = "train-state", "train-work"


def measure(page, url: str, dataset: str) -> dict[str, list[float]]:
    """Return the times of each path on one data set."""
    times = {}
    seed = time.time_ns() % 10**6
    asked = {"default": "", "naive Bayes": f"&train_methods=binned.row-bounded.global.smooth&seed={seed}"}
    asked["linear"] = f"&train_methods=objective.output&seed={seed}"
    for kind, query in asked.items():
        page.goto(f"{url}?page=train&dataset={dataset}&epsilon=0.05{query}")
        answered(page, STATE, WORK)
        times[kind] = press(page, "ε", *ROWS, ["ArrowRight"] * PRESSES)
    return times


if __name__ == "__main__":
    main(sys.argv[1:] or ["census", *(["adult"] if os.environ.get("DPML_DATA") else [])], measure, TARGETS)
