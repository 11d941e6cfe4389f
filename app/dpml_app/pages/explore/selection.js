// Draws the selection probabilities at the slider's ε, of those at every ε.
const at = Array.from(curves.data.epsilon).findIndex((e) => Math.abs(e - controls.data.epsilon[0]) < 1e-9 * e)
if (at >= 0) {
  const {count, mutual_information} = curves.data, {y, name} = shown.data
  drawn.setv({data: {y, name, count: count[at], mutual_information: mutual_information[at]}}, {sync: false})
}
