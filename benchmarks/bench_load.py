"""Many people at a time: what they wait for, what goes wrong, and what memory is left behind.

Run from the project's root: ``python benchmarks/bench_load.py [--sessions 50] [--minutes 5] [--within 25]
[--processes 1] [--browsers 0] [--visits 0]``. It starts ``python -m dpml_app`` on this machine and opens sessions by
Bokeh's own protocol, without browsers: each opens a page in turn (`VISITS`), scrolls through the cards that are open,
and moves a control until its time is over. It waits for the answer, then for ``--pause`` seconds on average. One of
five sessions asks for new draws instead, so that the workers compute all curves of its page again. Printed are:

- faults: lines of the server's log, sockets that it dropped, alerts of a page, answers that took more than 30 s.
- picture: seconds from the address until the page's still picture has come, for those who had been there before.
- health: seconds that a health check waits meanwhile.
- opening: seconds from the address until the page has answered for the first time.
- first, whole: seconds from a control's message until the first part of the answer, and until the page says that it
  has answered. A page waits 0.15 s before it lets workers begin, so that whoever drags a slider starts no work.
- sweeps: the first part of the answer to those who ask for new draws.
- alone: the first part of the answer when one session is there.
- browsers: seconds from a key on a slider until the page has answered, in headless Chromium beside the others.
- visits: the opening of those who leave at once, ``--visits`` of them, `TOGETHER` at a time, after the others.
- server: how many processors it used. A server without workers near 1, or far less than the machine has to give, says
  what the times are about.
- memory: of the server and its workers, in MB (their resident sets, added up): once each page was opened and left
  again by one session, at the most, and after all have left.

Goals for 50 sessions, 5 minutes and 2 processors: no fault, a median of the first part below 0.5 s, and memory that
returns to within 60 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from bench_app import ARGUMENTS, CHROMIUM, ROOT, free_port
from bench_house import descendants, memory, processor
from dpml_app.page_list import PAGES
from dpml_app.serving.headers import HEALTH
from playwright.async_api import async_playwright
from socket_session import Dropped, SocketSession
from tornado.httpclient import HTTPClientError

# a page, the source that says that it has answered, the setting that is moved with its values, and that of new draws
VISITS = (
    ("explore", "answer-state", "epsilon", range(31), "seed"),
    ("select", "select-state", "n_features", range(5, 60), "seed"),
    ("train", "train-state", "epsilon", range(31), "seed"),
    ("noise", "noise-state", "noise_epsilon", range(31), "noise_seed"),
    ("evaluate", "evaluate-state", "epsilon", range(31), "seed"),
)
ONE_IN = 5
MOST_SESSIONS, MOST_MINUTES = 200, 15.0
ANSWER_MOST = 30.0
# seconds between two who look whether the server is there
LOOK = 0.2
SEED = 20
ANSWERS = "(globalThis.Bokeh?.documents[0]?.get_model_by_name('answer-state')?.data.answers[0] ?? 0)"
# visits at a time, and the seconds after which a server begins to tidy up
TOGETHER, LEFT = 5, 45


@dataclass
class Times:
    """What was measured."""

    picture: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    sweeps: list[float] = field(default_factory=list)
    browsers: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    most: float = 0.0


def of_all(pid: int) -> float:
    """Return the megabytes of a process and all below it."""
    total = 0.0
    for one in (pid, *descendants(pid)):
        try:
            total += memory(one)
        except (OSError, AssertionError):
            continue  # it has ended
    return total


def servers(pid: int) -> list[int]:
    """Return the processes that serve, without workers: the parent, and those that it has started."""
    below = [one for one in descendants(pid) if b"dpml_app" in command_of(one)]
    return [pid, *below]


def command_of(pid: int) -> list[bytes]:
    """Return the words of a process's command line, none if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def work_of_all(pid: int) -> float:
    """Return the seconds of processor time of a process and all below it."""
    return sum(processor(one) for one in (pid, *descendants(pid)))


