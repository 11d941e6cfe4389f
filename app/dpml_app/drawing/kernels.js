// The exact inclusion probabilities of the mask distribution, as dpml.selection.inclusion_probabilities (the same
// recursion), and how a page's script changes what is drawn.

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

// Not sent to the server, which has no use for it: every message back would delay the next answer.
function put(model, values) { model.setv(values, {sync: false}) }

// The same for models by their names, those that are on the page: a card is made when it is first seen.
function put_named(names, values) {
  for (const name of names) {
    const model = controls.document?.get_model_by_name(name)
    if (model) { put(model, values) }
  }
}

// The model's view takes escaped HTML.
function say(readout, html) {
  put(readout, {text: html.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")})
}
