// Lessons: the list of them, a step's words, a question to answer before its answer is shown, and the way to the next.
// Of the shell it uses `show`, `visit`, `write`, `el_of`, `host_of`, `parts_of` and the model `messages`. A step is a visit.
// classroom.js, which runs behind it, has the class and the start.
const lessons = JSON.parse(document.getElementById("lesson-texts").textContent)
const panel = document.getElementById("lesson")
const guessed = new Map()
let at = null // {lesson, number}, "list", or null where the panel is closed
let before = null // what had the focus when the panel was opened

panel.innerHTML = `
  <header>
    <p class="of"></p>
    <button type="button" class="close" aria-label="Close the lesson">×</button>
  </header>
  <div class="inside"><div class="said" aria-live="polite"></div><div class="told" aria-live="polite"></div></div>
  <footer>
    <button type="button" class="back">Back</button>
    <button type="button" class="all">All lessons</button>
    <button type="button" class="next">Next</button>
  </footer>`
const part = (name) => panel.querySelector(`.${name}`)
const key = (lesson, number) => `${lesson.name} ${number}`

function placeOf(query) {
  const given = new URLSearchParams(query)
  const lesson = lessons.find(({name}) => name === given.get("lesson"))
  if (lesson) {
    const number = Number(given.get("step") ?? 1)
    return {lesson, number: Number.isInteger(number) && lesson.steps[number - 1] ? number : 1}
  }
  return given.get("lessons") === "1" ? "list" : null
}

function draw() {
  const focused = panel.contains(document.activeElement), step = at?.lesson?.steps[at.number - 1]
  // the card that is presented
  panel.dataset.place = step?.card ? `place-${step.page}-${step.card}` : ""
  panel.hidden = at === null
  document.body.classList.toggle("with-lesson", at !== null)
  veil()
  if (!at?.lesson) { unmark() }
  draw_class()
  if (at === null) { return }
  part("told").innerHTML = ""
  part("inside").scrollTop = 0
  if (at === "list") { drawList() } else { drawStep() }
  // what had the focus may have been drawn anew
  if (focused && !panel.contains(document.activeElement)) { panel.focus({preventScroll: true}) }
}
// The page knows the answer: until the reader has guessed its figures cannot be read, but its shapes be seen.
function veil() {
  const asked = at?.lesson && (!guessed.has(key(at.lesson, at.number)) || waits())
  document.body.classList.toggle("guessing", Boolean(asked))
}
function drawList() {
  part("of").textContent = "Lessons"
  const entry = ({name, title, audience, steps}) => {
    // a teacher's own place among the options is -1
    const guesses = steps.map((_, i) => guessed.get(`${name} ${i + 1}`)), begun = guesses.some((place) => place >= 0)
    const right = steps.filter(({answer}, i) => guesses[i] === answer).length
    const mark = begun ? `${right} of ${steps.length} correct` : `${steps.length} steps`
    return `<li><button type="button" data-lesson="${name}"><b>${title}</b><small>${audience}</small>` +
      `<span>${mark}</span></button></li>`
  }
  part("said").innerHTML = `<ol class="list">${lessons.map(entry).join("")}</ol>`
  panel.querySelector("footer").hidden = true
}
function drawStep() {
  const {lesson, number} = at, step = lesson.steps[number - 1]
  part("of").innerHTML = `<b>${lesson.title}</b> <span>${number} of ${lesson.steps.length}</span>`
  const buttons = step.options.map((text, i) =>
    `<button type="button" data-option="${i}"><kbd aria-hidden="true">${i + 1}</kbd>${text}</button>`)
  part("said").innerHTML = `<p>${step.words}</p><h2>${step.question}</h2>` +
    `<div class="options" role="group" aria-label="Your answer">${buttons.join("")}</div>`
  panel.querySelector("footer").hidden = false
  part("back").disabled = number === 1
  part("next").textContent = number === lesson.steps.length ? "Finish" : "Next"
  part("next").classList.remove("ready")
  if (guessed.has(key(lesson, number))) { reveal() }
}
function reveal() {
  const {lesson, number} = at, step = lesson.steps[number - 1], chosen = guessed.get(key(lesson, number))
  for (const button of panel.querySelectorAll("[data-option]")) {
    const place = Number(button.dataset.option)
    button.ariaPressed = String(place === chosen)
    if (waits()) { continue }
    button.classList.toggle("right", place === step.answer)
    button.classList.toggle("wrong", place === chosen && chosen !== step.answer)
    if (together() && classroom.revealed) {
      const count = classroom.counts[place]
      button.insertAdjacentHTML("beforeend", `<span class="dots" role="img" aria-label="Guesses: ${count}">${"<i></i>".repeat(count)}</span>`)
    }
  }
  if (waits()) { part("told").innerHTML = "<p>Your guess is in.</p>"; return }
  const verdict = chosen === step.answer ? "Yes." : `It is: ${step.options[step.answer]}.`
  part("told").innerHTML = `<p><b>${verdict.replace(/\.\.$/, ".")}</b> ${step.teaches}</p>`
  part("next").classList.add("ready")
}

