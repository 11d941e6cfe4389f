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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import Phase, settings

from dpml.exceptions import DpmlError
from dpml.mechanisms.private import REFUSED
from mutants.mutant import ROOT, Mutant

SECONDS = 120.0
# fewer neighbours than the tests make by themselves: a mutant is not far from any of them
NEIGHBOURS = "40"
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=short"]
# the project's own options are for all tests on all cores
OPTIONS += ["-o", "addopts=--import-mode=importlib"]
# a fault may let a value through that no later step takes; other errors may be of a mutant that does not run at all
NOTICED = (AssertionError, DpmlError, pytest.fail.Exception, ValueError, LookupError, ArithmeticError, Warning)
# plugins are there before pytest begins
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant, or of the library as it is."""

    mutant: Mutant | None
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

    def __init__(self, tests: tuple[str, ...] = ()) -> None:
        self.found: list[tuple[str, str]] = []
        self.tests = tests

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the tests that are named, in the order of their names, and leave out what needs a browser."""
        kept: dict[str, Any] = {}
        for path, _, word in (test.rpartition("/") for test in self.tests):
            kept |= {item.nodeid: item for item in items if item.nodeid.startswith(path) and word in item.nodeid}
        items[:] = kept.values() if self.tests else items

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
            self.found.append((item.nodeid, "" if fair else call.excinfo.exconly()))


def _fair(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):  # several examples of hypothesis
        return all(_fair(inner) for inner in error.exceptions)
    if isinstance(error, (TypeError, AttributeError)) and any(text in str(error) for text in (REFUSED, "'Private'")):
        return True  # a mutant that uses an exact value where a noisy one was meant does not get past the type
    return isinstance(error, NOTICED)


def prepare(mutants: Iterable[Mutant]) -> None:
    """Import the library, and the test files with pytest's assertions, once for all processes to come."""
    os.chdir(ROOT)
    os.environ.update(DPML_NEIGHBOURS=NEIGHBOURS, CI="true")  # and hypothesis finds the same each time
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    files = sorted(_files(test for mutant in mutants for test in mutant.tests))
    quiet = os.open(os.devnull, os.O_WRONLY)
    kept = os.dup(1)
    sys.stdout.flush()
    os.dup2(quiet, 1)
    try:
        status = pytest.main([*OPTIONS, "--collect-only", *files], plugins=[_Failures()])
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
    if status != 0:
        raise SystemExit(f"pytest cannot collect the tests of the mutants: status {int(status)}")


def _files(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(test.rpartition("/")[0] for test in tests))


def run(mutant: Mutant | None, tests: tuple[str, ...]) -> dict[str, Any]:
    """Apply a mutant, or none, and run the tests; in a child, which ends after it."""
    if mutant is not None:
        mutant.apply()
    failures = _Failures(tests)
    status = int(pytest.main([*OPTIONS, *_files(tests)], plugins=[failures]))
    return {"status": status, "failures": failures.found}


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
    if result["status"] == 0:
        return "survived", ""
    if result["status"] != 1 or not result["failures"]:
        return f"pytest ended with status {result['status']}", ""
    test, unfair = result["failures"][0]
    return (f"a test failed by another exception: {unfair}" if unfair else "killed"), test


@dataclass
class _Job:
    mutant: Mutant | None
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


def outcomes(mutants: Iterable[Mutant | None], tests: Callable[[Any], tuple[str, ...]], jobs: int) -> Iterator[Outcome]:
    """Run mutants, several at a time, and give each outcome as soon as it is known."""
    waiting, running = list(mutants)[::-1], {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            names = tests(mutant)
            job = _Job(mutant, *forked(lambda mutant=mutant, names=names: run(mutant, names)), time.monotonic())
            running[job.read] = job
        ready, _, _ = select.select(list(running), [], [], 1.0)
        now = time.monotonic()
        limit = {read: SECONDS if job.mutant else 10 * SECONDS for read, job in running.items()}
        for read in [read for read in running if read in ready or now - running[read].begun > limit[read]]:
            yield running.pop(read).finish(read not in ready)


def baseline(mutants: Iterable[Mutant]) -> Outcome:
    """Run all tests of the mutants on the library as it is: they have to pass, or a kill means nothing."""
    every = tuple(sorted({test for mutant in mutants for test in mutant.tests}))
    [outcome] = outcomes([None], lambda _: every, 1)
    return outcome
