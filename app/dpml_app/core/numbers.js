// Behind each plot: what it says in words, its numbers as tables, and files to keep. Runs after shell.js.

const plain = (value) => typeof value === "number" ? (Number.isFinite(value) ? String(Number(value.toPrecision(6))).replace(/^-/, "\u2212") : "") : String(value ?? "")
const cell = (value) => typeof value === "object" && value !== null && value.length !== undefined ? Array.from(value, plain).join(" ") : plain(value)
// a spreadsheet takes a text that begins like a formula for one; a number with a sign is none (dpml.tables.safe_cell)
const quoted = (text) => {
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
const MOST_ROWS = 200

// each source that a plot draws from, with its columns as lists
function tables(plot) {
  const found = new Map()
  for (const renderer of plot.renderers) {
    const source = renderer.data_source
    const columns = Object.entries(source?.data ?? {}).map(([name, values]) => [name, Array.from(values)])
    const rows = columns.length > 0 ? columns[0][1].length : 0
    if (source?.name && rows > 0 && !source.tags.includes("layout")) { found.set(source.name, {columns, rows}) }
  }
  return found
}
function table(name, {columns, rows}) {
  const made = document.createElement("table")
  made.createCaption().textContent = rows > MOST_ROWS ? `${name}: first ${MOST_ROWS} of ${rows} rows` : name
  const head = made.createTHead().insertRow()
  for (const [title] of columns) {
    const th = document.createElement("th")
    th.scope = "col"
    th.textContent = title
    head.append(th)
  }
  const content = made.createTBody()
  for (let i = 0; i < Math.min(rows, MOST_ROWS); i++) {
    const row = content.insertRow()
    for (const [, values] of columns) { row.insertCell().textContent = cell(values[i]) }
  }
  return made
}
// a file has every digit, as the code of the plot gives them
const exact = (value) => typeof value === "number" ? (Number.isFinite(value) ? String(value) : "") : String(value ?? "")
const whole = (value) => typeof value === "object" && value !== null && value.length !== undefined ? Array.from(value, exact).join(" ") : exact(value)
function csv({columns, rows}) {
  const lines = [columns.map(([name]) => quoted(name)).join(",")]
  for (let i = 0; i < rows; i++) { lines.push(columns.map(([, values]) => quoted(whole(values[i]))).join(",")) }
  return lines.join("\n") + "\n"
}
function keep(blob, name) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
function button(text, act) {
  const made = document.createElement("button")
  made.type = "button"
  made.textContent = text
  made.addEventListener("click", act)
  return made
}

// a plot as it is seen, drawn once more; lines and letters stay so in an SVG
const picture = (plot, kind) => Bokeh.index.find_one_by_id(plot.id).export(kind).to_blob()

const numbers = document.getElementById("numbers")
function open_numbers(of) {
  const doc = address.document
  const [title, close] = [document.createElement("h2"), button("Close", () => numbers.close())]
  title.textContent = of.dataset.title
  const said = document.createElement("p")
  // the model holds escaped HTML, as its own view takes it
  said.innerHTML = new DOMParser().parseFromString(doc.get_model_by_name(of.dataset.said)?.text ?? "", "text/html").documentElement.textContent
  const [actions, body] = [document.createElement("p"), document.createElement("div")]
  // page, card, data set and ε, once the server has said them
  const called = (name) => [actions.dataset.file, name].filter(Boolean).join("-")
  for (const name of of.dataset.plots.split(" ").filter(Boolean)) {
    const plot = doc.get_model_by_name(name)
    if (!plot) { continue }
    for (const [source, found] of tables(plot)) {
      body.append(table(source, found))
      actions.append(button(`${source}.csv`, () => keep(new Blob([csv(found)], {type: "text/csv"}), `${called(source)}.csv`)))
    }
    for (const kind of ["png", "svg"]) {
      actions.append(button(`${name}.${kind}`, async () => keep(await picture(plot, kind), `${called(name)}.${kind}`)))
    }
  }
  numbers.replaceChildren(title, close, said, actions, body)
  numbers.showModal()
  offer_code(of, actions)
}
document.addEventListener("click", (event) => {
  const of = event.composedPath().find((part) => part.dataset?.plots !== undefined)
  if (of) { open_numbers(of) }
  // what is open over a plot goes when another place is clicked
  for (const open of [...opened]) {
    if (!event.composedPath().includes(open)) { open.open = false }
  }
})
const opened = new Set()
document.addEventListener("toggle", (event) => {
  const about = event.composedPath()[0]
  if (about.matches?.("details.about")) { opened[about.open ? "add" : "delete"](about) }
}, true)
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { for (const open of [...opened]) { open.open = false } }
})

