const at = renderers.findIndex((some) => some.includes(cb_data.renderer))
const {indices, line_indices} = cb_data.index
if (at >= 0 && indices.length + line_indices.length > 0) {
  for (const [i, area] of areas.entries()) {
    const value = i === at ? seen : faint
    if (area.glyph.fill_alpha.value !== value) { area.glyph.setv({fill_alpha: {value}}, {sync: false}) }
  }
}
