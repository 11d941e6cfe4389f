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
sentence.text = worst === 0 ? "Both sides are alike: nothing is learned." :
  Number.isFinite(worst) ? `Furthest apart is “${outputs[where]}”: ${a} % against ${b} %, a cost of ε = <b>${worst.toFixed(3)}</b>.` :
  `“${outputs[where]}” comes in ${a} % of draws from D and in ${b} % of those from D′: <b>no ε is large enough</b>.`
