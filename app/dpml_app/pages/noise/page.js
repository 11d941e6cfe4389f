// Draws the sensitivities of the points, and drags them. Runs after kernels.js, in whose place nothing is kept:
// what is being dragged is remembered on the model of the points.

const SNAP = 10 // steps in a unit, as in points.py

// Not sent to the server, which has no use for it before the drag has ended.
function put(model, values, options = {sync: false}) { model.setv(values, options) }

function say(html) {
  put(readout, {text: html.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")})
}

function number(value) {
  return value === 0 ? "0" : String(Number(value.toPrecision(3)))
}

function percent(share) {
  return share >= 0.001 ? `${Number((100 * share).toPrecision(3))}%` : "less than 0.1%"
}

function move(x, serial) {
  const columns = {...points.data, x}
  if (serial !== undefined) { columns.serial = Array.from(x, () => serial) }
  return {data: columns}
}

function drag(event) {
  const {x, y} = points.data, line = event.origin
  if (event.event_name === "panstart") {
    const wide = line.inner_width, high = line.inner_height, {start, end} = line.x_range
    let best = 24 ** 2
    points.held = null
    for (let i = 0; i < x.length; i++) {
      const off = ((x[i] - event.x) / (end - start) * wide) ** 2 + ((y[i] - event.y) * high) ** 2
      if (off < best) { best = off; points.held = i }
    }
  } else if (points.held != null && event.event_name === "pan") {
    const moved = Float64Array.from(x)
    moved[points.held] = Math.round(Math.min(Math.max(event.x, lower), upper) * SNAP) / SNAP
    if (moved[points.held] !== x[points.held]) { put(points, move(moved)) }
  } else if (points.held != null) {
    points.held = null
    put(points, move(x, points.data.serial[0] + 1), {})
  }
}

const CHANGE = {
  "replace-one": "replacing one point",
  "add-remove": "adding or removing one point",
}

function show_release(found, c, epsilon, variance) {
  const scale = c * found.smooth, other = found.global / epsilon
  const half = (share) => [Math.tan(Math.PI * share / 2) * scale, -Math.log(1 - share) * other]
  const rows = ["smooth", "global"], centre = found.value
  const ends = {row: rows}
  for (const [name, share] of [["half", 0.5], ["most", 0.9]]) {
    ends[`${name}_low`] = half(share).map((h) => centre - h)
    ends[`${name}_high`] = half(share).map((h) => centre + h)
  }
  put(intervals, {data: ends})
  const x = [], row = []
  for (const [name, size] of [["smooth", scale], ["global", other]]) {
    unit.data[name].forEach((z, i) => { x.push(centre + size * z); row.push([name, unit.data.off[i]]) })
  }
  put(releases, {data: {x, row}})
  const reach = variance ? (upper - lower) ** 2 / 4 : upper, from = variance ? 0 : lower
  const margin = 0.04 * (reach - from)
  if (released.end !== reach + margin) { put(released, {start: from - margin, end: reach + margin}) }
  put(exact, {location: centre})
  return [half(0.9)[0], half(0.9)[1]]
}

function draw() {
  const [kind, relation, trim, epsilon, share] = ["statistic", "relation", "trim", "epsilon", "share"]
    .map((name) => controls.data[name][0])
  const n = points.data.x.length, beta = share * epsilon
  if (n === 0) { return }
  const found = sensitivities(kind, points.data.x, lower, upper, beta, relation, trim)
  const whole = found.global > 0 ? found.global : 1
  // a log axis has no 0: what is 0 is not drawn
  const part = (v) => v > 0 ? v / whole : NaN
  put(envelope, {data: {
    k: Float64Array.from(found.terms, (_, k) => k),
    sensitivity: Float64Array.from(found.A, part),
    term: Float64Array.from(found.terms, part),
  }})
  put(best, {data: {k: [found.best], term: [part(found.terms[found.best])]}})
  for (const [source, value] of [[local, found.local], [smooth, found.smooth], [global_, found.global]]) {
    put(source, {data: {x: [0, 1000], y: [part(value), part(value)], value: [value, value]}})
  }
  const c = cauchy_scale(epsilon, beta), [near, far] = show_release(found, c, epsilon, kind === "variance")
  if (found.global === 0) {
    say(`Trimming ${trim} points per end leaves none of ${n}. The result is then always the middle of the domain. ` +
      `Trim fewer points, or use more.`)
    return
  }
  const gain = far / near
  const words = gain >= 1.05 ? `${number(gain)} times <b>less</b> than Laplace noise with global sensitivity` :
    gain <= 0.95 ? `${number(1 / gain)} times <b>more</b> than Laplace noise with global sensitivity` :
      "about as wide as Laplace noise with global sensitivity"
  const kept = kind === "trimmed_mean" && 2 * trim >= n ?
    " This m leaves no points. The result is then the middle of the domain." : ""
  say(`For these points, ${CHANGE[relation]} changes the result (${number(found.value)}) by at most <b>${number(found.local)}</b> ` +
    `(local sensitivity). For any points it is at most <b>${number(found.global)}</b> (global). ` +
    `Smooth sensitivity: <b>${number(found.smooth)}</b>, ` +
    `${percent(found.smooth / found.global)} of the global, reached at k = <b>${found.best}</b>. ` +
    `With Cauchy noise at ε = ${epsilon}, 90% of releases lie within ±${number(near)}: ${words}.${kept}`)
}

try {
  if (cb_obj.event_name !== undefined) { drag(cb_obj) } else { draw() }
} catch (error) {
  console.error("sensitivities: " + error)
  say(`The sensitivities cannot be drawn: ${error}`)
}
