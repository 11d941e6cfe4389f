// Return places near the wished ones, sorted, for words of these heights that must not touch, above `most`.
function stacked(wished, high, most) {
  const spots = [...wished], apart = (i) => (high[i - 1] + high[i]) / 2
  for (let i = 1; i < spots.length; i++) { spots[i] = Math.max(spots[i], spots[i - 1] + apart(i)) }
  for (let i = spots.length - 1, limit = most; i >= 0; i--) {
    spots[i] = Math.min(spots[i], limit)
    limit = i > 0 ? spots[i] - apart(i) : limit
  }
  return spots
}
