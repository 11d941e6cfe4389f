"""Panel 1.9.4 blocks pushes to notebooks by one flag, so the end of a block in one thread ends that of another.

JupyterLab 4.6 with ipykernel 7 handles the messages of each comm target in a thread of its own, and each output of
Panel has a target. A block inside another one ends it, too.

Expected output: ``pushed while blocked: 0``. Output with Panel 1.9.4: ``pushed while blocked: 1``.
"""

import threading

import panel as pn
from bokeh.document import Document
from panel.io.model import add_to_doc
from panel.io.notebook import block_comm


class Comm:
    """A connection to the output in the browser, which records messages."""

    id, _comm = "comm", True

    def __init__(self):
        self.sent = []

    def send(self, data=None, metadata=None, buffers=()):
        """Record a message."""
        self.sent.append(data)


def other_output():
    """Block pushes for a moment, as the thread of another output does."""
    with block_comm():
        pass


document, comm, text = Document(), Comm(), pn.pane.HTML("before")
add_to_doc(text.get_root(document, comm), document, hold=True)
with block_comm():
    thread = threading.Thread(target=other_output)
    thread.start()
    thread.join()
    text.object = "after"
    print("pushed while blocked:", min(len(comm.sent), 1))
