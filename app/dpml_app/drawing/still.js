// The still picture goes once the figure of its name is painted.
const picture = document.querySelector(".still")
const timer = setInterval(() => {
  const model = globalThis.Bokeh?.documents?.[0]?.get_model_by_name(picture.dataset.figure)
  if (model && Bokeh.index.find_one_by_id(model.id)?.has_finished()) {
    clearInterval(timer)
    picture.remove()
  }
}, 50)
