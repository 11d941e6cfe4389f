// On a projector: no controls beside, larger type, one card at a time, its control by the arrow keys. Runs after shell.js.

const present = document.getElementById("present")
let at = 0

// the picture of the page that is shown, and the cards below it that are there
function stages() {
  const section = document.querySelector("section.shown")
  const found = [section.querySelector(".first")]
  for (const view of Bokeh.index.all_views()) {
    if (view.model.name?.startsWith("place-") && view.el && section.querySelector(".rest")?.contains(host_of(view.el))) {
      found.push(view.el)
    }
  }
  return found
}
function stage(next) {
  const all = stages()
  at = Math.max(0, Math.min(all.length - 1, next))
  document.body.classList.toggle("second", at > 0)
  all.forEach((el, i) => el.classList.toggle("staged", i === at))
  for (const el of all.slice(1)) {
    el.style.display = el === all[at] ? "" : "none"
    el.style.gridColumn = "1 / -1"
  }
  const walk = (node) => {
    if (node.getAttribute?.("role") === "slider" || node.type === "range") { return node }
    for (const child of [...(node.shadowRoot?.children ?? []), ...(node.children ?? [])]) {
      const found = walk(child)
      if (found) { return found }
    }
    return null
  }
  walk(all[at])?.focus()
}
function presenting(on) {
  document.body.classList.toggle("presenting", on)
  present.setAttribute("aria-pressed", String(on))
  fit()
  if (on) {
    document.querySelector("section.shown .more").open = false
    code.data = {href: [location.href], svg: [""]}
    stage(0)
  } else {
    for (const el of stages().slice(1)) { Object.assign(el.style, {display: "", gridColumn: ""}) }
    document.body.classList.remove("second")
  }
}
const qr = document.getElementById("qr")
code.connect(code.properties.data.change, () => { qr.innerHTML = code.data.svg[0] })
present.addEventListener("click", () => presenting(!document.body.classList.contains("presenting")))
addEventListener("keydown", (event) => {
  const target = event.composedPath()[0]
  const typing = target.matches?.("input:not([type=range]), textarea, select, [contenteditable]")
  if (typing || event.ctrlKey || event.metaKey || event.altKey) { return }
  const on = document.body.classList.contains("presenting")
  if (event.key === "p") { presenting(!on) }
  if (!on) { return }
  if (event.key === "Escape") { presenting(false) }
  if (event.key === "PageDown" || event.key === "n") { stage(at + 1); event.preventDefault() }
  if (event.key === "PageUp" || event.key === "b") { stage(at - 1); event.preventDefault() }
})

// The menu closes once something of it is chosen, with Escape, and where another place is clicked.
const menu = document.getElementById("menu")
menu.addEventListener("click", (event) => { if (event.target.matches("button")) { menu.open = false } })
menu.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && menu.open) {
    menu.open = false
    menu.querySelector("summary").focus()
  }
})
document.addEventListener("click", (event) => { if (!menu.contains(event.target)) { menu.open = false } })

// The link of what is shown, and all of its settings as they were at first.
const copied = document.getElementById("copied")
document.getElementById("copy").addEventListener("click", async () => {
  write()
  try {
    await navigator.clipboard.writeText(location.href)
    copied.textContent = "Link copied"
  } catch {
    copied.textContent = location.href
  }
  setTimeout(() => { copied.textContent = "" }, 4000)
})
document.getElementById("reset").addEventListener("click", () => {
  write()
  const query = body.dataset.page === "explore" ? "?" : `?page=${body.dataset.page}`
  history.pushState(null, "", location.pathname + query)
  visit(query)
})
