// Pins: a table of the settings that were pinned, beside the one that is shown. Runs after numbers.js.

const pin_button = document.getElementById("pin")
const box_of = (page) => body.querySelector(`[data-of="${page}"] .pins`)

hear("pins", () => {
  const {page, html} = said("pins"), box = box_of(page)
  if (!box) { return }
  const focused = box.querySelector(":focus")?.dataset.act
  box.innerHTML = html
  box.hidden = html === ""
  // keyboard users keep their place
  if (focused) { (box.querySelector(`[data-act="${focused}"]`) ?? box.querySelector("button") ?? pin_button).focus() }
})
pin_button.addEventListener("click", async () => {
  tell((await ask("pin")).said)
  if (innerWidth > 700) { box_of(body.dataset.page)?.scrollIntoView({block: "nearest"}) }
})
body.addEventListener("click", ({target}) => {
  if (target.dataset?.act) { ask(...target.dataset.act.split(" ")) }
})
const can_pin = () => { pin_button.hidden = box_of(body.dataset.page) === null }
new MutationObserver(can_pin).observe(body, {attributes: true, attributeFilter: ["data-page"]})
can_pin()
