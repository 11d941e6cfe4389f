// What the browser does by itself: the address, Back and Forward, a connection that is lost.
// Both sides speak through one model, `messages`, whose properties are JSON texts (shell.py).
const body = document.getElementById("body")
const said = (name) => JSON.parse(messages[name])
const say = (name, value) => { messages[name] = JSON.stringify(value) }
const hear = (name, act) => messages.connect(messages.properties[name].change, act)

// the element of a model, an element outside shadow roots that holds another, and all elements in one
const el_of = (model) => model && Bokeh.index.find_one_by_id(model.id)?.el
const host_of = (el) => { while (el.getRootNode() instanceof ShadowRoot) { el = el.getRootNode().host } return el }
function* parts_of(el) {
  yield el
  for (const child of [...(el.shadowRoot?.children ?? []), ...el.children]) { yield* parts_of(child) }
}
// says in the header what has been done, for some seconds or until it says something else
let told = null
function tell(text, milliseconds = 4000) {
  clearTimeout(told)
  document.getElementById("copied").textContent = text
  if (milliseconds) { told = setTimeout(tell, milliseconds, "", 0) }
}

const links = [...document.querySelectorAll("#top nav a")]

function show(page) {
  body.dataset.page = page
  for (const part of body.querySelectorAll("[data-of]")) { part.classList.toggle("shown", part.dataset.of === page) }
  for (const link of links) {
    link.toggleAttribute("aria-current", link.dataset.page === page)
    if (link.dataset.page === page) {
      link.setAttribute("aria-current", "page")
      // on a phone the links stand in one line that is wider than the window
      link.scrollIntoView({block: "nearest", inline: "nearest"})
    }
  }
}
const pageOf = (query) => {
  const named = new URLSearchParams(query).get("page") ?? "explore"
  return links.some((link) => link.dataset.page === named) ? named : "explore"
}
show(body.dataset.page)

// Bokeh puts the regions of a page that is visited later at the end of the document.
new MutationObserver((changes) => {
  for (const el of changes.flatMap(({addedNodes}) => [...addedNodes])) {
    if (!el.classList?.contains("place")) { continue }
    for (const name of el.classList) { document.getElementById(name)?.append(el) }
    // panel-material-ui (0.16) gives its theme to models that a change names, and to no new root
    messages.setv({tags: messages.document.roots().filter(({name}) => el.classList.contains(name))}, {sync: false})
  }
}).observe(document.body, {childList: true})
function visit(query) { say("visited", {query, at: performance.now()}) }

// Controls replace the entry of the history, pages add one. Browsers refuse more than some hundred replacements in
// half a minute, so a dragged slider is written down once it rests.
let timer = null
let unwritten = null
function write() {
  clearTimeout(timer)
  if (unwritten !== null && unwritten !== location.search) {
    history.replaceState(null, "", location.pathname + unwritten + location.hash)
  }
  unwritten = null
}
function follow() {
  const {query, push, at} = said("address")
  // an answer to a place in the history that has been left meanwhile
  if (at !== said("visited").at) { return }
  if (push) {
    write()
    if (query !== location.search) { history.pushState(null, "", location.pathname + query) }
    show(pageOf(query))
  } else {
    unwritten = query
    clearTimeout(timer)
    timer = setTimeout(write, 200)
  }
}
hear("address", follow)
follow()
addEventListener("popstate", () => {
  clearTimeout(timer)
  unwritten = null
  show(pageOf(location.search))
  visit(location.search)
})
for (const link of [...links, document.getElementById("home")]) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || document.body.classList.contains("lost")) { return }
    event.preventDefault()
    write()
    const page = link.dataset.page ?? "explore"
    if (page !== body.dataset.page) {
      show(page)
      visit(`?page=${page}&switch=1`)
    }
  })
}

// The address holds the page's whole state, so that a new session goes on where the old one stopped.
const lost = document.getElementById("lost")
// the entry of the history says whether the page is loaded again after that
if (history.state?.again) {
  history.replaceState(null, "")
  lost.textContent = "The connection was lost and the page was reloaded with the same settings. Upload your table again if you had one."
  lost.hidden = false
  setTimeout(() => { lost.hidden = !document.body.classList.contains("lost") }, 15000)
}
async function disconnected() {
  if (document.body.classList.contains("lost")) { return }
  write()
  document.body.classList.add("lost")
  body.inert = true
  lost.hidden = false
  if (said("ended")) {
    lost.textContent = "This session ended after a long idle time. Reload the page to continue."
    return
  }
  lost.textContent = "The connection to the server is lost. Results may belong to other settings. Reconnecting…"
  let answer = null
  while (!(answer?.status < 500)) {
    await new Promise((resolve) => setTimeout(resolve, 1500))
    // not the page, for which a session would be made; a server without this address answers, too
    answer = await fetch("healthz", {cache: "no-store"}).catch(() => null)
  }
  history.replaceState({again: true}, "")
  location.reload()
}
messages.document.on_event("connection_lost", disconnected)
addEventListener("offline", disconnected)

// A place is filled once it is less than a screen away, and not behind what is closed.
const AHEAD = 1.0
const asked = new Set()
function look() {
  const wanted = said("waiting").filter((name) => {
    const el = el_of(messages.document?.get_model_by_name(name))
    return el?.checkVisibility() && !asked.has(name) && el.getBoundingClientRect().top < innerHeight * (1 + AHEAD)
  })
  wanted.forEach((name) => asked.add(name))
  if (wanted.length > 0) { say("near", wanted) }
}
setInterval(look, 200)
addEventListener("toggle", look, true) // what is opened is not kept waiting

// What has just been opened below the controls comes into view.
addEventListener("toggle", ({target}) => {
  // its controls come from the server
  if (target.matches?.(".advanced[open]")) { setTimeout(() => target.scrollIntoView({block: "nearest"}), 500) }
}, true)

// Lists open only by a click (panel-material-ui 0.16). The space bar opens at its release, which would choose an item.
for (const [kind, keys] of [["keydown", ["Enter", "ArrowDown", "ArrowUp"]], ["keyup", [" "]]]) {
  addEventListener(kind, (event) => {
    const [list] = event.composedPath()
    if (keys.includes(event.key) && list.matches?.(".MuiSelect-select")) {
      event.preventDefault()
      list.click()
    }
  }, {capture: true})
}
