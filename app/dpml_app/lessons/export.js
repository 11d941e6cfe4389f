// The lesson's own page: what the app's shell does for the panel, done by showing one plot and hiding the others.
const address = {document: null}
const location = {search: `?lesson=${document.querySelector("main").dataset.lesson}&step=1`, pathname: ""}
const history = {pushState(_state, _title, url) { location.search = url }}
const parts = [...document.querySelectorAll(".of-step")]
const plots = parts.filter((part) => !part.querySelector(".no-plot"))
const show = () => {}
const write = () => {}
const el_of = () => null
function visit() {
  const step = Number(new URLSearchParams(location.search).get("step") ?? 1)
  parts.forEach((part, i) => { part.hidden = i + 1 !== step })
}
visit()
// each sentence is said from the start, once its plot is there
const waiting = setInterval(() => {
  const controls = Bokeh.documents.flatMap((d) => [...d._all_models.values()]).filter(({name}) => name === "control")
  if (controls.length < plots.length) { return }
  const views = controls.map((control) => Bokeh.index.find_one_by_id(control.id))
  const handles = views.map((view) => view?.el.shadowRoot?.querySelector(".noUi-handle"))
  // a step that is hidden has its slider too
  if (handles.some((handle) => !handle)) { return }
  clearInterval(waiting)
  controls.forEach((control, i) => {
    const tell = () => {
      handles[i].setAttribute("aria-label", control.title)
      handles[i].setAttribute("aria-valuetext", control.format.args.names[control.value])
    }
    tell()
    // the slider writes its own place there first
    control.connect(control.properties.value.change, () => setTimeout(tell))
    control.properties.value.change.emit()
  })
  paint()
}, 50)
// Bokeh draws on a canvas, which no style sheet reaches
const dark = matchMedia("(prefers-color-scheme: dark)")
function paint() {
  const [ground, ink, lines] = dark.matches ? ["#17191c", "#e8e8e8", "#565a60"] : ["#ffffff", "#444444", "#e5e5e5"]
  for (const model of Bokeh.documents.flatMap((d) => [...d._all_models.values()])) {
    if (model.type === "Figure") {
      model.setv({background_fill_color: ground, border_fill_color: ground})
    } else if (model.type === "Legend") {
      model.label_text_color = ink
    } else if (model.type === "Grid") {
      model.grid_line_color = lines
    } else if (/Axis$/.test(model.type)) {
      const colors = ["axis_label_text", "major_label_text", "axis_line", "major_tick_line", "minor_tick_line"]
      model.setv(Object.fromEntries(colors.map((name) => [`${name}_color`, ink])))
    }
  }
}
dark.addEventListener("change", paint)
