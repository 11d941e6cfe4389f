// Code of a plot, in the dialog of its numbers, and the plot itself as files. Runs after numbers.js.
// In, from the server: coded (payload: how a card's files are called, its script and its notebook, as JSON).
// In, to the server: asking (said: the card whose code is wanted, serial).

const wanting = new Map()
function ask(said) {
  return new Promise((resolve) => {
    const serial = asking.data.serial[0] + 1
    wanting.set(serial, resolve)
    asking.data = {said: [said], serial: [serial]}
  })
}
coded.connect(coded.properties.data.change, () => {
  const payload = JSON.parse(coded.data.payload[0])
  wanting.get(payload.serial)?.(payload)
  wanting.delete(payload.serial)
})

function code_of(payload) {
  const section = document.createElement("section")
  section.hidden = true
  section.setAttribute("aria-label", "Code")
  const [actions, shown] = [document.createElement("p"), document.createElement("pre")]
  const said = document.createElement("span")
  said.setAttribute("role", "status")
  actions.append(
    button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(payload.script)
        said.textContent = "Copied"
      } catch {
        getSelection().selectAllChildren(shown)
        said.textContent = "Selected. Press Ctrl+C to copy."
      }
    }),
    button("Download script", () => keep(new Blob([payload.script], {type: "text/x-python"}), `${payload.file}.py`)),
    button("Download notebook", () => keep(new Blob([payload.notebook], {type: "application/x-ipynb+json"}), `${payload.file}.ipynb`)),
    said,
  )
  shown.tabIndex = 0
  shown.setAttribute("aria-label", "Script")
  shown.textContent = payload.script
  section.append(actions, shown)
  return section
}
// the button stands where there is code, and opens it in the dialog
async function offer_code(of, actions) {
  const payload = await ask(of.dataset.said)
  if (payload.file) { actions.dataset.file = payload.file }
  if (!payload.script || !actions.isConnected) { return }
  const section = code_of(payload)
  const opens = button("Code", () => {
    section.hidden = !section.hidden
    opens.setAttribute("aria-expanded", String(!section.hidden))
  })
  opens.setAttribute("aria-expanded", "false")
  actions.prepend(opens)
  actions.after(section)
}
