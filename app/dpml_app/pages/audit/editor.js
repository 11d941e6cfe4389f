// A table of records with cells to click on, and the record by which its neighbour differs.
// Records are written as in dpml/audit/cases/typed.py: the class, n or y, then the features that are on.

const FEATURES = ["a", "b", "c", "d"]
const MOST = 8

export function render({ model, el }) {
  const root = document.createElement("div")
  root.className = "editor"

  const toggled = (record, feature) => {
    const on = FEATURES.filter((f) => (f === feature ? !record.slice(1).includes(f) : record.slice(1).includes(f)))
    return record[0] + on.join("")
  }
  const other = (record) => (record[0] === "n" ? "y" : "n") + record.slice(1)

  function button(text, name, act, options = {}) {
    const b = document.createElement("button")
    b.type = "button"
    b.textContent = text
    b.setAttribute("aria-label", name)
    b.title = name
    if ("pressed" in options) { b.setAttribute("aria-pressed", String(options.pressed)) }
    b.className = options.kind ?? ""
    b.disabled = options.disabled ?? false
    b.addEventListener("click", act)
    return b
  }

  function cells(row, record, name, change) {
    for (const f of FEATURES) {
      const on = record.slice(1).includes(f)
      row.insertCell().append(
        button(on ? "1" : "0", `${name}, feature ${f}`, () => change(toggled(record, f)), { pressed: on, kind: "bit" }))
    }
    const yes = record[0] === "y"
    row.insertCell().append(
      button(yes ? "yes" : "no", `${name}, class yes`, () => change(other(record)), { pressed: yes, kind: "bit wide" }))
  }

  function heading(row, text) {
    const th = document.createElement("th")
    th.scope = "row"
    th.textContent = text
    row.append(th)
  }

  function draw() {
    const focused = root.getRootNode().activeElement?.getAttribute?.("aria-label")
    const records = model.table.split(".")
    const replacing = model.relation === "replace-one"
    const table = document.createElement("table")
    const caption = table.createCaption()
    caption.textContent = "Table D"
    const head = table.createTHead().insertRow()
    for (const text of ["", ...FEATURES, "class", replacing ? "replace" : "", ""]) {
      const th = document.createElement("th")
      th.scope = "col"
      th.textContent = text
      head.append(th)
    }
    const body = table.createTBody()
    const write = (list) => { model.table = list.join(".") }
    const at = Math.min(model.replaced, records.length)
    records.forEach((record, i) => {
      const row = body.insertRow()
      const name = `Record ${i + 1}`
      if (replacing && i + 1 === at) { row.className = "leaves" }
      heading(row, String(i + 1))
      cells(row, record, name, (changed) => write(records.map((r, k) => (k === i ? changed : r))))
      const choice = row.insertCell()
      if (replacing) {
        const radio = document.createElement("input")
        radio.type = "radio"
        radio.name = "replaced"
        radio.checked = i + 1 === at
        radio.setAttribute("aria-label", `Replace record ${i + 1}`)
        radio.addEventListener("change", () => { model.replaced = i + 1 })
        choice.append(radio)
      }
      row.insertCell().append(
        button("×", `Remove record ${i + 1}`, () => write(records.filter((_, k) => k !== i)),
          { kind: "plain", disabled: records.length === 1 }))
    })
    const difference = body.insertRow()
    difference.className = "says"
    const cell = difference.insertCell()
    cell.colSpan = 8
    cell.append(
      button("+ Add record", "Add record", () => write([...records, "n"]),
        { kind: "plain", disabled: records.length >= MOST }),
      replacing ? `D′ is D with record ${at} replaced by:` : "D′ is D plus this record:")
    const row = body.insertRow()
    row.className = "comes"
    heading(row, "new")
    cells(row, model.record, "New record", (changed) => { model.record = changed })
    row.insertCell()
    row.insertCell()
    root.replaceChildren(table)
    if (focused) {
      for (const node of root.querySelectorAll("button, input")) {
        if (node.getAttribute("aria-label") === focused) { node.focus() }
      }
    }
  }

  for (const name of ["table", "record", "replaced", "relation"]) { model.on(name, draw) }
  draw()
  return root
}
