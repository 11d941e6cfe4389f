// Moves what belongs to the chosen ε: the marker, the gap with its text, all runs and the custom model's point.
const epsilon = controls.data.epsilon[0], known = curve.data, mine = hand.data
const put = (model, values) => model.setv(values, {sync: false})
const near = (a, b) => Math.abs(a - b) < 1e-9 * b
const place_of = (data) => Array.from(data.epsilon).findIndex((e) => near(e, epsilon))
const narrow = innerWidth < 700, {start, end} = plot.x_range, in_left = epsilon < Math.sqrt(start * end)

if (marker.location !== epsilon) { put(marker, {location: epsilon}) }
const at = place_of(known), shown = {epsilon: [], accuracy: []}
if (at < 0) {
  put(gap, {data: Object.fromEntries(Object.keys(gap.data).map((name) => [name, []]))})
} else {
  const mean = known.mean[at], best = known.best[at], points = 100 * (best - mean)
  // the parts of the gap are drawn within it
  const exact = Math.min(Math.max(known.exact[at], mean), Math.max(best, mean))
  const text = points < 0.05 ? "no cost" : `${points.toFixed(1)} ${narrow ? "points" : "percentage points"}`
  const beside = {text: [text], align: [in_left ? "left" : "right"], off: [in_left ? 12 : -12]}
  put(gap, {data: {epsilon: [epsilon], mean: [mean], exact: [exact], best: [best], ...beside}})
  draws.data.epsilon.forEach((e, i) => {
    if (near(e, epsilon)) {
      // beside one another, so that twenty runs are twenty dots
      shown.epsilon.push(epsilon * (1 + 0.006 * ((7 * draws.data.run[i]) % 20 - 9.5)))
      shown.accuracy.push(draws.data.accuracy[i])
    }
  })
}
put(dots, {data: shown})
// while ε moves, the custom model's point is that of its curve; where there is none, the server's comes
if (point.data.epsilon[0] !== epsilon) {
  const i = place_of(mine), row = ["mean", "low", "high"].map((name) => [name, i < 0 ? [] : [mine[name][i]]])
  put(point, {data: {epsilon: i < 0 ? [] : [epsilon], ...Object.fromEntries(row)}})
}
