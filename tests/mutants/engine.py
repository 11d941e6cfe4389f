"""Each mutant in a process of its own, which is forked after all imports and so costs no start of an interpreter.

A mutant is killed where one of its tests fails by an assertion, or by an error of the library's own, such as that of
an exact value that is used as if it were public. What a test shows by any other exception may be a mutant that does not
run at all, and counts as a failure of the script; so does a mutant that survives, that no longer applies, or that takes
too long. The same tests must pass before.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.main import pytest_runtestloop
from hypothesis import Phase, settings

from dpml.exceptions import DpmlError
from dpml.mechanisms.private import REFUSED
from mutants.mutant import ROOT, Mutant

SECONDS = 120.0
# fewer neighbours than the tests make by themselves: a mutant is not far from any of them
NEIGHBOURS = "40"
OPTIONS = ["-q", "-x", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=short"]
# the project's own options are for all tests on all cores
OPTIONS += ["-o", "addopts=--import-mode=importlib"]
# a fault may let a value through that no later step takes; other errors may be of a mutant that does not run at all
NOTICED = (AssertionError, DpmlError, pytest.fail.Exception, ValueError, LookupError, ArithmeticError, Warning)
# plugins are there before pytest begins
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant, or of the library as it is."""

    mutant: Mutant
    verdict: str  # killed, survived, or what went wrong
    test: str
    seconds: float
    output: str = ""

    @property
    def killed(self) -> bool:
        """Whether a test noticed."""
        return self.verdict == "killed"


class _Failures:
    """Notes which test failed, and by what; the first example that fails is enough, and is not made smaller."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, str]] = []

    def pytest_sessionstart(self) -> None:
        """Choose how hypothesis searches, after the tests' own choice."""
        phases = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
        settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        """Note the exception of a test that fails."""
        result = yield
        if result.get_result().failed:
            fair = call.when == "call" and _fair(call.excinfo.value)
            self.failures.append((item.nodeid, "" if fair else call.excinfo.exconly()))


class Engine(_Failures):
    """Collects the tests of the mutants once; every mutant is then a fork of this process, and tells of its end."""

    def __init__(self, mutants: list[Mutant], jobs: int, tell: Callable[[Outcome], None]) -> None:
        super().__init__()
        self.mutants, self.jobs, self.tell = mutants, max(jobs, 1), tell
        self.killers: dict[str, dict[str, None]] = {}

    def run(self) -> int:
        """Run all mutants; return the status of pytest, 0 if its collection went well."""
        os.chdir(ROOT)
        os.environ.update(DPML_NEIGHBOURS=NEIGHBOURS, CI="true")  # and hypothesis finds the same each time
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
        files = dict.fromkeys(test.rpartition("/")[0] for mutant in self.mutants for test in mutant.tests)
        return int(pytest.main([*OPTIONS, *sorted(files)], plugins=[self]))

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run each mutant in a fork, several at a time, where pytest would run the tests."""
        waiting, running = self.mutants[::-1], {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                forking = forked(lambda mutant=mutant: self._mutated(session, mutant))
                job = _Job(mutant, *forking, time.monotonic())
                running[job.read] = job
            ready, _, _ = select.select(list(running), [], [], 1.0)
            now = time.monotonic()
            for read in [read for read in running if read in ready or now - running[read].begun > SECONDS]:
                outcome = running.pop(read).finish(read not in ready)
                if outcome.killed:
                    self.killers.setdefault(outcome.mutant.module, {})[outcome.test] = None
                self.tell(outcome)
        return True

    def _mutated(self, session: Any, mutant: Mutant) -> dict[str, Any]:
        """Run the tests of a mutant in this child."""
        session.items = self._items(session.items, mutant)
        mutant.apply()
        with suppress(session.Failed):
            pytest_runtestloop(session)
        return {"tests": len(session.items), "failures": self.failures}

    def _items(self, items: list[Any], mutant: Mutant) -> list[Any]:
        """Return the tests of a mutant; those come first that killed others of its module."""
        names = {item.nodeid: item for item in items}
        order = {name: names[name] for name in self.killers.get(mutant.module, {})}
        for path, _, word in (test.rpartition("/") for test in mutant.tests):
            order |= {name: item for name, item in names.items() if name.startswith(path) and word in name}
        return list(order.values())


def _fair(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):  # several examples of hypothesis
        return all(_fair(inner) for inner in error.exceptions)
    if isinstance(error, (TypeError, AttributeError)) and any(text in str(error) for text in (REFUSED, "'Private'")):
        return True  # a mutant that uses an exact value where a noisy one was meant does not get past the type
    return isinstance(error, NOTICED)


def forked(work: Callable[[], dict[str, Any]]) -> tuple[int, int, int]:
    """Begin work in a child; return its process id, and where its result and its output can be read."""
    read, write = os.pipe()
    log = os.memfd_create("output") if hasattr(os, "memfd_create") else os.open(os.devnull, os.O_RDWR)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        os.close(write)
        return child, read, log
    status = 1
    try:
        os.close(read)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            result = work()
        except BaseException as error:  # whatever it is, the parent has to hear of it
            result = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(write, "w", encoding="utf-8") as pipe:
            json.dump(result, pipe)
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's is flushed or ended twice


def _verdict(result: dict[str, Any]) -> tuple[str, str]:
    if "error" in result:
        return result["error"], ""
    if not result["tests"]:
        return "no test", ""
    if not result["failures"]:
        return "survived", ""
    test, unfair = result["failures"][0]
    return (f"a test failed by another exception: {unfair}" if unfair else "killed"), test


@dataclass
class _Job:
    mutant: Mutant
    process: int
    read: int
    log: int
    begun: float

    def finish(self, late: bool) -> Outcome:
        if late:
            os.kill(self.process, signal.SIGKILL)
        text = b""
        while part := os.read(self.read, 1 << 16):
            text += part
        os.waitpid(self.process, 0)
        size = os.lseek(self.log, 0, os.SEEK_END)
        os.lseek(self.log, 0, os.SEEK_SET)
        output = os.read(self.log, size).decode(errors="replace")
        os.close(self.read)
        os.close(self.log)
        result = json.loads(text) if text else {"error": "too slow" if late else "the process ended early"}
        return Outcome(self.mutant, *_verdict(result), time.monotonic() - self.begun, output)
