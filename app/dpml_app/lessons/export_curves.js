// Every line of the plot at the slider's value, in words, and the marker there.
const i = slider.value
here.location = x[i]
const shown = (v) => unit ? v.toFixed(1) + unit : Number(v.toPrecision(3)).toLocaleString("en", {maximumSignificantDigits: 3})
sentence.text = lines.map(({label, middle, low, high}) => {
  const band = low.length ? ` (90% of runs: ${shown(low[i])} to ${shown(high[i])})` : ""
  return `${label} <b>${shown(middle[i])}</b>${band}`
}).join("; ") + "."
