// A report of the session as one file. The server writes its words as HTML without a script; the browser adds links, the
// time and pictures, and keeps the file. Runs after numbers.js.

// paper is light: a dark page is light for as long as its pictures are taken
async function in_light(act) {
  const toggle = theme_toggle(), dark = () => parseInt(getComputedStyle(document.body).backgroundColor.match(/\d+/)) < 128
  if (!dark()) { return act() }
  toggle.value = false
  for (let i = 0; i < 20 && dark(); i++) { await new Promise((resolve) => setTimeout(resolve, 100)) }
  await new Promise((resolve) => setTimeout(resolve, 500))
  try { return await act() } finally { toggle.value = true }
}
function report_in(html) {
  const made = new DOMParser().parseFromString(html, "text/html")
  made.querySelector("time").textContent = new Date().toLocaleString("en-GB", {dateStyle: "long", timeStyle: "short"})
  for (const link of made.querySelectorAll("a")) {
    link.textContent = new URL(location.pathname + link.getAttribute("href"), location.href).href
    link.setAttribute("href", link.textContent)
  }
  for (const figure of made.querySelectorAll("figure")) {
    const plot = messages.document.get_model_by_name(figure.dataset.plot)
    const view = plot && Bokeh.index.find_one_by_id(plot.id), image = figure.firstChild
    if (!view || view.bbox.width < 1) { figure.remove(); continue }
    image.width = view.bbox.width
    image.src = view.export("png").canvas.toDataURL()
  }
  return `<!doctype html>\n${made.documentElement.outerHTML}\n`
}
const report_button = document.getElementById("report")
report_button.addEventListener("click", async () => {
  report_button.disabled = true
  tell("Creating report…", 0)
  try {
    const {file, html} = await ask("report")
    keep(await in_light(() => report_in(html)), `${file}.html`, "text/html")
    tell("Report downloaded")
  } catch (error) {
    console.error(error)
    tell(`The report failed: ${error}`)
  } finally {
    report_button.disabled = false
  }
})
