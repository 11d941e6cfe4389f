"""How long the Explore page takes from a key on a slider to the drawn figure, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_app.py [census adult ...]``. It serves the app itself, opens the
page, and waits until all curves are complete. Then it presses the right or left arrow on a focused slider, each press
after the answer to the one before. The page's clock starts in the slider's keydown event. It stops when the figure's
canvas has been painted (Bokeh's ``repainted`` signal) with data that are newer than the press:

- browser: from the ε slider until the main picture shows the gap at the new ε, without the server.
- naive Bayes, logistic: from the slider of the number of features until the point of that model by hand is drawn anew.
- curve, logistic curve: the same until the whole curve by hand is drawn anew.

No number of features comes twice, so that no answer comes from a cache. Medians and 90th percentiles are printed in
milliseconds.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TARGETS = {"browser": 35, "naive Bayes": 150, "logistic": 150, "curve": 2000, "logistic curve": 2000}

# Measures the time from a key press to the first repaint of a figure with changed data.
PROBE = """
([plot, source]) => {
  const doc = Bokeh.documents[0]
  const view = Bokeh.index.find_one_by_id(doc.get_model_by_name(plot).id)
  const data = doc.get_model_by_name(source)
  const probe = {start: null, changed: false, times: []}
  data.connect(data.properties.data.change, () => { if (probe.start !== null) { probe.changed = true } })
  view.repainted.connect(() => {
    if (probe.start !== null && probe.changed) {
      probe.times.push(performance.now() - probe.start)
      probe.start = null
      probe.changed = false
    }
  })
  document.addEventListener("keydown", () => { probe.start = performance.now(); probe.changed = false }, true)
  window.probe = probe
}
"""


# the curve by hand is there; the map below goes on
WHOLE = """() => {
  const named = (name) => globalThis.Bokeh?.documents?.[0]?.get_model_by_name(name)?.data
  return named("explore-state")?.answers[0] > 0 && named("cost-hand").epsilon.length > 15
}"""


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def serve(port: int) -> subprocess.Popen:
    """Start the app and wait until it answers."""
    command = [sys.executable, "-m", "panel", "serve", "app", "--port", str(port), "--num-procs", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.1)
    process.terminate()
    raise TimeoutError("the app did not start")


def answered(page, state: str, work: str) -> None:
    """Wait until the page has answered and the worker processes have nothing more to do for it."""
    page.wait_for_function(
        """([state, work]) => {
          const data = (name) => globalThis.Bokeh?.documents[0]?.get_model_by_name(name)?.data
          return data(state)?.answers[0] > 0 && !data(state).due[0] && !data(work).running[0]
        }""",
        arg=[state, work],
        timeout=180_000,
    )
    page.wait_for_timeout(500)


def open_card(page, name: str) -> None:
    """Open what stands behind "More" and scroll to the place of a card there."""
    page.locator("section.shown .more > summary").first.click()
    page.evaluate(
        """(name) => Bokeh.index.find_one_by_id(Bokeh.documents[0].get_model_by_name(`place-${name}`).id)
          .el.scrollIntoView({block: "center"})""",
        name,
    )
    page.wait_for_timeout(1000)


def until_busy(page, work: str) -> None:
    """Wait until the worker processes are computing."""
    page.wait_for_function("(name) => Bokeh.documents[0].get_model_by_name(name).data.running[0]", arg=work)


@contextmanager
def app_page() -> Iterator[tuple[Page, str]]:
    """Serve the app and open a page in headless Chromium; yield both the page and the app's address."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        sys.exit("no Chromium found")
    port = free_port()
    server = serve(port)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.set_default_timeout(180_000)
            yield page, f"http://localhost:{port}/app"
            browser.close()
    finally:
        server.terminate()
        server.wait(60)


def summary(values: list[float], target: int) -> str:
    """Return median, 90th percentile, target and number of measurements."""
    ordered = sorted(values)
    high = ordered[int(0.9 * (len(ordered) - 1))]
    return f"{statistics.median(ordered):7.0f} {high:7.0f} {target:7d}  {len(ordered)}"


def press(page, label: str, plot: str, source: str, keys: list[str], role: str = "slider") -> list[float]:
    """Return the milliseconds from each key press on a slider, or another widget, to the painted figure."""
    page.get_by_role(role, name=label, exact=True).focus()
    page.evaluate(PROBE, [plot, source])
    for number, key in enumerate(keys):
        page.keyboard.press(key)
        page.wait_for_function(f"probe.times.length > {number}", timeout=60_000)
        page.wait_for_timeout(60)
    return page.evaluate("probe.times")


def measure(page, url: str, dataset: str) -> dict[str, list[float]]:
    """Return the times of each path on one data set."""

    def drawn(page: Page) -> None:
        page.wait_for_function(WHOLE)
        page.wait_for_timeout(3000)

    times = {}
    features = "Number of features"
    page.goto(f"{url}?dataset={dataset}&epsilon=0.01&n_features=8&draws=10")
    drawn(page)
    times["browser"] = press(page, "ε", "cost", "cost-gap", ["ArrowRight"] * 20)
    for kind, model in (("naive Bayes", "naive-bayes"), ("logistic", "logistic")):
        page.goto(f"{url}?dataset={dataset}&hand_model={model}&n_features=8&draws=10")
        drawn(page)
        times[kind] = press(page, features, "cost", "cost-hand-now", ["ArrowRight"] * 12)
        drawn(page)
        curve = "curve" if model == "naive-bayes" else "logistic curve"
        times[curve] = press(page, features, "cost", "cost-hand", ["ArrowRight"] * 5)
    return times


def main(datasets: list[str], measure: Callable, targets: dict[str, int]) -> None:
    """Serve the app, measure and print."""
    with app_page() as (page, url):
        print(f"{'data set':<12} {'path':<15} {'median':>7} {'90 %':>7} {'target':>7}  presses   (milliseconds)")
        for dataset in datasets:
            for kind, values in measure(page, url, dataset).items():
                print(f"{dataset:<12} {kind:<15} {summary(values, targets[kind])}")


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["census"] + (["adult", "newsgroup1"] if os.environ.get("DPML_DATA") else [])
    main(chosen, measure, TARGETS)
