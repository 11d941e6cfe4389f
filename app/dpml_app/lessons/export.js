// The lesson's own page: what the app's shell does for the panel, done by showing one plot and hiding the others.
const messages = {document: null}
const location = {search: `?lesson=${document.querySelector("main").dataset.lesson}&step=1`, pathname: ""}
const history = {pushState(_state, _title, url) { location.search = url }}
const parts = [...document.querySelectorAll(".of-step")]
const show = () => {}
const write = () => {}
const el_of = () => null
function visit() {
  const step = Number(new URLSearchParams(location.search).get("step") ?? 1)
  parts.forEach((part, i) => { part.hidden = i + 1 !== step })
}
visit()

// every line of a plot at the slider's value, in words
function curves({lines, unit}, i) {
  const shown = (v) => unit ? v.toFixed(1) + unit : Number(v.toPrecision(3)).toLocaleString("en", {maximumSignificantDigits: 3})
  return lines.map(({label, middle, low, high}) => {
    const band = low.length ? ` (90% of runs: ${shown(low[i])} to ${shown(high[i])})` : ""
    return `${label} <b>${shown(middle[i])}</b>${band}`
  }).join("; ") + "."
}
// how far two probabilities are apart at the slider's ε, in words
function bars({heights: {first, second}, outputs}, i) {
  const loss = outputs.map((_, k) => first[i][k] === second[i][k] ? 0 : Math.abs(Math.log(first[i][k] / second[i][k])))
  const worst = Math.max(...loss), at = loss.indexOf(worst)
  if (worst === 0) { return "All outputs have the same probability on both tables: the actual ε is 0." }
  const [a, b] = [first, second].map((of) => of[i][at].toFixed(1))
  return `The output “${outputs[at]}” has probability ${a}% on D and ${b}% on D′: ` +
    (Number.isFinite(worst) ? `actual ε = <b>${worst.toFixed(3)}</b>.` : "<b>not private at any ε</b>.")
}
for (const slider of document.querySelectorAll("[data-shown]")) {
  const data = JSON.parse(slider.dataset.shown)
  const move = () => {
    const i = slider.value, model = Bokeh.documents[0]?.get_model_by_name(slider.id)
    slider.ariaValueText = slider.previousElementSibling.textContent = data.names[i]
    slider.parentNode.nextElementSibling.innerHTML = data.lines ? curves(data, i) : bars(data, i)
    if (data.lines) {
      model?.setv({location: data.x[i]})
    } else {
      model?.setv({data: {...model.data, first: data.heights.first[i], second: data.heights.second[i]}})
    }
  }
  slider.addEventListener("input", move)
  move()
}
