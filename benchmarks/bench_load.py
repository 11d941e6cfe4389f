"""Many people at a time on processes behind nginx: waiting times, faults, and memory that remains.

Run from the project's root on Linux with nginx and jemalloc (Debian's libjemalloc2): ``PYTHONPATH=tests python
benchmarks/bench_load.py [--sessions 50] [--minutes 5] [--within 5] [--processes 2] [--one-client]``. The script starts
processes of the app, with the memory settings of the Dockerfile, and an nginx with ``deploy/nginx.conf``. Sessions
speak Bokeh's protocol without browsers: each opens a page in turn (`VISITS`), scrolls through its open cards, moves a
control, waits for the answer, then for ``--pause`` seconds on average. One of five sessions requests new noise
instead, so that workers compute all curves of its page. Each session has an address of its own, unless
``--one-client`` puts all behind one router. The script prints:

- faults: lines of the logs, dropped sockets, alerts of a page, answers that take more than 30 s.
- health: seconds of a health check meanwhile.
- opening: seconds from the address to the first answer of the page.
- first, whole: seconds from a control's message to the first part of the answer, and to the whole answer.
- resample: the same as first, for new noise.
- alone: the same as first, for one session alone, without nginx.
- server: processors in use.
- memory: of the processes and their workers, in MB: after one session opened each page in each process and one more
  requested new noise there, at most, and after all left.

Goals for 50 sessions within 5 s, two processes and two processors: no fault, all openings within 14 s, a median of the
answers of at most 0.2 s, and memory that returns to within 80 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path

from bench_app import ROOT, free_port
from bench_house import descendants, memory, processor
from dpml_app.page_list import PAGES
from dpml_app.serving.serve import HEALTH, healthy
from nginx_proxy import PASSWORD, Proxy
from socket_session import Dropped, SocketSession
from tornado.httpclient import HTTPClientError

# a page, the source that reports its answers, the setting that is moved with its values, and the setting of new noise
VISITS = (
    ("explore", "explore-state", "epsilon", range(31), "seed"),
    ("select", "select-state", "n_features", range(5, 60), "seed"),
    ("train", "train-state", "epsilon", range(31), "seed"),
    ("noise", "noise-state", "noise_epsilon", range(31), "noise_seed"),
    ("evaluate", "evaluate-state", "epsilon", range(31), "seed"),
)
ONE_IN = 5
# for each page a session that moves its control, and one that requests new noise
ALONE = (*range(1, 6), *range(0, 25, 6))
MAX_SESSIONS, MAX_MINUTES, MAX_PROCESSES = 200, 15.0, 8
MAX_ANSWER = 30.0
BETWEEN_CHECKS = 0.2
SEED = 20
# a server discards a session some 30 s after it has ended
DISCARDED = 45


@dataclass
class Times:
    """Measured seconds, faults and the largest memory."""

    health: list[float] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    resample: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    largest: float = 0.0


def of_container() -> dict[str, str]:
    """Return the environment of the Dockerfile that is about memory."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    told = dict(part.split("=") for line in re.findall("^ENV (.+)$", text, flags=re.M) for part in line.split())
    if find_library("jemalloc") is None:
        raise SystemExit("jemalloc is not installed. Install it: apt-get install libjemalloc2")
    names = ("LD_PRELOAD", "PYTHONMALLOC", "MALLOC_CONF", "ARROW_DEFAULT_MEMORY_POOL")
    return {name: told[name] for name in names}


