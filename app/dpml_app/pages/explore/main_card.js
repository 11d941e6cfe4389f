// What belongs to the ε that is chosen: the gap, every run, the marker. All of it is in the page already.
const epsilon = controls.data.epsilon[0]
const narrow = innerWidth < 700
const known = curve.data
const INSIDE = [-12, 24, -10000, -12]
const put = (model, values) => model.setv(values, {sync: false})
const near = (a, b) => Math.abs(a - b) < 1e-9 * b
const at = Array.from(known.epsilon).findIndex((e) => near(e, epsilon))
// Words stand beside the gap, as near to the upper line as no curve, band or name is.
function placed(text, top) {
  const size = narrow ? 16 : 20, high = size + 2, pen = document.createElement("canvas").getContext("2d")
  const length = (words, px) => {
    pen.font = `bold ${px}px FONT`
    return pen.measureText(words).width
  }
  const long = length(text, size)
  const wide = plot.inner_width, tall = plot.inner_height
  const {start, end} = plot.y_range, [first, last] = [plot.x_range.start, plot.x_range.end]
  const across = (e) => wide * Math.log(e / first) / Math.log(last / first), down = (v) => tall * (end - v) / (end - start)
  const curves = [[known.mean, 4], [known.low, 2], [known.high, 2], [known.plain, 4]]
  const crossed = (left, right, up, low) => curves.some(([values, thick]) => {
    // a line enters the box at a point, or from one point to the next
    for (let i = 1; i < values.length; i++) {
      const [a, b] = [across(known.epsilon[i - 1]), across(known.epsilon[i])]
      if (b < left || a > right || !(b > a)) { continue }
      const [p, q] = [down(values[i - 1]), down(values[i])]
      const at = (x) => p + (q - p) * (Math.min(Math.max(x, a), b) - a) / (b - a), [l, r] = [at(left), at(right)]
      if (Math.max(l, r) > up - thick && Math.min(l, r) < low + thick) { return true }
    }
    return false
  })
  // on a phone names stand inside, 6 from the right end and as far from their lines as INSIDE says
  const named = (left, right, up, low) => narrow && names.data.y.some((y, i) => {
    const middle = down(y) + INSIDE[i]
    return right > wide - 12 - length(names.data.text[i], 15) && up < middle + 10 && low > middle - 10
  })
  const here = across(epsilon), line = down(top)
  const sides = [["left", here + 14, 14], ["right", here - 14 - long, -14]]
  let best = {align: "left", off: 14, base: "top", away: 6}
  search: for (let away = 6; away < tall; away += 4) {
    for (const [base, up] of [["top", line + away], ["bottom", line - away - high]]) {
      for (const [align, left, off] of sides) {
        const box = [left, left + long, up, up + high]
        const inside = left >= 0 && left + long <= wide && up >= 0 && up + high <= tall
        if (inside && !crossed(...box) && !named(...box)) {
          best = {align, off, base, away: base === "top" ? away : -away}
          break search
        }
      }
    }
  }
  return {size: [`${size}px`], align: [best.align], base: [best.base], off: [best.off], down: [best.away]}
}
if (marker.location !== epsilon) { put(marker, {location: epsilon}) }
if (at < 0) {
  put(gap, {data: Object.fromEntries(Object.keys(gap.data).map((name) => [name, []]))})
  put(dots, {data: {epsilon: [], accuracy: []}})
} else {
  const mean = known.mean[at], plain = known.plain[at], points = 100 * (plain - mean)
  const text = points >= 0.05 ? `${points.toFixed(1)} points` : "no cost"
  put(gap, {data: {epsilon: [epsilon], mean: [mean], plain: [plain], text: [text], ...placed(text, plain)}})
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
  const down = narrow ? INSIDE : named.down
  put(names, {data: {...named, side, off, down}})
}
const right = narrow ? 14 : RIGHT
if (plot.min_border_right !== right) {
  plot.setv({min_border_right: right}, {sync: false})
  plot.below[0]?.ticker.setv({ticks: narrow ? [0.01, 0.1, 1, 10] : TICKS}, {sync: false})
}