// A page's picture is as high as a part of the window, or as the share of it that its tag names.
const host_of = (el) => { while (el.getRootNode() instanceof ShadowRoot) { el = el.getRootNode().host } return el }
function fit_one({model, el}) {
  const part = document.body.classList.contains("presenting") ? 0.68 : 0.58
  const share = model.tags.find((tag) => String(tag).startsWith("share:"))?.slice(6) ?? 1
  const height = Math.round(share * Math.min(Math.max(part * innerHeight, 320), 720))
  // what is lower than the least height and has no share of it is a small part of a picture
  const small = model.height < 320 && share === 1
  if (small || !el.isConnected || !host_of(el).closest(".first")) { return }
  if (Math.abs(model.height - height) > 10) { model.setv({height}, {sync: false}) }
}
// What is written around a plot has room on each screen: names of a legend stand side by side, as many as fit, and a
// long name of an axis has several lines.
const pen = document.createElement("canvas").getContext("2d")
function length(words, size, em) {
  pen.font = `${parseFloat(size) * (size.endsWith("em") ? em : 1)}px Roboto, Helvetica, Arial, sans-serif`
  return pen.measureText(words).width
}
function broken(words, size, em, room) {
  if (length(words, size, em) <= room) { return words }
  const rows = [""]
  // parts that stand apart stay whole
  for (const [, part, gap] of words.matchAll(/ {2}/.test(words) ? /(\S+(?: \S+)*)( *)/g : /(\S+)( *)/g)) {
    if (rows.at(-1) !== "" && length(rows.at(-1) + part, size, em) > room) { rows.push("") }
    rows.push(rows.pop() + part + gap)
  }
  return rows.map((row) => row.trim()).join("\n")
}
// on a canvas, an em of Bokeh's
const CANVAS_EM = 13
// of each axis, its name and what is written of it
const axis_names = new Map()
function fit_words({model, el, frame}) {
  if (el.clientWidth === 0) { return }
  const em = parseFloat(getComputedStyle(el).fontSize)
  for (const legend of model.below.filter((part) => part.type === "Legend")) {
    const sample = legend.glyph_width + legend.label_standoff + 12
    const names = legend.items.map(({label}) => sample + length(label?.value ?? label ?? "", legend.label_text_font_size, em))
    const room = model.inner_width - (Array.isArray(legend.location) ? legend.location[0] : 0)
    const ncols = Math.max(1, Math.min(names.length, Math.floor(room / Math.max(...names))))
    if (legend.ncols !== ncols) { legend.setv({ncols}, {sync: false}) }
  }
  const {hcenter, vcenter} = frame.bbox
  const across = 2 * Math.min(hcenter, el.clientWidth - hcenter), down = 2 * Math.min(vcenter, el.clientHeight - vcenter)
  for (const [axes, room] of [[[...model.below, ...model.above], across], [[...model.left, ...model.right], down]]) {
    for (const axis of axes.filter(({axis_label}) => typeof axis_label === "string")) {
      if (axis_names.get(axis)?.written !== axis.axis_label) { axis_names.set(axis, {own: axis.axis_label}) }
      const {own} = axis_names.get(axis)
      const written = broken(own, axis.axis_label_text_font_size, CANVAS_EM, room)
      axis_names.set(axis, {own, written})
      if (axis.axis_label !== written) { axis.setv({axis_label: written}, {sync: false}) }
    }
  }
}
// The plots' own tools are for a pointer: the same can be had by keyboard here, and a page has few places to stop at.
function untab(root) {
  for (const part of root.querySelectorAll("*")) {
    if (part.tabIndex >= 0) { part.tabIndex = -1 }
    if (part.shadowRoot) { untab(part.shadowRoot) }
  }
}
// The plots that are drawn, by their models. Each is walked through once, and again only when its own tools change.
const drawn = new Map()
function fit() { for (const view of drawn.values()) { fit_one(view) } }
function watch(root, act) {
  const seen = new MutationObserver(act)
  seen.observe(root, {childList: true, subtree: true})
  for (const part of root.querySelectorAll("*")) {
    if (part.shadowRoot) { watch(part.shadowRoot, act) }
  }
}
function look_for_plots() {
  for (const model of address.document?._all_models.values() ?? []) {
    if (model.type !== "Figure") { continue }
    if (drawn.get(model)?.el.isConnected) { fit_words(drawn.get(model)); continue }
    const view = Bokeh.index.find_one_by_id(model.id)
    // a view's parts come some time after it
    if (!view?.el?.isConnected || !view.el.shadowRoot?.querySelector("canvas, .bk-Canvas, .bk-CanvasPanel")) { continue }
    drawn.set(model, view)
    let due = null
    const again = () => { clearTimeout(due); due = setTimeout(() => untab(view.el.shadowRoot), 100) }
    untab(view.el.shadowRoot)
    watch(view.el.shadowRoot, again)
    fit_one(view)
  }
}
look_for_plots()
addEventListener("resize", fit)
setInterval(look_for_plots, 1000)
