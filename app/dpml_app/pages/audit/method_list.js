// A list of methods in groups with a search: the pattern "combobox with a list" that screen readers know.
// Every word that is typed must stand somewhere in a method's title, family, name or source.

export function render({ model }) {
  const make = (name, options = {}, ...inside) => {
    const made = Object.assign(document.createElement(name), options)
    made.append(...inside)
    return made
  }
  const label = make("label", { htmlFor: "search", textContent: model.label })
  const search = make("input", { id: "search", type: "text", autocomplete: "off", spellcheck: false })
  const count = make("p", { className: "count" })
  const list = make("ul", { id: "methods" })
  const popup = make("div", { className: "popup", hidden: true }, count, list)
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-controls": "methods", "aria-expanded": "false",
  })) { search.setAttribute(name, value) }
  count.setAttribute("role", "status")
  list.setAttribute("role", "listbox")
  list.setAttribute("aria-label", model.label)

  const options = []
  for (const { title, methods } of model.groups) {
    const head = make("li", { className: "group", textContent: title, id: `group-${title}` })
    head.setAttribute("role", "presentation")
    const inside = make("ul")
    inside.setAttribute("role", "group")
    inside.setAttribute("aria-label", title)
    for (const { value, shown, words } of methods) {
      const item = make("li", { id: `method-${value}`, textContent: shown })
      item.setAttribute("role", "option")
      // not a click: the search would lose the focus before it
      item.addEventListener("pointerdown", (event) => { event.preventDefault() })
      item.addEventListener("click", () => choose(option))
      const option = { value, shown, item, text: `${shown} ${title} ${value} ${words}`.toLowerCase() }
      options.push(option)
      inside.append(item)
    }
    const group = make("li", {}, head, inside)
    group.setAttribute("role", "presentation")
    list.append(group)
  }
  let active = null
  const offered = () => options.filter(({ item }) => !item.hidden)

  function point(option) {
    active?.item.classList.remove("active")
    active = option ?? null
    active?.item.classList.add("active")
    active?.item.scrollIntoView({ block: "nearest" })
    active ? search.setAttribute("aria-activedescendant", active.item.id) : search.removeAttribute("aria-activedescendant")
  }
  function filter(query) {
    const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
    for (const option of options) { option.item.hidden = !wanted.every((word) => option.text.includes(word)) }
    for (const group of list.children) { group.hidden = group.querySelector("[role=option]:not([hidden])") === null }
    const found = offered()
    count.textContent = found.length > 0 ? `${found.length} of ${options.length} methods` : "No method matches"
    return found
  }
  function open() {
    if (!popup.hidden) { return }
    popup.hidden = false
    search.setAttribute("aria-expanded", "true")
    filter("")
    search.select()
    point(options.find(({ value }) => value === model.value))
  }
  function close() {
    popup.hidden = true
    search.setAttribute("aria-expanded", "false")
    point(null)
    show()
  }
  function choose(option) {
    if (option) { model.value = option.value }
    close()
  }
  function show() {
    for (const { value, item, shown } of options) {
      item.setAttribute("aria-selected", String(value === model.value))
      if (value === model.value) { search.value = shown }
    }
  }
  search.addEventListener("click", open)
  search.addEventListener("blur", close)
  search.addEventListener("input", () => {
    const typed = search.value
    open()
    search.value = typed
    point(filter(typed)[0])
  })
  search.addEventListener("keydown", (event) => {
    const [found, step] = [offered(), { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]]
    if (event.key === "Escape" && !popup.hidden) {
      close()
    } else if (event.key === "Enter" && !popup.hidden) {
      choose(active)
    } else if (step !== undefined && popup.hidden) {
      open()
    } else if (step !== undefined) {
      const at = found.indexOf(active) + (active === null && step < 0 ? found.length + 1 : 0)
      point(found[Math.min(Math.max(at + step, 0), found.length - 1)])
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  })
  model.on("value", show)
  show()
  return make("div", { className: "field" }, label, search, popup)
}
