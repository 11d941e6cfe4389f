"""How long one client's page takes behind 25 pages that another client has asked for.

Run from the project's root on Linux: ``python benchmarks/bench_clients.py [--repeats 3] [--processes 1] [--panel]``. It
serves the app, asks for 25 pages from 127.0.0.2 and, once the first of them has come, for one page from 127.0.0.1. None
of them opens a WebSocket. Printed are the seconds until that page is there, alone and behind the 25; and how many of
the 25 came before it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time

from bench_app import ROOT, free_port

GREEDY = 25
PATIENCE = 120.0


async def page(port: int, source: str) -> float:
    """Return the seconds that a page takes."""
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.write(b"GET /app?page=noise HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    content = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    assert b"</html>" in content
    return time.perf_counter() - begun


async def started(port: int) -> None:
    """Wait until a server answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            await page(port, "127.0.0.1")
            return
        except OSError:
            await asyncio.sleep(0.2)
    raise TimeoutError("the server did not start")


async def behind(port: int) -> tuple[float, int]:
    """Return the seconds of a page behind those of another client, and how many of these came before it."""
    greedy = [asyncio.create_task(page(port, "127.0.0.2")) for _ in range(GREEDY)]
    await asyncio.wait(greedy, return_when=asyncio.FIRST_COMPLETED)
    seconds = await page(port, "127.0.0.1")
    before = sum(task.done() for task in greedy)
    await asyncio.gather(*greedy)
    return seconds, before


async def measured(port: int, repeats: int) -> None:
    """Measure and print."""
    await started(port)
    await asyncio.sleep(2)
    alone = [await page(port, "127.0.0.1") for _ in range(1)]
    for _ in range(repeats - 1):
        await asyncio.sleep(2)
        alone.append(await page(port, "127.0.0.1"))
    found = []
    for _ in range(repeats):
        await asyncio.sleep(2)
        found.append(await behind(port))
    for name, times in (("alone", alone), (f"behind {GREEDY}", [seconds for seconds, _ in found])):
        print(f"{name:<10} {statistics.median(times):6.2f} s ({min(times):.2f} to {max(times):.2f})")
    print(f"of the {GREEDY}, before it: {', '.join(str(before) for _, before in found)}")


def main() -> None:
    """Serve the app and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--panel", action="store_true", help="serve by panel serve app")
    options = parser.parse_args()
    port = free_port()
    how = ["panel", "serve", "app"] if options.panel else ["dpml_app", "--processes", str(options.processes)]
    command = [sys.executable, "-m", *how, "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        asyncio.run(measured(port, options.repeats))
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main()
