// Local, smooth and global sensitivities in the browser: the formulas of dpml.mechanisms.smooth, term by term.
// x: sorted values shifted so that the domain is [0, R]. Ranks begin at 1; below the sample stands 0, above it R.

function at(x, rank, R) {
  return rank < 1 ? 0 : rank > x.length ? R : x[rank - 1]
}

function running_max(values) {
  let most = -Infinity
  return values.map((v) => (most = Math.max(most, v)))
}

// The widest x_(top + p) - x_(bottom - l) over p + l = k + 1, for k = 0, ..., count - 1.
function gaps(x, R, top, bottom, count) {
  const high = [], low = [], widest = []
  for (let i = 0; i <= count; i++) { high.push(at(x, top + i, R)); low.push(at(x, bottom - i, R)) }
  for (let k = 0; k < count; k++) {
    let most = 0
    for (let p = 0; p <= k + 1; p++) { most = Math.max(most, high[p] - low[k + 1 - p]) }
    widest.push(most)
  }
  return running_max(widest)
}

function average(x) {
  let sum = 0
  for (const v of x) { sum += v }
  return sum / x.length
}

function spread(x, mean) {
  let sum = 0
  for (const v of x) { sum += (v - mean) ** 2 }
  return sum / x.length
}

// Means of `size` neighbours from rank start, start - 1, ..., start - steps on.
function falling_means(x, R, start, size, steps) {
  let sum = 0
  for (let i = start; i < start + size; i++) { sum += x[i - 1] }
  const means = [sum]
  for (let s = 1; s <= steps; s++) {
    sum += at(x, start - s, R) - at(x, start - s + size, R)
    means.push(sum)
  }
  return means.map((v) => Math.min(Math.max(v / size, 0), R))
}

function mirrored(x, R) {
  return x.map((v) => R - v).reverse()
}

// The bounds under add/remove of dpml.mechanisms.smooth.formulas, for the mean (power 1) and the variance (power 2).
function reach_bounds(x, R, m, power, ceiling, local, count) {
  const n = x.length, N = n - 2 * m
  const B = new Array(count).fill(ceiling), inside = Math.min(count, Math.max(N - 1, 0))
  for (const side of inside ? [x, mirrored(x, R)] : []) {
    const means = falling_means(side, R, m + 1, N, inside - 1)
    for (let k = 0; k < inside; k++) {
      let widest = 0
      for (let h = 0; h <= Math.min(k, m); h++) {
        widest = Math.max(widest, at(side, n - m + 1 + h, R) - means[k - h])
      }
      const bound = Math.min(ceiling, widest ** power / (N - k - 1))
      B[k] = side === x ? bound : Math.max(B[k], bound)
    }
  }
  B[0] = local
  return running_max(B)
}

function decayed(A, beta) {
  return A.map((a, k) => Math.exp(-beta * k) * a)
}

function mean_local_add_remove(x, R, m, value) {
  const n = x.length, N = n - 2 * m
  const outer = [at(x, m, R), at(x, n - m + 1, R)], inner = [at(x, m + 1, R), at(x, n - m, R)]
  const far = (ends, from) => Math.max(Math.abs(ends[0] - from), Math.abs(ends[1] - from))
  if (N < 0) { return 0 }
  if (N === 0) { return far(outer, R / 2) }
  const removal = N === 1 ? Math.abs(value - R / 2) : far(inner, value) / (N - 1)
  return Math.max(far(outer, value) / (N + 1), removal)
}

function mean_kind(x, R, relation, m, count, beta) {
  const n = x.length, N = n - 2 * m
  const value = N >= 1 ? average(x.slice(m, n - m)) : R / 2
  if (relation === "replace-one") {
    const A = N < 1 ? new Array(count).fill(0) : gaps(x, R, n - m, m + 1, count).map((g) => g / N)
    return {value, A, local: A[0], global: N < 1 ? 0 : R / N}
  }
  const local = mean_local_add_remove(x, R, m, value)
  const B = new Array(count).fill(R / 2), inside = Math.min(count, Math.max(N - 1, 0))
  const g = gaps(x, R, n - m, m + 1, inside)
  for (let k = 0; k < inside; k++) {
    B[k] = 0
    for (let i = 0; i <= k; i++) { B[k] = Math.max(B[k], g[i] / (N - k + i)) }
  }
  // both are smooth bounds: the smaller one is taken
  const reach = reach_bounds(x, R, m, 1, R / 2, local, count)
  const smaller = Math.max(...decayed(reach, beta)) <= Math.max(...decayed(B, beta)) ? reach : B
  return {value, A: smaller, local, global: R / 2}
}

