// Draws the private ROC curve while ε moves: the exact histogram plus noise of scale 1 that is
// drawn once and scaled here. The same sums as dpml.evaluation.roc_from_histogram.

// Rates of one class: counts lowered by a part of the noise scale, cut at 0, summed from the highest score down.
function rates(exact, unit, from, scale, lowered) {
  const B = exact.length, sums = new Float64Array(B + 1)
  for (let k = 0; k < B; k++) {
    sums[k + 1] = sums[k] + Math.max(exact[k] + scale * (unit[from + k] - lowered), 0)
  }
  const total = sums[B]
  for (let k = 0; k <= B; k++) { sums[k] = total > 0 ? sums[k] / total : k / B }
  return sums
}

// The curve's height at increasing places, the upper end of vertical steps (heights in compute.py).
function heights(fpr, tpr, at) {
  const found = new Float64Array(at.length), last = fpr.length - 1
  let k = 0
  for (let i = 0; i < at.length; i++) {
    while (k < last && fpr[k + 1] <= at[i]) { k++ }
    found[i] = k === last ? tpr[k] : tpr[k] + (at[i] - fpr[k]) / (fpr[k + 1] - fpr[k]) * (tpr[k + 1] - tpr[k])
  }
  return found
}

// numpy's quantile of sorted values
function quantile(sorted, q) {
  const at = q * (sorted.length - 1), below = Math.floor(at), above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (at - below) * (sorted[above] - sorted[below])
}

// Not sent to the server, which has no use for it: every message back would delay the next answer.
function put(model, values) { model.setv(values, {sync: false}) }

const epsilon = controls.data.epsilon[0]
if (counts.data.negatives.length === 0) { return }
const scale = now.data.sensitivity[0] / epsilon, unit = noise.data.unit
const {negatives, positives} = counts.data, lowered = now.data.lowered[0]
const B = negatives.length, draws = unit.length / (2 * B), at = Array.from(grid.data.fpr)
const curves = []
for (let d = 0; d < draws; d++) {
  const fpr = rates(negatives, unit, 2 * B * d, scale, lowered)
  const tpr = rates(positives, unit, 2 * B * d + B, scale, lowered)
  curves.push(heights(fpr, tpr, at))
  if (d === 0) { put(release, {data: {fpr, tpr}}) }
}
const columns = {fpr: Float64Array.from(at), low: [], mid: [], high: []}
for (let i = 0; i < at.length; i++) {
  const here = Float64Array.from(curves, (curve) => curve[i]).sort()
  columns.low.push(quantile(here, 0.05))
  columns.mid.push(quantile(here, 0.5))
  columns.high.push(quantile(here, 0.95))
}
put(band, {data: columns})
