// Draws the ranked probabilities and the coins of the Select page while a slider moves. Runs after kernels.js.

const KINDS = ["mutual_information", "count"]
const parts = {
  shown: {mutual_information: shown_mutual_information, count: shown_count},
  drawn: {mutual_information: drawn_mutual_information, count: drawn_count},
  mark: {mutual_information: mark_mutual_information, count: mark_count},
}
const FLOOR = 0.1 // what is 0 has no place on a log axis

// The log weight of one unit of score, by how it is calibrated (dpml.selection.MaskSelector.weight).
function log_weights(epsilon, T, D, range, step) {
  const K = Math.min(T, D - T)
  return {
    "range": K > 0 ? epsilon / (K * range) : 0,
    "published": epsilon / (2 * T * step),
    "per-feature": epsilon / (2 * step),
  }
}

function draw() {
  const D = scores.data.count.length
  if (D === 0 || now.data.serial.length === 0) { return }
  const T = Math.min(controls.data.n_features[0], D)
  const paid = controls.data.epsilon[0] * controls.data.selection_share[0]
  const feature = now.data.feature[0], calibration = now.data.calibration[0]
  put(blind, {location: T / D})
  put(cut, {location: T + 0.5})
  put_named(["select-features-marker"], {location: T})
  for (const kind of KINDS) {
    const s = scores.data[kind], range = now.data[kind][0]
    const weights = log_weights(paid, T, D, range, now.data[`${kind}_step`][0])
    const sorted = Float64Array.from(s).sort(), lowest = sorted[0]
    const reference = sorted[Math.max(D - 1 - T, 0)]
    const units = (i) => Math.max((s[i] - lowest) / range, FLOOR)
    const coin = (i) => expit(weights[calibration] * (s[i] - reference))
    const {rank, index, name} = parts.shown[kind].data
    const columns = {rank, index, name}
    columns.score = Float64Array.from(index, (i) => s[i])
    columns.units = Float64Array.from(index, units)
    columns.coin = Float64Array.from(index, coin)
    let chosen = 0
    for (const [which, weight] of Object.entries(weights)) {
      const p = inclusion_probabilities(Float64Array.from(s, (v) => weight * v), T)
      columns[which] = Float64Array.from(index, (i) => p[i])
      if (which === "range") { chosen = p[feature] }
    }
    put(parts.drawn[kind], {data: columns})
    // its place among equals is the one it is drawn at, if it is drawn
    const drawn_at = index.indexOf(feature)
    const place = drawn_at >= 0 ? rank[drawn_at] : 1 + s.filter((v) => v > s[feature]).length
    put(parts.mark[kind], {data: {rank: [place], units: [units(feature)], coin: [coin(feature)], range: [chosen]}})
  }
}

try {
  draw()
} catch (error) {
  console.error("selection probabilities: " + error)
}
