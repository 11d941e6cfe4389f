// The table of facts: a row for each column, whose cells are controls of the browser. The server has the facts: it is
// told each edit, and answers with the row as it then is. What the table holds is written as text, never as markup.
const KINDS = [["numeric", "Number"], ["categorical", "Categories"], ["binary", "0 or 1"], ["ignored", "Left out"], ["label", "Label"]]
const HEADS = ["Column", "Kind", "Bounds or categories", "Missing values", "Examples", "Source"]
const SOURCES = {proposed: "data-derived", paid: "released with noise", name: "name", stated: "stated by me"}
const NAMES = {
  lower: "lower bound", upper: "upper bound", categories: "categories", kind: "kind", classes: "labels", label: "choice of the label",
  n_lower: "number of records", row_bound: "ones per record", format: "format", missing: "value for missing cells",
}
const TYPED = ["lower", "upper", "categories", "classes", "n_lower"]
const REST = 350  // ms without a key, after which what is typed is sent

export function render({model, el}) {
  const rows = new Map()  // by key: what the server says of a row, and its element
  let wanted = false  // whether what is not stated yet was asked for

  const make = (name, options = {}, ...inside) => {
    const {role, title, ...others} = options
    const node = Object.assign(document.createElement(name), others)
    if (role) { node.setAttribute("role", role) }
    if (title) { node.dataset.title = title }
    node.append(...inside)
    return node
  }
  const tell = (row, fact, said) => model.send_msg({column: row.column, fact, ...said})

  // a control that is typed in: sent once it rests, and at once when it is left
  function typed(kind, row, fact, value) {
    const node = make(kind, {value, className: fact, autocomplete: "off", spellcheck: false})
    node.dataset.fact = fact
    node.dataset.sent = value
    node.setAttribute("aria-label", `${row.name}: ${NAMES[fact]}`)
    let timer = 0
    const send = () => {
      clearTimeout(timer)
      if (node.value === node.dataset.sent) { return }
      node.dataset.sent = node.value
      tell(row, fact, {value: node.value})
    }
    node.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(send, REST) })
    node.addEventListener("change", send)
    return node
  }
  function choice(row, fact, name, options, value, said) {
    const node = make("select", {}, ...options.map(([key, title]) => make("option", {value: key, textContent: title})))
    node.value = value
    node.dataset.fact = name
    node.setAttribute("aria-label", `${row.name}: ${name.startsWith("source") ? "source of the " + NAMES[fact] : NAMES[fact]}`)
    node.addEventListener("change", () => tell(row, fact, said(node.value)))
    return node
  }
  function fault(fact) {
    const node = make("p", {className: "fault", id: `fault-${fact}`, hidden: true})
    node.dataset.of = fact
    return node
  }

  function domain(row) {
    const cell = []
    for (const {fact, value} of row.facts) {
      if (fact === "categories" || fact === "classes") { cell.push(typed("textarea", row, fact, value), fault(fact)) }
      else if (fact === "format") { cell.push(make("span", {textContent: value})) }
      else if (TYPED.includes(fact)) {
        const node = typed("input", row, fact, value)
        node.inputMode = "decimal"
        node.placeholder = fact === "lower" ? "lower" : "upper"
        cell.push(node)
      } else if (fact === "row_bound") { cell.push(make("span", {textContent: value})) }
    }
    if (row.kind === "numeric") { return [make("div", {className: "bounds"}, ...cell), fault("lower"), fault("upper")] }
    if (row.kind === undefined) { cell.push(fault("n_lower")) }
    if (row.kind === "binary") { cell.push(make("span", {textContent: "0 or 1"})) }
    return cell
  }
  function gaps(row) {
    if (row.gaps === undefined) { return [] }
    const cell = [make("span", {className: row.gaps === "none" ? "quiet" : "", textContent: row.gaps})]
    if (row.missing === undefined) { return cell }
    const control = row.choices
      ? choice(row, "missing", "missing", row.choices.map((title) => [title, title]), row.missing, (value) => ({value}))
      : typed("input", row, "missing", row.missing)
    if (!row.choices) { control.placeholder = "midpoint" }
    return [...cell, make("label", {className: "missing"}, "replace by ", control), fault("missing")]
  }
  function sources(row) {
    return row.facts.map(({fact, source, first}) => {
      const known = [["stated", SOURCES.stated]]
      const guess = fact === "label" ? "proposed" : SOURCES[first]
      const options = first === "paid" ? [[first, guess]] : first ? [[first, guess], ...known] : known
      const node = choice(row, fact, `source-${fact}`, options, source, (value) => ({source: value}))
      return make("label", {}, row.facts.length > 1 ? make("span", {className: "quiet", textContent: NAMES[fact].split(" ")[0]}) : "", node)
    })
  }
  const shape = (row) => JSON.stringify([row.kind, row.choices, row.missing === undefined, row.facts.map(({fact, first}) => [fact, first])])

  function built(row) {
    const name = make("th", {role: "rowheader", scope: "row"}, make("span", {className: "name", textContent: row.name}))
    const kind = row.kind === "label" ? make("b", {textContent: "Label"})
      : row.kind ? choice(row, "kind", "kind", KINDS, row.kind, (value) => ({value})) : ""
    const note = make("p", {className: "quiet note"})
    const cells = [[kind], [...domain(row), note], gaps(row), [make("span", {className: "values", textContent: row.values})], sources(row)]
    return make("tr", {role: "row", className: row.kind ?? "table"}, name,
      ...cells.map((inside, i) => make("td", {role: "cell", title: HEADS[i + 1]}, ...inside)))
  }
  // what is typed at the moment is left as it is
  function patch(row, node) {
    const active = el.getRootNode().activeElement
    const put = (name, value) => {
      const control = node.querySelector(`[data-fact="${name}"]`)
      if (control === null) { return }
      if ("sent" in control.dataset) {
        if (control === active || control.value !== control.dataset.sent) { return }
        control.dataset.sent = value
      }
      control.value = value
    }
    for (const {fact, value, source, error} of row.facts) {
      put(fact, value)
      put(`source-${fact}`, source)
      const known = node.querySelector(`[data-fact="source-${fact}"]`)
      known.classList.toggle("proposed", source === "proposed")
      // nobody knows what is not stated yet
      known.parentElement.hidden = TYPED.includes(fact) && value === ""
      mark(node, fact, error || (wanted && TYPED.includes(fact) && value === "" ? "missing" : ""))
    }
    if (row.missing !== undefined) { put("missing", row.missing); mark(node, "missing", row.missing_error) }
    if (row.kind) { put("kind", row.kind) }
    node.querySelector(".note").textContent = row.note ?? ""
    node.classList.toggle("guess", row.facts.some(({fact, source}) => fact === "label" && source === "proposed"))
  }
  function mark(node, fact, text) {
    const place = node.querySelector(`[data-of="${fact}"]`), control = node.querySelector(`[data-fact="${fact}"]`)
    if (place === null || control === null) { return }
    place.textContent = text ?? ""
    place.hidden = !text
    if (text) { control.setAttribute("aria-invalid", "true"); control.setAttribute("aria-description", text) }
    else { control.removeAttribute("aria-invalid"); control.removeAttribute("aria-description") }
  }

  const body = make("tbody", {role: "rowgroup"})
  const table = make("table", {role: "table"}, make("thead", {role: "rowgroup"}, make("tr", {role: "row"},
    ...HEADS.map((text) => make("th", {role: "columnheader", scope: "col", textContent: text})))), body)
  table.setAttribute("aria-label", "Public metadata")
  const search = make("input", {type: "search", placeholder: "Find a column", autocomplete: "off"})
  search.setAttribute("aria-label", "Find a column")
  const only = make("input", {type: "checkbox"})
  const count = make("p", {className: "count", role: "status"})
  const use = make("button", {type: "button", className: "use", textContent: "Use this table"})
  const open = make("label", {className: "only"}, only, " Only entries to check")
  const bar = make("div", {className: "bar"}, search, open, count, use)
  el.append(make("h2", {textContent: "Public metadata of this table"}), bar, table)

  const is_open = ({facts, missing_error}) => Boolean(missing_error) || facts.some(({fact, value, source, error}) =>
    source === "proposed" || error || (TYPED.includes(fact) && value === ""))
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
      for (const {fact, value, source, error} of row.facts) {
        proposed += source === "proposed" && fact !== "label" ? 1 : 0
        faults += error ? 1 : 0
        missing += TYPED.includes(fact) && value === "" ? 1 : 0
      }
    }
    const entries = (n) => `${n.toLocaleString("en")} ${n === 1 ? "entry" : "entries"}`
    const parts = [
      faults && `${entries(faults)} invalid`, missing && `${entries(missing)} missing`,
      proposed ? `${entries(proposed)} data-derived (allowed in a simulation, not in a release)` : !missing && "every entry is stated",
    ].filter(Boolean)
    const text = `${parts.join(", ")}.`
    if (count.textContent !== text) { count.textContent = text.charAt(0).toUpperCase() + text.slice(1) }
  }
  function take(row) {
    const known = rows.get(row.key)
    if (known && shape(known.row) === shape(row)) {
      known.row = row
      patch(row, known.node)
      return known.node
    }
    const node = built(row), focused = known?.node.contains(el.getRootNode().activeElement) ? el.getRootNode().activeElement.dataset.fact : null
    known?.node.replaceWith(node)
    rows.set(row.key, {row, node})
    patch(row, node)
    if (focused) { node.querySelector(`[data-fact="${focused}"]`)?.focus({preventScroll: true}) }
    return node
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
      for (const {row, node} of rows.values()) { patch(row, node) }
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
