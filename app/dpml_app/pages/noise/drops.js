// Lets the releases of a count fall one by one, and shows the likelihood ratio of the last one.
// How many have fallen, and of which seed, is remembered on their source: the code runs anew with each change.

// the first ones slowly, so that each is seen
const fallen_after = (time) => Math.floor(time < 2000 ? time / 200 : 10 + (time - 2000) / 25)
const put = (model, values) => model.setv(values, {sync: false})
const [seed] = drops.tags
const still = matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden

function show(count) {
  const {x, y, release, ratio: ratios} = drops.data, end = count - 1
  Object.assign(fallen, {count, done: count === x.length})
  const first = Object.entries({x, y, release, ratio: ratios}).map(([name, values]) => [name, values.slice(0, count)])
  put(fallen, {data: Object.fromEntries(first)})
  put(last, {data: Object.fromEntries(first.map(([name, values]) => [name, values.slice(-1)]))})
  if (count === 0) { return }
  const times = Math.max(ratios[end], 1 / ratios[end]), height = Math.log(times) / drops.tags[1]
  const words = `${times < 1000 ? Number(times.toPrecision(3)) : Math.round(times).toLocaleString("en")} times as likely`
  const [, limit, title] = ratio.data.text
  put(ratio, {data: {...ratio.data, height: [height, NaN, NaN], text: [words, limit, title]}})
}

function fall(begin) {
  if (fallen.begin !== begin) { return }
  const all = drops.data.x.length, count = Math.min(fallen_after(performance.now() - begin), all)
  if (count > fallen.count) { show(count) }
  if (count < all) { requestAnimationFrame(() => fall(begin)) }
}

const all = drops.data.x.length
if (still || all === 0) {
  fallen.seed = all === 0 ? undefined : seed
  show(all)
} else if (fallen.seed === seed) {
  // those that have fallen move to where they now belong
  show(fallen.done ? all : Math.min(fallen.count, all))
} else {
  fallen.seed = seed
  fallen.begin = performance.now()
  show(0)
  fall(fallen.begin)
}
