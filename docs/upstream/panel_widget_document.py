"""Panel 1.9.4 with jupyter_bokeh 4.1 sends a widget's changes one by one, although its document is held.

``pn.ipywidget`` names a document to Panel that stays empty: the widget adds the model to a document of its own. So a
hold on the named document holds nothing. In a notebook a new element leaves before its styles are inlined.

Expected output: ``messages sent while held: 0``. Output with Panel 1.9.4: ``messages sent while held: 3``.
"""

import panel as pn
from bokeh.document import Document

document, column, sent = Document(), pn.Column(), []
widget = pn.ipywidget(column, doc=document)
widget.send = lambda content, buffers=None: sent.append(content)
with pn.io.hold(document):
    column.append(pn.pane.HTML("new"))
    print("messages sent while held:", len(sent))
