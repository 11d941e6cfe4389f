// A report of the session as one file: pictures, answers, tables, settings and links. Runs after code.js.
// All that the server and the data say goes in as text, and the file runs no script and loads nothing.

const REPORT_STYLE = `
  :root { color-scheme: light; }
  body { font: 16px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; max-width: 1000px; margin: 32px auto; padding: 0 20px; }
  h1 { font-size: 1.7rem; } h2 { font-size: 1.35rem; margin-top: 2.2em; border-bottom: 1px solid #ccc; } h3 { font-size: 1.1rem; }
  .warning { border-left: 6px solid #c2410c; padding: 6px 14px; background: #fff4ed; font-weight: 600; }
  .answer { font-size: 1.1rem; } .made { color: #555; font-size: 0.9rem; } a { overflow-wrap: anywhere; }
  img { max-width: 100%; height: auto; } figure { margin: 12px 0; break-inside: avoid; }
  table { border-collapse: collapse; font-size: 0.82rem; font-variant-numeric: tabular-nums; margin: 6px 0 14px; }
  th, td { text-align: right; padding: 2px 9px; border-bottom: 1px solid #ddd; } caption { text-align: left; font-weight: 600; }
  .settings th, .settings td { text-align: left; } .tables { overflow-x: auto; } summary { cursor: pointer; }
  @media print { body { margin: 0; max-width: none; } details > summary { display: none; } h2 { break-before: page; } h2.first { break-before: auto; } }
`
const MOST_REPORTED = 60

const data_address = (blob) => new Promise((resolve, reject) => {
  const reader = new FileReader()
  reader.onload = () => resolve(reader.result)
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(blob)
})
// paper is light: a dark page is light for as long as its pictures are taken
async function in_light(act) {
  // the theme paints the page: no class says which it is
  const dark = () => parseInt(getComputedStyle(document.body).backgroundColor.match(/\d+/)?.[0] ?? "255") < 128
  const was = dark(), toggle = () => {
    const found = []
    const walk = (node) => {
      if (node.nodeName === "BUTTON" && node.classList.contains("MuiButtonBase-root")) { found.push(node) }
      for (const child of [...(node.shadowRoot?.children ?? []), ...(node.children ?? [])]) { walk(child) }
    }
    walk(document.getElementById("top"))
    found[0]?.click()
  }
  if (!was) { return act() }
  toggle()
  for (let i = 0; i < 20 && dark(); i++) { await new Promise((resolve) => setTimeout(resolve, 100)) }
  await new Promise((resolve) => setTimeout(resolve, 500))
  try { return await act() } finally { toggle() }
}
function add(parent, name, text = "", more = {}) {
  const made = parent.ownerDocument.createElement(name)
  made.textContent = text
  for (const [key, value] of Object.entries(more)) { made.setAttribute(key, value) }
  parent.append(made)
  return made
}
function add_table(parent, name, {columns, rows}) {
  const made = add(parent, "table")
  add(made, "caption", rows > MOST_REPORTED ? `${name}: first ${MOST_REPORTED} of ${rows} rows` : name)
  const head = add(add(made, "thead"), "tr")
  for (const [title] of columns) { add(head, "th", title, {scope: "col"}) }
  const content = add(made, "tbody")
  for (let i = 0; i < Math.min(rows, MOST_REPORTED); i++) {
    const row = add(content, "tr")
    for (const [, values] of columns) { add(row, "td", cell(values[i])) }
  }
}
async function add_plot(parent, name, title) {
  const plot = address.document.get_model_by_name(name)
  const view = plot && Bokeh.index.find_one_by_id(plot.id)
  if (!view || view.bbox.width < 1) { return }
  const figure = add(parent, "figure")
  add(figure, "img", "", {src: await data_address(await picture(plot, "png")), alt: title, width: view.bbox.width})
  const found = [...tables(plot)]
  if (found.length === 0) { return }
  const kept = add(parent, "details", "", {class: "tables"})
  add(kept, "summary", "Numbers")
  for (const [source, one] of found) { add_table(kept, source, one) }
}
async function report_in(payload) {
  const made = document.implementation.createHTMLDocument(payload.title)
  const head = made.head, page = made.body
  made.documentElement.lang = "en"
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
  add(head, "meta", "", {charset: "utf-8"})
  add(head, "meta", "", {"http-equiv": "Content-Security-Policy", content: policy})
  add(head, "meta", "", {name: "viewport", content: "width=device-width, initial-scale=1"})
  add(head, "style", REPORT_STYLE)
  add(page, "h1", payload.title)
  add(page, "p", `Made on ${new Date().toLocaleString("en-GB", {dateStyle: "long", timeStyle: "short"})} with ${payload.made}.`, {class: "made"})
  add(page, "p", payload.warning, {class: payload.mine ? "warning" : "made"})
  for (const [i, one] of payload.pages.entries()) {
    add(page, "h2", one.title, i === 0 ? {class: "first"} : {})
    add(page, "p", one.question)
    if (one.answer) { add(page, "p", one.answer, {class: "answer"}) }
    const href = new URL(location.pathname + one.link, location.href).href
    const link = add(page, "p", one.mine ? "Link to these settings (without the table): " : "Link to these settings: ", {class: "made"})
    add(link, "a", href, {href})
    for (const card of one.cards) {
      add(page, "h3", card.title)
      if (card.said) { add(page, "p", card.said) }
      for (const name of card.plots) { await add_plot(page, name, card.title) }
    }
    const settings = add(page, "table", "", {class: "settings"})
    add(settings, "caption", "Settings")
    for (const [label, value] of one.settings) {
      const row = add(settings, "tr")
      add(row, "th", label, {scope: "row"})
      add(row, "td", value)
    }
  }
  return `<!doctype html>\n${made.documentElement.outerHTML}\n`
}
const report_button = document.getElementById("report")
report_button.addEventListener("click", async () => {
  const said = document.getElementById("copied")
  report_button.disabled = true
  said.textContent = "Creating report…"
  try {
    const payload = (await ask("report")).report
    const text = await in_light(() => report_in(payload))
    keep(new Blob([text], {type: "text/html"}), `${payload.file}.html`)
    said.textContent = "Report downloaded"
  } catch (error) {
    console.error(error)
    said.textContent = `The report failed: ${error}`
  } finally {
    report_button.disabled = false
    setTimeout(() => { said.textContent = "" }, 4000)
  }
})
