// Pins: a table of the settings that were pinned, beside the one that is shown. Runs after shell.js.
// In, from the server: pins (payload: what a page shows, as JSON). In, to the server: pinning (act, at, serial).

const pin_button = document.getElementById("pin")
const box_of = (page) => body.querySelector(`[data-of="${page}"] .pins`)
let said_last = 0

function act(what, at) {
  pinning.data = {act: [what], at: [at], serial: [pinning.data.serial[0] + 1]}
}
function make(name, text = "", more = {}) {
  const made = document.createElement(name)
  made.textContent = text
  for (const [key, value] of Object.entries(more)) { made.setAttribute(key, value) }
  return made
}
function dash_of(dashes) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  svg.setAttribute("aria-hidden", "true")
  svg.innerHTML = `<line x1="0" y1="3" x2="34" y2="3" stroke="currentColor" stroke-width="2" stroke-dasharray="${dashes.join(" ")}"/>`
  return svg
}
function head_of(payload) {
  const row = make("tr")
  row.append(make("td"))
  payload.names.forEach((name, at) => {
    const cell = make("th", "", {scope: "col"})
    cell.append(dash_of(payload.dashes[at]), make("span", name))
    for (const [what, text] of [["load", "Show"], ["remove", "Remove"]]) {
      const button = make("button", text, {type: "button", "data-act": `${what} ${at}`, "aria-label": `${text} ${name.toLowerCase()}`})
      button.addEventListener("click", () => act(what, at))
      cell.append(button)
    }
    row.append(cell)
  })
  row.append(make("th", "Current", {scope: "col"}))
  return row
}
function show_pins() {
  const payload = JSON.parse(pins.data.payload[0])
  const box = box_of(payload.page)
  if (box) {
    const shape = JSON.stringify([payload.names, payload.rows.map((row) => row.what)])
    if (box.dataset.shape !== shape) {
      const focused = document.activeElement?.dataset?.act
      const inside = box.contains(document.activeElement)
      box.dataset.shape = shape
      box.hidden = payload.names.length === 0
      const table = make("table")
      table.append(make("caption", payload.within ? `Pinned settings. In brackets: ${payload.within}.` : "Pinned settings."))
      const content = make("tbody")
      for (const row of payload.rows) {
        const tr = make("tr")
        tr.append(make("th", row.what, {scope: "row"}), ...row.cells.map((text) => make("td", text)))
        content.append(tr)
      }
      const head = make("thead")
      head.append(head_of(payload))
      table.append(head, content)
      box.replaceChildren(table)
      if (payload.said && innerWidth > 700) { box.scrollIntoView({block: "nearest"}) }
      // keyboard users keep their place
      if (inside) { (box.querySelector(`[data-act="${focused}"]`) ?? box.querySelector("button") ?? pin_button).focus() }
    } else {
      payload.rows.forEach((row, i) => row.cells.forEach((text, j) => {
        const cell = box.querySelectorAll("tbody tr")[i].cells[j + 1]
        if (cell.textContent !== text) { cell.textContent = text }
      }))
    }
  }
  if (payload.said && payload.serial !== said_last) {
    said_last = payload.serial
    const copied = document.getElementById("copied")
    copied.textContent = payload.said
    setTimeout(() => { if (copied.textContent === payload.said) { copied.textContent = "" } }, 4000)
  }
}
pins.connect(pins.properties.data.change, show_pins)
pin_button.addEventListener("click", () => act("pin", -1))
const can_pin = () => { pin_button.hidden = box_of(body.dataset.page) === null }
new MutationObserver(can_pin).observe(body, {attributes: true, attributeFilter: ["data-page"]})
can_pin()
