const strip = document.getElementById("mode")
for (const name of ["releasing", "demonstrating"]) {
  document.body.classList.toggle(name, cb_obj.data.mode[0] === name)
}
if (strip !== null) { strip.textContent = cb_obj.data.says[0] }
// what is shown now begins at the top, wherever the button was
document.querySelector("main").scrollTop = 0
