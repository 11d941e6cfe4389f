"""How long the Noise page takes from a moved pointer to the drawn envelope of sensitivities, in headless Chromium.

Run from the project's root: ``python benchmarks/bench_noise_page.py``. It serves the app itself, opens the page with
200 points and drags one of them; each step waits until the one before is drawn. The page's clock starts in the
pointermove event and stops when the envelope's canvas has been painted with newer data. All of this happens in the
browser. Medians and 90th percentiles are printed in milliseconds.
"""

from __future__ import annotations

from bench_app import answered, app_page, open_card, summary

TARGET = 35
STEPS = 30
# every step of this point moves the envelope: it is the middle point for the median, an outer one for a trimmed mean
CASES = {
    "median": ("noise_statistic=median", 100),
    "trimmed mean": ("noise_statistic=trimmed_mean&noise_trim=20", 175),
    "mean, add/remove": ("noise_statistic=mean&noise_relation=add-remove", 100),
    "variance": ("noise_statistic=variance", 100),
}
PROBE = """
() => {
  const doc = Bokeh.documents[0]
  const view = Bokeh.index.find_one_by_id(doc.get_model_by_name("noise-envelope").id)
  const data = doc.get_model_by_name("noise-envelope-terms")
  const probe = {start: null, changed: false, times: []}
  data.connect(data.properties.data.change, () => { if (probe.start !== null) { probe.changed = true } })
  view.repainted.connect(() => {
    if (probe.start !== null && probe.changed) {
      probe.times.push(performance.now() - probe.start)
      probe.start = null
      probe.changed = false
    }
  })
  window.addEventListener("pointermove", () => {
    if (probe.start === null) { probe.start = performance.now(); probe.changed = false }
  }, true)
  window.probe = probe
}
"""
# returns the position of a point on the screen
WHERE = """
(index) => {
  const doc = Bokeh.documents[0]
  const view = Bokeh.index.find_one_by_id(doc.get_model_by_name("noise-line").id)
  const {x, y} = doc.get_model_by_name("noise-points").data
  view.el.scrollIntoView({block: "center"})
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x[index]), box.y + view.frame.y_scale.compute(y[index])]
}
"""


def drag(page, index: int) -> list[float]:
    """Return the milliseconds from each step of a drag to the painted envelope."""
    x, y = page.evaluate(WHERE, index)
    page.wait_for_timeout(300)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8, y)  # the browser starts a drag only after some pixels
    page.wait_for_timeout(100)
    page.evaluate(PROBE)
    for step in range(STEPS):
        page.mouse.move(x + 10 + 3 * (step + 1), y)
        page.wait_for_function(f"probe.times.length > {step}", timeout=8_000)
        page.wait_for_timeout(30)
    page.mouse.up()
    return page.evaluate("probe.times")


def main() -> None:
    """Serve the app, measure and print."""
    with app_page() as (page, url):
        print(f"{'statistic':<18} {'median':>7} {'90 %':>7} {'target':>7}  steps   (milliseconds, 200 points)")
        for name, (query, index) in CASES.items():
            page.goto(f"{url}?page=noise&noise_size=200&{query}")
            answered(page, "noise-state", "noise-work")
            open_card(page, "noise-smooth")
            page.wait_for_function(
                "globalThis.Bokeh?.documents?.[0]?.get_model_by_name('noise-terms')?.data.k?.length > 100",
                timeout=60_000,
            )
            page.wait_for_timeout(1500)
            print(f"{name:<18} {summary(drag(page, index), TARGET)}")


if __name__ == "__main__":
    main()
