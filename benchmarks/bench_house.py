"""What the app costs to open, to switch and to leave, beside a bare page in the same browser and in the same run.

Run from the project's root on a quiet Linux machine: ``python benchmarks/bench_house.py [--repeats 5] [--visits 100]``.
It serves the app, and a bare page of panel-material-ui: a `Page` with four Bokeh figures and twelve sliders. Each table
row is a median over the repeats:

- opening: seconds from the address to the first painted canvas, for the bare page and every page of the app, in turn;
  and to the first words or picture that the browser paints.
- server: seconds of processor time of the server's process for one open (workers are not counted).
- returning: seconds of processor time of the browser's renderer process for going to a page after all were visited,
  until it has been at rest for a second; and for the second and tenth round through all pages.
- together: 25 websocket clients that ask for a document at once; the longest wait for a 404 meanwhile.
- leaving: live `Shell` objects and memory of the server's process after the visits, and the seconds that SIGTERM takes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_app import ARGUMENTS, CHROMIUM, ROOT, free_port
from bokeh.util.token import generate_jwt_token, generate_session_id
from playwright.sync_api import sync_playwright
from tornado.websocket import websocket_connect

NAMES = ("explore", "audit", "noise", "select", "train", "evaluate", "publish")
CLIENTS = 25
TICKS = os.sysconf("SC_CLK_TCK")
BARE = """
import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.plotting import figure

pn.extension()
figures = []
for place in range(4):
    plot = figure(height=300, sizing_mode="stretch_width")
    plot.line(np.arange(20), np.arange(20) ** (1 + place / 4))
    figures.append(pn.pane.Bokeh(plot, sizing_mode="stretch_width"))
sliders = [pmui.FloatSlider(label=f"Slider {i}", start=0, end=1, step=0.1) for i in range(12)]
pmui.Page(title="Bare", sidebar=sliders, main=figures).servable()
"""
# serves the app with the hooks of `panel serve app`, and the bare page, and writes what is alive whenever it is sent
# SIGUSR1
SERVE = """
import gc, signal, sys
from pathlib import Path
from panel.io.server import get_server

app, bare, port = sys.argv[1:]
sys.path.insert(0, str(Path(app).parent))
import app_hooks
server = get_server({"app": app, "bare": bare}, port=int(port), start=False, show=False)
app_hooks.on_server_loaded(server)
from dpml_app.shell import Shell
server.start()

def count():
    gc.collect()
    print(sum(isinstance(thing, Shell) for thing in gc.get_objects()), flush=True)

signal.signal(signal.SIGUSR1, lambda *_: server.io_loop.add_callback_from_signal(count))
server.run_until_shutdown()  # as `panel serve` ends: all sessions are told
"""
PAINTED = """() => {
  const find = (node) => {
    if (node.nodeName === "CANVAS" && node.width > 50 && node.getClientRects().length > 0) { return true }
    for (const child of [...(node.shadowRoot?.children ?? []), ...(node.children ?? [])]) {
      if (find(child)) { return true }
    }
    return false
  }
  return document.body !== null && find(document.body)
}"""


def processor(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> float:
    """Return the megabytes that a process has in memory."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def descendants(pid: int) -> list[int]:
    """Return the ids of a process's children, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants(child)]
    return found


def renderers() -> dict[int, float]:
    """Return the processor time of every renderer process of this run's browser."""
    found = {}
    for pid in descendants(os.getpid()):
        try:
            if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found[pid] = processor(pid)
        except OSError:
            continue  # it has ended
    return found


def at_rest(used, quiet: float = 1.0, most: float = 60.0) -> float:
    """Wait until a process uses next to nothing for a while and return what it has used."""
    deadline, last = time.monotonic() + most, used()
    since = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < quiet:
        time.sleep(0.2)
        now = used()
        if now - last > 0.05:
            since = time.monotonic()
        last = now
    return last


def opening(page, url: str) -> tuple[float, float]:
    """Return the seconds until a canvas is painted, and until anything is."""
    begun = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_function(PAINTED, timeout=120_000)
    seconds = time.perf_counter() - begun
    painted = page.wait_for_function("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    return seconds, painted.json_value() / 1000


def median(values) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):8.2f}   ({ordered[0]:.2f} to {ordered[-1]:.2f}, {len(ordered)})"


def measure_opening(browser, base: str, server: int, repeats: int) -> None:
    """Print the seconds until the first canvas, and the server's processor time, of the bare page and of every page."""
    times: dict[str, list[float]] = {name: [] for name in ("bare", *NAMES)}
    firsts: dict[str, list[float]] = {name: [] for name in times}
    costs: dict[str, list[float]] = {name: [] for name in times}
    for turn in range(repeats + 1):  # the first fills the caches
        for name in times:
            page = browser.new_page()
            before = at_rest(lambda: processor(server))
            seconds, first = opening(page, f"{base}/bare" if name == "bare" else f"{base}/app?page={name}&draws=10")
            cost = processor(server) - before
            page.close()
            if turn:
                times[name].append(seconds)
                firsts[name].append(first)
                costs[name].append(cost)
    bare = statistics.median(times["bare"])
    for name, values in times.items():
        canvas, first = (statistics.median(each) / bare for each in (values, firsts[name]))
        print(f"open {name:<10} {median(values)}   {canvas:.2f} of the bare page; server {median(costs[name])}")
        print(f"     first paint {median(firsts[name])}   {first:.2f} of the bare page's canvas")


