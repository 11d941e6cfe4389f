"""Server processes behind one port. A session stays with its process; one that ends is started again.

The parent makes no page. It reads the head of a request, chooses a process, and hands the bytes on in both directions:

- A link to a class goes to the process that has the class, by the code's first letter.
- Another page goes to the process with the fewest connections, which states its number in the session's token.
- A socket goes by its token, which is signed with a key that the processes share. One that is not is refused.
- Anything else is the same in each process.

A connection has one request: what follows it is not handed on.

If the process has ended, another one makes the session again from its link. Python gives a block of memory back once
nothing in it lives, so a process that has grown is replaced by a new one while nobody uses it.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bokeh.util.token import generate_secret_key

from dpml_app.serving import log, shared
from dpml_app.serving.headers import HEADERS, HEALTH
from dpml_app.serving.memory import ALLOCATION
from dpml_app.serving.request_head import PAGE, SOCKET, Head

LONGEST_HEAD, PIECE = 2**16, 2**16
# seconds
FOR_A_HEAD, FOR_A_START, FOR_AN_END, BETWEEN_LOOKS, QUIET = 30.0, 180.0, 8.0, 5.0, 30.0
# a process is well if it has answered within the first; it is asked as often as the second
FOR_HEALTH, BETWEEN_QUESTIONS = 5.0, 1.0
# MB; a process grows by some 90 when each page is opened once
GROWN = 150.0
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
# the environment variable of the key that signs tokens
KEY = "BOKEH_SECRET_KEY"
# so often is a process started that never gets ready
TRIES = 3
STARTING = "The server is starting. This page reloads automatically."


@dataclass(eq=False)
class Server:
    """A server process that is ready, the memory that it had then, in MB, and when it answered last."""

    process: asyncio.subprocess.Process
    port: int
    fresh: float
    answered: float = field(default_factory=time.monotonic)

    @property
    def well(self) -> bool:
        """Whether it has answered lately."""
        return time.monotonic() - self.answered < FOR_HEALTH


@dataclass(eq=False)
class Child:
    """A server process by its number, whichever has it now; None while none is ready."""

    number: int
    server: Server | None = None
    # connections; when a visitor had one last; and the place in the order in which connections were given
    open: int = 0
    last: float = 0.0
    given: int = 0


def memory(pid: int) -> float:
    """Return the memory of a process in MB, 0 where the system does not say it."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


