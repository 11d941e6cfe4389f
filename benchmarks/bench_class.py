"""A class that guesses: how soon all guesses are drawn after the reveal, and what is left of them.

Run from the project's root: ``python benchmarks/bench_class.py [--visitors 30] [--steps 3]``. It starts ``python -m
dpml_app`` on this machine with one class allowed. The teacher is a headless Chromium in Present mode; the visitors are
sockets by Bokeh's own protocol. They open the class link at intervals of half a second, so that what is timed is the
class and not the opening. At each step all guess within a second, the teacher reveals, and goes on. Printed are, of all
steps:

- counted: seconds from the last guess that was sent until the projector says that all have answered.
- drawn: seconds from the click on "Reveal" until a dot for each guess is on the projector's screen: in the document,
  and a frame painted after that.
- visitors: seconds from that click until each visitor has been told the counts.
- step: seconds from the click on "Next" until each visitor has been told the step.
- flood: one socket sends 10,000 guesses at one step, of which one counts, and another 10,000 made-up codes: how many a
  second the server reads, and how long a health check takes meanwhile.
- end: what the sessions are told, and what a session can still learn of the class.

The goal for 30 visitors: drawn within 1 s, and none kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench_app import ARGUMENTS, CHROMIUM, ROOT, free_port
from bench_load import fault_of, summary
from playwright.async_api import Page, async_playwright
from socket_session import SocketSession

LESSON = "what-it-costs"
OPTIONS = 3
FLOOD = 10_000
MOST_VISITORS, MOST_STEPS = 100, 5
PATIENCE = 120.0
SEED = 20
# the clock starts with the click, and stops in the frame after that in which all dots are there
REVEAL = """(wanted) => new Promise((resolve) => {
  const begun = performance.now()
  const look = () => {
    const dots = document.querySelectorAll("#lesson .dots i").length
    if (dots !== wanted) { requestAnimationFrame(look); return }
    requestAnimationFrame(() => requestAnimationFrame(() => resolve((performance.now() - begun) / 1000)))
  }
  document.querySelector("#lesson .reveal").click()
  look()
})"""


class Visitor(SocketSession):
    """One person of the class; `told` is what the server has said of it last."""

    state: dict[str, Any]

    def __init__(self, base: str, query: str) -> None:
        super().__init__(base, query, "explore-state")
        self.state, self._serial = {}, 0
        self._change = asyncio.Event()

    def _take(self, content: dict[str, Any]) -> None:
        super()._take(content)
        self.state = json.loads(self.columns("class_state")["payload"][0])
        self._change.set()

    async def ask(self, act: str, **more: Any) -> None:
        """Send what the page's script would."""
        self._serial += 1
        columns = {"act": act, "code": "", "key": "", "lesson": LESSON, "step": 1, "option": -1, "serial": self._serial}
        await self._write("class_request", {name: [value] for name, value in {**columns, **more}.items()})

    async def until(self, holds: Callable[[dict[str, Any]], bool]) -> float:
        """Wait until something holds of what was told; return the time."""
        async with asyncio.timeout(PATIENCE):
            while not holds(self.state):
                self._change.clear()
                await self._change.wait()
        return time.perf_counter()


async def says(page: Page, text: str) -> None:
    """Wait until the teacher's panel says something."""
    await page.get_by_text(text, exact=True).wait_for(timeout=1000 * PATIENCE)


