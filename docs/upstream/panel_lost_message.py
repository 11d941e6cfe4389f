"""Panel 1.9.4 keeps a message until the next change if an earlier send ends just before its own task starts.

``unlocked`` marks the document as blocked, queues its messages and schedules `_dispatch_msgs`. At its end, an earlier
`_dispatch_msgs` removes the mark. The later task then finds no mark and returns without sending.

Expected output: ``sent: ['first', 'second']``. Output with Panel 1.9.4: ``sent: ['first']``.
"""

import asyncio

from bokeh.document import Document
from panel.io import document


class Socket:
    """A socket that records messages; each send takes one turn of the event loop."""


class Connection:
    """A connection of a page."""

    _socket = Socket()


SENT = []


def send(connection, msg):
    """Record a message and return the future of its delivery."""

    async def deliver():
        SENT.append(msg)

    return [asyncio.ensure_future(deliver())]


def change(doc, connection, msg):
    """Queue a message as `unlocked` does."""
    document._WRITE_BLOCK[doc] = True
    document._WRITE_MSGS.setdefault(doc, {}).setdefault(connection, []).append(msg)
    return asyncio.ensure_future(document._dispatch_msgs(doc))


async def main():
    """Queue a second message while the first is being sent."""
    document.extra_socket_handlers[Socket] = send
    doc, connection = Document(), Connection()
    first = change(doc, connection, "first")
    first.add_done_callback(lambda _task: None)
    while document._WRITE_FUTURES.get(doc) is None and not SENT:
        await asyncio.sleep(0)
    second = change(doc, connection, "second")
    await asyncio.gather(first, second)
    print("sent:", SENT)


asyncio.run(main())
