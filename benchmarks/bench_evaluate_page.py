"""How long the Evaluate page takes from a key on a control to the drawn figure, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_evaluate_page.py [census adult ...]``. The clock is that of
``bench_app.py``: it starts in the keydown event and stops when the figure's canvas has been painted with newer data.

- curves: from the ε slider until the browser has drawn the private ROC curves of the bins, without the server.
- busy: the same, while the worker processes compute the curves of another setting.

Each data set starts from a new seed, so that no answer comes from a cache.
"""

from __future__ import annotations

import os
import sys
import time

from bench_app import answered, main, open_card, press, until_busy

TARGETS = {"curves": 35, "busy": 150}
ROC = ("evaluate-roc", "evaluate-roc-band")
PRESSES = 15
STATE, WORK = "evaluate-state", "evaluate-work"


def measure(page, url: str, dataset: str) -> dict[str, list[float]]:
    """Return the times of each path on one data set."""
    times = {}
    seed = time.time_ns() % 10**6
    page.goto(f"{url}?page=evaluate&dataset={dataset}&epsilon=0.01&seed={seed}")
    answered(page, STATE, WORK)
    times["curves"] = press(page, "ε", *ROC, ["ArrowRight"] * PRESSES)
    open_card(page, "evaluate-errors")
    answered(page, STATE, WORK)
    page.locator("section.shown .advanced > summary").click()
    page.get_by_role("slider", name="Runs", exact=True).focus()
    page.keyboard.press("ArrowRight")
    until_busy(page, WORK)
    times["busy"] = press(page, "ε", *ROC, ["ArrowLeft"] * PRESSES)
    return times


if __name__ == "__main__":
    main(sys.argv[1:] or ["census"] + (["sms", "adult"] if os.environ.get("DPML_DATA") else []), measure, TARGETS)
