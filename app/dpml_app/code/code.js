// Code of a plot, in the dialog of its numbers, and the plot itself as files. Runs after numbers.js.
// In, from the server: coded (payload: how a card's files are called, its script and its notebook, as JSON).
// In, to the server: asking (said: the card whose code is wanted, serial).

const wanting = new Map()
function ask(said) {
  const serial = asking.data.serial[0] + 1
  asking.data = {said: [said], serial: [serial]}
  return new Promise((resolve) => { wanting.set(serial, resolve) })
}
coded.connect(coded.properties.data.change, () => {
  const payload = JSON.parse(coded.data.payload[0])
  wanting.get(payload.serial)?.(payload)
  wanting.delete(payload.serial)
})

// the button stands where there is code, and opens it in the dialog
async function offer_code(of, actions) {
  const {file, script, notebook} = await ask(of.dataset.said)
  if (file) { actions.dataset.file = file }
  if (!script || !actions.isConnected) { return }
  const section = make("section", "", {hidden: true, ariaLabel: "Code"})
  const [files, said] = [make("p"), make("span", "", {role: "status"})]
  const shown = make("pre", script, {tabIndex: 0, role: "region", ariaLabel: "Script"})
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(script)
      said.textContent = "Copied"
    } catch {
      getSelection().selectAllChildren(shown)
      said.textContent = "Selected. Press Ctrl+C to copy."
    }
  }
  files.append(button("Copy", copy),
    button("Download script", () => keep(new Blob([script], {type: "text/x-python"}), `${file}.py`)),
    button("Download notebook", () => keep(new Blob([notebook], {type: "application/x-ipynb+json"}), `${file}.ipynb`)), said)
  section.append(files, shown)
  const opens = button("Code", () => {
    section.hidden = !section.hidden
    opens.ariaExpanded = String(!section.hidden)
  })
  opens.ariaExpanded = "false"
  actions.prepend(opens)
  actions.after(section)
}
