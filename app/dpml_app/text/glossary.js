// Terms of the glossary: a dotted word opens its two sentences, wherever it stands, inside shadow roots too.
// A "?" at each control opens what it trades; so does the key "?" while the control has the focus.
const texts = JSON.parse(document.getElementById("glossary-texts").textContent)
const box = document.getElementById("term")
// the word or control that is explained, and the one whose click closes its popover
let explained = null
let closes = null

const termOf = (event) => event.composedPath().find((node) => node.dataset?.term || node.dataset?.help)

function open(anchor) {
  const {term, help, title} = anchor.dataset
  const said = term ? texts.terms[term] : {...texts.helps[help], term: title}
  if (!said) { return }
  const picture = said.picture ? texts.pictures[said.picture] : ""
  const source = said.source ? `<p class="source">${said.source}</p>` : ""
  box.innerHTML = `<h2 id="term-title">${said.term}</h2><p>${said.says}</p>${picture}${source}` +
    '<button type="button" class="close" popovertarget="term" popovertargetaction="hide" aria-label="Close">×</button>'
  explained = anchor
  box.hidePopover()
  box.showPopover({source: anchor})
}
document.addEventListener("pointerdown", (event) => {
  closes = box.matches(":popover-open") && termOf(event) === explained ? explained : null
}, {capture: true})
document.addEventListener("click", (event) => {
  const term = termOf(event)
  if (!term) { return }
  event.preventDefault()
  if (term !== closes) { open(term) }
  closes = null
})
// before what else listens for Escape: it closes one thing at a time
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && box.matches(":popover-open")) { event.stopImmediatePropagation() }
}, {capture: true})
box.addEventListener("focusout", ({relatedTarget}) => {
  if (relatedTarget && !box.contains(relatedTarget)) { box.hidePopover() }
})

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
  for (const model of messages.document?._all_models.values() ?? []) {
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
    open(button)
  }
}, {capture: true})
