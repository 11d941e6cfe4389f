// A table of records with cells to click on, and the record by which its neighbour differs.
// Records are written as in dpml/audit/cases/typed.py: the class, n or y, then the features that are on.

const FEATURES = ["a", "b", "c", "d"]
const MOST = 8

export function render({ model }) {
  const root = document.createElement("div")
  const records = () => model.table.split(".")
  const write = (list) => { model.table = list.join(".") }
  const is_on = (record, part) => part === "class" ? record[0] === "y" : record.slice(1).includes(part)
  function changed(record, part) {
    if (part === "class") { return (record[0] === "n" ? "y" : "n") + record.slice(1) }
    return record[0] + FEATURES.filter((f) => is_on(record, f) !== (f === part)).join("")
  }
  const acts = {
    change(at, part) {
      if (at === "new") { model.record = changed(model.record, part); return }
      write(records().map((record, i) => i === Number(at) ? changed(record, part) : record))
    },
    add() { write([...records(), "n"]) },
    remove(at) { write(records().filter((_, i) => i !== Number(at))) },
    replace(at) { model.replaced = Number(at) + 1 },
  }

  const button = (text, name, act, more) =>
    `<button type="button" data-act="${act}" aria-label="${name}" title="${name}" ${more}>${text}</button>`
  const cells = (record, name, at) => [...FEATURES, "class"].map((part) => {
    const on = is_on(record, part), [text, what, kind] =
      part === "class" ? [on ? "yes" : "no", "class yes", "bit wide"] : [on ? "1" : "0", `feature ${part}`, "bit"]
    return `<td>${button(text, `${name}, ${what}`, `change ${at} ${part}`, `class="${kind}" aria-pressed="${on}"`)}</td>`
  }).join("")
  function row(record, i, list, at) {
    const number = i + 1, leaves = number === at
    const radio = `<input type="radio" data-act="replace ${i}" aria-label="Replace record ${number}" ${leaves ? "checked" : ""}>`
    const remove = button("×", `Remove record ${number}`, `remove ${i}`, `class="plain" ${list.length === 1 ? "disabled" : ""}`)
    return `<tr class="${leaves ? "leaves" : ""}"><th scope="row">${number}</th>${cells(record, `Record ${number}`, i)}` +
      `<td>${at ? radio : ""}</td><td>${remove}</td></tr>`
  }
  function draw() {
    const focused = root.getRootNode().activeElement?.getAttribute?.("aria-label"), list = records()
    // the record that is replaced, 0 where one is added
    const at = model.relation === "replace-one" ? Math.min(model.replaced, list.length) : 0
    const heads = ["", ...FEATURES, "class", at ? "replace" : "", ""].map((text) => `<th scope="col">${text}</th>`)
    const add = button("+ Add record", "Add record", "add", `class="plain" ${list.length >= MOST ? "disabled" : ""}`)
    root.innerHTML = `<table><caption>Table D</caption><thead><tr>${heads.join("")}</tr></thead><tbody>` +
      list.map((record, i) => row(record, i, list, at)).join("") +
      `<tr class="says"><td colspan="8">${add}${at ? `D′ is D with record ${at} replaced by:` : "D′ is D plus this record:"}</td></tr>` +
      `<tr class="comes"><th scope="row">new</th>${cells(model.record, "New record", "new")}<td></td><td></td></tr></tbody></table>`
    if (focused) { root.querySelector(`[aria-label="${focused}"]`)?.focus() }
  }
  root.addEventListener("click", ({ target }) => {
    const [act, ...to] = target.dataset.act?.split(" ") ?? []
    acts[act]?.(...to)
  })
  for (const name of ["table", "record", "replaced", "relation"]) { model.on(name, draw) }
  draw()
  return root
}
