// The marker was moved: to the nearest ε there is, at once here and then in the server, whose slider follows.
const distance = (step) => Math.abs(Math.log(step / marker.location))
const nearest = marker.location > 0 ? steps.reduce((best, step) => distance(step) < distance(best) ? step : best) : steps[0]
if (controls.data.epsilon[0] !== nearest) {
  controls.setv({data: {...controls.data, epsilon: [nearest]}}, {sync: false})
  // numbered, because the last dragged ε may be the same
  dragged.data = {epsilon: [nearest], serial: [dragged.data.serial[0] + 1]}
} else if (marker.location !== nearest) {
  marker.setv({location: nearest}, {sync: false})
}
