// What belongs to the ε that is chosen: the gap, every run, the points, the marker. All of it is in the page already.
const epsilon = controls.data.epsilon[0]
const narrow = innerWidth < 700
const known = curve.data, mine = hand.data
const put = (model, values) => model.setv(values, {sync: false})
const near = (a, b) => Math.abs(a - b) < 1e-9 * b
const place_of = (data) => Array.from(data.epsilon).findIndex((e) => near(e, epsilon))
const at = place_of(known)
const wide = plot.inner_width, tall = plot.inner_height
const {start, end} = plot.y_range, [first, last] = [plot.x_range.start, plot.x_range.end]
const across = (e) => wide * Math.log(e / first) / Math.log(last / first), down = (v) => tall * (end - v) / (end - start)
const pen = document.createElement("canvas").getContext("2d")
const length = (words, px) => {
  pen.font = `bold ${px}px FONT`
  return pen.measureText(words).width
}

// Names stand at the ends of their curves, one below the other. On a phone they stand inside, above or below theirs,
// as beside the plot they would take half of its width, and the name of the thin line is left out.
const named = names.data
const count = named.x.length
// Present writes them larger
const size_of_names = document.body.classList.contains("presenting") ? 21 : 15, row = 1.2 * size_of_names
const hidden = (i) => narrow && named.text[i].startsWith("thin")
const inside = (i) => !narrow ? 0 : i === 0 || i === count - 1 ? -12 : i === 1 ? 34 : 24
const order = [...Array(count).keys()].filter((i) => !hidden(i)).sort((a, b) => down(named.y[a]) - down(named.y[b]) || a - b)
const spots = stacked(order.map((i) => down(named.y[i]) + inside(i)), order.map(() => row), tall - 4)
const shifts = Array(count).fill(-10000)
order.forEach((i, place) => { shifts[i] = Math.round(spots[place] - down(named.y[i])) })
const side = Array(count).fill(narrow ? "right" : "left"), off = Array(count).fill(narrow ? -6 : 12)
if (count > 0 && String([...named.side, ...named.down]) !== String([...side, ...shifts])) {
  put(names, {data: {...named, side, off, down: shifts}})
}

// Words stand beside the gap, as near to the upper line as no curve, band or name is.
function placed(texts, top) {
  const text = texts[0]
  const size = narrow ? 16 : 20, high = size + 2
  const long = length(text, size)
  const lines = [[known, "mean", 4], [known, "low", 2], [known, "high", 2], [known, "best", 4], [known, "guess", 3],
    [mine, "mean", 4], [mine, "low", 2], [mine, "high", 2]]
  const crossed = (left, right, up, low) => lines.some(([data, name, thick]) => {
    const points = data.epsilon, values = data[name]
    // a line enters the box at a point, or from one point to the next
    for (let i = 1; i < values.length; i++) {
      const [a, b] = [across(points[i - 1]), across(points[i])]
      if (b < left || a > right || !(b > a)) { continue }
      const [p, q] = [down(values[i - 1]), down(values[i])]
      const at = (x) => p + (q - p) * (Math.min(Math.max(x, a), b) - a) / (b - a), [l, r] = [at(left), at(right)]
      if (Math.max(l, r) > up - thick && Math.min(l, r) < low + thick) { return true }
    }
    return false
  })
  // the line of the goal, and the words that begin it
  const aim = down(goal.location), began = length(goal_words.data.text[0], 14)
  const aimed = (left, right, up, low) => up < aim + 4 && low > aim - (left < began + 12 ? 22 : 4)
  // on a phone names stand inside, 6 from the right end
  const met = (left, right, up, low) => narrow && order.some((i, place) =>
    right > wide - 12 - length(named.text[i], size_of_names) && up < spots[place] + 10 && low > spots[place] - 10)
  const here = across(epsilon), line = down(top)
  const sides = [["left", here + 14, 14], ["right", here - 14 - long, -14]]
  let best = null
  search: for (let away = 6; away < tall; away += 4) {
    for (const [base, up] of [["top", line + away], ["bottom", line - away - high]]) {
      for (const [align, left, off] of sides) {
        const box = [left, left + long, up, up + high]
        const fits = left >= 0 && left + long <= wide && up >= 0 && up + high <= tall
        if (fits && !crossed(...box) && !met(...box) && !aimed(...box)) {
          best = {align, off, base, away: base === "top" ? away : -away}
          break search
        }
      }
    }
  }
  // where there is no such place, the shorter words are tried
  if (!best && texts.length > 1) { return placed(texts.slice(1), top) }
  best ??= {align: here > wide / 2 ? "right" : "left", off: here > wide / 2 ? -14 : 14, base: "top", away: 6}
  return {text: [text], size: [`${size}px`], align: [best.align], base: [best.base], off: [best.off], down: [best.away]}
}
// the goal first: words make way for it
const margin = 0.02 * (end - start)
const aim = Math.min(Math.max(controls.data.wanted[0] / 100, start + margin), end - margin)
if (Math.abs(goal.location - aim) > 1e-9) { put(goal, {location: aim}) }
if (goal_words.data.y[0] !== aim) { put(goal_words, {data: {...goal_words.data, y: [aim]}}) }
if (marker.location !== epsilon) { put(marker, {location: epsilon}) }
if (at < 0) {
  put(gap, {data: Object.fromEntries(Object.keys(gap.data).map((name) => [name, []]))})
  put(dots, {data: {epsilon: [], accuracy: []}})
} else {
  const mean = known.mean[at], best = known.best[at], points = 100 * (best - mean)
  // the parts of the gap are drawn within it
  const exact = Math.min(Math.max(known.exact[at], mean), Math.max(best, mean))
  const few = points.toFixed(1), texts = points >= 0.05 ? [`${few} points of accuracy`, `${few} points`] : ["no cost"]
  put(gap, {data: {epsilon: [epsilon], mean: [mean], exact: [exact], best: [best], ...placed(texts, best)}})
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
// while ε moves, the point by hand is that of its curve; where there is none, the server's comes
if (point.data.epsilon[0] !== epsilon) {
  const i = place_of(mine), columns = ["mean", "low", "high"]
  put(point, {data: {epsilon: i < 0 ? [] : [epsilon], ...Object.fromEntries(columns.map((c) => [c, i < 0 ? [] : [mine[c][i]]]))}})
}
const right = narrow ? 14 : Math.max(RIGHT, ...named.text.map((text) => Math.ceil(24 + length(text, size_of_names))))
if (plot.min_border_right !== right) {
  plot.setv({min_border_right: right}, {sync: false})
  plot.below[0]?.ticker.setv({ticks: narrow ? [0.01, 0.1, 1, 10] : TICKS}, {sync: false})
}
