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

const margin = 0.02 * (end - start)
const aim = Math.min(Math.max(controls.data.wanted[0] / 100, start + margin), end - margin), height = down(aim)

// Names stand at the ends of their curves, one below the other. On a phone they stand inside, above or below theirs,
// as beside the plot they would take half of its width, and the name of the thin line is left out.
const named = names.data
const count = named.x.length
// Present writes them larger
const size_of_names = document.body.classList.contains("presenting") ? 21 : 15, row = 1.2 * size_of_names
const hidden = (i) => narrow && named.text[i].startsWith("thin")
const inside = (i) => !narrow ? 0 : i === 0 || i === count - 1 ? -12 : i === 1 ? 34 : 24
const order = [...Array(count).keys()].filter((i) => !hidden(i)).sort((a, b) => down(named.y[a]) - down(named.y[b]) || a - b)
// on a phone no name is on the line of the goal
const beside_goal = (y) => narrow && Math.abs(y - height) < 14 ? height + 14 : y
const spots = stacked(order.map((i) => beside_goal(down(named.y[i]) + inside(i))), order.map(() => row), tall - 4)
const shifts = Array(count).fill(-10000)
order.forEach((i, place) => { shifts[i] = Math.round(spots[place] - down(named.y[i])) })
const side = Array(count).fill(narrow ? "right" : "left"), off = Array(count).fill(narrow ? -6 : 12)
if (count > 0 && String([...named.side, ...named.down]) !== String([...side, ...shifts])) {
  put(names, {data: {...named, side, off, down: shifts}})
}

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
// on a phone names stand inside, 6 from the right end
const met = (left, right, up, low) => narrow && order.some((i, place) =>
  right > wide - 12 - length(named.text[i], size_of_names) && up < spots[place] + 10 && low > spots[place] - 10)
const within = (left, right, up, low) => left >= 0 && right <= wide && up >= 0 && low <= tall
const here = across(epsilon)

// The goal first: words of the cost make way for it. Its own stand on its line, at the left end if nothing is there;
// on a phone the ε alone may have room.
if (Math.abs(goal.location - aim) > 1e-9) { put(goal, {location: aim}) }
const goal_size = size_of_names === 15 ? 14 : 20, whole = goal_words.data.text[0]
const goal_boxes = [whole, whole.split(": ").at(-1)].flatMap((shown) => {
  const long = length(shown, goal_size)
  return [0, here + 2, wide - long - 12].flatMap((x) => [["bottom", -3], ["top", 5]].map(([base, off]) => {
    const up = height + off - (base === "bottom" ? goal_size + 2 : 0)
    return {shown, x, base, off, box: [x + 6, x + 6 + long, up, up + goal_size + 2]}
  }))
})
const passed = (left, right) => left < here + 4 && right > here - 4
const goal_at = goal_boxes.find(({box}) => within(...box) && !crossed(...box) && !met(...box) && !passed(...box)) ?? goal_boxes[0]
const written = {x: [first * (last / first) ** (goal_at.x / wide)], y: [aim], shown: [goal_at.shown],
  base: [goal_at.base], down: [goal_at.off]}
if (wide > 0 && Object.entries(written).some(([name, [value]]) => goal_words.data[name][0] !== value)) {
  put(goal_words, {data: {...goal_words.data, ...written}})
}

// Words stand beside the gap, as near to the upper line as no curve, band or name is.
function placed(texts, top) {
  const text = texts[0]
  const size = narrow ? 16 : 20, high = size + 2
  const long = length(text, size)
  // the line of the goal, and its words
  const [from, to, above, below] = goal_at.box
  const aimed = (left, right, up, low) => (up < height + 4 && low > height - 4) ||
    (left < to + 6 && right > from - 6 && up < below && low > above)
  const line = down(top)
  const sides = [["left", here + 14, 14], ["right", here - 14 - long, -14]]
  let best = null
  search: for (let away = 6; away < tall; away += 4) {
    for (const [base, up] of [["top", line + away], ["bottom", line - away - high]]) {
      for (const [align, left, off] of sides) {
        const box = [left, left + long, up, up + high]
        if (within(...box) && !crossed(...box) && !met(...box) && !aimed(...box)) {
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
if (marker.location !== epsilon) { put(marker, {location: epsilon}) }
if (at < 0) {
  put(gap, {data: Object.fromEntries(Object.keys(gap.data).map((name) => [name, []]))})
  put(dots, {data: {epsilon: [], accuracy: []}})
} else {
  const mean = known.mean[at], best = known.best[at], points = 100 * (best - mean)
  // the parts of the gap are drawn within it
  const exact = Math.min(Math.max(known.exact[at], mean), Math.max(best, mean))
  const few = points.toFixed(1), texts = points >= 0.05 ? [`${few} percentage points`, `${few} points`] : ["no cost"]
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
// while ε moves, the custom model's point is that of its curve; where there is none, the server's comes
if (point.data.epsilon[0] !== epsilon) {
  const i = place_of(mine), columns = ["mean", "low", "high"]
  put(point, {data: {epsilon: i < 0 ? [] : [epsilon], ...Object.fromEntries(columns.map((c) => [c, i < 0 ? [] : [mine[c][i]]]))}})
}
const right = narrow ? 14 : Math.max(RIGHT, ...named.text.map((text) => Math.ceil(24 + length(text, size_of_names))))
if (plot.min_border_right !== right) {
  plot.setv({min_border_right: right}, {sync: false})
  plot.below[0]?.ticker.setv({ticks: narrow ? [0.01, 0.1, 1, 10] : TICKS}, {sync: false})
}
