// Behind each plot: what it says in words, its numbers as tables, and files to keep. Runs after shell.js.

const MOST_ROWS = 200
function make(name, text = "", more = {}) {
  return Object.assign(document.createElement(name), {textContent: text, ...more})
}
const button = (text, act) => make("button", text, {type: "button", onclick: act})
const rounded = (value) => String(Number(value.toPrecision(6))).replace(/^-/, "\u2212")
// a file has every digit, as the code of the plot gives them
function cell(value, number = rounded) {
  if (typeof value === "number") { return Number.isFinite(value) ? number(value) : "" }
  const list = typeof value === "object" && value?.length !== undefined
  return list ? Array.from(value, (one) => cell(one, number)).join(" ") : String(value ?? "")
}
// a spreadsheet takes a text that begins like a formula for one; a number with a sign is none (dpml.tables.safe_cell)
const quoted = (text) => {
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

// each source that a plot draws from, with its columns as lists
function tables(plot) {
  const found = new Map()
  for (const {data_source: source} of plot.renderers) {
    const columns = Object.entries(source?.data ?? {}).map(([name, values]) => [name, Array.from(values)])
    const rows = columns[0]?.[1].length ?? 0
    if (source?.name && rows > 0 && !source.tags.includes("layout")) { found.set(source.name, {columns, rows}) }
  }
  return found
}
function table(name, {columns, rows}, most = MOST_ROWS) {
  const made = make("table"), content = made.createTBody()
  made.createCaption().textContent = rows > most ? `${name}: first ${most} of ${rows} rows` : name
  made.createTHead().insertRow().append(...columns.map(([title]) => make("th", title, {scope: "col"})))
  for (let i = 0; i < Math.min(rows, most); i++) {
    content.insertRow().append(...columns.map(([, values]) => make("td", cell(values[i]))))
  }
  return made
}
function csv({columns, rows}) {
  const lines = Array.from({length: rows}, (_, i) => columns.map(([, values]) => cell(values[i], String)))
  return [columns.map(([name]) => name), ...lines].map((line) => line.map(quoted).join(",") + "\n").join("")
}
function keep(blob, name) {
  const link = make("a", "", {href: URL.createObjectURL(blob), download: name})
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
// a plot as it is seen, drawn once more; lines and letters stay so in an SVG
const picture = (plot, kind) => Bokeh.index.find_one_by_id(plot.id).export(kind).to_blob()

const numbers = document.getElementById("numbers")
function open_numbers(of) {
  const doc = address.document, [said, actions, shown] = [make("p"), make("p"), make("div")]
  // the model holds escaped HTML, as its own view takes it
  said.innerHTML = new DOMParser().parseFromString(doc.get_model_by_name(of.dataset.said)?.text ?? "", "text/html").documentElement.textContent
  // page, card, data set and ε, once the server has said them
  const called = (name) => [actions.dataset.file, name].filter(Boolean).join("-")
  for (const name of of.dataset.plots.split(" ")) {
    const plot = doc.get_model_by_name(name)
    if (!plot) { continue }
    for (const [source, found] of tables(plot)) {
      shown.append(table(source, found))
      actions.append(button(`${source}.csv`, () => keep(new Blob([csv(found)], {type: "text/csv"}), `${called(source)}.csv`)))
    }
    for (const kind of ["png", "svg"]) {
      actions.append(button(`${name}.${kind}`, async () => keep(await picture(plot, kind), `${called(name)}.${kind}`)))
    }
  }
  numbers.replaceChildren(make("h2", of.dataset.title), button("Close", () => numbers.close()), said, actions, shown)
  numbers.showModal()
  offer_code(of, actions)
}
document.addEventListener("click", (event) => {
  const of = event.composedPath().find((part) => part.dataset?.plots !== undefined)
  if (of) { open_numbers(of) }
})

// Names of a legend stand side by side, as many as fit.
const pen = document.createElement("canvas").getContext("2d")
function fit_legends({model, el}) {
  const em = parseFloat(getComputedStyle(el).fontSize)
  for (const legend of model.below.filter((part) => part.type === "Legend")) {
    const size = legend.label_text_font_size, sample = legend.glyph_width + legend.label_standoff + 12
    pen.font = `${parseFloat(size) * (size.endsWith("em") ? em : 1)}px Roboto, Helvetica, Arial, sans-serif`
    const names = legend.items.map(({label}) => sample + pen.measureText(label?.value ?? label ?? "").width)
    const room = model.inner_width - (Array.isArray(legend.location) ? legend.location[0] : 0)
    const ncols = Math.max(1, Math.min(names.length, Math.floor(room / Math.max(...names))))
    if (legend.ncols !== ncols) { legend.setv({ncols}, {sync: false}) }
  }
}
// The plots that are drawn, by their models. Their own tools are for a pointer: the same can be had by keyboard here,
// and a page has few places to stop at.
const drawn = new Map()
function look_for_plots() {
  for (const model of address.document?._all_models.values() ?? []) {
    const view = model.type === "Figure" && Bokeh.index.find_one_by_id(model.id)
    // a view's parts come some time after it
    if (!view?.el?.isConnected || !view.el.shadowRoot?.querySelector(".bk-Canvas")) { continue }
    drawn.set(model, view)
    if (view.el.clientWidth > 0) { fit_legends(view) }
    for (const part of parts_of(view.el)) { if (part.tabIndex >= 0) { part.tabIndex = -1 } }
  }
}
look_for_plots()
setInterval(look_for_plots, 1000)