def measure_returning(browser, base: str, rounds: int) -> None:
    """Print the browser's processor time for each page, and for rounds through all."""
    known = renderers()
    page = browser.new_page()
    page.goto(f"{base}/app?draws=10&audit_draws=1000")
    page.wait_for_function(PAINTED, timeout=120_000)
    now = renderers()
    mine = max(now, key=lambda pid: now[pid] - known.get(pid, 0.0))

    def used() -> float:
        return processor(mine)

    def go(name: str) -> float:
        before = at_rest(used)
        page.locator(f'#top nav a[data-page="{name}"]').click()
        return at_rest(used) - before

    # three seconds of rest: the answers of a first visit come late
    at_rest(used, 3)
    first = {name: go(name) for name in NAMES[1:]}
    print("first visit      " + "  ".join(f"{name} {cost:.2f}" for name, cost in first.items()))
    costs: dict[str, list[float]] = {name: [] for name in NAMES}
    for _ in range(rounds):
        for name in NAMES:
            costs[name].append(go(name))
    for name, values in costs.items():
        print(f"return {name:<9} {median(values)}")
    for number in sorted({min(1, rounds - 1), rounds - 1}):
        print(f"round {number + 1:<10} {sum(values[number] for values in costs.values()):8.2f}")
    page.close()


async def _pull(base: str) -> float:
    """Ask for a document as a browser does, without making models of it, and return when it has come."""
    token = generate_jwt_token(generate_session_id())
    url = base.replace("http", "ws", 1) + "/app/ws"
    connection = await websocket_connect(url, subprotocols=["bokeh", token], max_message_size=2**28)
    asked = False
    while (message := await connection.read_message()) is not None:
        if not asked:  # the server has said that it is there
            for part in ({"msgid": "1", "msgtype": "PULL-DOC-REQ"}, {}, {}):
                await connection.write_message(json.dumps(part))
            asked = True
        elif "PULL-DOC-REPLY" in str(message[:200]):
            await connection.read_message()  # its metadata; the document is next
            await connection.read_message()
            break
    now = time.perf_counter()
    connection.close()
    return now


def together(base: str) -> tuple[list[float], float]:
    """Return the seconds until each of many clients has its document, and the longest wait for a 404 meanwhile."""
    done, longest = threading.Event(), [0.0]

    def watch() -> None:
        while not done.is_set():
            begun = time.perf_counter()
            try:
                urllib.request.urlopen(f"{base}/nothing", timeout=120)
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    longest[0] = max(longest[0], time.perf_counter() - begun)
            time.sleep(0.05)

    begun = time.perf_counter()

    def client(_number: int) -> float:
        return asyncio.run(_pull(base)) - begun

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(CLIENTS) as threads:
        waits = sorted(threads.map(client, range(CLIENTS)))
    done.set()
    watcher.join()
    return waits, longest[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--visits", type=int, default=100)
    options = parser.parse_args()
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        command = [sys.executable, "-c", SERVE, str(ROOT / "app" / "main.py"), str(bare), str(port)]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            while True:
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            executable = next(filter(None, map(shutil.which, CHROMIUM)))
            profile = Path(folder) / "profile"
            browser = playwright.chromium.launch_persistent_context(
                profile, executable_path=executable, args=ARGUMENTS, viewport={"width": 1440, "height": 1000}
            )
            base = f"http://localhost:{port}"

            def shells() -> int:
                server.send_signal(signal.SIGUSR1)
                return int(server.stdout.readline())

            measure_opening(browser, base, server.pid, options.repeats)
            measure_returning(browser, base, options.rounds)
            runs = [together(base) for _ in range(options.repeats)]
            print(f"together, first  {median([waits[0] for waits, _ in runs])}")
            print(f"together, last   {median([waits[-1] for waits, _ in runs])}")
            print(f"together, 404    {median([longest for _, longest in runs])}")
            before = memory(server.pid)
            for number in range(options.visits):
                page = browser.new_page()
                opening(page, f"{base}/app?page={NAMES[number % len(NAMES)]}&draws=10")
                page.close()
            print(f"after {options.visits} visits: {shells()} live at once", end="", flush=True)
            time.sleep(60)
            print(f", {shells()} after 60 s; memory {memory(server.pid) - before:+.0f} MB")
            browser.close()
            begun = time.perf_counter()
            server.terminate()
            server.wait(120)
            print(f"SIGTERM          {time.perf_counter() - begun:8.2f}")
        finally:
            server.kill()


if __name__ == "__main__":
    main()
