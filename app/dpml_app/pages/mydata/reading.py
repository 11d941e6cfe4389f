"""Reading of files in turn: two at a time, and one of each client, so that no client waits for all files of another."""

import asyncio
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from dpml.tables import Limits
from dpml_app.pages.mydata.counting import check_lines
from dpml_app.pages.mydata.stopping import CancellationToken
from dpml_app.serving.clients import current_client
from dpml_app.uploaded_table import UploadRoom
from dpml_app.work.pool import Pool
from dpml_app.work.progress import followed
from dpml_app.work.worker import InThread

T = TypeVar("T")

# reading takes seconds, and answers must not wait for it
READING = Pool(2, worker=InThread)
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
        return await followed(READING.call(read, owner=client), tell)
