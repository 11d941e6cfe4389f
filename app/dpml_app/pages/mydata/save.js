// Files that a session can keep, by name. A file comes when it is asked for; nothing of it stays in the page.
export function render({model, el}) {
  const list = document.createElement("div")
  el.append(list)
  const save = (name, kind, content) => {
    const text = atob(content), bytes = new Uint8Array(text.length)
    for (let i = 0; i < text.length; i++) { bytes[i] = text.charCodeAt(i) }
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([bytes], {type: kind}))
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10000)
  }
  const draw = () => {
    list.replaceChildren(...model.names.map((name, place) => {
      const button = document.createElement("button")
      button.type = "button"
      button.append(document.createTextNode(model.titles[place]))
      button.title = name
      button.addEventListener("click", () => model.send_msg({name}))
      return button
    }))
  }
  model.on("titles", draw)
  model.on("msg:custom", (message) => save(message.name, message.kind, message.content))
  draw()
}
