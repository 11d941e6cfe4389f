"""Each mutant in a process of its own, which is forked after the tests are collected and so costs no start.

A mutant is killed where one of its tests fails by an assertion, by an error of the library's own, such as that of an
exact value that is used as if it were public, or by an error about a value. What a test shows by any other exception
may be a mutant that does not run at all, and counts as a failure of the script; so does a mutant that survives, or that
takes too long. At the end the tests that killed must pass on the library as it is.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.main import pytest_runtestloop
from hypothesis import Phase, settings

from dpml.exceptions import DpmlError
from dpml.mechanisms.private import REFUSED
from mutants.mutant import ROOT, Mutant

SECONDS = 120
# fewer neighbours than the tests make by themselves: a mutant is not far from any of them
NEIGHBOURS = "40"
OPTIONS = ["-q", "-x", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=short"]
# the project's own options are for all tests on all cores; plugins are there before pytest begins
OPTIONS += ["-o", "addopts=--import-mode=importlib", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
# a fault may let a value through that no later step takes
NOTICED = (AssertionError, DpmlError, pytest.fail.Exception, ValueError, LookupError, ArithmeticError, Warning)


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: "killed", "survived" or what went wrong, the test, and what the tests said."""

    mutant: Mutant | None
    verdict: str
    test: str
    seconds: float
    output: str


def _fair(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):  # several examples of hypothesis
        return all(_fair(inner) for inner in error.exceptions)
    if isinstance(error, (TypeError, AttributeError)) and any(text in str(error) for text in (REFUSED, "'Private'")):
        return True  # a mutant that uses an exact value where a noisy one was meant does not get past the type
    return isinstance(error, NOTICED)


class Engine:
    """A plugin of pytest: collects the tests of all mutants, and runs each mutant in a fork of the process."""

    def __init__(self, mutants: list[Mutant], jobs: int, tell: Callable[[Outcome], None]) -> None:
        self.mutants, self.jobs, self.tell = mutants, max(jobs, 1), tell
        self.killers: dict[str, dict[str, None]] = {}
        self.failures: list[tuple[str, str]] = []

    def run(self) -> int:
        """Run all mutants; return the status of pytest, 0 if the tests could be collected."""
        os.chdir(ROOT)
        os.environ.update(DPML_NEIGHBOURS=NEIGHBOURS, CI="true", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        files = {test.rpartition("/")[0] for mutant in self.mutants for test in mutant.tests}
        return int(pytest.main([*OPTIONS, *sorted(files)], plugins=[self]))

    def pytest_sessionstart(self) -> None:
        """Choose how hypothesis searches, after the tests' own choice: the first example that fails is enough."""
        phases = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
        settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note which test failed, and by what."""
        result: Any = yield
        if result.get_result().failed:
            fair = call.when == "call" and _fair(call.excinfo.value)
            self.failures.append((item.nodeid, "" if fair else call.excinfo.exconly()))

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run each mutant in a fork, several at a time, and at last the tests that killed without any."""
        waiting = self.mutants[::-1]
        running: dict[int, tuple[Mutant | None, Path, float]] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                running |= self._forked(session, waiting.pop())
            self._end(running)
        self._end(self._forked(session, None))
        return True

    def _forked(self, session: Any, mutant: Mutant | None) -> dict[int, tuple[Mutant | None, Path, float]]:
        folder = Path(tempfile.mkdtemp())
        sys.stdout.flush()
        child = os.fork()
        if child:
            return {child: (mutant, folder, time.monotonic())}
        try:
            for stream in (1, 2):
                os.dup2(os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
            if mutant is not None:
                signal.alarm(SECONDS)
                mutant.apply()
            session.items = self._items(session.items, mutant)
            with suppress(session.Failed):
                pytest_runtestloop(session)
            sys.stdout.flush()
            (folder / "result").write_text(json.dumps([len(session.items), self.failures]))
        finally:
            os._exit(0)  # nothing of the parent's is flushed or ended twice

    def _end(self, running: dict[int, tuple[Mutant | None, Path, float]]) -> None:
        child, status = os.wait()
        mutant, folder, begun = running.pop(child)
        verdict, test = ("too slow" if status == signal.SIGALRM else "the process ended early"), ""
        if (folder / "result").exists():
            number, failures = json.loads((folder / "result").read_text())
            verdict = "survived" if number else "no test"
            if failures:
                test, unfair = failures[0]
                verdict = f"a test failed by another exception: {unfair}" if unfair else "killed"
        outcome = Outcome(mutant, verdict, test, time.monotonic() - begun, (folder / "output").read_text())
        if mutant is not None and outcome.verdict == "killed":
            self.killers.setdefault(mutant.module, {})[test] = None
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        self.tell(outcome)

    def _items(self, items: list[Any], mutant: Mutant | None) -> list[Any]:
        """Return the tests of a mutant; those come first that killed others of its module."""
        if mutant is None:
            every = {test for tests in self.killers.values() for test in tests}
            return [item for item in items if item.nodeid in every]
        by_name = {item.nodeid: item for item in items}
        order = {name: by_name[name] for name in self.killers.get(mutant.module, {})}
        for path, _, word in (test.rpartition("/") for test in mutant.tests):
            order |= {name: item for name, item in by_name.items() if name.startswith(path) and word in name}
        return list(order.values())
