// Pins: a table of the settings that were pinned, beside the one that is shown. Runs after shell.js.
// In, from the server: pins (payload: page, html, said, serial, as JSON). In, to the server: pinning (act, at, serial).

const pin_button = document.getElementById("pin")
const box_of = (page) => body.querySelector(`[data-of="${page}"] .pins`)
let said_last = 0

function act(what, at) {
  pinning.data = {act: [what], at: [at], serial: [pinning.data.serial[0] + 1]}
}
pins.connect(pins.properties.data.change, () => {
  const {page, html, said, serial} = JSON.parse(pins.data.payload[0]), box = box_of(page)
  if (box) {
    const focused = box.querySelector(":focus")?.dataset.act
    box.innerHTML = html
    box.hidden = html === ""
    if (said && innerWidth > 700) { box.scrollIntoView({block: "nearest"}) }
    // keyboard users keep their place
    if (focused) { (box.querySelector(`[data-act="${focused}"]`) ?? box.querySelector("button") ?? pin_button).focus() }
  }
  if (said && serial !== said_last) {
    said_last = serial
    tell(said)
  }
})
pin_button.addEventListener("click", () => act("pin", -1))
body.addEventListener("click", ({target}) => {
  const [what, at] = target.dataset?.act?.split(" ") ?? []
  if (what) { act(what, Number(at)) }
})
const can_pin = () => { pin_button.hidden = box_of(body.dataset.page) === null }
new MutationObserver(can_pin).observe(body, {attributes: true, attributeFilter: ["data-page"]})
can_pin()
