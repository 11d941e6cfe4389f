"""A change of a scalar look in a notebook comes back from the browser, and Bokeh 3.9.2 refuses it.

Panel 1.9.4 returns each change to the kernel that sent it: `comm_manager.ts` listens to all changes of the document,
also to those with `sync: false`. BokehJS writes `Line.line_alpha` as ``{"type": "value", "value": 0.3}``. The property
in Python takes a number alone, so the message and all changes after it are lost.

Expected output: ``0.3``. Output with Bokeh 3.9.2: ``ValueError``.
"""

from bokeh.document import Document
from bokeh.plotting import figure

doc, plot = Document(), figure()
line = plot.line([0, 1], [0, 1]).glyph
doc.add_root(plot)
look = {"type": "value", "value": 0.3}
doc.apply_json_patch({"events": [{"kind": "ModelChanged", "model": line.ref, "attr": "line_alpha", "new": look}]})
print(line.line_alpha)
