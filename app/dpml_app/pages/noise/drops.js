// Lets the releases of a count fall one by one, and shows of the last one how much likelier it is on one side.
// How many have fallen, and of which seed, is remembered on the filter: the code runs anew with each change.

// the first ones slowly, so that each is seen
const fallen_after = (time) => Math.floor(time < 2000 ? time / 200 : 10 + (time - 2000) / 25)
const put = (model, values) => model.setv(values, {sync: false})
const [seed] = drops.tags
const still = matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden

function show(count) {
  const {x, y, ratio: ratios} = drops.data, last = count - 1
  Object.assign(shown, {fallen: count, done: count === drops.data.x.length})
  put(shown, {indices: Array.from({length: count}, (_, i) => i)})
  put(falling, {data: count > 0 ? {x: [x[last]], y: [y[last]]} : {x: [], y: []}})
  if (count === 0) { return }
  const times = Math.max(ratios[last], 1 / ratios[last]), height = Math.log(times) / drops.tags[1]
  const words = `${times < 1000 ? Number(times.toPrecision(3)) : Math.round(times).toLocaleString("en")} times`
  put(ratio, {data: {...ratio.data, height: [height, NaN], text: [words, ratio.data.text[1]]}})
}

function fall(begin) {
  if (shown.begin !== begin) { return }
  const all = drops.data.x.length, count = Math.min(fallen_after(performance.now() - begin), all)
  if (count > shown.fallen) { show(count) }
  if (count < all) { requestAnimationFrame(() => fall(begin)) }
}

const all = drops.data.x.length
if (still || all === 0) {
  shown.seed = all === 0 ? undefined : seed
  show(all)
} else if (shown.seed === seed) {
  // those that have fallen move to where they now belong
  show(shown.done ? all : Math.min(shown.fallen, all))
} else {
  shown.seed = seed
  shown.begin = performance.now()
  show(0)
  fall(shown.begin)
}
