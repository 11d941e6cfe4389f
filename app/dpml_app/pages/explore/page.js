// What the browser draws by itself while a slider moves: selection probabilities and the markers of the current setting.
// Runs after kernels.js.

const KINDS = ["mutual_information", "count"]

function log_weights(scores, unit, epsilon, T) {
  // two masks of T features differ in at most K of them, and each moves the sum of scores by at most `unit`
  const D = scores.length, K = Math.min(T, D - T)
  const weight = K > 0 ? epsilon / (K * unit) : 0
  return Float64Array.from(scores, (s) => weight * s)
}

function draw() {
  const epsilon = controls.data.epsilon[0]
  put_named(["accuracy-marker"], {location: epsilon})
  const D = scores.data.count.length
  if (D === 0) { return }
  const T = Math.min(controls.data.n_features[0], D)
  const spent = epsilon * controls.data.selection_share[0]
  put_named(["map-current"], {data: {epsilon: [epsilon], n_features: [T]}})
  const columns = {y: shown.data.y, name: shown.data.name}
  const found = {}
  for (const kind of KINDS) {
    const p = inclusion_probabilities(log_weights(scores.data[kind], unit.data[kind][0], spent, T), T)
    columns[kind] = Float64Array.from(shown.data.index, (i) => p[i])
    found[kind] = expected_best(scores.data[kind], p, T).toFixed(1)
  }
  put(uniform, {location: T / D})
  put(selection, {data: columns})
  const chance = (T * T / D).toFixed(1)
  const text = `Of the <b>${T}</b> features with the highest scores, private selection finds on average ` +
    `<b>${found.count}</b> by counts and <b>${found.mutual_information}</b> by mutual information ` +
    `(chance: <b>${chance}</b>). Selection spends ε = ${Number(spent.toPrecision(3))}.`
  say(readout, text)
}

try {
  draw()
} catch (error) {
  console.error("selection probabilities: " + error)
  say(readout, `The selection probabilities cannot be drawn: ${error}`)
}
