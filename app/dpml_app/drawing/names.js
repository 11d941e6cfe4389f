// Few names stand at the right ends of their curves where they have room; else the legend below has them.
const put = (model, values) => model.setv(values, {sync: false})
const frame = Bokeh.index.find_one_by_id(plot.id)?.frame
if (!frame || !plot.inner_height || items.length === 0) { return }
const {left, top} = frame.bbox, wide = plot.inner_width, high = plot.inner_height

// Return where a line leaves the frame, or null: it has no points in sight. What is no line has no end: undefined.
function end_of(model) {
  if (!model.visible) { return null }
  if (model.type === "Span") {
    if (model.dimension !== "width") { return undefined }
    return model.location === null ? null : in_sight(wide, down(model.location))
  }
  const data = model.data_source.data, [xs, ys] = [data[model.glyph.x?.field], data[model.glyph.y?.field]]
  if (xs === undefined || ys === undefined) { return undefined }
  let last = null, before = null
  for (let i = 0; i < xs.length; i++) {
    const here = Number.isFinite(ys[i]) ? [frame.x_scale.compute(xs[i]) - left, down(ys[i])] : null
    const end = here && cut(before ?? here, here)
    if (end && (!last || end.x >= last.x)) { last = end }
    before = here
  }
  return last
}
const down = (value) => frame.y_scale.compute(value) - top
const in_sight = (x, y) => x > -1 && x < wide + 1 && y > -1 && y < high + 1 ? {x, y} : null
// the last point in sight on the way from a point to the next
function cut(from, to) {
  const part = Math.min(1, ...[wide, high].map((most, k) => {
    const step = to[k] - from[k]
    return step > 0 ? (most - from[k]) / step : step < 0 ? -from[k] / step : 1
  }))
  return in_sight(...from.map((start, k) => start + part * (to[k] - start)))
}

const few = (value) => Array(MOST_AT_ENDS).fill(value)
const pen = document.createElement("canvas").getContext("2d")
// Present writes larger
const size = document.body.classList.contains("presenting") ? 20 : 14
pen.font = `bold ${size}px FONT`
// a long name has two lines
function folded(text) {
  const spaces = [...text].flatMap((letter, i) => letter === " " ? [i] : [])
  const middle = (i) => Math.abs(i - text.length / 2)
  if (text.length <= 18 || spaces.length === 0) { return [text] }
  const at = spaces.reduce((a, b) => middle(b) < middle(a) ? b : a)
  return [text.slice(0, at), text.slice(at + 1)]
}
const listed = items.map((item, i) => ({item, ends: shown[i].map(end_of), color: colors[i]}))
  .filter(({item}) => item.visible)
const named = listed.flatMap(({item, ends, color}) => {
  const end = ends.find((one) => one)
  return end ? [{...end, lines: folded(item.label?.value ?? ""), color}] : []
}).sort((a, b) => a.y - b.y)
const tall = named.map(({lines}) => Math.ceil(1.2 * size) * lines.length)
const long = Math.ceil(Math.max(0, ...named.flatMap(({lines}) => lines.map((line) => pen.measureText(line).width))))
const fits = listed.length <= MOST_AT_ENDS && listed.every(({ends}) => ends.some((one) => one !== undefined))
  && plot.outer_width - long >= LEAST_WIDTH && tall.reduce((a, b) => a + b, 0) <= high
// all begin where the last curve ends, which may be far from the right
const furthest = Math.max(0, ...named.map(({x}) => x))
const free = (1 - furthest / wide) * (wide + plot.min_border_right - RIGHT)
// always as many rows: Bokeh 3.9 now and then paints an overlay with the colours of fewer rows than it has
const data = {x: few(NaN), y: few(NaN), text: few(""), color: few("GREY"), down: few(0)}
if (fits) {
  const spots = stacked(named.map(({y}) => y), tall, high - (tall.at(-1) ?? 0) / 2)
  const x = frame.x_scale.invert(left + furthest)
  named.forEach(({y, color, lines}, i) => {
    const row = {x, y: frame.y_scale.invert(top + y), text: lines.join("\n"), color, down: Math.round(spots[i] - y)}
    for (const [column, value] of Object.entries(row)) { data[column][i] = value }
  })
}
if (JSON.stringify(data) !== JSON.stringify(names.data)) { put(names, {data}) }
if (legend.visible === fits) { put(legend, {visible: !fits}) }
const right = fits && named.length > 0 && free < long + 14 ? long + 14 : RIGHT
if (plot.min_border_right !== right) { put(plot, {min_border_right: right}) }