async def person(base: str, number: int, until: float, pause: float, times: Times) -> None:
    """Open a page and move its control until the time is over; of five, the last one asks for new draws."""
    rng = random.Random(SEED + number)
    page, state, setting, values, seed = VISITS[number % len(VISITS)]
    # each five have five pages: the sweeper is on another one in each five
    sweeps = number % ONE_IN == (number // ONE_IN) % ONE_IN
    # whoever asks for new draws has opened what their number stands behind
    near = [f"place-{page}-{card}" for card in (*PAGES[page].details, *(["advanced"] if sweeps else []))]
    session = SocketSession(base, f"?page={page}", state, near)
    begun = time.perf_counter()
    try:
        await session.open()
        if session.pictured is not None:
            times.picture.append(session.pictured)
        await session.answered(120)
        times.opening.append(time.perf_counter() - begun)
        while time.monotonic() < until and not session.faults:
            if sweeps:
                name, value = seed, rng.randrange(2**31)
            else:
                name, value = setting, rng.choice([v for v in values if v != session.value(setting)])
            first, whole = await session.move(name, value, ANSWER_MOST)
            (times.sweeps if sweeps else times.first).append(first)
            times.whole.append(whole)
            await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)
    except TimeoutError:
        times.faults.append(f"{page}: no answer in time")
    except (Dropped, OSError, KeyError, HTTPClientError) as error:
        times.faults.append(f"{page}: {type(error).__name__}: {error}")
    finally:
        times.faults += [f"{page}: {fault}" for fault in session.faults]
        await session.close()


async def browse(base: str, until: float, pause: float, times: Times) -> None:
    """Open a page in a browser and press a slider's keys until the time is over."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        page = await browser.new_page()
        page.set_default_timeout(120_000)
        await page.goto(f"{base}/app")
        await page.wait_for_function(f"{ANSWERS} > 0")
        slider = page.get_by_role("slider", name="ε", exact=True).first
        for key in itertools.cycle(["ArrowRight", "ArrowRight", "ArrowLeft"]):
            if time.monotonic() > until:
                break
            before, begun = await page.evaluate(ANSWERS), time.perf_counter()
            await slider.press(key)
            await page.wait_for_function(f"(before) => {ANSWERS} > before", arg=before)
            times.browsers.append(time.perf_counter() - begun)
            await asyncio.sleep(pause)
        if await page.locator("#lost").is_visible():
            times.faults.append("a browser has lost its connection")
        await browser.close()


async def watch(pid: int, times: Times) -> None:
    """Note the most memory."""
    while True:
        times.most = max(times.most, of_all(pid))
        await asyncio.sleep(1)


async def look(base: str, times: Times) -> None:
    """Ask whether the server is well, again and again, in a thread: the sessions here keep this loop busy."""

    def ask() -> float:
        begun = time.perf_counter()
        try:
            with urlopen(f"{base}/{HEALTH}", timeout=ANSWER_MOST) as answer:
                answer.read()
        except HTTPError as error:
            times.faults.append(f"health: {error.code}")
        return time.perf_counter() - begun

    while True:
        times.health.append(await asyncio.to_thread(ask))
        await asyncio.sleep(LOOK)


async def rest(pid: int, quiet: float = 4.0, most: float = 300.0) -> float:
    """Wait until the server and its workers do next to nothing; return the seconds."""
    begun, since, last = time.monotonic(), time.monotonic(), work_of_all(pid)
    while time.monotonic() - begun < most and time.monotonic() - since < quiet:
        await asyncio.sleep(0.5)
        now = work_of_all(pid)
        if now - last > 0.1:
            since = time.monotonic()
        last = now
    return time.monotonic() - begun


async def visit(base: str, visits: int, times: Times) -> None:
    """Open pages and leave them at once."""
    numbers = iter(range(visits))

    async def one_after_another() -> None:
        for number in numbers:
            # its time is over before it begins
            await person(base, number, 0.0, 0.0, times)

    await asyncio.gather(*(one_after_another() for _ in range(TOGETHER)))


async def measure(base: str, pid: int, options: argparse.Namespace) -> None:
    """Let one session open each page, then all come; print what was measured."""
    sessions, minutes, pause, within = options.sessions, options.minutes, options.pause, options.within
    fresh, alone = of_all(pid), Times()
    for number in range(len(VISITS)):
        await person(base, number, time.monotonic() + 3 * pause, pause, alone)
    await rest(pid)
    await asyncio.sleep(20)  # the server keeps what a session had for so long
    before, server_before, times = of_all(pid), sum(map(memory, servers(pid))), Times()
    watchers = [asyncio.create_task(watch(pid, times)), asyncio.create_task(look(base, times))]
    ends, used, alone_used = (
        time.monotonic() + within + 60 * minutes,
        work_of_all(pid),
        sum(map(processor, servers(pid))),
    )
    people = []
    for number in range(sessions):
        people.append(asyncio.create_task(person(base, number, ends, pause, times)))
        await asyncio.sleep(within / sessions)
    browsers = [browse(base, ends, pause, times) for _ in range(options.browsers)]
    await asyncio.gather(*people, *browsers)
    used, alone_used = work_of_all(pid) - used, sum(map(processor, servers(pid))) - alone_used
    visited = Times()
    await visit(base, options.visits, visited)
    times.faults += visited.faults
    rested = await rest(pid)
    await asyncio.sleep(LEFT)  # a process that nobody uses and that has grown is being replaced
    await rest(pid)
    for watcher in watchers:
        watcher.cancel()
    after = of_all(pid)
    took = within + 60 * minutes
    load = os.getloadavg()[1]
    asked = f"{sessions} sessions within {within:g} s, {minutes:g} minutes, a pause of {pause:g} s"
    print(f"{asked}; load of the machine {load:.1f}")
    for name in ("health", "picture", "opening", "first", "sweeps", "whole", "browsers"):
        print(f"{name:<8} {summary(getattr(times, name))}")
    print(f"alone    {summary(alone.first)}")
    print(f"visits   {summary(visited.opening)}")
    print(
        f"server   {used / took:.2f} processors, {alone_used / took:.2f} without workers; at rest after {rested:.0f} s"
    )
    most, left = f"{times.most:.0f} at the most", f"{after:.0f} after all left ({after - before:+.0f})"
    served = f"{sum(map(memory, servers(pid))) - server_before:+.0f} of it without the workers"
    print(f"memory   {fresh:.0f} MB fresh, {before:.0f} before, {most}, {left}, {served}")
    for fault in sorted(set(times.faults)):
        print(f"fault    {times.faults.count(fault)} × {fault}")


def fault_of(line: str) -> str:
    """Return what went wrong by a line of the log, empty if nothing did."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line[:200]
    names = ("event", "level", "logger", "kind", "where", "error", "raised")
    wrong = entry["event"] in ("error", "log") or "error" in entry
    return " ".join(str(entry[name]) for name in names if name in entry) if wrong else ""


