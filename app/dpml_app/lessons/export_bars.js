// The probabilities at the slider's ε, and how far they are apart, in words.
const i = slider.value
sources.forEach((source, side) => { source.data = {...source.data, top: heights[side][i]} })
let worst = 0, where = 0
outputs.forEach((_, k) => {
  const [a, b] = [heights[0][i][k], heights[1][i][k]]
  const loss = a === b ? 0 : Math.abs(Math.log(a / b))
  if (loss > worst) { [worst, where] = [loss, k] }
})
const [a, b] = heights.map((of) => of[i][where].toFixed(1))
sentence.text = worst === 0 ? "All outputs have the same probability on both tables: the actual ε is 0." :
  Number.isFinite(worst) ? `The output “${outputs[where]}” has probability ${a}% on D and ${b}% on D′: actual ε = <b>${worst.toFixed(3)}</b>.` :
  `The output “${outputs[where]}” has probability ${a}% on D and ${b}% on D′: <b>not private at any ε</b>.`
