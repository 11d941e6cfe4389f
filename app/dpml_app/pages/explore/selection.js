// Draws the selection probabilities while a slider moves. Runs after kernels.js.
function log_weights(scores, unit, epsilon, T) {
  // two sets of T features differ in at most K of them, and each moves the sum of scores by at most `unit`
  const D = scores.length, K = Math.min(T, D - T), weight = K > 0 ? epsilon / (K * unit) : 0
  return Float64Array.from(scores, (s) => weight * s)
}

const D = scores.data.count.length
if (D > 0) {
  const T = Math.min(controls.data.n_features[0], D), spent = controls.data.epsilon[0] * controls.data.selection_share[0]
  const columns = {y: shown.data.y, name: shown.data.name}, found = {}
  for (const kind of ["mutual_information", "count"]) {
    const p = inclusion_probabilities(log_weights(scores.data[kind], unit.data[kind][0], spent, T), T)
    columns[kind] = Float64Array.from(shown.data.index, (i) => p[i])
    found[kind] = expected_best(scores.data[kind], p, T).toFixed(1)
  }
  put(uniform, {location: T / D})
  put(selection, {data: columns})
  say(readout, `Of the <b>${T}</b> features with the highest scores, private selection finds on average ` +
    `<b>${found.count}</b> by counts and <b>${found.mutual_information}</b> by mutual information ` +
    `(chance: <b>${(T * T / D).toFixed(1)}</b>). Selection spends ε = ${Number(spent.toPrecision(3))}.`)
}
