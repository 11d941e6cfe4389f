// Of a text that is longer than its part of the frame, the end is left out.
const pen = document.createElement("canvas").getContext("2d")
// Present writes larger
pen.font = `${document.body.classList.contains("presenting") ? 20 : size}px ${font}`
return Array.from(xs, (text, i) => {
  const room = (source.data.part?.[i] ?? 1) * (plot.inner_width || Infinity) - 6
  let letters = text.length
  const shown = () => letters === text.length ? text : letters > 0 ? `${text.slice(0, letters)}…` : ""
  while (letters > 0 && pen.measureText(shown()).width > room) { letters -= 1 }
  return shown()
})
