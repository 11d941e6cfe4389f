// The catalogue's claims as a table: one row a claim, a mark for each check, a button that selects the method.

export function render({ model }) {
  const root = document.createElement("div")
  root.className = "claims"
  const bar = document.createElement("div")
  bar.className = "bar"
  const label = document.createElement("label")
  label.textContent = "Show "
  const filter = document.createElement("select")
  for (const [value, text] of [["", "all families"], ...Object.entries(model.families)]) {
    const option = document.createElement("option")
    option.value = value
    option.textContent = text
    filter.append(option)
  }
  label.append(filter)
  const only = document.createElement("label")
  const box = document.createElement("input")
  box.type = "checkbox"
  only.append(box, " only claims that do not hold")
  bar.append(label, only)

  const scroll = document.createElement("div")
  scroll.className = "scroll"
  scroll.tabIndex = 0
  scroll.setAttribute("role", "region")
  scroll.setAttribute("aria-label", "Claims of the catalogue")
  const table = document.createElement("table")
  const head = table.createTHead().insertRow()
  for (const text of ["By formula", "By draws", "Method", "Claim", "Relation", "Private?", "True cost", "Source"]) {
    const th = document.createElement("th")
    th.scope = "col"
    th.textContent = text
    head.append(th)
  }
  const body = table.createTBody()
  const rows = new Map()
  for (const entry of model.rows) {
    const row = body.insertRow()
    const marks = [row.insertCell(), row.insertCell()]
    marks.forEach((cell) => { cell.className = "mark" })
    const choose = document.createElement("button")
    choose.type = "button"
    choose.textContent = entry.title
    choose.setAttribute("aria-label", `Audit ${entry.title}, ${entry.relation_words}`)
    row.insertCell().append(choose)
    for (const [name, text] of [["Claim", entry.claim], ["Relation", entry.relation_words],
      ["Private?", entry.private], ["True cost", entry.cost], ["Source", entry.source]]) {
      const cell = row.insertCell()
      cell.textContent = text
      cell.dataset.name = name
    }
    if (!entry.holds) { row.classList.add("fails") }
    row.addEventListener("click", () => model.send_msg({ method: entry.method, relation: entry.relation }))
    rows.set(entry.key, { row, marks, entry })
  }
  scroll.append(table)
  root.append(bar, scroll)

  function mark() {
    for (const [key, { marks }] of rows) {
      const found = model.marks[key] ?? []
      marks.forEach((cell, i) => {
        const [state, text, why] = found[i] ?? ["open", "–", "not checked yet"]
        cell.className = `mark ${state}`
        cell.textContent = text
        cell.title = why
        cell.setAttribute("aria-label", `${i === 0 ? "By formula" : "By draws"}: ${text} ${why}`)
      })
    }
  }
  function select() {
    for (const [key, { row }] of rows) {
      row.setAttribute("aria-selected", String(key === model.selected))
    }
  }
  function show() {
    for (const { row, entry } of rows.values()) {
      row.hidden = (filter.value && entry.family !== filter.value) || (box.checked && entry.holds)
    }
  }
  filter.addEventListener("change", show)
  box.addEventListener("change", show)
  model.on("marks", mark)
  model.on("selected", select)
  mark()
  select()
  return root
}
