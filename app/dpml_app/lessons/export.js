// The lesson's own page: what the app's shell does for the panel, done by showing one plot and hiding the others.
{
  const address = {document: null}
  const location = {search: `?lesson=${LESSON}&step=1`, pathname: ""}
  const history = {pushState(_state, _title, url) { location.search = url }}
  const parts = [...document.querySelectorAll(".of-step")]
  const show = () => {}
  const write = () => {}
  function visit() {
    const step = Number(new URLSearchParams(location.search).get("step") ?? 1)
    parts.forEach((part, i) => { part.hidden = i + 1 !== step })
  }
  visit()
  // each sentence is said from the start, once its plot is there
  const waiting = setInterval(() => {
    const controls = Bokeh.documents.flatMap((d) => [...d._all_models.values()]).filter(({name}) => name === "control")
    if (controls.length < parts.length) { return }
    clearInterval(waiting)
    for (const control of controls) { control.properties.value.change.emit() }
  }, 50)
  /* panel */
}
