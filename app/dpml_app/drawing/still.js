// The picture's line is dragged before the figure is there; the picture goes once the figure of its name is painted.
const picture = document.querySelector(".still")
const frame = picture.firstElementChild
const line = picture.querySelector(".span")
const words = picture.querySelector("output")
const steps = JSON.parse(picture.dataset.steps)
const size = 1000
let dragged = null
let held = false

function mark([, share, text]) {
  line.setAttribute("d", `M${size * share} 0L${size * share} ${size}`)
  words.textContent = text
  words.style.left = `${100 * share}%`
  words.classList.toggle("before", share > 0.5)
}
function drag(event) {
  if (!held) { return }
  const box = frame.getBoundingClientRect()
  const share = (event.clientX - box.left) / box.width
  dragged = steps.reduce((best, step) => Math.abs(step[1] - share) < Math.abs(best[1] - share) ? step : best)
  mark(dragged)
}
if (steps.length > 0) {
  frame.classList.add("draggable")
  const at = steps.find((step) => Math.abs(step[0] - Number(picture.dataset.at)) < 1e-9 * step[0])
  if (at) { mark(at) }
  frame.addEventListener("pointerdown", (event) => { held = true; frame.setPointerCapture(event.pointerId); drag(event) })
  frame.addEventListener("pointermove", drag)
  for (const end of ["pointerup", "pointercancel"]) { frame.addEventListener(end, () => { held = false }) }
}
const timer = setInterval(() => {
  const shown = globalThis.Bokeh?.documents?.[0]
  const model = shown?.get_model_by_name(picture.dataset.figure)
  const painted = model && Bokeh.index.find_one_by_id(model.id)?.has_finished()
  // a slider that is still being made does not hear of a new value
  if (painted && !held && (dragged === null || shown.is_idle)) {
    clearInterval(timer)
    picture.remove()
    if (dragged) { shown.get_model_by_name(picture.dataset.line).location = dragged[0] }
  }
}, 50)