// What a step is about, its card or its page's picture, and its control come into view and are marked. They stay there
// while cards above still grow, and are let go when the reader scrolls.
let looking = null
const marked = new Map()
const MARK = {outline: "3px solid var(--focus)", outlineOffset: "3px", borderRadius: "8px"}
function mark(el, look) {
  if (!marked.has(el)) { marked.set(el, el.animate(look, {fill: "forwards"})) }
}
function unmark() {
  clearInterval(looking)
  for (const look of marked.values()) { look.cancel() }
  marked.clear()
}
function controlOf({page, control}) {
  const section = document.querySelector(`section[data-of=${page}]`)
  for (const model of section ? messages.document._all_models.values() : []) {
    const el = model.css_classes?.includes?.(`setting-${control}`) && el_of(model)
    if (el && section.contains(host_of(el))) { return el }
  }
  return null
}
function opened(el) {
  const closed = !el.checkVisibility() && host_of(el).closest("details")
  if (closed) { closed.open = true }
  return !closed
}
function look() {
  unmark()
  const step = at.lesson.steps[at.number - 1]
  let tries = 150
  document.querySelector("main").scrollTop = 0
  looking = setInterval(() => {
    const el = el_of(messages.document?.get_model_by_name(`place-${step.page}-${step.card || step.picture}`))
    const control = el && controlOf(step)
    if (el && opened(el) && (!control || opened(control))) {
      if (step.card) { mark(el, {...MARK, flexBasis: "100%"}) }
      if (control) { mark(control, MARK) }
      // the card, and then its picture, go before the control where not all have room
      const picture = [...parts_of(el)].find((part) => part.classList.contains("bk-Figure"))
      for (const part of [control, step.card && el, picture]) { part?.scrollIntoView?.({block: "nearest"}) }
    }
    // a page may come late
    if (marked.size > 0 && --tries === 0) { clearInterval(looking) }
  }, 150)
}
for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) {
  document.querySelector("main").addEventListener(kind, () => clearInterval(looking), {passive: true, capture: true})
}

function go(lesson, number) {
  if (document.body.classList.contains("lost")) { return }
  at = {lesson, number}
  write()
  const {page} = lesson.steps[number - 1]
  history.pushState(null, "", `${location.pathname}?page=${page}${class_tail()}&lesson=${lesson.name}&step=${number}`)
  show(page)
  visit(location.search)
  look()
  lead()
  draw()
}
function choose(place) {
  const {lesson, number} = at
  // the first answer counts
  if (guessed.has(key(lesson, number))) { return }
  // a teacher does not guess
  if (classroom.role === "teacher") { ask("reveal"); return }
  guessed.set(key(lesson, number), place)
  send_guess()
  reveal()
  veil()
  part("told").scrollIntoView({block: "nearest"})
}
function onward() {
  if (!at?.lesson) { return }
  at.number < at.lesson.steps.length ? go(at.lesson, at.number + 1) : list()
}
function back() {
  if (at?.lesson && at.number > 1) { go(at.lesson, at.number - 1) }
}
function list() {
  before ??= document.activeElement
  at = "list"
  draw()
  visit("?aside=1&lessons=1")
  panel.querySelector("[data-lesson]").focus()
}
function leave() {
  at = null
  draw()
  visit("?aside=1")
  const to = before?.isConnected ? before : document.querySelector("[data-lessons]")
  to?.focus()
  before = null
}

const acts = {next: onward, back, all: list, close: leave}
panel.addEventListener("click", ({target}) => {
  const button = target.closest("button"), {lesson, option} = button?.dataset ?? {}
  if (lesson) {
    go(lessons.find(({name}) => name === lesson), 1)
    part("next").focus({preventScroll: true})
  } else if (option) {
    choose(Number(option))
  } else {
    acts[button?.classList[0]]?.()
  }
})
panel.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) { return }
  const digit = Number(event.key)
  const act = {Escape: leave, ArrowRight: onward, ArrowLeft: back}[event.key]
  if (act) {
    act()
  } else if (at?.lesson && digit >= 1 && digit <= at.lesson.steps[at.number - 1].options.length) {
    choose(digit - 1)
  } else {
    return
  }
  event.preventDefault()
  event.stopPropagation()
})
document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-lessons]")
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) { return }
  event.preventDefault()
  before = opener
  at === null ? list() : leave()
})
// Back and Forward
addEventListener("popstate", () => {
  at = placeOf(location.search)
  if (at?.lesson) { lead() }
  draw()
  if (at?.lesson) { look() }
})
