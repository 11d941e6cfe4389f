// On a projector: the picture, or the card of a lesson's step, beside who is at risk, in larger type. Runs after shell.js.

const present = document.getElementById("present")
const lesson_panel = document.getElementById("lesson")
// what others are given: the link of the class that is taught, or of what is shown
const shared_link = () => lesson_panel.dataset.link ?? location.href
const presented = () => document.body.classList.contains("presenting")

// the cards below the picture of the page that is shown
function cards_below() {
  const rest = document.querySelector("section.shown .rest")
  const is_card = ({model, el}) => model.name?.startsWith("place-") && el && rest.contains(host_of(el))
  return [...Bokeh.index.all_views()].filter(is_card)
}
function stage() {
  const cards = cards_below(), card = cards.find(({model}) => model.name === lesson_panel.dataset.place)?.el
  document.body.classList.toggle("second", Boolean(card))
  // others stand behind the same heading as a lesson's card
  for (const {el} of cards) { el.style.display = el === card ? "" : "none" }
  const behind = card ? host_of(card).closest(".more") : null
  for (const more of document.querySelectorAll("section.shown .more")) {
    more.classList.toggle("staging", more === behind)
    more.open = more === behind
  }
  const slider = [...parts_of(card ?? document.querySelector("section.shown .first"))]
    .find((part) => part.getAttribute("role") === "slider" || part.type === "range")
  slider?.focus({preventScroll: true})
  body.scrollTop = 0
  enlarge()
}

// What is written in figures is read from the last row. Each text's own size comes back afterwards.
const LEAST_TEXT = 20, LARGER = 1.4
const own_sizes = new Map()
const SIZES = ["axis_label_text_font_size", "major_label_text_font_size", "label_text_font_size", "text_font_size"]
// a size is a text, or a value with one; one that is a column's stays
const text_of = (size) => typeof size === "string" ? size : size?.value
function enlarge() {
  const on = presented()
  for (const figure of drawn.keys()) {
    const parts = ["left", "right", "above", "below", "center"].flatMap((side) => figure[side])
    for (const part of [...parts, ...figure.renderers.map((renderer) => renderer.glyph)]) {
      for (const name of SIZES.filter((name) => typeof text_of(part?.[name]) === "string")) {
        const key = `${part.id} ${name}`
        if (on && !own_sizes.has(key)) { own_sizes.set(key, part[name]) }
        const own = own_sizes.get(key)
        if (own === undefined) { continue }
        const size = on ? `${Math.max(LEAST_TEXT, Math.round(LARGER * parseFloat(text_of(own))))}px` : text_of(own)
        if (text_of(part[name]) !== size) { part.setv({[name]: own.value ? {value: size} : size}, {sync: false}) }
      }
    }
  }
  if (!on) { own_sizes.clear() }
}
setInterval(() => { if (presented()) { enlarge() } }, 500)

// Beside the picture stays who is at risk: all else beside it goes (core/base_page.py), and comes back as it was.
let beside = null
function alone_at_risk(on) {
  beside?.classList.remove("alone")
  const aside = document.querySelector("section.shown aside")
  const is_risk = ({el}) => el?.classList.contains("risk") && aside.contains(host_of(el))
  beside = [...Bokeh.index.all_views()].find(is_risk)?.el.getRootNode().host
  document.body.classList.toggle("no-risk", on && !beside)
  beside?.classList.toggle("alone", on)
}
function presenting(on) {
  document.body.classList.toggle("presenting", on)
  present.ariaPressed = String(on)
  // what has room beside larger type is decided as for a figure's width, which may stay
  for (const figure of drawn.keys()) { figure.properties.inner_width.change.emit() }
  alone_at_risk(on)
  if (on) {
    show_qr()
    stage()
  } else {
    for (const more of document.querySelectorAll(".more.staging")) { more.classList.remove("staging") }
    for (const {el} of cards_below()) { el.style.display = "" }
    document.body.classList.remove("second")
    enlarge()
  }
}
hear("address", () => {
  if (presented()) { setTimeout(() => { if (presented() && lesson_panel.dataset.place) { stage() } }, 400) }
})
const qr = document.getElementById("qr")
const HERE_ONLY = /^(localhost|127\.|\[::1\])/
async function show_qr() {
  const {svg} = await ask("address", shared_link())
  qr.innerHTML = svg + (HERE_ONLY.test(location.hostname) ? `<p>Only this computer can open<br>${location.host}.</p>` : "")
  return svg
}
present.addEventListener("click", () => presenting(!presented()))
addEventListener("keydown", (event) => {
  const target = event.composedPath()[0]
  const typing = target.matches?.("input:not([type=range]), textarea, select, [contenteditable]")
  if (typing || event.ctrlKey || event.metaKey || event.altKey) { return }
  if (event.key === "p") { presenting(!presented()) }
  if (event.key === "Escape" && presented()) { presenting(false) }
})

// The link of what is shown, and all of its settings as they were at first.
document.getElementById("copy").addEventListener("click", async () => {
  write()
  const link = shared_link()
  tell(await navigator.clipboard.writeText(link).then(() => "Link copied", () => link))
})
document.getElementById("reset").addEventListener("click", () => {
  write()
  const query = body.dataset.page === "explore" ? "?" : `?page=${body.dataset.page}`
  history.pushState(null, "", location.pathname + query)
  visit(query)
})
