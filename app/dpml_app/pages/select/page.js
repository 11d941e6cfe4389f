// Draws the probabilities of the rows and the coins of the Select page while a slider moves. Runs after kernels.js.

const KINDS = ["mutual_information", "count"]
const parts = {
  shown: {mutual_information: shown_mutual_information, count: shown_count},
  drawn: {mutual_information: drawn_mutual_information, count: drawn_count},
  mark: {mutual_information: mark_mutual_information, count: mark_count},
}
const FLOOR = 0.1 // what is 0 has no place on a log axis
const ENDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]

// The log weight of one unit of score, by how it is calibrated (dpml.selection.MaskSelector.weight).
function log_weight(calibration, epsilon, T, D, range, step) {
  const K = Math.min(T, D - T)
  if (calibration === "range") { return K > 0 ? epsilon / (K * range) : 0 }
  return epsilon / (2 * (calibration === "published" ? T : 1) * step)
}

const pen = document.createElement("canvas").getContext("2d")
function length(text, weight) {
  // Present writes larger
  pen.font = `${weight} ${document.body.classList.contains("presenting") ? 20 : 13}px FONT`
  return pen.measureText(text).width
}
// Of a name that has no room beside its row, its value tells more than its column.
function short(name, room) {
  let letters = name.length
  const shown = () => letters === name.length ? name : `${name.slice(0, 6)}…${name.slice(7 - letters)}`
  while (letters > 9 && length(shown(), "") > room) { letters -= 1 }
  return shown()
}

// A row for each of the best features; of the others one for those up to place T, and one for those after it.
function rows_of(chances, T, D) {
  const {index, name} = best.data, order = every.data.index, shown = name.length
  const rows = Array.from(name, (one, i) => [one, index[i], i, i + 1])
  for (const [from, to] of T > shown ? [[shown, T], [T, D]] : [[shown, D]]) {
    if (to > from) { rows.push([`mean of ${[from + 1, to].map((place) => place.toLocaleString("en")).join(" to ")}`, -1, from, to]) }
  }
  const columns = {row: rows.map((_, i) => i + 1)}
  for (const [i, column] of ["name", "index", "first", "last"].entries()) { columns[column] = rows.map((r) => r[i]) }
  columns.first = columns.first.map((place) => place + 1)
  for (const kind of KINDS) {
    const each = rows.map(([_name, _index, from, to]) => Array.from(order.slice(from, to), (i) => chances[kind][i]))
    columns[kind] = each.map((p) => p.reduce((a, b) => a + b) / p.length)
    columns[`${kind}_low`] = each.map((p) => p.reduce((a, b) => Math.min(a, b)))
    columns[`${kind}_high`] = each.map((p) => p.reduce((a, b) => Math.max(a, b)))
  }
  return columns
}

// The words of the cut stand where no mark is: at an end of the row above it or of the one below, else nowhere.
function beside_cut(columns, above, T, D, end, blind_share) {
  const text = `↑ ${T > 1 ? `${T} ` : ""}best`
  const wide = part * plot.inner_width, long = length(text, "bold") + 14
  const free = (row, from) => [[blind_share, blind_share], ...KINDS.map((kind) =>
    ["_low", "_high"].map((side) => columns[kind + side][row]))].every(([low, high]) =>
    high / end * wide + 9 < from || low / end * wide - 9 > from + long)
  for (const [row, base] of T < D ? [[above - 1, "bottom"], [above, "top"]] : []) {
    for (const at of [end, 0]) {
      if (free(row, at === 0 ? 0 : wide - long)) { return [at, above + 0.5, text, colors[2], base] }
    }
  }
  return [end, above + 0.5, "", colors[2], "bottom"]
}

function draw_rows(chances, T, D) {
  const columns = rows_of(chances, T, D), blind_share = T / D
  // rows are no closer than their names are high
  put(plot, {min_height: document.body.classList.contains("presenting") ? Math.ceil(26 * (columns.name.length + 5)) : 500})
  const room = Math.max(154, 0.28 * (plot.outer_width ?? 0))
  columns.label = columns.name.map((name) => short(name, room))
  put(plot, {min_border_left: Math.ceil(8 + Math.max(154, ...columns.label.map((name) => length(name, ""))))})
  const most = Math.max(blind_share, now.data.pinned[0], ...KINDS.flatMap((kind) => columns[`${kind}_high`]))
  const end = ENDS.find((one) => one >= most) ?? 1
  const ticks = (innerWidth < 700 ? [0, 0.5, 1] : [0, 0.2, 0.4, 0.6, 0.8, 1]).map((share) => share * end)
  if (range.end !== end / part || ticks.length !== ticker.ticks.length) {
    put(range, {end: end / part})
    put(ticker, {ticks})
  }
  const above = columns.last.filter((place) => place <= T).length, [by_counts, by_information, grey] = colors
  put(blind, {location: blind_share})
  put(cut, {location: above + 0.5})
  const words = [
    [columns.count[0], -1, "■ by counts", by_counts, "middle"],
    [columns.mutual_information[0], 0, "▲ by mutual information", by_information, "middle"],
    [blind_share, columns.row.length + 1, "chance", grey, "middle"],
    beside_cut(columns, above, T, D, end, blind_share),
  ]
  const beside = Object.fromEntries(["x", "y", "text", "color", "base"].map((name, i) => [name, words.map((w) => w[i])]))
  // where there is room
  const wide = part * plot.inner_width
  beside.align = beside.x.map((x, i) => x / end * wide + 7 + length(beside.text[i], "bold") > wide ? "right" : "left")
  beside.off = beside.align.map((side) => side === "left" ? 7 : -7)
  put(names, {data: beside})
  put(rows, {data: columns})
}

function draw() {
  const D = scores.data.count.length
  // the order of another data set comes after its scores
  if (D === 0 || every.data.index.length !== D || now.data.serial.length === 0) { return }
  const T = Math.min(controls.data.n_features[0], D)
  const paid = controls.data.epsilon[0] * controls.data.selection_share[0]
  const feature = now.data.feature[0], calibration = now.data.calibration[0], chances = {}
  put_named(["select-accuracy-marker"], {location: T})
  for (const kind of KINDS) {
    const s = scores.data[kind], range = now.data[kind][0]
    const weight = log_weight(calibration, paid, T, D, range, now.data[`${kind}_step`][0])
    const sorted = Float64Array.from(s).sort(), lowest = sorted[0]
    const reference = sorted[Math.max(D - 1 - T, 0)]
    const units = (i) => Math.max((s[i] - lowest) / range, FLOOR)
    const coin = (i) => expit(weight * (s[i] - reference))
    const {rank, index, name} = parts.shown[kind].data
    const columns = {rank, index, name}
    columns.score = Float64Array.from(index, (i) => s[i])
    columns.units = Float64Array.from(index, units)
    columns.coin = Float64Array.from(index, coin)
    chances[kind] = inclusion_probabilities(Float64Array.from(s, (v) => weight * v), T)
    put(parts.drawn[kind], {data: columns})
    put(parts.mark[kind], {data: {units: [units(feature)], coin: [coin(feature)]}})
  }
  draw_rows(chances, T, D)
}

try {
  draw()
} catch (error) {
  console.error("selection probabilities: " + error)
}
