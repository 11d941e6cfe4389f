// A file goes to the server in parts, each sent when the one before has come: so there is progress, and an end to it.
const PART = 1 << 20

export function render({model, el}) {
  const label = document.createElement("label")
  const input = document.createElement("input")
  const bar = document.createElement("progress")
  input.type = "file"
  input.accept = model.accept
  bar.hidden = true
  bar.setAttribute("aria-label", "Upload")
  label.append(document.createTextNode(model.label), document.createElement("br"), input)
  el.append(label, bar)
  let file = null, at = 0, serial = 0

  const encoded = (buffer) => {
    const bytes = new Uint8Array(buffer)
    let text = ""
    for (let i = 0; i < bytes.length; i += 0x8000) { text += String.fromCharCode(...bytes.subarray(i, i + 0x8000)) }
    return btoa(text)
  }
  const next = async () => {
    const sent = serial
    const part = file.slice(at, at + PART)
    const data = encoded(await part.arrayBuffer())
    if (sent !== serial) { return }
    at += part.size
    model.send_msg({serial, name: file.name, size: file.size, data, last: at >= file.size})
    bar.max = Math.max(file.size, 1)
    bar.value = at
  }
  input.addEventListener("change", () => {
    if (input.files.length === 0) { return }
    file = input.files[0]
    at = 0
    serial += 1
    bar.hidden = false
    next()
  })
  model.on("msg:custom", (message) => {
    if (message.serial !== serial) { return }
    if (message.go_on) { next(); return }
    bar.hidden = true
    input.value = ""  // the same file can be chosen again
    serial += 1
  })
}
