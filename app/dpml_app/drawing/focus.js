const at = renderers.findIndex((some) => some.includes(cb_data.renderer))
const {indices, line_indices} = cb_data.index
if (at >= 0 && indices.length + line_indices.length > 0) {
  for (const [i, area] of areas.entries()) { area.setv({muted: i !== at}, {sync: false}) }
}
