// A class: the teacher's step for all who follow, and everybody's guesses before the reveal. Runs after lessons.js, in its
// scope. In, from the server: class_state; to the server: class_request. Nothing that another person has sent is text.
const box = panel.querySelector("footer").insertAdjacentElement("beforebegin", document.createElement("div"))
box.className = "class"
let classroom = JSON.parse(class_state.data.payload[0])
let serial = 0

// a tab can be the teacher's; a browser has one seat, and may refuse to keep anything: a reload then is somebody else
const tab = () => sessionStorage, browser = () => localStorage
const keep = (store, value) => {
  try { value ? store().setItem("dpml-class", JSON.stringify(value)) : store().removeItem("dpml-class") } catch { /* see above */ }
}
const kept = (store) => { try { return JSON.parse(store().getItem("dpml-class")) } catch { return null } }

function ask(act, more = {}) {
  const rest = {code: "", key: "", lesson: at?.lesson?.name ?? "", step: at?.number ?? 0, option: -1, ...more}
  const columns = {act, ...rest, serial: ++serial}
  class_request.data = Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, [value]]))
}
const together = () => classroom.role && at?.lesson?.name === classroom.lesson && at.number === classroom.step

// also the teacher's address: where several processes serve, one has the class
const class_tail = () => classroom.role ? `&class=${classroom.code}` : ""
// the answer comes with the class
const waits = () => classroom.role === "visitor" && together() && !classroom.revealed
function lead() { if (classroom.role === "teacher") { ask("move") } }
function send_guess() {
  if (waits() && guessed.has(key(at.lesson, at.number))) { ask("answer", {option: guessed.get(key(at.lesson, at.number))}) }
}

function draw_class() {
  const step = at?.lesson
  const focused = box.contains(document.activeElement) ? document.activeElement.className : null
  box.hidden = !(classroom.said || classroom.role === "teacher" || (!classroom.role && classroom.may && step))
  panel.classList.toggle("taught", classroom.role === "teacher")
  panel.classList.toggle("attends", classroom.role === "visitor")
  box.innerHTML = '<p role="status"></p>'
  const add = (name, text, does) => {
    const button = box.appendChild(document.createElement("button"))
    Object.assign(button, {type: "button", className: name, textContent: text, onclick: does})
  }
  box.firstChild.textContent = classroom.role === "teacher" ? `${classroom.answered} of ${classroom.here} answered` : classroom.said
  if (classroom.role === "teacher") {
    if (together() && !classroom.revealed) { add("reveal", "Reveal", () => ask("reveal")) }
    add("end", "End the class", () => ask("end"))
    box.append(picture)
  } else if (!classroom.role && classroom.may && step) {
    add("open", "Open a class", () => ask("open"))
  }
  if (focused) { box.getElementsByClassName(focused)[0]?.focus({preventScroll: true}) }
}
// the class's link as a picture, which Present shows by itself
const picture = document.createElement("div")
picture.className = "code"
async function share() {
  const link = classroom.role === "teacher" ? `${location.origin}${location.pathname}?lesson=${classroom.lesson}&class=${classroom.code}` : null
  if (link === (panel.dataset.link ?? null)) { return }
  if (link) { panel.dataset.link = link } else { delete panel.dataset.link }
  const svg = await show_qr()
  picture.innerHTML = panel.dataset.link ? svg : ""
}

class_state.connect(class_state.properties.data.change, () => {
  const before = classroom
  classroom = JSON.parse(class_state.data.payload[0])
  share()
  if (classroom.role === "teacher") { keep(tab, {code: classroom.code, key: classroom.key}) }
  if (classroom.role === "visitor") { keep(browser, {code: classroom.code, key: classroom.key}) }
  if (!classroom.role) { keep(tab, null) }
  if (!classroom.role && before.role) { keep(browser, null) }
  if (at?.lesson && new URLSearchParams(location.search).has("class") !== Boolean(classroom.role)) {
    visit(`?aside=1&lesson=${at.lesson.name}&step=${at.number}${class_tail()}`)
  }
  const moved = classroom.lesson !== before.lesson || classroom.step !== before.step
  if (classroom.role === "visitor" && moved && at?.lesson && !together()) {
    go(lessons.find(({name}) => name === classroom.lesson), classroom.step)
    return
  }
  const place = together() && key(at.lesson, at.number)
  if (classroom.role === "teacher" && place && classroom.revealed && !guessed.has(place)) { guessed.set(place, -1) }
  // who has guessed before the class came here
  if (moved || classroom.role !== before.role) { send_guess() }
  const same = ["role", "lesson", "step", "revealed"].every((name) => classroom[name] === before[name])
  if (same) { draw_class(); return }
  draw()
  if (together() && classroom.revealed) { part("told").scrollIntoView({block: "nearest"}) }
})
{
  const code_given = new URLSearchParams(location.search).get("class")
  const mine = kept(tab), seat = kept(browser)
  if (mine) { ask("claim", mine) } else if (code_given) { ask("join", {code: code_given, key: seat?.code === code_given ? seat.key : ""}) }
}

at = placeOf(location.search)
draw()
if (at?.lesson) { look() }
// who opens a lesson by its link can go on by keyboard at once
if (at && document.activeElement === document.body) { panel.focus({preventScroll: true}) }