function median_kind(x, R, relation, count) {
  const n = x.length, rank = (n + 1) >> 1
  const A = gaps(x, R, rank, rank, count)
  const upper = rank + (n % 2 === 0 ? 1 : 0)
  const local = relation === "replace-one" ? A[0] : at(x, upper, R) - at(x, upper - 1, R)
  return {value: at(x, rank, R), A, local, global: R}
}

// The value of rank 1, ..., last that is nearest to a target.
function nearest(x, target, last) {
  let above = 0, end = x.length
  while (above < end) {
    const middle = (above + end) >> 1
    if (x[middle] < target) { above = middle + 1 } else { end = middle }
  }
  const clip = (i) => Math.min(Math.max(i, 0), last - 1)
  const right = x[clip(above)], left = x[clip(above - 1)]
  return Math.abs(right - target) < Math.abs(left - target) ? right : left
}

function variance_replace(x, R, count) {
  const n = x.length, factor = (n - 1) / n ** 2, found = new Array(count).fill(0)
  if (n < 2) { return found }
  for (const side of [x, mirrored(x, R)]) {
    const outer = [side[n - 1], R]
    const rest = falling_means(side, R, 1, n - 1, count), all = falling_means(side, R, 1, n, count)
    for (let k = 0; k < count; k++) {
      for (let h = 0; h <= Math.min(k, 1); h++) {
        found[k] = Math.max(found[k], factor * (outer[h] - rest[k - h]) ** 2)
      }
      if (n - k < 1) { continue }
      const distance = R - all[k], ideal = all[k] + distance / (n + 1)
      const off = nearest(side, ideal, n - k) - ideal
      const change = distance ** 2 / (n ** 2 - 1) * n ** 2 - (n + 1) / (n - 1) * off ** 2
      found[k] = Math.max(found[k], factor * change)
    }
  }
  return running_max(found)
}

function variance_local_add_remove(x, R) {
  const n = x.length
  if (n < 1) { return 0 }
  const mean = average(x), variance = spread(x, mean), farthest = Math.max(mean, R - mean)
  let change = Math.max(variance / (n + 1), n / (n + 1) ** 2 * farthest ** 2 - variance / (n + 1))
  if (n >= 2) {
    const near = Math.abs(nearest(x, mean, n) - mean), far = Math.max(mean - x[0], x[n - 1] - mean)
    for (const distance of [near, far]) {
      change = Math.max(change, Math.abs(variance / (n - 1) - n / (n - 1) ** 2 * distance ** 2))
    }
  }
  return change
}

function variance_kind(x, R, relation, count) {
  const n = x.length, value = n >= 2 ? spread(x, average(x)) : 0
  if (relation === "replace-one") {
    const A = variance_replace(x, R, count)
    return {value, A, local: A[0], global: n >= 2 ? (n - 1) / n ** 2 * R ** 2 : 0}
  }
  const local = variance_local_add_remove(x, R), ceiling = R ** 2 / 4
  return {value, A: reach_bounds(x, R, 0, 2, ceiling, local, count), local, global: ceiling}
}

// Everything that is drawn of a sample: the terms exp(-beta k) A^(k) up to the distance from which nothing grows.
function sensitivities(kind, values, lower, upper, beta, relation, trim) {
  const R = upper - lower, x = Array.from(values, (v) => v - lower).sort((a, b) => a - b), n = x.length
  const m = kind === "trimmed_mean" ? trim : 0, count = n + 1
  const found = kind === "median" ? median_kind(x, R, relation, count) :
    kind === "variance" ? variance_kind(x, R, relation, count) : mean_kind(x, R, relation, m, count, beta)
  const terms = decayed(found.A, beta)
  let best = 0
  terms.forEach((term, k) => { if (term > terms[best]) { best = k } })
  // as in Python, a smooth bound is kept above 2^-600 of the global sensitivity
  const smooth = Math.max(terms[best], found.global * 2 ** -600)
  return {...found, value: kind === "variance" ? found.value : found.value + lower, terms, best, smooth}
}

function log_sinh(x) {
  return x + Math.log(-Math.expm1(-2 * x)) - Math.LN2
}

// The least Cauchy scale for one unit of smooth sensitivity (dpml.mechanisms.smooth.admissible.cauchy_scale, "exact").
function cauchy_scale(epsilon, beta) {
  const at_step = (s) => -0.5 * (Math.log(4) + s + log_sinh((epsilon + s) / 2) + log_sinh((epsilon - s) / 2))
  return Math.exp(Math.max(at_step(0), at_step(beta)))
}
