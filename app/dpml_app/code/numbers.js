// Behind each plot: what it says in words, its numbers as tables, its code, and files to keep. Runs after shell.js.

function make(name, text = "", more = {}) {
  return Object.assign(document.createElement(name), {textContent: text, ...more})
}
const button = (text, act) => make("button", text, {type: "button", onclick: act})
function keep(content, name, type) {
  const link = make("a", "", {href: URL.createObjectURL(new Blob([content], {type})), download: name})
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
// a plot as it is seen, drawn once more; lines and letters stay so in an SVG
const picture = (plot, kind) => Bokeh.index.find_one_by_id(plot.id).export(kind).to_blob()

const wanting = new Map()
let asked_so_far = 0
function ask(what, of = "") {
  const serial = ++asked_so_far
  say("asking", {what, of, serial})
  return new Promise((resolve) => { wanting.set(serial, resolve) })
}
hear("answered", () => {
  const answer = said("answered")
  wanting.get(answer.serial)?.(answer)
  wanting.delete(answer.serial)
})

const numbers = document.getElementById("numbers")
async function open_numbers({title, said: line, plots}) {
  const doc = messages.document, [sentence, actions, shown] = [make("p"), make("p"), make("div")]
  // the model holds escaped HTML, as its own view takes it
  sentence.innerHTML = new DOMParser().parseFromString(doc.get_model_by_name(line)?.text ?? "", "text/html").documentElement.textContent
  numbers.replaceChildren(make("h2", title), button("Close", () => numbers.close()), sentence, actions, shown)
  numbers.showModal()
  const {file, tables, csv, script} = await ask(line, plots)
  const called = (name) => [file, name].filter(Boolean).join("-")
  shown.innerHTML = tables
  for (const [source, rows] of Object.entries(csv)) {
    actions.append(button(`${source}.csv`, () => keep(rows, `${called(source)}.csv`, "text/csv")))
  }
  for (const plot of plots.split(" ").map((name) => doc.get_model_by_name(name)).filter(Boolean)) {
    for (const kind of ["png", "svg"]) {
      actions.append(button(`${plot.name}.${kind}`, async () => keep(await picture(plot, kind), `${called(plot.name)}.${kind}`)))
    }
  }
  if (script) { show_code(file, script, actions) }
}
function show_code(file, script, actions) {
  const [code, files, copied] = [make("details"), make("p"), make("span", "", {role: "status"})]
  const copy = () => navigator.clipboard.writeText(script).then(() => "Copied", () => "Download the script instead")
  files.append(button("Copy", async () => { copied.textContent = await copy() }),
    button("Download script", () => keep(script, `${file}.py`, "text/x-python")), copied)
  code.append(make("summary", "Code"), files, make("pre", script, {tabIndex: 0, role: "region", ariaLabel: "Script"}))
  actions.after(code)
}
document.addEventListener("click", (event) => {
  const of = event.composedPath().find((part) => part.dataset?.plots !== undefined)
  if (of) { open_numbers(of.dataset) }
})

// The plots that are drawn, by their models. Their own tools are for a pointer: the same can be had by keyboard here,
// and a page has few places to stop at.
const drawn = new Map()
function look_for_plots() {
  for (const model of messages.document?._all_models.values() ?? []) {
    const view = model.type === "Figure" && Bokeh.index.find_one_by_id(model.id)
    // a view's parts come some time after it
    if (!view?.el?.isConnected || !view.el.shadowRoot?.querySelector(".bk-Canvas")) { continue }
    drawn.set(model, view)
    for (const part of parts_of(view.el)) { if (part.tabIndex >= 0) { part.tabIndex = -1 } }
  }
}
look_for_plots()
setInterval(look_for_plots, 1000)
