"""How long the page of features takes from a key on a control to the drawn figure, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_select_page.py [census newsgroup1 ...]``. The clock is that of
``bench_app.py``: it starts in the keydown event and stops when the figure's canvas has been painted with newer data.

- rows: from the ε slider until the rows of features are drawn. T: the same for the number of features.
- busy: the same as T, while the worker processes compute the curves of another setting.

Each data set starts from a new seed, so that no answer comes from a cache.
"""

from __future__ import annotations

import os
import sys
import time

from bench_app import answered, main, press, until_busy

TARGETS = {"rows": 160, "T": 160, "busy": 160}
ROWS = ("select-chosen", "select-rows")
PRESSES = 15
STATE, WORK = "select-state", "select-work"


def measure(page, url: str, dataset: str) -> dict[str, list[float]]:
    """Return the times of each path on one data set."""
    times = {}
    seed = time.time_ns() % 10**6
    page.goto(f"{url}?page=select&dataset={dataset}&epsilon=0.01&draws=10&n_features=50&seed={seed}")
    answered(page, STATE, WORK)
    times["rows"] = press(page, "ε", *ROWS, ["ArrowRight"] * PRESSES)
    answered(page, STATE, WORK)
    times["T"] = press(page, "Number of features", *ROWS, ["ArrowLeft"] * PRESSES)
    page.locator("section.shown .advanced > summary").click()
    page.get_by_role("slider", name="Runs", exact=True).focus()
    page.keyboard.press("End")
    until_busy(page, WORK)
    page.get_by_role("slider", name="Number of features", exact=True).scroll_into_view_if_needed()
    times["busy"] = press(page, "Number of features", *ROWS, ["ArrowRight"] * PRESSES)
    return times


if __name__ == "__main__":
    here = ["newsgroup1", "xwindows", "sms"] if os.environ.get("DPML_DATA") else []
    main(sys.argv[1:] or ["census", *here], measure, TARGETS)
