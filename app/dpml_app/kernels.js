// What the browser computes by itself while a slider moves: the exact inclusion probabilities of the mask distribution
// (dpml.selection.inclusion_probabilities, the same recursion) and the markers of the current setting.

function expit(x) {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))
}

// The tilt c at which the coins' probabilities add up to T. Any c gives the same result up to rounding.
function tilt(w, T) {
  let low = Infinity, high = -Infinity
  for (const x of w) { low = Math.min(low, -x); high = Math.max(high, -x) }
  low -= 50
  high += 50
  while (high - low > 1e-9 * Math.max(1, Math.abs(high))) {
    const middle = (low + high) / 2
    let sum = 0
    for (let d = 0; d < w.length; d++) { sum += expit(w[d] + middle) }
    if (sum < T) { low = middle } else { high = middle }
  }
  return high
}

function inclusion_probabilities(w, T) {
  const D = w.length, W = T + 1
  if (T === 0 || T === D) { return new Float64Array(D).fill(T > 0 ? 1 : 0) }
  const c = tilt(w, T)
  const p = new Float64Array(D), q = new Float64Array(D)
  for (let d = 0; d < D; d++) { p[d] = expit(w[d] + c); q[d] = expit(-(w[d] + c)) }
  // F[d][t]: probability that t of the first d coins are on
  const F = new Float64Array((D + 1) * W)
  F[0] = 1
  for (let d = 0; d < D; d++) {
    const row = d * W, next = row + W
    F[next] = F[row] * q[d]
    for (let t = 1; t < W; t++) { F[next + t] = F[row + t] * q[d] + F[row + t - 1] * p[d] }
  }
  const all = F[D * W + T], result = new Float64Array(D)
  // B[t]: probability that t of the coins after d are on, from the last coin down
  const B = new Float64Array(T)
  B[0] = 1
  for (let d = D - 1; d >= 0; d--) {
    let joint = 0
    for (let t = 0; t < T; t++) { joint += F[d * W + t] * B[T - 1 - t] }
    result[d] = p[d] * joint / all
    for (let t = T - 1; t > 0; t--) { B[t] = B[t] * q[d] + B[t - 1] * p[d] }
    B[0] *= q[d]
  }
  return result
}

// How many of the T features with the highest scores a mask has on average; ties at the T-th place share it.
function expected_best(scores, p, T) {
  const sorted = Float64Array.from(scores).sort()
  const last = sorted[sorted.length - T]
  let sure = 0, above = 0, tied = 0, at = 0
  for (let d = 0; d < scores.length; d++) {
    if (scores[d] > last) { sure += p[d]; above++ } else if (scores[d] === last) { at += p[d]; tied++ }
  }
  return sure + at * (T - above) / tied
}

const KINDS = ["mutual_information", "count"]

function log_weights(scores, unit, epsilon, T) {
  // two masks of T features differ in at most K of them, and each moves the sum of scores by at most `unit`
  const D = scores.length, K = Math.min(T, D - T)
  const weight = K > 0 ? epsilon / (K * unit) : 0
  return Float64Array.from(scores, (s) => weight * s)
}

// Not sent to the server, which has no use for it: every message back would delay the next answer.
function put(model, values) { model.setv(values, {sync: false}) }

// The model's view takes escaped HTML.
function say(html) {
  put(readout, {text: html.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")})
}

function draw() {
  const epsilon = controls.data.epsilon[0]
  put(accuracy_marker, {location: epsilon})
  const D = scores.data.count.length
  if (D === 0) { return }
  const T = Math.min(controls.data.n_features[0], D)
  const paid = epsilon * controls.data.selection_share[0]
  put(map_current, {data: {epsilon: [epsilon], n_features: [T]}})
  const columns = {y: shown.data.y, name: shown.data.name}
  const found = {}
  for (const kind of KINDS) {
    const p = inclusion_probabilities(log_weights(scores.data[kind], unit.data[kind][0], paid, T), T)
    columns[kind] = Float64Array.from(shown.data.index, (i) => p[i])
    found[kind] = expected_best(scores.data[kind], p, T).toFixed(1)
  }
  put(uniform, {location: T / D})
  put(selection, {data: columns})
  const blind = (T * T / D).toFixed(1)
  const text = `Of the <b>${T}</b> features with the highest scores, a private choice finds on average ` +
    `<b>${found.count}</b> by counts and <b>${found.mutual_information}</b> by mutual information; ` +
    `a blind one <b>${blind}</b>. ε paid for choosing: ${Number(paid.toPrecision(3))}.`
  say(text)
}

try {
  draw()
} catch (error) {
  console.error("selection probabilities: " + error)
  say(`The selection probabilities cannot be drawn: ${error}`)
}
