// What belongs to the ε that is chosen: the gap, every run, the marker. All of it is in the page already.
const epsilon = controls.data.epsilon[0]
const narrow = innerWidth < 700
const known = curve.data
const put = (model, values) => model.setv(values, {sync: false})
const near = (a, b) => Math.abs(a - b) < 1e-9 * b
const at = Array.from(known.epsilon).findIndex((e) => near(e, epsilon))
if (marker.location !== epsilon) { put(marker, {location: epsilon}) }
if (at < 0) {
  put(gap, {data: {epsilon: [], mean: [], plain: [], text: [], align: [], off: []}})
  put(dots, {data: {epsilon: [], accuracy: []}})
} else {
  const mean = known.mean[at], plain = known.plain[at], points = 100 * (plain - mean)
  const text = points >= 0.05 ? `${points.toFixed(1)} points` : "no cost"
  const side = epsilon < (narrow ? 0.2 : 1) ? {align: ["left"], off: [14]} : {align: ["right"], off: [-14]}
  put(gap, {data: {epsilon: [epsilon], mean: [mean], plain: [plain], text: [text], ...side}})
  const shown = {epsilon: [], accuracy: []}
  const all = draws.data
  for (let i = 0; i < all.epsilon.length; i++) {
    if (near(all.epsilon[i], epsilon)) {
      // beside one another, so that twenty runs are twenty dots
      shown.epsilon.push(epsilon * (1 + 0.006 * ((7 * all.run[i]) % 20 - 9.5)))
      shown.accuracy.push(all.accuracy[i])
    }
  }
  put(dots, {data: shown})
}

// On a phone the names stand inside: beside the plot they would take half of its width. The model's is left out there.
const named = names.data
const count = named.x.length
if (count > 0 && (named.side[0] === "right") !== narrow) {
  const side = Array(count).fill(narrow ? "right" : "left"), off = Array(count).fill(narrow ? -6 : 12)
  const down = narrow ? [-12, 24, -10000, -12] : named.down
  put(names, {data: {...named, side, off, down}})
}
const right = narrow ? 14 : RIGHT
if (plot.min_border_right !== right) {
  plot.setv({min_border_right: right}, {sync: false})
  plot.below[0]?.ticker.setv({ticks: narrow ? [0.01, 0.1, 1, 10] : TICKS}, {sync: false})
}
