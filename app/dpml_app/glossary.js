// Terms of the glossary: a dotted word opens its two sentences, wherever it stands, inside shadow roots too.
const texts = JSON.parse(document.getElementById("glossary-texts").textContent)
const box = document.getElementById("term")
let opener = null

const termOf = (event) => event.composedPath().find((node) => node.dataset?.term)

function beside(anchor) {
  // below the word where there is room, else above it; never past an edge
  const at = anchor.getBoundingClientRect(), {offsetWidth: wide, offsetHeight: high} = box
  const left = Math.min(Math.max(12, at.left), innerWidth - wide - 12)
  const below = at.bottom + 8 + high < innerHeight - 8
  box.style.left = `${left}px`
  box.style.top = `${below ? at.bottom + 8 : Math.max(12, at.top - high - 8)}px`
}
function open(anchor) {
  const said = texts.terms[anchor.dataset.term]
  if (!said) { return }
  const picture = said.picture ? texts.pictures[said.picture] : ""
  const source = said.source ? `<p class="source">${said.source}</p>` : ""
  box.innerHTML = `<h2 id="term-title">${said.term}</h2><p>${said.says}</p>${picture}${source}` +
    '<button type="button" class="close" aria-label="Close">×</button>'
  opener = anchor
  box.hidden = false
  beside(anchor)
  box.focus({preventScroll: true})
}
function close(back) {
  if (box.hidden) { return }
  box.hidden = true
  // the sentence may have been written anew meanwhile
  if (back && opener?.isConnected) { opener.focus({preventScroll: true}) }
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
