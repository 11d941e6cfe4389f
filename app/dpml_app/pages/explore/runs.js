// One run after the other, thin, at every ε: the curve is the mean of many. Nothing moves where motion is not wanted.
const PAUSE = 900
const still = matchMedia("(prefers-reduced-motion: reduce)")
const draw = () => {
  const {epsilon, run: of, accuracy} = draws.data
  const shown = {epsilon: [], accuracy: []}
  if (!still.matches) {
    const runs = of.length > 0 ? of[of.length - 1] + 1 : 1
    plot.run = ((plot.run ?? -1) + 1) % runs
    for (let i = 0; i < of.length; i++) {
      if (of[i] === plot.run) {
        shown.epsilon.push(epsilon[i])
        shown.accuracy.push(accuracy[i])
      }
    }
  }
  if (shown.epsilon.length > 0 || one.data.epsilon.length > 0) { one.setv({data: shown}, {sync: false}) }
}
plot.timer ??= setInterval(() => {
  plot.seen ??= Bokeh.index.find_one_by_id(plot.id)?.el
  // neither in another tab nor on another page of the app
  if (!document.hidden && plot.seen?.checkVisibility()) { draw() }
}, PAUSE)
