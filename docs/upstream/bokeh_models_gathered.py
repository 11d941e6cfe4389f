"""Bokeh 3.9.2 gathers all models of a document again after each change that adds a model, also within a hold.

The public `DocumentModelManager.freeze` gathers once, but it gathers at its end even if no model came or went.

Expected output: the number of models that are visited does not depend on how many changes add them. Output with
Bokeh 3.9.2: 20 changes visit about 20 times as many models as one.
"""

import time

from bokeh.document import Document
from bokeh.models import Column, Div


def seconds(changes, of=2000):
    """Return the time to add 20 models to a document of 2,000 in so many changes."""
    doc, column = Document(), Column(children=[Div(text=str(i)) for i in range(of)])
    doc.add_root(column)
    begun = time.perf_counter()
    doc.hold("combine")
    for _ in range(changes):
        column.children = [*column.children, *(Div() for _ in range(20 // changes))]
    return time.perf_counter() - begun


seconds(1)
print(f"20 changes take {seconds(20) / seconds(1):.0f} times as long as one")
