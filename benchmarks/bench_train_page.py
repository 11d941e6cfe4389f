"""How long the Train page takes from a change of ε to the drawn dots, and to all curves, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_train_page.py [--family naive-bayes|linear] [data set ...]``. It
serves the app itself, opens the page with the family's default methods and 50 draws, and moves ε step by step. The
page's clock starts at the key press. The first time ends when the accuracy plot shows the dot of a method that the
server answers at the new ε. The second, for linear models, ends with the dot of a method that a worker trains again.
The last ends when all curves that depend on ε are complete. Each ε is new, so that nothing comes from the cache.
Medians and 90th percentiles are printed in milliseconds.
"""

from __future__ import annotations

import argparse
import statistics

from bench_app import app_page

DATASETS = ("census", "adult", "newsgroup1")
# a method whose dot comes from the server, and one whose dot comes from a worker
WATCHED = {"naive-bayes": ["binned", "binned"], "linear": ["output", "l1"]}
TARGET = 200
STEPS = 10
READY = """
() => {
  const doc = globalThis.Bokeh?.documents?.[0]
  const answer = doc?.get_model_by_name("train-state")?.data
  return answer !== undefined && answer.answers[0] > 0 && !doc.get_model_by_name("train-work").data.running[0]
}
"""
PROBE = """
([live, slow]) => {
  const doc = Bokeh.documents[0]
  const view = Bokeh.index.find_one_by_id(doc.get_model_by_name("train-accuracy").id)
  const names = [`train-accuracy-${live}-now`, `train-accuracy-${slow}-now`, "train-work"]
  const [now, later, work] = names.map((name) => doc.get_model_by_name(name))
  const probe = {start: null, changed: false, trained: false, painted: [], worker: [], complete: []}
  const is_now = () => doc.get_model_by_name("train-accuracy-marker").location !== probe.was
  now.connect(now.properties.data.change, () => { probe.changed ||= probe.start !== null && is_now() })
  later.connect(later.properties.data.change, () => { probe.trained ||= probe.start !== null && is_now() })
  view.repainted.connect(() => {
    if (probe.trained) {
      probe.worker.push(performance.now() - probe.start)
      probe.trained = false
    }
    if (probe.changed) {
      probe.painted.push(performance.now() - probe.start)
      probe.changed = false
    }
  })
  work.connect(work.properties.data.change, () => {
    if (probe.start !== null && !work.data.running[0] && is_now()) {
      probe.complete.push(performance.now() - probe.start)
      probe.start = null
    }
  })
  window.addEventListener("keydown", () => {
    probe.was = doc.get_model_by_name("train-accuracy-marker").location
    probe.start = performance.now()
    probe.changed = probe.trained = false
  }, true)
  window.probe = probe
}
"""


def measure(page, family: str) -> dict[str, list[float]]:
    """Return the milliseconds from each key press to the painted dots, and to complete curves."""
    page.get_by_role("slider", name="ε", exact=True).focus()
    page.evaluate(PROBE, WATCHED[family])
    for step in range(STEPS):
        page.keyboard.press("ArrowRight")
        reached = (f"probe.{what}.length > {step}" for what in ("complete", "painted", "worker"))
        page.wait_for_function(" && ".join(reached), timeout=300_000)
    times = page.evaluate("({painted: probe.painted, worker: probe.worker, complete: probe.complete})")
    return {what: times[what] for what in times if family == "linear" or what != "worker"}


def main() -> None:
    """Serve the app, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=list(WATCHED), default="naive-bayes")
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    asked = parser.parse_args()
    with app_page() as (page, url):
        print(f"{'data set':<12} {'what':<16} {'median':>7} {'90 %':>7} {'target':>7}   (milliseconds)")
        for name in asked.datasets:
            page.goto(f"{url}?page=train&train_family={asked.family}&dataset={name}&epsilon=0.05", timeout=120_000)
            page.wait_for_function(READY, timeout=600_000)
            for what, times in measure(page, asked.family).items():
                ordered, target = sorted(times), TARGET if what == "painted" else ""
                high = ordered[int(0.9 * (len(ordered) - 1))]
                print(f"{name:<12} {what:<16} {statistics.median(ordered):7.0f} {high:7.0f} {target:>7}")


if __name__ == "__main__":
    main()