async def measure(base: str, teacher: Page, count: int, steps: int) -> None:
    """Hold a class and print what was found."""
    rng, times = random.Random(SEED), {name: [] for name in ("counted", "drawn", "visitors", "step")}
    await teacher.goto(f"{base}/app?lesson={LESSON}&step=1")
    await teacher.get_by_role("button", name="Open a class", exact=True).click()
    await says(teacher, "0 of 0 answered")
    code = (await teacher.evaluate("document.getElementById('lesson').dataset.link")).partition("class=")[2]
    visitors = [Visitor(base, f"?lesson={LESSON}&class={code}") for _ in range(count)]
    for visitor in visitors:
        await visitor.open()
        await visitor.ask("join", code=code)
        await visitor.until(lambda state: state.get("role") == "visitor")
        await asyncio.sleep(0.5)
    await says(teacher, f"0 of {count} answered")
    await teacher.keyboard.press("p")
    await asyncio.sleep(5)
    for step in range(1, steps + 1):
        guesses = [rng.randrange(OPTIONS) for _ in visitors]

        async def guess(visitor: Visitor, option: int, step: int = step) -> None:
            await asyncio.sleep(rng.random())
            await visitor.ask("answer", step=step, option=option)

        await asyncio.gather(*map(guess, visitors, guesses))
        begun = time.perf_counter()
        await says(teacher, f"{count} of {count} answered")
        times["counted"].append(time.perf_counter() - begun)
        begun = time.perf_counter()
        reached = [asyncio.create_task(visitor.until(lambda state: bool(state["counts"]))) for visitor in visitors]
        times["drawn"].append(await teacher.evaluate(REVEAL, count))
        times["visitors"] += [at - begun for at in await asyncio.gather(*reached)]
        wanted = [guesses.count(option) for option in range(OPTIONS)]
        assert all(visitor.state["counts"] == wanted for visitor in visitors), "a guess is not counted as it was sent"
        begun = time.perf_counter()
        await teacher.get_by_role("button", name="Next", exact=True).click()
        moved = [visitor.until(lambda state, step=step: state["step"] == step + 1) for visitor in visitors]
        times["step"] += [at - begun for at in await asyncio.gather(*moved)]
    print(f"{count} visitors, {steps} steps")
    for name, seconds in times.items():
        print(f"{name:<9} {summary(seconds)}")
    await flood(base, visitors[0], code, steps + 1)
    await says(teacher, f"1 of {count} answered")
    await teacher.get_by_role("button", name="End the class", exact=True).click()
    for visitor in visitors:
        await visitor.until(lambda state: state["said"] == "The class has ended.")
    late = Visitor(base, f"?lesson={LESSON}&class={code}")
    await late.open()
    await late.ask("join", code=code)
    await asyncio.sleep(1)
    assert visitors[0].state == {"role": "", "may": True, "said": "The class has ended."}
    assert not late.state.get("role")
    faults = sorted({fault for one in (*visitors, late) for fault in one.faults if "is not open" not in fault})
    print(f"end       told to all; who comes then is told of no class; faults: {faults or 'none'}")
    for visitor in (*visitors, late):
        await visitor.close()


async def flood(base: str, visitor: Visitor, code: str, step: int) -> None:
    """Send far more than one may, and see what of it counts."""
    loop, health = asyncio.get_running_loop(), []

    def check() -> float:
        begun = time.perf_counter()
        with urlopen(f"{base}/healthz", timeout=PATIENCE):
            return time.perf_counter() - begun

    stranger = Visitor(base, f"?lesson={LESSON}")
    await stranger.open()
    begun = time.perf_counter()
    for number in range(FLOOD):
        await visitor.ask("answer", step=step, option=number % OPTIONS)
        await stranger.ask("join", code="".join(secrets.choice("abcdefgh") for _ in code))
        if number % 500 == 0:
            health.append(await loop.run_in_executor(None, check))
    await stranger.ask("join", code=code)
    await stranger.until(lambda state: state.get("role") == "visitor")
    took = time.perf_counter() - begun
    print(f"flood     {2 * FLOOD / took:.0f} messages a second; a health check {summary(health)}")
    await stranger.close()


async def held(base: str, count: int, steps: int) -> None:
    """Open the teacher's browser."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await measure(base, page, count, steps)
        await browser.close()


def main() -> None:
    """Serve, hold a class, and print the log's faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--port", type=int, default=0, help="that of the server; any that is free where it is left out")
    options = parser.parse_args()
    if not 0 < options.visitors <= MOST_VISITORS or not 0 < options.steps <= MOST_STEPS:
        parser.error(f"at most {MOST_VISITORS} visitors and {MOST_STEPS} steps")
    port = options.port or free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as out:
            command = [sys.executable, "-m", "dpml_app", "--port", str(port)]
            environment = {**os.environ, "DPML_CLASSES": "1", "DPML_CLASS_VISITORS": str(MOST_VISITORS)}
            server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=out, env=environment)
        try:
            check = [*command, "--check"]
            while subprocess.run(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                if server.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.5)
            asyncio.run(held(f"http://127.0.0.1:{port}", options.visitors, options.steps))
            lines = log.read_text(encoding="utf-8").splitlines()
        finally:
            server.terminate()
            server.wait(60)
    faults = [fault for fault in map(fault_of, lines) if fault]
    print(f"log       {len(lines)} lines, {len(faults)} of them faults: {sorted(set(faults)) or 'none'}")
    spoken = sum("answer" in line or "class" in line for line in lines)
    print(f"          lines that speak of an answer or a class: {spoken}")


if __name__ == "__main__":
    main()