@contextmanager
def deployed(folder: Path, count: int) -> Iterator[tuple[Proxy, dict[int, int]]]:
    """Serve the app by processes behind nginx; yield the proxy, and the processes' ports by their ids.

    Their logs are in the folder.
    """
    port, ports, servers = free_port(), [free_port() for _ in range(count)], []
    environment = {**os.environ, **of_container(), "BOKEH_SECRET_KEY": "k" * 32}
    for each in ports:
        command = [sys.executable, "-m", "dpml_app", "--port", str(each), "--proxy", "--origin", f"localhost:{port}"]
        with (folder / f"log-{each}").open("wb") as out:
            servers.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=out))
    try:
        for each, server in zip(ports, servers, strict=True):
            while not healthy(each):
                if server.poll() is not None:
                    raise SystemExit((folder / f"log-{each}").read_text())
                time.sleep(0.5)
        proxy = Proxy(folder, ports, port)
        try:
            yield proxy, {server.pid: each for server, each in zip(servers, ports, strict=True)}
        finally:
            proxy.stop()
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(60)


def family(pids: Sequence[int]) -> list[int]:
    """Return processes and all below them."""
    return [one for pid in pids for one in (pid, *descendants(pid))]


def memory_of(pids: Sequence[int]) -> float:
    """Return the megabytes of some processes."""
    total = 0.0
    for one in pids:
        try:
            total += memory(one)
        except (OSError, AssertionError):
            continue  # it has ended
    return total


async def person(url: str, number: int, until: float, pause: float, times: Times, client: str) -> None:
    """Open a page and move its control, once at least, until the time is over; one of five requests new noise."""
    rng = random.Random(SEED + number)
    page, state, setting, values, seed = VISITS[number % len(VISITS)]
    # the session that resamples is on another page in each five
    resamples = number % ONE_IN == (number // ONE_IN) % ONE_IN
    near = [f"place-{page}-{card}" for card in (*PAGES[page].details, *(["advanced"] if resamples else []))]
    session = SocketSession(url, f"?page={page}", state, near, trusted=False)
    begun = time.perf_counter()
    try:
        await session.open(**{"Authorization": PASSWORD, "Origin": url, "X-Test-Client": client})
        await session.answered(120)
        times.opening.append(time.perf_counter() - begun)
        moved = False
        while not (session.faults or (moved and time.monotonic() > until)):
            moved = True
            if resamples:
                name, value = seed, rng.randrange(2**31)
            else:
                name, value = setting, rng.choice([v for v in values if v != session.value(setting)])
            first, whole = await session.move(name, value, MAX_ANSWER)
            (times.resample if resamples else times.first).append(first)
            times.whole.append(whole)
            await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)
    except TimeoutError:
        times.faults.append(f"{page}: no answer in time")
    except (Dropped, OSError, KeyError, HTTPClientError) as error:
        times.faults.append(f"{page}: {type(error).__name__}: {error}")
    finally:
        times.faults += [f"{page}: {fault}" for fault in session.faults]
        await session.close()


async def watch_memory(pids: Sequence[int], times: Times) -> None:
    """Note the largest memory."""
    while True:
        times.largest = max(times.largest, memory_of(family(pids)))
        await asyncio.sleep(1)


async def check_health(proxy: Proxy, times: Times) -> None:
    """Time health checks, in a thread: the sessions keep this loop busy."""

    def check() -> float:
        begun = time.perf_counter()
        try:
            status = proxy.ask(f"/{HEALTH}")[0]
        except TimeoutError:
            status = 0
        if status != 200:
            times.faults.append(f"health: status {status}")
        return time.perf_counter() - begun

    while True:
        times.health.append(await asyncio.to_thread(check))
        await asyncio.sleep(BETWEEN_CHECKS)


async def rest(pids: Sequence[int], quiet: float = 4.0, most: float = 300.0) -> float:
    """Wait until the processes do next to nothing; return the seconds."""
    begun = since = time.monotonic()
    last = sum(map(processor, family(pids)))
    while time.monotonic() - begun < most and time.monotonic() - since < quiet:
        await asyncio.sleep(0.5)
        now = sum(map(processor, family(pids)))
        if now - last > 0.1:
            since = time.monotonic()
        last = now
    return time.monotonic() - begun


