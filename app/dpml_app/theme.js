// Dark or light: what the reader has chosen before, else what the system has. Runs after shell.js.
const theme_toggle = () => [...Bokeh.index.all_views()].find(({el}) => el?.classList.contains("theme-toggle"))?.model.data
{
  const system = matchMedia("(prefers-color-scheme: dark)")
  // a browser may refuse to keep anything
  const kept = () => { try { return localStorage.getItem("theme") } catch { return null } }
  const keep_theme = (name) => { try { localStorage.setItem("theme", name) } catch { /* the next visit follows the system */ } }
  const wanted = () => (kept() ?? (system.matches ? "dark" : "light")) === "dark"
  const begin = () => {
    const toggle = theme_toggle()
    if (!toggle) { setTimeout(begin, 50); return }
    const follow_system = () => { if (toggle.value !== wanted()) { toggle.value = wanted() } }
    // what the browser draws itself, as ticks in boxes, follows
    const paint = () => { document.documentElement.toggleAttribute("data-dark", toggle.value) }
    follow_system()
    paint()
    system.addEventListener("change", follow_system)
    toggle.connect(toggle.properties.value.change, () => {
      paint()
      if (toggle.value !== wanted()) { keep_theme(toggle.value ? "dark" : "light") }
    })
  }
  begin()
  // a sheet of A4 has as many pixels side by side as the window, and so a figure has its place on paper
  const sheet = document.head.appendChild(document.createElement("style"))
  addEventListener("beforeprint", () => {
    sheet.textContent = `@page { size: ${innerWidth}px ${Math.round(Math.SQRT2 * innerWidth)}px; margin: 0; }`
  })
}
