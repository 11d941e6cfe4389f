// The table of facts: a row for each column, whose cells are controls of the browser. The server has the facts: it is
// told each edit, and answers with the row as it then is. What the table holds is escaped wherever it is written.
const KINDS = [["numeric", "Number"], ["categorical", "Categories"], ["binary", "0 or 1"], ["ignored", "Left out"], ["label", "Label"]]
const HEADS = ["Column", "Kind", "Bounds or categories", "Missing values", "Examples", "Source"]
const SOURCES = {proposed: "data-derived", paid: "released with noise", name: "name", stated: "stated by me"}
const NAMES = {
  lower: "lower bound", upper: "upper bound", categories: "categories", kind: "kind", classes: "labels", label: "choice of the label",
  n_lower: "number of records", row_bound: "ones per record", format: "format", missing: "value for missing cells",
}
const TYPED = ["lower", "upper", "categories", "classes", "n_lower"]
const LISTS = ["categories", "classes"]
const REST = 350  // ms without a key, after which what is typed is sent
const text = (value) => String(value ?? "").replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

export function render({model, el}) {
  const rows = new Map()  // by key: what the server says of a row, and its element
  let wanted = false  // whether what is not stated yet was asked for
  let timer = 0

  const is_missing = ({fact, value}) => TYPED.includes(fact) && value === ""
  const error_of = (entry) => entry.error || (wanted && is_missing(entry) ? "missing" : "")
  const fault = (fact, error) => `<p class="fault" data-of="${fact}" ${error ? "" : "hidden"}>${text(error)}</p>`
  // attributes of a control, which knows what of it the server knows
  const known = (row, fact, title, value, error = "") =>
    `data-fact="${fact}" data-sent="${text(value)}" aria-label="${text(row.name)}: ${title}" ` +
    (error ? `aria-invalid="true" aria-description="${text(error)}" ` : "")
  function typed(row, fact, value, error, placeholder = "") {
    const look = `class="${fact}" autocomplete="off" spellcheck="false" ${known(row, fact, NAMES[fact], value, error)}`
    return LISTS.includes(fact) ? `<textarea ${look}>${text(value)}</textarea>`
      : `<input inputmode="decimal" placeholder="${placeholder}" value="${text(value)}" ${look}>`
  }
  function choice(row, name, title, options, value, look = "") {
    const offered = options.map(([key, shown]) => `<option value="${text(key)}">${text(shown)}</option>`)
    return `<select class="${look}" ${known(row, name, title, value)}>${offered.join("")}</select>`
  }
  const titled = (row, name, options, value) => choice(row, name, NAMES[name], options, value)

  function domain(row) {
    const of_kind = row.facts.filter(({fact}) => TYPED.includes(fact))
    const stated = row.facts.filter(({fact}) => ["format", "row_bound"].includes(fact))
    const controls = of_kind.map((entry) =>
      typed(row, entry.fact, entry.value, error_of(entry), {lower: "lower", upper: "upper"}[entry.fact])).join("")
    return (row.kind === "numeric" ? `<div class="bounds">${controls}</div>` : controls) +
      stated.map(({value}) => `<span>${text(value)}</span>`).join("") +
      of_kind.map((entry) => fault(entry.fact, error_of(entry))).join("") +
      (row.kind === "binary" ? "<span>0 or 1</span>" : "") + `<p class="quiet note">${text(row.note)}</p>`
  }
  function gaps(row) {
    const count = row.gaps === undefined ? "" : `<span class="${row.gaps === "none" ? "quiet" : ""}">${text(row.gaps)}</span>`
    if (row.missing === undefined) { return count }
    const control = row.choices ? titled(row, "missing", row.choices.map((title) => [title, title]), row.missing)
      : typed(row, "missing", row.missing, row.missing_error, "midpoint")
    return `${count}<label class="missing">replace by ${control}</label>${fault("missing", row.missing_error)}`
  }
  function source(row, entry) {
    const {fact, first} = entry, stated = [["stated", SOURCES.stated]]
    const guess = [first, fact === "label" ? "proposed" : SOURCES[first]]
    const options = first === "paid" ? [guess] : first ? [guess, ...stated] : stated
    const of = row.facts.length > 1 ? `<span class="quiet">${NAMES[fact].split(" ")[0]}</span>` : ""
    const look = entry.source === "proposed" ? "proposed" : ""
    // nobody knows what is not stated yet
    return `<label ${is_missing(entry) ? "hidden" : ""}>${of}` +
      `${choice(row, `source-${fact}`, `source of the ${NAMES[fact]}`, options, entry.source, look)}</label>`
  }
  function cells(row) {
    const kind = row.kind === "label" ? "<b>Label</b>" : row.kind ? titled(row, "kind", KINDS, row.kind) : ""
    const values = `<span class="values">${text(row.values)}</span>`
    const inside = [kind, domain(row), gaps(row), values, row.facts.map((entry) => source(row, entry)).join("")]
    const made = document.createElement("tr")
    made.innerHTML = `<th role="rowheader" scope="row"><span class="name">${text(row.name)}</span></th>` +
      inside.map((html, i) => `<td role="cell" data-title="${HEADS[i + 1]}">${html}</td>`).join("")
    for (const select of made.querySelectorAll("select")) { select.value = select.dataset.sent }
    return [...made.children]
  }
  // a cell with the focus stays, and what is typed there
  function update(old, fresh) {
    const active = el.getRootNode().activeElement
    const [before, now] = [old, fresh].map((cell) => [...cell.querySelectorAll("[data-fact]")])
    if (!old.contains(active) || before.length !== now.length) { old.replaceWith(fresh); return }
    for (const place of old.querySelectorAll(".fault")) { place.replaceWith(fresh.querySelector(`[data-of="${place.dataset.of}"]`)) }
    for (const [i, control] of before.entries()) {
      if (control !== active) { control.replaceWith(now[i]); continue }
      if (control.matches("select")) { control.value = now[i].value }
      control.className = now[i].className
      for (const name of ["aria-invalid", "aria-description"]) {
        const value = now[i].getAttribute(name)
        value === null ? control.removeAttribute(name) : control.setAttribute(name, value)
      }
    }
  }
  function take(row) {
    const node = rows.get(row.key)?.node ?? document.createElement("tr"), old = [...node.children]
    rows.set(row.key, {row, node})
    node.role = "row"
    node.key = row.key
    node.className = row.kind ?? "table"
    node.classList.toggle("guess", row.facts.some(({fact, source}) => fact === "label" && source === "proposed"))
    cells(row).forEach((cell, i) => old[i] ? update(old[i], cell) : node.append(cell))
    return node
  }

  const heads = HEADS.map((title) => `<th role="columnheader" scope="col">${title}</th>`).join("")
  el.insertAdjacentHTML("beforeend", `<h2>Public metadata of this table</h2>
    <div class="bar">
      <input type="search" placeholder="Find a column" aria-label="Find a column" autocomplete="off">
      <label class="only"><input type="checkbox"> Only entries to check</label>
      <p class="count" role="status"></p>
      <button type="button" class="use">Use this table</button>
    </div>
    <table role="table" aria-label="Public metadata">
      <thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup"></tbody>
    </table>`)
  const [search, only, count, use, body] =
    ["[type=search]", "[type=checkbox]", ".count", ".use", "tbody"].map((part) => el.querySelector(part))

  function tell(control) {
    clearTimeout(timer)
    if (control.value === control.dataset.sent) { return }
    control.dataset.sent = control.value
    const {column} = rows.get(control.closest("tr").key).row, [kind, fact] = control.dataset.fact.split("source-")
    model.send_msg(fact ? {column, fact, source: control.value} : {column, fact: kind, value: control.value})
  }
  body.addEventListener("change", ({target}) => tell(target))
  body.addEventListener("input", ({target}) => {
    clearTimeout(timer)
    if (!target.matches("select")) { timer = setTimeout(tell, REST, target) }
  })

  const is_open = ({facts, missing_error}) => Boolean(missing_error) ||
    facts.some((entry) => entry.source === "proposed" || entry.error || is_missing(entry))
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const {row, node} of rows.values()) {
      const named = words.every((word) => row.name.toLowerCase().includes(word))
      // a row that is being edited stays
      node.hidden = !named || (only.checked && !is_open(row) && !node.contains(el.getRootNode().activeElement))
    }
  }
  function sum() {
    let proposed = 0, faults = 0, missing = 0
    for (const {row} of rows.values()) {
      faults += row.missing_error ? 1 : 0
      for (const entry of row.facts) {
        proposed += entry.source === "proposed" && entry.fact !== "label" ? 1 : 0
        faults += entry.error ? 1 : 0
        missing += is_missing(entry) ? 1 : 0
      }
    }
    const entries = (n) => `${n.toLocaleString("en")} ${n === 1 ? "entry" : "entries"}`
    const parts = [
      faults && `${entries(faults)} invalid`, missing && `${entries(missing)} missing`,
      proposed ? `${entries(proposed)} data-derived (allowed in a simulation, not in a release)` : !missing && "every entry is stated",
    ].filter(Boolean)
    const said = `${parts.join(", ")}.`.replace(/^./, (letter) => letter.toUpperCase())
    if (count.textContent !== said) { count.textContent = said }
  }
  search.addEventListener("input", filter)
  only.addEventListener("change", filter)
  use.addEventListener("click", () => model.send_msg({use: true}))
  model.on("msg:custom", (message) => {
    if (message.all) {
      const keys = new Set(message.rows.map(({key}) => key))
      for (const key of [...rows.keys()]) { if (!keys.has(key)) { rows.delete(key) } }
      const focused = el.getRootNode().activeElement
      body.replaceChildren(...message.rows.map(take))
      if (focused?.isConnected) { focused.focus({preventScroll: true}) }
    } else { message.rows.forEach(take) }
    if (message.wanted) {
      wanted = true
      for (const {row} of rows.values()) { take(row) }
      search.value = ""
      only.checked = false
      filter()
      el.getRootNode().querySelector("[aria-invalid]")?.focus()
    }
    if (message.all) { filter() }
    sum()
  })
  model.send_msg({ask: true})
}