def summary(seconds: list[float]) -> str:
    """Return median, 95 % and most of some times."""
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {statistics.median(ordered):.3f} s, 95 % {high:.3f} s, most {ordered[-1]:.2f} s, of {len(ordered)}"


def main() -> None:
    """Serve, measure, and print the log if it has anything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--pause", type=float, default=2.0)
    parser.add_argument("--within", type=float, default=25.0, help="seconds within which all come")
    parser.add_argument("--processes", type=int, default=1, help="of the server")
    parser.add_argument("--browsers", type=int, default=0, help="headless Chromium beside the sessions")
    parser.add_argument("--visits", type=int, default=0, help="who open and leave after that")
    options = parser.parse_args()
    if not 0 <= options.sessions <= MOST_SESSIONS or not 0 <= options.minutes <= MOST_MINUTES:
        parser.error(f"at most {MOST_SESSIONS} sessions and {MOST_MINUTES:g} minutes")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as out:
            command = [sys.executable, "-m", "dpml_app", "--port", str(port), "--processes", str(options.processes)]
            server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=out)
        try:
            check = [*command, "--check"]
            while subprocess.run(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                if server.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.5)
            base = f"http://127.0.0.1:{port}"
            asyncio.run(measure(base, server.pid, options))
            # before it ends: a worker that is ended in the middle of a task is no fault
            lines = log.read_text(encoding="utf-8").splitlines()
        finally:
            server.terminate()
            server.wait(60)
        faults = Counter(fault_of(line) for line in lines)
        del faults[""]
        print(f"log      {len(lines)} lines, {faults.total()} of them faults")
        for fault, times in faults.most_common(20):
            print(f"         {times} × {fault}")


if __name__ == "__main__":
    main()