async def status(port: int, path: str) -> int:
    """Return the status of a process's answer, 0 if it gives none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return int((await reader.read()).split(b" ", 2)[1])
    except IndexError:
        return 0
    finally:
        writer.close()


@dataclass(eq=False)
class Parent:
    """Starts the processes and hands on what is asked for."""

    command: Sequence[str]
    folder: Path
    children: list[Child]
    # whether to believe a proxy who asks
    proxy: bool = False
    key: str = field(default_factory=lambda: os.environ.get(KEY) or generate_secret_key())
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    failed: bool = False
    _processes: set[asyncio.subprocess.Process] = field(default_factory=set)
    _given: int = 0

    # ---- the processes ----------------------------------------------------------------------------------------------

    async def start(self, number: int) -> Server | None:
        """Start a process; return it once it has made its first page, None if it does not get there."""
        environment = {**ALLOCATION, **os.environ, shared.FOLDER: str(self.folder), KEY: self.key}
        environment[shared.PROCESS] = f"{number + 1}/{len(self.children)}"
        # in a group of its own: a terminal's Ctrl-C is for the parent
        options: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        options |= {"env": environment, "start_new_session": True}
        process = await asyncio.create_subprocess_exec(*self.command, **options)
        self._processes.add(process)
        assert process.stdout is not None
        try:
            async with asyncio.timeout(FOR_A_START):
                port = int(await process.stdout.readline())
                if await status(port, PAGE) == 200:
                    return Server(process, port, memory(process.pid))
        except (OSError, ValueError, TimeoutError):
            pass
        await self._end(process)
        return None

    async def keep(self, child: Child) -> None:
        """Start a process again whenever it ends; give up if it never gets ready."""
        in_vain = 0
        while in_vain < TRIES:
            child.server = await self.start(child.number)
            if child.server is None:
                in_vain += 1
                continue
            in_vain = 0
            log.event("process", state="ready", number=child.number + 1)
            self.ready.set()
            ended = None
            while ended is not child.server:  # another one may have taken its place
                ended = child.server
                await ended.process.wait()
            child.server = None
            self._processes.discard(ended.process)
            shared.clear(self.folder, child.number)
            log.event("process", state="ended", number=child.number + 1)
        self.failed = True
        self.ended.set()

    async def ask(self, child: Child) -> None:
        """Note when a process answers, so that nobody who asks how it is waits for it."""
        while True:
            await asyncio.sleep(BETWEEN_QUESTIONS)
            if (server := child.server) is not None:
                with suppress(OSError, TimeoutError, ValueError):
                    async with asyncio.timeout(FOR_HEALTH):
                        if await status(server.port, f"/{HEALTH}") == 200:
                            server.answered = time.monotonic()

    async def look_after(self) -> None:
        """Keep the folder small, and put a new process in the place of one that nobody uses and that has grown."""
        while True:
            await asyncio.sleep(BETWEEN_LOOKS)
            with suppress(OSError):
                await asyncio.to_thread(shared.prune, self.folder)
            for child in self.children:
                await self.renew(child)

    async def renew(self, child: Child) -> None:
        """Put a new process in the place of one that nobody uses and that has grown; nobody waits for it."""
        old = child.server
        if old is None or not self._unused(child) or memory(old.process.pid) - old.fresh < GROWN:
            return
        new = await self.start(child.number)
        if new is not None and child.server is old and self._unused(child):
            child.server, new = new, old
            log.event("process", state="renewed", number=child.number + 1)
        if new is not None:
            await self._end(new.process)

    def _unused(self, child: Child) -> bool:
        """Return whether nobody is there, and no class waits for its teacher to come back."""
        quiet = time.monotonic() - child.last > QUIET
        return child.open == 0 and quiet and shared.held(self.folder, shared.CLASSES, child.number) == 0

    async def end(self) -> None:
        """End all processes."""
        await asyncio.gather(*map(self._end, list(self._processes)))

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """End a process: politely, and then at once."""
        for stop in (process.terminate, process.kill):
            with suppress(ProcessLookupError, TimeoutError):
                stop()
                async with asyncio.timeout(FOR_AN_END):
                    await process.wait()
        self._processes.discard(process)

    # ---- what is asked for ------------------------------------------------------------------------------------------

    def order(self, head: Head) -> list[Child]:
        """Return the processes that are ready, the one whose turn it is first."""
        wanted: int | None = None
        if head.path == PAGE:
            wanted = shared.process_of(head.code, len(self.children))
        elif head.path == SOCKET:
            wanted = head.process(self.key)
        ready = [child for child in self.children if child.server is not None]
        return sorted(ready, key=lambda child: (child.number != wanted, child.open, child.given))

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what is asked for on a connection, and hand it on."""
        try:
            async with asyncio.timeout(FOR_A_HEAD):
                head = Head.read(await reader.readuntil(b"\r\n\r\n"))
            if not head.line.startswith(("GET ", "HEAD ")):  # what else comes from a page comes through its socket
                _say(writer, "405 Method Not Allowed", "text/plain", "Only GET is allowed.", Allow="GET, HEAD")
            elif head.has_body:
                _say(writer, "400 Bad Request", "text/plain", "A request has no body here.")
            elif head.path == f"/{HEALTH}":
                self._health(writer)
            elif head.path == SOCKET and head.process(self.key) is None:
                _say(writer, "403 Forbidden", "text/plain", "This server has not signed the token.")
            else:
                await self._hand_on(head, reader, writer)
        except (ValueError, asyncio.LimitOverrunError):
            _say(writer, "400 Bad Request", "text/plain", "This is no request.")
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # whoever asked has gone
        finally:
            writer.close()

    def _health(self, writer: asyncio.StreamWriter) -> None:
        """Answer for all: the server is well while a process is, for the others are started again."""
        count = sum(child.server is not None and child.server.well for child in self.children)
        content = json.dumps({"processes": len(self.children), "well": count})
        _say(writer, "200 OK" if count else "503 Service Unavailable", "application/json", content)

    async def _hand_on(self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for child in self.order(head):
            self._given += 1
            child.open, child.given = child.open + 1, self._given
            try:
                if await self._answered(child, head, reader, writer):
                    return
            finally:
                child.open -= 1
                if head.path in (PAGE, SOCKET):  # who asks whether the server is there is no visitor
                    child.last = time.monotonic()
        _say(writer, "503 Service Unavailable", "text/plain", STARTING, Refresh="2")

    async def _answered(
        self, child: Child, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Hand a connection on; return False if the process ends before it answers, and somebody waits for that."""
        if child.server is None:
            return False
        try:
            there, back = await asyncio.open_connection("127.0.0.1", child.server.port)
        except OSError:
            return False
        try:
            peer = (writer.get_extra_info("peername") or [""])[0]
            back.write(head.handed_on(peer, proxy=self.proxy))
            if head.path == SOCKET and not await _upgraded(there, writer):
                return True
            onward = back if head.path == SOCKET else None
            answer, rest = asyncio.create_task(_pump(there, writer)), asyncio.create_task(_pump(reader, onward))
            done, pending = await asyncio.wait({answer, rest}, return_when=asyncio.FIRST_COMPLETED)
            for way in pending:
                way.cancel()
            await asyncio.gather(answer, rest, return_exceptions=True)
            return head.path == SOCKET or answer not in done or answer.result() > 0
        except (asyncio.IncompleteReadError, ConnectionResetError):
            return False
        finally:
            back.close()


async def _upgraded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Hand on the answer to a request for a socket; return whether the socket is open, so that more may follow."""
    answer = await reader.readuntil(b"\r\n\r\n")
    writer.write(answer)
    if answer.startswith(b"HTTP/1.1 101 "):
        return True
    length = LENGTH.search(answer)
    writer.write(await reader.readexactly(int(length[1]) if length else 0))
    return False


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None) -> int:
    """Hand bytes on, or throw them away, until there are no more; return how many there were."""
    count = 0
    with suppress(OSError):
        while content := await reader.read(PIECE):
            count += len(content)
            if writer is not None:
                writer.write(content)
                await writer.drain()
    return count


def _say(writer: asyncio.StreamWriter, status: str, kind: str, text: str, **more: str) -> None:
    length = str(len(text.encode()))
    headers = {**HEADERS, "Content-Type": kind, "Content-Length": length, "Cache-Control": "no-store", **more}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items()), "Connection: close"]
    writer.write("\r\n".join([*lines, "", text]).encode())


