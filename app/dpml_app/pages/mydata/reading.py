"""Reading of files in turn: one of each client, so that no client waits for all files of another."""

import asyncio
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from dpml.tables import Limits
from dpml_app.jobs import LONG
from dpml_app.pages.mydata.counting import check_lines
from dpml_app.pages.mydata.stopping import CancellationToken
from dpml_app.serving.clients import current_client
from dpml_app.uploaded_table import UploadRoom

T = TypeVar("T")

TURNS: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


async def read_in_turn(
    file: tuple[str, bytes],
    limits: Limits,
    read: Callable[[], T],
    *,
    room: UploadRoom,
    stop: CancellationToken,
    tell: Callable[[], None],
) -> T:
    """Return what `read` makes of a file, a name and its content, once it is the turn of this session's client."""
    client, (_name, content) = current_client(), file
    room.take(len(content))
    await asyncio.to_thread(check_lines, *file, limits)
    async with TURNS.setdefault(client, asyncio.Lock()):
        stop.check()
        reading = asyncio.wrap_future(LONG.call(read, owner=client))
        while not reading.done():
            await asyncio.wait({reading}, timeout=0.25)
            if not reading.done():
                tell()
        return reading.result()