async def measure(proxy: Proxy, ports: dict[int, int], options: argparse.Namespace) -> None:
    """Let sessions open each page in each process, one after the other, then all come; print the results."""
    pids = list(ports)
    sessions, minutes, pause, within = options.sessions, options.minutes, options.pause, options.within
    fresh, alone = memory_of(family(pids)), Times()
    # not through nginx, which may send all sessions of a page to one process: what the first of a page computes and
    # keeps would count as memory that remains of the crowd
    for port in ports.values():
        for number in ALONE:
            await person(f"http://localhost:{port}", number, time.monotonic() + pause, pause, alone, "")
    await rest(pids)
    await asyncio.sleep(DISCARDED)
    before, times = memory_of(family(pids)), Times()
    watchers = [asyncio.create_task(watch_memory(pids, times)), asyncio.create_task(check_health(proxy, times))]
    ends, used = time.monotonic() + within + 60 * minutes, sum(map(processor, family(pids)))
    served = sum(map(processor, pids))
    people = []
    for number in range(sessions):
        client = "192.0.2.1" if options.one_client else f"192.0.2.{number}"
        people.append(asyncio.create_task(person(proxy.url, number, ends, pause, times, client)))
        await asyncio.sleep(within / sessions)
    await asyncio.gather(*people)
    used, served = sum(map(processor, family(pids))) - used, sum(map(processor, pids)) - served
    rested = await rest(pids)
    await asyncio.sleep(DISCARDED)
    await rest(pids)
    for watcher in watchers:
        watcher.cancel()
    after, took = memory_of(family(pids)), within + 60 * minutes
    asked = f"{sessions} sessions within {within:g} s on {len(pids)} processes, {minutes:g} minutes, pause {pause:g} s"
    print(f"{asked}; load of the machine {os.getloadavg()[1]:.1f}")
    for name in ("health", "opening", "first", "resample", "whole"):
        print(f"{name:<8} {summary(getattr(times, name))}")
    print(f"alone    {summary(alone.first)}")
    print(f"server   {used / took:.2f} processors, {served / took:.2f} without workers; at rest after {rested:.0f} s")
    change = f"{after:.0f} after all left ({after - before:+.0f})"
    print(f"memory   {fresh:.0f} MB fresh, {before:.0f} before, {times.largest:.0f} at most, {change}")
    for fault in sorted(set(times.faults)):
        print(f"fault    {times.faults.count(fault)} × {fault}")


def fault_of(line: str) -> str:
    """Return the fault that a line of the log reports, empty if none."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line[:200]
    names = ("event", "level", "logger", "kind", "where", "error", "raised")
    wrong = entry["event"] in ("error", "log") or "error" in entry
    return " ".join(str(entry[name]) for name in names if name in entry) if wrong else ""


def summary(seconds: list[float]) -> str:
    """Return median, 95% quantile and maximum of some times."""
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {statistics.median(ordered):.3f} s, 95% {high:.3f} s, most {ordered[-1]:.2f} s, of {len(ordered)}"


def main() -> None:
    """Serve, measure, and print the faults of the logs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--pause", type=float, default=2.0)
    parser.add_argument("--within", type=float, default=5.0, help="seconds within which all come")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--one-client", action="store_true", help="all sessions have one address")
    options = parser.parse_args()
    if not 0 <= options.sessions <= MAX_SESSIONS or not 0 <= options.minutes <= MAX_MINUTES:
        parser.error(f"at most {MAX_SESSIONS} sessions and {MAX_MINUTES:g} minutes")
    if not 0 < options.processes <= MAX_PROCESSES:
        parser.error(f"1 to {MAX_PROCESSES} processes")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with deployed(folder, options.processes) as (proxy, ports):
            asyncio.run(measure(proxy, ports, options))
            # before they end: a worker that is stopped in a task is no fault
            lines = [line for log in folder.glob("log-*") for line in log.read_text(encoding="utf-8").splitlines()]
        faults = Counter(fault_of(line) for line in lines)
        del faults[""]
        print(f"log      {len(lines)} lines, {faults.total()} of them faults")
        for fault, times in faults.most_common(20):
            print(f"         {times} × {fault}")


if __name__ == "__main__":
    main()