async def serve(options: argparse.Namespace, arguments: Sequence[str], address: str) -> int:
    """Serve with several processes until told to end; return how it ends. OSError if the port cannot be used."""
    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory(prefix="dpml-", ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "dpml_app", *arguments]
        children = [Child(number) for number in range(options.processes)]
        parent = Parent(command, Path(folder), children, options.proxy)
        listening: dict[str, Any] = {"limit": LONGEST_HEAD, "start_serving": False}
        server = await asyncio.start_server(parent.answer, options.host, options.port, **listening)
        for kind in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):  # on Windows
                loop.add_signal_handler(kind, parent.ended.set)
        work: list[asyncio.Task[Any]] = [loop.create_task(parent.keep(child)) for child in parent.children]
        work += [loop.create_task(parent.ask(child)) for child in parent.children]
        work.append(loop.create_task(parent.look_after()))
        ended = loop.create_task(parent.ended.wait())
        try:
            await asyncio.wait({ended, loop.create_task(parent.ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                await server.start_serving()
                print(f"dpml: {address}", flush=True)
                if options.show:
                    webbrowser.open(address)
            await ended
        finally:
            for task in work:
                task.cancel()
            server.close()
            await parent.end()
    return int(parent.failed)


def tell_parent(port: int) -> None:
    """Tell the parent that this process listens, and end when it does, however that is: its end of a pipe closes."""
    print(port, flush=True)
    os.dup2(2, 1)  # nobody reads what is written there from now on

    def watch() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
