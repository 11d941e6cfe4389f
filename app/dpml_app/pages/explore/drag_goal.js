// The line of the goal was moved: to the nearest half percent, at once here and then in the server, whose ε follows.
const {start, end} = range, margin = 0.02 * (end - start)
const shown = (percent) => Math.min(Math.max(percent / 100, start + margin), end - margin)
const now = controls.data.wanted[0]
// a goal beyond the axis stands at its end
if (Math.abs(goal.location - shown(now)) > 1e-9) {
  const wanted = Math.min(Math.max(Math.round(200 * goal.location) / 2, 50), 100)
  if (wanted === now) {
    goal.setv({location: shown(now)}, {sync: false})
  } else {
    controls.setv({data: {...controls.data, wanted: [wanted]}}, {sync: false})
    dragged.data = {wanted: [wanted]}
  }
}
