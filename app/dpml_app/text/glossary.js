// Terms of the glossary: a dotted word opens its two sentences, wherever it stands, inside shadow roots too.
// A "?" at each control opens what it trades; so does the key "?" while the control has the focus.
const texts = JSON.parse(document.getElementById("glossary-texts").textContent)
const box = document.getElementById("term")
let opener = null
let returning = null

const termOf = (event) => event.composedPath().find((node) => node.dataset?.term || node.dataset?.help)

function beside(anchor) {
  // below the word where there is room, else above it; never past an edge
  const at = anchor.getBoundingClientRect(), {offsetWidth: wide, offsetHeight: high} = box
  const left = Math.min(Math.max(12, at.left), innerWidth - wide - 12)
  const below = at.bottom + 8 + high < innerHeight - 8
  box.style.left = `${left}px`
  box.style.top = `${below ? at.bottom + 8 : Math.max(12, at.top - high - 8)}px`
}
function open(anchor, back = anchor) {
  const {term, help, title} = anchor.dataset
  const said = term ? texts.terms[term] : {...texts.helps[help], term: title}
  if (!said) { return }
  const picture = said.picture ? texts.pictures[said.picture] : ""
  const source = said.source ? `<p class="source">${said.source}</p>` : ""
  box.innerHTML = `<h2 id="term-title">${said.term}</h2><p>${said.says}</p>${picture}${source}` +
    '<button type="button" class="close" aria-label="Close">×</button>'
  opener = anchor
  returning = back
  box.hidden = false
  beside(anchor)
  box.focus({preventScroll: true})
}
function close(back) {
  if (box.hidden) { return }
  box.hidden = true
  // the sentence may have been written anew meanwhile
  if (back && returning?.isConnected) { returning.focus({preventScroll: true}) }
  opener = null
}

document.addEventListener("click", (event) => {
  const term = termOf(event)
  if (term) {
    event.preventDefault()
    const again = term === opener
    close(false)
    if (!again) { open(term) }
  } else if (event.target.closest?.("#term .close")) {
    close(true)
  } else if (!event.composedPath().includes(box)) {
    close(false)
  }
})
// before what else listens for Escape: it closes one thing at a time
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !box.hidden) {
    event.stopImmediatePropagation()
    close(true)
  }
}, {capture: true})
box.addEventListener("focusout", (event) => {
  if (event.relatedTarget && !box.contains(event.relatedTarget)) { close(false) }
})
function follow(event) {
  if (box.hidden || (event.target instanceof Node && box.contains(event.target))) { return }
  opener?.isConnected ? beside(opener) : close(false)
}
document.addEventListener("scroll", follow, {capture: true, passive: true})
addEventListener("resize", follow)

const HELP_LOOK = "position:absolute;top:-2px;right:-2px;width:22px;height:22px;padding:0;border:0;border-radius:50%;" +
  "background:none;color:inherit;opacity:0.7;font:600 13px/22px Roboto,Helvetica,Arial,sans-serif;cursor:help;z-index:2"
const controls = new Map()

// The two buttons of a whole number come without names.
function nameSteps(model) {
  const root = Bokeh.index.find_one_by_id(model.id)?.el?.shadowRoot
  for (const step of root?.querySelectorAll(".MuiInputAdornment-root button:not([aria-label])") ?? []) {
    const way = step.closest(".MuiInputAdornment-positionStart") ? "less" : "more"
    step.setAttribute("aria-label", `${model.data.label}: one ${way}`)
  }
}
// Controls come with their pages and cards, and a control that is drawn anew loses what was put beside it.
function offerHelp() {
  for (const model of address.document?._all_models.values() ?? []) {
    if (model.class_name === "IntInput") { nameSteps(model) }
    const name = model.css_classes?.find?.((of) => of.startsWith("setting-"))?.slice(8)
    if (!name || !texts.helps[name]) { continue }
    const root = Bokeh.index.find_one_by_id(model.id)?.el?.shadowRoot
    if (!root || controls.get(model)?.isConnected) { continue }
    const button = document.createElement("button")
    button.type = "button"
    button.tabIndex = -1
    button.textContent = "?"
    button.style = HELP_LOOK
    const label = model.data?.label ?? name
    Object.assign(button.dataset, {help: name, title: label})
    button.setAttribute("aria-label", `What it trades: ${label}`)
    button.setAttribute("aria-keyshortcuts", "?")
    if (getComputedStyle(root.host).position === "static") { root.host.style.position = "relative" }
    root.append(button)
    controls.set(model, button)
  }
}
setInterval(offerHelp, 1000)
addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) { return }
  const host = event.composedPath().find((node) => /(^| )setting-/.test(node.className ?? ""))
  const button = host?.shadowRoot?.querySelector("[data-help]")
  if (button) {
    event.preventDefault()
    open(button, event.composedPath()[0])
  }
}, {capture: true})
