// On a phone names and shares stand above their bars: beside the plot they would take half of its width.
const narrow = innerWidth < 700
const put = (model, values) => {
  if (Object.entries(values).some(([name, value]) => JSON.stringify(model[name]) !== JSON.stringify(value))) {
    model.setv(values, {sync: false})
  }
}
const pen = document.createElement("canvas").getContext("2d")
// Present writes larger
pen.font = `${document.body.classList.contains("presenting") ? 21 : 15}px ${font}`
const lengths = Array.from(rows.data.method, (name) => pen.measureText(name).width)
const heading = Array.from(words.data.text, (text, i) => words.data.role[i] === "heading" ? pen.measureText(text).width : 0)
const up = narrow ? -21 : 0
put(plot, {min_border_left: narrow ? 10 : Math.ceil(Math.max(110, ...lengths, ...heading)) + 24, min_border_right: narrow ? 10 : right})
// a name above its bar needs a row of its own height
put(plot, {min_height: narrow ? Math.ceil(46 * (plot.y_range.start - plot.y_range.end)) + 60 : null})
put(names, {text_align: {value: narrow ? "left" : "right"}, x_offset: {value: narrow ? 2 : -12}, y_offset: {value: up}})
put(shares, {text_align: {value: narrow ? "right" : "left"}, x_offset: {value: narrow ? -2 : 12}, y_offset: {value: up}})
// the heading stands above the names, and what names the level above the shares
const column = (name, role, wide, phone) =>
  Array.from(words.data[name], (one, i) => words.data.role[i] === role ? (narrow ? phone : wide) : one)
const moved = {
  side: column("side", "heading", "right", "left"),
  off: column("off", "heading", -12, 2),
  down: column("down", "level", -1, -17),
}
put(words, {data: {...words.data, ...moved}})
// a line through the name of what is not private as published
const across = (plot.x_range.end - plot.x_range.start) / plot.inner_width
const down = (plot.y_range.start - plot.y_range.end) / plot.inner_height
const struck = {x0: [], x1: [], y: []}
for (const [i, broken] of Array.from(rows.data.broken).entries()) {
  if (broken === "as claimed") { continue }
  const left = plot.x_range.start + across * (narrow ? 2 : -12 - lengths[i])
  struck.x0.push(left)
  struck.x1.push(left + across * lengths[i])
  struck.y.push(rows.data.y[i] + down * (up + 1))
}
put(strikes, {data: struck})
